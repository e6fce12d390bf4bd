package parse

import (
	"regexp"
	"strings"
)

var (
	// `!!! note "Title"` and the collapsible `??? note`, of MkDocs and Python-Markdown.
	indentedNote = regexp.MustCompile(`^([ \t]*)(?:!!!|\?\?\?\+?)[ \t]+([A-Za-z][\w-]*)(?:[ \t]+[\w-]+)*(?:[ \t]+"(.*)")?[ \t]*$`)
	// `=== "Linux"`, a tab of Material for MkDocs.
	indentedTab = regexp.MustCompile(`^([ \t]*)===[!+]?[ \t]+"(.*)"[ \t]*$`)
	// `:::note[Title]` or `:::note Title`, closed by `:::`, of Docusaurus and VitePress.
	fencedNote    = regexp.MustCompile(`^([ \t]*)(:{3,})[ \t]*([A-Za-z][\w-]*)[ \t]*(?:\[(.*)\]|([^{]*?))[ \t]*(?:\{.*\})?[ \t]*$`)
	fencedNoteEnd = regexp.MustCompile(`^[ \t]*(:{3,})[ \t]*$`)
	codeFence     = regexp.MustCompile("^\\s*(?:[-*+] +|\\d+\\. +)?(`{3,}|~{3,})(.*)$")
)

// notesAsQuotes rewrites admonitions and tabs into block quotes, so that their inside
// is read as the Markdown it is: what CommonMark sees there is indented code.
func notesAsQuotes(lines []string, nesting int) []string {
	out := make([]string, 0, len(lines))
	ends := noteEnds(lines)
	var fence openFence
	for i := 0; i < len(lines); i++ {
		if fence.inside(lines[i]) || nesting == 0 {
			out = append(out, lines[i])
			continue
		}
		note, length := noteAt(lines[i:], ends[i])
		if length == 0 {
			out = append(out, lines[i])
			continue
		}
		quote := note.indent + ">"
		out = append(out, "")
		for _, line := range append(note.label, notesAsQuotes(note.body, nesting-1)...) {
			out = append(out, strings.TrimRight(quote+" "+line, " "))
		}
		out = append(out, "")
		i += length - 1
	}
	return out
}

// openFence follows code fences over lines.
type openFence struct{ mark string }

// inside says whether a line is part of a fenced code block, its fences included.
func (f *openFence) inside(line string) bool {
	found := codeFence.FindStringSubmatch(line)
	switch {
	case found == nil:
		return f.mark != ""
	case f.mark == "":
		if found[1][0] != '`' || !strings.Contains(found[2], "`") {
			f.mark = found[1]
		}
	case found[1][0] == f.mark[0] && len(found[1]) >= len(f.mark) && strings.TrimSpace(found[2]) == "":
		f.mark = ""
	}
	return true
}

// note is an admonition or a tab.
type note struct {
	indent string
	label  []string // the first lines of its quote
	body   []string
}

// noteAt gives the note that begins on the first line, and how many lines it takes;
// length is that of a fenced one.
func noteAt(lines []string, length int) (note, int) {
	if m := indentedNote.FindStringSubmatch(lines[0]); m != nil {
		return indented(lines, m[1], noteLabel(m[2], m[3]))
	}
	if m := indentedTab.FindStringSubmatch(lines[0]); m != nil {
		return indented(lines, m[1], titled(m[2]))
	}
	if length == 0 {
		return note{}, 0
	}
	m := fencedNote.FindStringSubmatch(lines[0])
	return note{indent: m[1], label: noteLabel(m[3], m[4]+m[5]), body: dedented(lines[1:length-1], m[1])}, length
}

// noteEnds gives, for each line that begins a fenced note which is closed, how many
// lines the note takes.
func noteEnds(lines []string) map[int]int {
	type opening struct{ line, colons int }
	var open []opening
	waiting := make(map[int]int) // openings by their number of colons
	ends := make(map[int]int)
	var fence openFence
	for i, line := range lines {
		if fence.inside(line) || !strings.HasPrefix(strings.TrimLeft(line, " \t"), ":::") {
			continue
		}
		if m := fencedNote.FindStringSubmatch(line); m != nil {
			open = append(open, opening{line: i, colons: len(m[2])})
			waiting[len(m[2])]++
			continue
		}
		m := fencedNoteEnd.FindStringSubmatch(line)
		if m == nil || waiting[len(m[1])] == 0 {
			continue
		}
		for colons := 0; colons != len(m[1]); {
			last := open[len(open)-1]
			open = open[:len(open)-1]
			colons = last.colons
			waiting[colons]--
			if colons == len(m[1]) {
				ends[last.line] = i - last.line + 1
			}
		}
	}
	return ends
}

// indented gives a note whose body is what is indented by four below it.
func indented(lines []string, indent string, label []string) (note, int) {
	inner := indent + "    "
	length := 1
	for i, line := range lines[1:] {
		if strings.TrimSpace(line) == "" {
			continue
		}
		if !strings.HasPrefix(strings.ReplaceAll(line, "\t", "    "), strings.ReplaceAll(inner, "\t", "    ")) {
			break
		}
		length = i + 2
	}
	return note{indent: indent, label: label, body: dedented(lines[1:length], inner)}, length
}

func dedented(lines []string, indent string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = strings.TrimPrefix(strings.Replace(line, "\t", "    ", 1), indent)
	}
	return out
}

func noteLabel(kind, title string) []string {
	if title != "" {
		return titled(title)
	}
	return []string{"[!" + kind + "]"}
}

func titled(title string) []string {
	return []string{strings.TrimSuffix(strings.TrimSpace(title), ":") + ":", ""}
}
