package correction

import (
	"fmt"
	"strings"
)

// context is how many unchanged lines a patch shows around a change.
const context = 3

// Patch writes the change of a text file as `git apply` takes it; name is its path in the
// repository, with slashes. lines are SplitLines of the file, changed the same number of lines: a
// line never becomes two. "" where nothing changes.
func Patch(name string, lines, changed []string) string {
	last := len(lines) - 1
	ended := last >= 0 && lines[last] == "" // the file ends with a line break
	if ended {
		last--
	}
	var hunks strings.Builder
	for at := 0; at <= last; at++ {
		if lines[at] == changed[at] {
			continue
		}
		from, to := max(0, at-context), at
		for i := at; i <= last && i <= to+2*context+1; i++ {
			if lines[i] != changed[i] {
				to = i
			}
		}
		end := min(last, to+context)
		fmt.Fprintf(&hunks, "@@ -%d,%d +%d,%d @@\n", from+1, end-from+1, from+1, end-from+1)
		writeHunk(&hunks, lines[from:end+1], changed[from:end+1], end == last && !ended)
		at = end
	}
	if hunks.Len() == 0 {
		return ""
	}
	a, b := quotePath("a/"+name), quotePath("b/"+name)
	return fmt.Sprintf("diff --git %s %s\n--- %s\n+++ %s\n%s", a, b, a, b, hunks.String())
}

// writeHunk writes the lines of a hunk; open tells that the last one has no line break.
func writeHunk(b *strings.Builder, lines, changed []string, open bool) {
	mark := func(i int) {
		if open && i == len(lines)-1 {
			b.WriteString("\\ No newline at end of file\n")
		}
	}
	for i := 0; i < len(lines); {
		if lines[i] == changed[i] {
			b.WriteString(" " + lines[i] + "\n")
			mark(i)
			i++
			continue
		}
		first := i
		for ; i < len(lines) && lines[i] != changed[i]; i++ {
			b.WriteString("-" + lines[i] + "\n")
			mark(i)
		}
		for j := first; j < i; j++ {
			b.WriteString("+" + changed[j] + "\n")
			mark(j)
		}
	}
}

// quotePath writes a path as git does: in C's form where it has signs that end it.
func quotePath(path string) string {
	if strings.IndexFunc(path, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r == 0x7F }) < 0 {
		return path
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(path) {
		switch c := path[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c == 0x7F:
			fmt.Fprintf(&b, "\\%03o", c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String() + `"`
}
