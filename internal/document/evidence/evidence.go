// Package evidence has the words that extract, survey and report share: what was read
// cut into sentences, and statements with the places that they come from.
package evidence

import (
	"strings"
	"unicode"

	"github.com/cairn-bot/cairn/internal/document"
	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
	"github.com/cairn-bot/cairn/internal/knowledge/sentence"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// Place is a section of a document, by their positions in the Set.
type Place struct {
	Document int `json:"document"`
	Section  int `json:"section"`
}

// Statement is something that documents say, on one line of Markdown, and where. It has
// one place at least.
type Statement struct {
	Text   string  `json:"text"`
	Places []Place `json:"places"`
	Partly bool    `json:"partly,omitempty"` // its places tell a part of it only
}

// Part is a part of a report. One without statements says that there are none.
type Part struct {
	Title      string      `json:"title"`
	Statements []Statement `json:"statements"`
	More       int         `json:"more,omitempty"` // there are beyond those
}

// Sentence is a sentence, list item or row of a table. Code is none.
type Sentence struct {
	Text    string // on one line
	Place   Place
	First   bool // the first of its section
	Item    bool // of a list
	Open    bool // an item with a box that is not ticked
	Heading string
	Columns []string // the header of the table that it is a row of
	Cells   []string // of that row
	Terms   []string // of the text, analysed; fillers are left out
}

// MaxStatement is the length of a statement that is taken from a text, in characters.
const MaxStatement = 400

// Sentences cuts the documents into sentences, in their order.
func Sentences(set document.Set) []Sentence {
	var all []Sentence
	for d, doc := range set.Documents {
		text := set.Texts[doc.Name]
		for s, section := range doc.Sections {
			first := true
			var columns []string
			for _, part := range sentence.Split(text[section.Start:section.End]) {
				if header, _, ok := strings.Cut(part.Text, "\n"); ok && strings.HasPrefix(header, "|") {
					columns = readCells(header)
				}
				for _, made := range splitLines(part) {
					if strings.HasPrefix(part.Text, "|") {
						made.Columns, made.Cells = columns, readCells(part.Text)
					}
					made.Place, made.First, made.Heading = Place{d, s}, first, strings.Join(section.Headings, " › ")
					all = append(all, made)
					first = false
				}
			}
		}
	}
	return all
}

// longItem is the length of a list item, in bytes, over which it is cut into sentences.
const longItem = 200

// splitLines makes lines of a sentence: none of code and of the header of a table, several of a
// long list item.
func splitLines(part sentence.Sentence) []Sentence {
	text := part.Text
	made := Sentence{}
	switch {
	case strings.HasPrefix(text, "```"), strings.HasPrefix(text, "~~~"):
		return nil
	case strings.HasPrefix(text, "|"):
		if strings.Contains(text, "\n") {
			return nil
		}
		text = joinCells(text)
	default:
		if marker := sentence.ItemMarker(text); marker > 0 {
			made.Item, text = true, text[marker:]
		}
	}
	if rest, found := strings.CutPrefix(text, "[ ] "); found {
		made.Open, text = true, rest
	}
	for _, ticked := range []string{"[x] ", "[X] "} {
		text = strings.TrimPrefix(text, ticked)
	}
	texts := []string{text}
	if made.Item && len(text) > longItem {
		texts = nil
		for _, cut := range sentence.Split(text) {
			if !cut.Block {
				texts = append(texts, cut.Text)
			}
		}
	}
	var lines []Sentence
	for _, text := range texts {
		made.Text = Line(text)
		if strings.IndexFunc(made.Text, unicode.IsLetter) >= 0 {
			made.Terms = Telling(made.Text)
			lines = append(lines, made)
		}
	}
	return lines
}

// readCells returns the cells of a row of a table.
func readCells(row string) []string {
	cells := strings.Split(strings.Trim(strings.TrimSpace(row), "|"), "|")
	for i, cell := range cells {
		cells[i] = strings.TrimSpace(cell)
	}
	return cells
}

// joinCells writes a row of a table as a line.
func joinCells(row string) string {
	var kept []string
	for cell := range strings.SplitSeq(strings.Trim(row, "| "), "|") {
		if cell = strings.TrimSpace(cell); cell != "" {
			kept = append(kept, cell)
		}
	}
	return strings.Join(kept, " · ")
}

// Line puts text on one line of at most MaxStatement characters.
func Line(text string) string {
	return shorten.Line(text, MaxStatement)
}

// Telling returns the analysed words of a text that are no fillers.
func Telling(text string) []string {
	var kept []string
	for _, term := range lexical.Analyze(text) {
		if !lexical.IsFiller(term) {
			kept = append(kept, term)
		}
	}
	return kept
}

// Distinct leaves out statements whose text came before, marks and spaces aside, but keeps their
// places.
func Distinct(statements []Statement, places int) []Statement {
	at := make(map[string]int)
	var kept []Statement
	for _, s := range statements {
		key := spelling(s.Text)
		if i, ok := at[key]; ok {
			for _, place := range s.Places {
				kept[i].Places = Join(kept[i].Places, place, places)
			}
			continue
		}
		at[key] = len(kept)
		kept = append(kept, Statement{Text: s.Text, Places: append([]Place(nil), s.Places...)})
	}
	return kept
}

// spelling is a text by its letters and digits alone: what differs in marks and spaces says
// the same.
func spelling(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// Join adds a place, unless it is there or there are as many as may be.
func Join(places []Place, place Place, most int) []Place {
	for _, known := range places {
		if known == place {
			return places
		}
	}
	if len(places) >= most {
		return places
	}
	return append(places, place)
}
