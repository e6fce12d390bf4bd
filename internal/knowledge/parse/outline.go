package parse

import (
	"slices"
	"strconv"
	"strings"

	"github.com/cairn-bot/cairn/internal/knowledge"
)

// outline collects the sections of a document as a format's reader meets headings
// and blocks.
type outline struct {
	sections []Section
	bytes    int  // text in them
	carried  int  // of sections that are before, for their headings alone
	spilled  bool // sections were given away, see input.spill
	repeated slugs
	links    LinkResolver // nil: relative links lead nowhere
}

func newOutline() *outline {
	return &outline{sections: []Section{{}}, repeated: slugs{}}
}

// link writes a link into text, as knowledge.MakeLink does; a relative one with the address
// that it leads to.
func (o *outline) link(label, target string) string {
	if o.links != nil && !strings.Contains(target, "://") && !strings.HasPrefix(target, "mailto:") {
		target = o.links(target)
	}
	return knowledge.MakeLink(label, target)
}

// heading begins a section.
func (o *outline) heading(level int, text, anchor string) {
	var headings []string
	for i := len(o.sections) - 1; i >= 0; i-- {
		above := o.sections[i]
		if above.Level == level {
			headings = slices.Clone(above.Headings[:len(above.Headings)-1])
			break
		}
		if above.Level < level {
			headings = slices.Clone(above.Headings)
			break
		}
	}
	o.sections = append(o.sections, Section{
		Heading: text, Level: level, Anchor: anchor, Headings: append(headings, text),
	})
}

// continued begins a section that goes on under the same heading, for formats whose
// anchors are places in the file.
func (o *outline) continued() *Section {
	last := o.sections[len(o.sections)-1]
	o.sections = append(o.sections, Section{Heading: last.Heading, Level: last.Level, Headings: last.Headings})
	return &o.sections[len(o.sections)-1]
}

// add appends a block to the current section; an empty one is left out.
func (o *outline) add(kind BlockKind, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	section := &o.sections[len(o.sections)-1]
	section.Blocks = append(section.Blocks, Block{Kind: kind, Text: text})
	o.bytes += len(text)
}

// hasText says whether any section has a block, or had one.
func (o *outline) hasText() bool {
	return o.spilled || slices.ContainsFunc(o.sections, func(s Section) bool { return len(s.Blocks) > 0 })
}

// describe puts a description in front of everything.
func (o *outline) describe(text string) {
	if text = oneLine(text); text != "" {
		o.sections[0].Blocks = []Block{{Kind: Paragraph, Text: text}}
	}
}

// code appends a code block, its fence longer than any inside.
func (o *outline) code(language, text string) {
	text = strings.Trim(text, "\n")
	if strings.TrimSpace(text) == "" {
		return
	}
	fence := fenceFor(text)
	o.add(Code, fence+language+"\n"+text+"\n"+fence)
}

func fenceFor(code string) string {
	longest, run := 2, 0
	for i := range len(code) {
		if code[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return strings.Repeat("`", longest+1)
}

// table appends a table; the first row is its header. Short rows are filled up.
func (o *outline) table(rows [][]string) {
	columns := 0
	for _, row := range rows {
		columns = max(columns, len(row))
	}
	if columns == 0 {
		return
	}
	var out strings.Builder
	for i, row := range rows {
		out.WriteByte('|')
		for column := range columns {
			cell := ""
			if column < len(row) {
				cell = strings.ReplaceAll(oneLine(row[column]), "|", `\|`)
			}
			out.WriteString(" " + cell + " |")
		}
		out.WriteByte('\n')
		if i == 0 {
			out.WriteString("|" + strings.Repeat(" --- |", columns) + "\n")
		}
	}
	o.add(Table, strings.TrimSuffix(out.String(), "\n"))
}

// finished gives the sections, without an empty one before the first heading.
func (o *outline) finished() []Section {
	sections := o.sections[o.carried:]
	if len(sections[0].Blocks) == 0 {
		return sections[1:]
	}
	return sections
}

// bullet is the marker of a list item: of an unordered list where number is negative.
func bullet(depth, number int) string {
	indent := strings.Repeat("  ", depth)
	if number < 0 {
		return indent + "- "
	}
	return indent + strconv.Itoa(number) + ". "
}
