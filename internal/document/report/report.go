// Package report writes statements down as Markdown, each with its sources, and lets
// nothing out that documents or models may have put there for others: links that lead
// nowhere known, mentions, and numbers that look like a source's.
package report

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/cairn-bot/cairn/internal/document"
	"github.com/cairn-bot/cairn/internal/document/evidence"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/language"
	"github.com/cairn-bot/cairn/internal/llm/guard"
	"github.com/cairn-bot/cairn/internal/phrases"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// Report is what is written down.
type Report struct {
	Title    string
	Notes    []string // under the title, one line each
	Parts    []evidence.Part
	Empty    string       // what stands in a part without statements
	Language language.Tag // of what is said around statements; language.Unknown is English
}

// Written is a report as Markdown of at most flows.MaxFile bytes, its summary, and its
// sources with the numbers that both cite them by.
type Written struct {
	Markdown string
	Summary  string // the first statements with the numbers of their sources, for a chat
	Groups   []flows.SourceGroup
}

// maxLength is the length of a report without its list of sources, in bytes.
const maxLength = flows.MaxFile / 2

// Write writes a report on documents.
func Write(documents []document.Document, r Report) Written {
	w := newWriter(documents, r.Language)
	w.writeLine("# " + w.cleanText(r.Title))
	for _, note := range r.Notes {
		w.writeLine("\n" + w.cleanText(note))
	}
	for _, part := range r.Parts {
		w.writePart(part, r.Empty)
	}
	if w.left > 0 {
		w.writeLine("\n*" + w.speaker.Count(phrases.ReportCut, w.left) + "*")
	}
	w.writeSources()
	summary := w.digestParts(r.Parts, func(s evidence.Statement) string { return w.numbersText(s.Places) })
	return Written{Markdown: w.text.String(), Summary: summary, Groups: w.sourceGroups()}
}

type writer struct {
	documents []document.Document
	speaker   phrases.Speaker
	guard     guard.Guard
	text      strings.Builder
	places    []evidence.Place // by their numbers, from 1
	numbers   map[evidence.Place]int
	left      int // statements that found no room
}

func newWriter(documents []document.Document, readers language.Tag) *writer {
	known := make(map[string]bool)
	for _, doc := range documents {
		if doc.URL != "" {
			known[doc.URL] = true
		}
	}
	return &writer{documents: documents, speaker: phrases.In(readers), guard: guard.Guard{Known: known}, numbers: make(map[evidence.Place]int)}
}

func (w *writer) writeLine(text string) {
	w.text.WriteString(text)
	w.text.WriteByte('\n')
}

func (w *writer) writePart(part evidence.Part, empty string) {
	w.writeLine("\n## " + w.cleanText(part.Title) + "\n")
	if len(part.Statements) == 0 {
		w.writeLine("*" + empty + "*")
	}
	for _, s := range part.Statements {
		line := "- " + w.cleanText(s.Text)
		if w.text.Len()+len(line) > maxLength {
			w.left++
			continue
		}
		w.writeLine(line + w.numbersText(s.Places) + w.partlyText(s) + w.placesText(s.Places))
	}
	if part.More > 0 {
		w.writeLine("\n*" + w.speaker.Count(phrases.MoreUnlisted, part.More) + "*")
	}
}

// partlyText returns the mark of a statement of which its places tell a part only.
func (w *writer) partlyText(s evidence.Statement) string {
	if !s.Partly {
		return ""
	}
	return " *(" + w.speaker.Text(phrases.PartlyInSource) + ")*"
}

// numbersText returns the numbers of places: " [1][2]".
func (w *writer) numbersText(places []evidence.Place) string {
	var numbers strings.Builder
	for _, place := range places {
		number, ok := w.numbers[place]
		if !ok {
			w.places = append(w.places, place)
			number = len(w.places)
			w.numbers[place] = number
		}
		fmt.Fprintf(&numbers, "[%d]", number)
	}
	if len(places) == 0 {
		return ""
	}
	return " " + numbers.String()
}

// maxWhere is how many places of a statement are named beside it.
const maxWhere = 2

// placesText names places: " (`leave.md` › Days of leave)".
func (w *writer) placesText(places []evidence.Place) string {
	if len(places) == 0 {
		return ""
	}
	names := make([]string, 0, maxWhere)
	for _, place := range places[:min(len(places), maxWhere)] {
		names = append(names, w.placeName(place))
	}
	return " (" + strings.Join(names, "; ") + ")"
}

// Lengths of a place's name, in characters.
const (
	maxDocument = 120
	maxHeading  = 100
)

// placeName returns where a place is. The document's name is shown as code: nothing makes a link
// of that.
func (w *writer) placeName(place evidence.Place) string {
	doc := w.documents[place.Document]
	name := Code(doc.Name, maxDocument)
	if heading := sectionOf(doc, place).Heading(); heading != "" {
		name += " › " + ShortenMarkdown(w.cleanText(heading), maxHeading)
	}
	return name
}

// Code shows a name as code, cut to a number of characters.
func Code(name string, characters int) string {
	return "`" + ShortenMarkdown(strings.ReplaceAll(evidence.Line(name), "`", ""), characters) + "`"
}

func sectionOf(doc document.Document, place evidence.Place) document.Section {
	if place.Section < len(doc.Sections) {
		return doc.Sections[place.Section]
	}
	return document.Section{}
}

// maxAddress is the length of the longest address that is shown, in bytes.
const maxAddress = 2000

// writeSources writes the list of sources.
func (w *writer) writeSources() {
	if len(w.places) == 0 {
		return
	}
	w.writeLine("\n## " + w.speaker.Text(phrases.SourcesHeading) + "\n")
	for i, place := range w.places {
		line := fmt.Sprintf("- [%d] %s", i+1, w.placeName(place))
		if address := w.placeAddress(place); address != "" && len(address) <= maxAddress {
			line += " <" + address + ">"
		}
		if w.text.Len()+len(line) > flows.MaxFile-maxAddress {
			w.writeLine("\n*" + w.speaker.Count(phrases.MoreUnlisted, len(w.places)-i) + "*")
			return
		}
		w.writeLine(line)
	}
}

func (w *writer) placeAddress(place evidence.Place) string {
	doc := w.documents[place.Document]
	return knowledge.URLWithAnchor(knowledge.Document{URL: doc.URL}, sectionOf(doc, place).Anchor)
}

// sourceGroups returns the sources as they are shown below a reply.
func (w *writer) sourceGroups() []flows.SourceGroup {
	var groups []flows.SourceGroup
	group := make(map[knowledge.Kind]int)
	type at struct{ group, source int }
	listed := make(map[int]at)
	for i, place := range w.places {
		doc := w.documents[place.Document]
		where, ok := listed[place.Document]
		if !ok {
			g, begun := group[doc.Kind]
			if !begun {
				g = len(groups)
				group[doc.Kind] = g
				groups = append(groups, flows.SourceGroup{Kind: doc.Kind})
			}
			where = at{g, len(groups[g].Sources)}
			listed[place.Document] = where
			groups[g].Sources = append(groups[g].Sources, flows.Source{
				Document: doc.ID, Title: cmp.Or(doc.Title, doc.Name), Path: doc.Name, Modified: doc.Modified, State: knowledge.StateLive,
			})
		}
		section := sectionOf(doc, place)
		source := &groups[where.group].Sources[where.source]
		source.Sections = append(source.Sections, flows.Section{
			Number: i + 1, Heading: section.Heading(), Anchor: section.Anchor, URL: w.placeAddress(place), Rank: i + 1,
		})
	}
	return groups
}

// citationPattern is how sources are cited: a text that says "[3]" of itself must not look so.
var citationPattern = regexp.MustCompile(`\[(\d+)\]`)

// cleanText makes text of documents, models and people fit for a line of the report.
func (w *writer) cleanText(text string) string {
	return cleanUnsafe(w.guard, text)
}

func cleanUnsafe(allowed guard.Guard, text string) string {
	text = allowed.Clean(evidence.Line(text))
	text = citationPattern.ReplaceAllString(strings.Join(strings.Fields(text), " "), "($1)")
	if strings.Count(text, "`")%2 == 1 {
		text += "`"
	}
	if text != "" && strings.ContainsRune("#>|+-=~", rune(text[0])) {
		text = `\` + text
	}
	return text
}

// Digest returns the first statements of a report, each with the place that it is from in
// words, for a chat of readers of a language.
func Digest(documents []document.Document, parts []evidence.Part, readers language.Tag) string {
	w := newWriter(documents, readers)
	return w.digestParts(parts, func(s evidence.Statement) string { return w.placesText(s.Places) })
}

// Bounds of a digest.
const (
	// Digested is how many statements of a part are in a digest.
	Digested    = 5
	maxDigested = 200 // characters of a statement
	maxDigest   = 6000
)

func (w *writer) digestParts(parts []evidence.Part, from func(evidence.Statement) string) string {
	var b strings.Builder
	for _, part := range parts {
		if len(part.Statements) == 0 {
			continue
		}
		b.WriteString("\n**" + w.cleanText(part.Title) + "**\n")
		shown := part.Statements[:min(len(part.Statements), Digested)]
		for _, s := range shown {
			line := "- " + ShortenMarkdown(w.cleanText(s.Text), maxDigested) + w.partlyText(s) + from(s)
			if b.Len()+len(line) > maxDigest {
				return strings.TrimSpace(b.String())
			}
			b.WriteString(line + "\n")
		}
		if more := len(part.Statements) + part.More - len(shown); more > 0 {
			b.WriteString("- " + w.speaker.Text(phrases.AndMore, more) + "\n")
		}
	}
	return strings.TrimSpace(b.String())
}

// Clean makes a text that is shown beside a report fit to be shown.
func Clean(text string) string { return cleanUnsafe(guard.Guard{}, text) }

// ShortenMarkdown returns the first letters of a text in Markdown, with an ellipsis behind them
// where there are more. Code that it cuts ends there.
func ShortenMarkdown(text string, letters int) string {
	head := shorten.Head(text, letters)
	if len(head) == len(text) {
		return text
	}
	head = strings.TrimSpace(head)
	if strings.Count(head, "`")%2 == 1 {
		head += "`"
	}
	return head + "…"
}

// FileName makes the name of a file of what it is about: "Payment service" and
// "_context.md" give "payment-service_context.md". What gives no letters or digits is
// called by fallback.
func FileName(about, fallback, ending string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(about) {
		switch {
		case isWord(r):
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= maxFileName {
			break
		}
	}
	return cmp.Or(strings.Trim(b.String(), "-"), fallback) + ending
}

// maxFileName is the length of a file's name without its ending, in bytes.
const maxFileName = 60

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
