// Package render holds what the bot says between its Markdown and a platform that has no
// Markdown, or not this one: pieces made of styled runs of text. An adapter has a Format,
// which says what its platform can show, reads answers and lists sources with it, packs
// the pieces into messages with a Packer, and writes them in its platform's own way. How an
// answer came about is told by TraceSections.
package render

import "strings"

// Style is how a run of text looks.
type Style struct{ Bold, Italic, Strike, Code bool }

// Run is a piece of text on which one style lies, a link where URL is set, or the mention
// of a person where User is.
type Run struct {
	Text  string
	URL   string
	User  string // the platform's id
	Style Style
}

// Shape is what a piece is.
type Shape int

// The shapes.
const (
	Paragraph    Shape = iota // the only one that may be divided
	Item                      // of a list
	Preformatted              // text kept as it was written, or a table
	Quote
)

// Piece is a part of an answer that stands in one message.
type Piece struct {
	Shape    Shape
	Runs     []Run
	Indent   int // of an item: 0 to Format.Deepest
	Ordered  bool
	Number   int    // of an ordered item, from 1
	Language string // of preformatted code, "" where it is not told
	Table    *Table // of a preformatted piece whose runs set a table as text, else nil
}

// Table is a table's cells, for platforms that have tables of their own.
type Table struct {
	Rows   [][][]Run   // of equal length, the header first; an empty cell has no runs
	Aligns []Alignment // of the columns
}

// Alignment is where the text of a column's cells stands.
type Alignment int

// The alignments.
const (
	Left Alignment = iota
	Center
	Right
)

// Join merges neighbours that look the same and drops what is empty.
func Join(runs []Run) []Run {
	var out []Run
	for _, next := range runs {
		if next.Text == "" && next.User == "" {
			continue
		}
		if last := len(out) - 1; last >= 0 && out[last].Style == next.Style && out[last].URL+next.URL+out[last].User+next.User == "" {
			out[last].Text += next.Text
			continue
		}
		out = append(out, next)
	}
	return out
}

// Plain returns what runs say.
func Plain(runs []Run) string {
	var out strings.Builder
	for _, r := range runs {
		out.WriteString(r.Text)
	}
	return out.String()
}

// Heading is a piece that says what the pieces after it are.
func Heading(text string) Piece {
	return Piece{Runs: []Run{{Text: text, Style: Style{Bold: true}}}}
}
