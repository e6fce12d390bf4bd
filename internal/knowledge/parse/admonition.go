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
	var fence openFence
	for i := 0; i < len(lines); i++ {
		if fence.inside(lines[i]) || nesting == 0 {
			out = append(out, lines[i])
			continue
		}
		note, length := noteAt(lines[i:])
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

// noteAt gives the note that begins on the first line, and how many lines it takes.
func noteAt(lines []string) (note, int) {
	if m := indentedNote.FindStringSubmatch(lines[0]); m != nil {
		return indented(lines, m[1], noteLabel(m[2], m[3]))
	}
	if m := indentedTab.FindStringSubmatch(lines[0]); m != nil {
		return indented(lines, m[1], titled(m[2]))
	}
	m := fencedNote.FindStringSubmatch(lines[0])
	if m == nil {
		return note{}, 0
	}
	open := 1
	for i, line := range lines[1:] {
		if end := fencedNoteEnd.FindStringSubmatch(line); end != nil && len(end[1]) == len(m[2]) {
			open--
		} else if inner := fencedNote.FindStringSubmatch(line); inner != nil && len(inner[2]) == len(m[2]) {
			open++
		}
		if open == 0 {
			return note{indent: m[1], label: noteLabel(m[3], m[4]+m[5]), body: dedented(lines[1:i+1], m[1])}, i + 2
		}
	}
	return note{}, 0
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
