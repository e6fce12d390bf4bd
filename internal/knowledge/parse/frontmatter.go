package parse

import (
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// maxFrontMatter bounds the metadata at a page's head, in bytes; a longer block is
// text between two rules.
const maxFrontMatter = 64 << 10

// frontMatter takes the YAML block off a page's beginning and gives what it says
// about the page. A block that is no YAML says nothing; it is no text either.
func frontMatter(source string) (meta Text, body string) {
	first, rest, found := strings.Cut(source, "\n")
	if !found || strings.TrimSpace(first) != "---" {
		return Text{}, source
	}
	block, body, closed := cutAtRule(rest)
	if !closed || len(block) > maxFrontMatter {
		return Text{}, source
	}
	file, err := parser.ParseBytes([]byte(block), 0)
	if err != nil {
		return Text{Title: titleLine(block)}, body
	}
	for _, document := range file.Docs {
		if mapping, ok := document.Body.(*ast.MappingNode); ok {
			for _, field := range mapping.Values {
				meta.setField(strings.ToLower(plainText(field.Key)), plainText(field.Value))
			}
		}
	}
	return meta, body
}

// titleLine finds the title in a block that is no valid YAML, most often because the
// title holds a colon.
func titleLine(block string) string {
	for line := range strings.SplitSeq(block, "\n") {
		if title, ok := strings.CutPrefix(line, "title:"); ok {
			return strings.Trim(strings.TrimSpace(title), `'"`)
		}
	}
	return ""
}

func cutAtRule(text string) (before, after string, found bool) {
	at := 0
	for line := range strings.SplitAfterSeq(text, "\n") {
		if mark := strings.TrimSpace(line); mark == "---" || mark == "..." {
			return text[:at], text[at+len(line):], true
		}
		at += len(line)
	}
	return "", text, false
}

func (t *Text) setField(key, value string) {
	switch key {
	case "title":
		t.Title = value
	case "owner", "author", "authors", "maintainer":
		if t.Owner == "" {
			t.Owner = value
		}
	case "lang", "language":
		t.Language = value
	case "draft":
		t.Draft = strings.EqualFold(value, "true")
	case "published":
		t.Draft = strings.EqualFold(value, "false")
	case "description", "summary":
		if t.description == "" {
			t.description = value
		}
	}
}

// plainText gives a scalar, or the scalars of a list; other values give "".
func plainText(node ast.Node) string {
	switch node := node.(type) {
	case *ast.StringNode:
		return node.Value
	case *ast.LiteralNode:
		return node.Value.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return node.GetToken().Value
	case *ast.SequenceNode:
		var values []string
		for _, value := range node.Values {
			if text := plainText(value); text != "" {
				values = append(values, text)
			}
		}
		return strings.Join(values, ", ")
	}
	return ""
}
