package markup

import (
	"bufio"
	stdhtml "html"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer/html"
)

// Text returns what a text node says, on one line: escapes and character references
// are resolved, and what those spell is cleaned like the rest. Inside a code span
// they stand for themselves.
func Text(node *ast.Text, source []byte) string {
	value := node.Value(source)
	if node.IsRaw() {
		return oneLine(string(value))
	}
	return Resolve(value)
}

// Resolve gives the text of Markdown's value: escapes and character references are
// resolved, then all is cleaned, on one line.
func Resolve(value []byte) string {
	var resolved strings.Builder
	out := bufio.NewWriterSize(&resolved, len(value))
	html.DefaultWriter.Write(out, value)
	if err := out.Flush(); err != nil {
		panic("markup: a strings.Builder failed: " + err.Error())
	}
	return oneLine(stdhtml.UnescapeString(resolved.String()))
}

func oneLine(text string) string { return strings.ReplaceAll(Clean(text), "\n", " ") }
