package parse

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// plainSection is how many bytes of text a section of a plain file takes before the
// next paragraph begins another: an anchor names lines, and has to be near.
const plainSection = 1200

// parsePlain reads a text file: paragraphs between empty lines, and headings where
// they are plain to see. Anchors are line ranges, 1-based.
func parsePlain(in input) (Text, error) {
	reader := &plainReader{outline: newOutline()}
	for part, err := range in.textParts(cutAtGap) {
		if err != nil {
			return Text{}, &BrokenError{Name: in.name, Format: "text", Err: err}
		}
		reader.readLines(part)
		spilled, err := in.spill(Text{}, reader.outline)
		if err != nil {
			return Text{}, err
		}
		if spilled {
			reader.open, reader.bytes = false, 0
		}
	}
	return Text{Sections: reader.outline.finished()}, nil
}

// plainReader goes through the lines of a text file.
type plainReader struct {
	lines   []string
	before  int // lines of the parts before
	outline *outline
	open    bool // the section has a first line
	first   int  // line that the section begins on, 0-based
	last    int  // line that its last paragraph ends on
	bytes   int  // text in it
}

// readLines reads the lines of a part.
func (r *plainReader) readLines(part textPart) {
	r.lines, r.before = strings.Split(part.text, "\n"), part.line
	for i := range r.lines {
		r.lines[i] = strings.TrimRight(r.lines[i], " \t\f")
	}
	for at := 0; at < len(r.lines); {
		at += r.next(at)
	}
	r.finish()
}

// next reads the heading or paragraph at a line and gives how many lines it took.
func (r *plainReader) next(at int) int {
	if r.lines[at] == "" || isRule(r.lines[at]) {
		return 1
	}
	if level, text, length := r.headingAt(at); length > 0 {
		r.begin(at, level, text)
		r.last = r.before + at + length - 1
		return length
	}
	end := at
	for end < len(r.lines) && r.lines[end] != "" {
		end++
	}
	if r.bytes > 0 && r.bytes+paragraphBytes(r.lines[at:end]) > plainSection {
		r.finish()
		r.outline.continued()
		r.first, r.bytes = r.before+at, 0
	} else if !r.open {
		r.first, r.open = r.before+at, true
	}
	r.paragraph(r.lines[at:end])
	r.last = r.before + end - 1
	r.bytes += paragraphBytes(r.lines[at:end])
	return end - at
}

// begin ends the section and begins another.
func (r *plainReader) begin(at, level int, heading string) {
	r.finish()
	r.outline.heading(level, heading, "")
	r.first, r.open, r.bytes = r.before+at, true, 0
}

// finish gives the section its anchor, now that its last line is known.
func (r *plainReader) finish() {
	section := &r.outline.sections[len(r.outline.sections)-1]
	if section.Level > 0 || len(section.Blocks) > 0 {
		section.Anchor = fmt.Sprintf("L%d-L%d", r.first+1, r.last+1)
	}
}

func paragraphBytes(lines []string) int {
	size := 0
	for _, line := range lines {
		size += len(line) + 1
	}
	return size
}

var plainItem = regexp.MustCompile(`^[ \t]*(?:[-*+•–]|\(?\d{1,3}[.)])[ \t]+\S`)

// paragraph adds the lines between two empty ones: as code where they are indented,
// as items where they begin like some, else as prose.
func (r *plainReader) paragraph(lines []string) {
	if isIndented(lines) {
		r.outline.code("", strings.Join(outdented(lines), "\n"))
		return
	}
	kind, begin := Paragraph, 0
	for i, line := range lines {
		if plainItem.MatchString(line) {
			r.outline.add(kind, joinedLines(lines[begin:i]))
			kind, begin = ListItem, i
		}
	}
	r.outline.add(kind, joinedLines(lines[begin:]))
}

func isIndented(lines []string) bool {
	for _, line := range lines {
		if !strings.HasPrefix(line, "    ") && !strings.HasPrefix(line, "\t") || plainItem.MatchString(line) {
			return false
		}
	}
	return true
}

// outdented takes off the indentation that all lines have.
func outdented(lines []string) []string {
	indent := lines[0][:len(lines[0])-len(strings.TrimLeft(lines[0], " \t"))]
	out := make([]string, len(lines))
	for i, line := range lines {
		for !strings.HasPrefix(line, indent) {
			indent = indent[:len(indent)-1]
		}
		out[i] = line
	}
	for i := range out {
		out[i] = strings.TrimPrefix(out[i], indent)
	}
	return out
}

// joinedLines joins lines that were wrapped at a width; other line breaks stay.
func joinedLines(lines []string) string {
	widest := 0
	for _, line := range lines {
		widest = max(widest, utf8.RuneCountInString(line))
	}
	wrapped := widest >= 40 && widest <= 120
	var out strings.Builder
	for i, line := range lines {
		if i > 0 {
			if wrapped && utf8.RuneCountInString(lines[i-1]) >= widest*6/10 {
				out.WriteByte(' ')
			} else {
				out.WriteByte('\n')
			}
		}
		out.WriteString(strings.TrimSpace(line))
	}
	return out.String()
}

// isRule says whether a line is drawn rather than written.
func isRule(line string) bool {
	return len(line) >= 3 && strings.Trim(line, line[:1]) == "" && strings.ContainsRune("=-~^*_#+.\"'`", rune(line[0]))
}

var (
	numberedHeading = regexp.MustCompile(`^(\d{1,3}(?:\.\d{1,3}){0,4})\.?[ \t]+\p{Lu}`)
	asciidocHeading = regexp.MustCompile(`^(={1,6}) (\S.*)$`)
)

const maxHeading = 80 // characters

// headingAt gives the heading at a line, and how many lines it takes: 0 for none.
// What could as well be a sentence or a list item is none.
func (r *plainReader) headingAt(at int) (level int, text string, length int) {
	line := r.lines[at]
	if utf8.RuneCountInString(line) > maxHeading || line[0] == ' ' || line[0] == '\t' {
		return 0, "", 0
	}
	if m := asciidocHeading.FindStringSubmatch(line); m != nil {
		return len(m[1]), m[2], 1
	}
	if at+1 < len(r.lines) {
		if level := underlineLevel(line, r.lines[at+1]); level > 0 {
			return level, line, 2
		}
	}
	alone := (at == 0 || r.lines[at-1] == "") && (at+1 == len(r.lines) || r.lines[at+1] == "")
	if !alone || strings.ContainsAny(line[len(line)-1:], ".,;!?") {
		return 0, "", 0
	}
	if m := numberedHeading.FindStringSubmatch(line); m != nil && (strings.Contains(m[1], ".") || !r.itemFollows(at)) {
		return min(6, 1+strings.Count(m[1], ".")), line, 1
	}
	if isCapitals(line) {
		return 1, strings.TrimSuffix(line, ":"), 1
	}
	return 0, "", 0
}

// itemFollows says whether the next paragraph is numbered too: then this is a list.
func (r *plainReader) itemFollows(at int) bool {
	for _, line := range r.lines[at+1:] {
		if line != "" {
			return plainItem.MatchString(line) || strings.HasPrefix(line, " ")
		}
	}
	return true
}

func underlineLevel(line, under string) int {
	if !isRule(under) || isRule(line) || len(under)*10 < utf8.RuneCountInString(line)*6 || plainItem.MatchString(line) {
		return 0
	}
	switch under[0] {
	case '=', '#', '*':
		return 1
	case '-', '+':
		return 2
	}
	return 3
}

func isCapitals(line string) bool {
	letters := 0
	for _, r := range line {
		if unicode.IsLower(r) {
			return false
		}
		if unicode.IsUpper(r) {
			letters++
		}
	}
	return letters >= 4 && letters*2 > utf8.RuneCountInString(line)
}
