package parse

import (
	"math"
	"slices"
	"strings"
	"unicode"
)

// markup writes the Markdown that another markup language stands for, line by line. The
// Markdown is read like that of any document, so that tables, lists, notes and links come
// out the same whatever they were written in.
type markup struct {
	lines []string
}

// add appends lines at an indentation.
func (m *markup) add(indent string, lines ...string) {
	for _, line := range lines {
		if line != "" {
			line = indent + line
		}
		m.lines = append(m.lines, line)
	}
}

// apart appends lines with an empty line on both sides.
func (m *markup) apart(indent string, lines ...string) {
	m.add(indent, "")
	m.add(indent, lines...)
	m.add(indent, "")
}

// fenced appends code.
func (m *markup) fenced(indent, language string, code []string) {
	code = trimEmptyLines(code)
	if len(code) == 0 {
		return
	}
	fence := fenceFor(strings.Join(code, "\n"))
	m.apart(indent, slices.Concat([]string{fence + languageName(language)}, code, []string{fence})...)
}

// table appends a table; the first row is its header.
func (m *markup) table(indent string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	o := newOutline()
	o.table(rows)
	for _, block := range o.sections[0].Blocks {
		m.apart(indent, strings.Split(block.Text, "\n")...)
	}
}

// note appends an admonition.
func (m *markup) note(indent, kind string, body []string) {
	m.apart(indent, slices.Concat([]string{"!!! " + kind}, indentedBy("    ", trimEmptyLines(body)))...)
}

// heading appends a section title; levels go to 6.
func (m *markup) heading(level int, title string) {
	m.apart("", strings.Repeat("#", max(1, min(level, 6)))+" "+oneLine(title))
}

func indentedBy(indent string, lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		if line != "" {
			out[i] = indent + line
		}
	}
	return out
}

// languageName keeps what a fence can name.
func languageName(language string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("+-#_.", r) {
			return r
		}
		return -1
	}, language)
}

func trimEmptyLines(lines []string) []string {
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// markdownLink writes a link for the reader of Markdown, which knows where it leads.
func markdownLink(label, target string) string {
	if strings.ContainsAny(label, "[]") || strings.ContainsAny(target, "()<> \t") {
		return label
	}
	return "[" + label + "](" + target + ")"
}

// indentOf is how many columns a line without tabs is indented.
func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// bodyEnd gives where the indented lines end that begin at a position: before the first line
// with text that is indented less.
func bodyEnd(lines []string, from, indent int) int {
	end := from
	for i := from; i < len(lines); i++ {
		if strings.TrimSpace(lines[i]) == "" {
			continue
		}
		if indentOf(lines[i]) < indent {
			break
		}
		end = i + 1
	}
	return end
}

// bodyOf takes the common indentation off lines.
func bodyOf(lines []string) []string { return dedent(lines, math.MaxInt) }

// dedent takes the common indentation off lines, at most so many columns of it.
func dedent(lines []string, most int) []string {
	least := -1
	for _, line := range lines {
		if strings.TrimSpace(line) != "" && (least < 0 || indentOf(line) < least) {
			least = indentOf(line)
		}
	}
	least = min(least, most)
	out := make([]string, len(lines))
	for i, line := range lines {
		if strings.TrimSpace(line) != "" {
			out[i] = line[least:]
		}
	}
	return out
}

// withoutTabs writes tabs as spaces up to the next column of eight, and drops white space at
// the ends of lines.
func withoutTabs(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		line = strings.TrimRight(line, " \t\r\f\v")
		if !strings.Contains(line, "\t") {
			out[i] = line
			continue
		}
		var b strings.Builder
		column := 0
		for _, r := range line {
			if r == '\t' {
				width := 8 - column%8
				b.WriteString(strings.Repeat(" ", width))
				column += width
				continue
			}
			b.WriteRune(r)
			column++
		}
		out[i] = b.String()
	}
	return out
}
