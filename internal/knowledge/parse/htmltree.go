package parse

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// pageFacts gives what the head of a page says about it.
func pageFacts(root *html.Node) Text {
	var text Text
	for node := range root.Descendants() {
		switch {
		case node.Type != html.ElementNode:
		case node.DataAtom == atom.Html:
			text.Language = attribute(node, "lang")
		case node.DataAtom == atom.Title && text.Title == "" && node.Namespace == "":
			text.Title = rawText(node)
		case node.DataAtom == atom.Meta && strings.EqualFold(attribute(node, "name"), "author"):
			text.Owner = attribute(node, "content")
		}
	}
	return text
}

// mainContent is the element that holds what a page is about: main, an article
// that is alone, or the whole body.
func mainContent(root *html.Node) *html.Node {
	var articles []*html.Node
	body := root
	for node := range root.Descendants() {
		if node.Type != html.ElementNode {
			continue
		}
		switch {
		case (node.DataAtom == atom.Main || attribute(node, "role") == "main") && hasText(node):
			return node
		case node.DataAtom == atom.Article:
			articles = append(articles, node)
		case node.DataAtom == atom.Body:
			body = node
		}
	}
	if len(articles) == 1 && hasText(articles[0]) {
		return articles[0]
	}
	return body
}

func hasText(node *html.Node) bool {
	return strings.TrimSpace(rawText(node)) != ""
}

// isDropped says whether an element is no part of what a page says.
func isDropped(node *html.Node) bool {
	switch node.DataAtom {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Nav, atom.Footer, atom.Aside, atom.Svg,
		atom.Head, atom.Iframe, atom.Object, atom.Button, atom.Select, atom.Input, atom.Textarea, atom.Math:
		return true
	}
	if attribute(node, "aria-hidden") == "true" || hasAttribute(node, "hidden") || attribute(node, "role") == "navigation" {
		return true
	}
	// The sign beside a heading that links to itself.
	return node.DataAtom == atom.A && (hasClass(node, "headerlink") || hasClass(node, "hash-link") || hasClass(node, "anchor")) && len(rawText(node)) <= len("🔗")
}

func isInline(node *html.Node) bool {
	switch node.DataAtom {
	case atom.A, atom.Abbr, atom.B, atom.Bdi, atom.Bdo, atom.Cite, atom.Data, atom.Dfn, atom.Em, atom.Font, atom.I,
		atom.Ins, atom.Label, atom.Mark, atom.Q, atom.Small, atom.Span, atom.Strong, atom.Sub, atom.Sup, atom.Time,
		atom.U, atom.Var, atom.Big, atom.Wbr, atom.Picture, atom.Acronym:
		return true
	}
	return node.DataAtom == 0 // an unknown element changes nothing around it
}

// headingID is the anchor of a heading: its own id, or that of a link inside it or
// of the section it begins.
func headingID(heading *html.Node) string {
	if id := attribute(heading, "id"); id != "" {
		return id
	}
	for node := range heading.Descendants() {
		if node.DataAtom == atom.A || node.DataAtom == atom.Span {
			if id := attribute(node, "id") + attribute(node, "name"); id != "" {
				return id
			}
		}
	}
	parent := heading.Parent
	if parent != nil && (parent.DataAtom == atom.Section || parent.DataAtom == atom.Div) && firstElement(parent) == heading {
		return attribute(parent, "id")
	}
	return ""
}

func firstElement(parent *html.Node) *html.Node {
	for node := parent.FirstChild; node != nil; node = node.NextSibling {
		if node.Type == html.ElementNode {
			return node
		}
	}
	return nil
}

// tableRows gives the cells of a table. layout says that it is no table of data.
func tableRows(table *html.Node) (rows [][]string, caption string, layout bool) {
	for node := range table.Descendants() {
		switch node.DataAtom {
		case atom.Table, atom.Pre, atom.H1, atom.H2, atom.H3, atom.H4:
			return nil, "", true
		case atom.Caption:
			caption = oneLine(rawText(node))
		case atom.Tr:
			rows = append(rows, nil)
		case atom.Td, atom.Th:
			if len(rows) > 0 {
				rows[len(rows)-1] = append(rows[len(rows)-1], cellText(node))
			}
		}
	}
	if len(rows) == 0 || len(rows) == 1 && len(rows[0]) <= 1 {
		return nil, "", true
	}
	return rows, caption, false
}

// cellText reads a cell like a page of its own and puts its blocks on one line.
func cellText(cell *html.Node) string {
	reader := &htmlReader{outline: newOutline(), nesting: maxCellNesting}
	reader.children(cell, 0)
	reader.flush()
	var texts []string
	for _, block := range reader.outline.sections[0].Blocks {
		texts = append(texts, block.Text)
	}
	return strings.Join(texts, " ")
}

// maxCellNesting is how deep the inside of a cell is read; what is deeper is no text
// that a row could show.
const maxCellNesting = 50

// rawText gives the text of a node as it stands, line breaks included.
func rawText(node *html.Node) string {
	var out strings.Builder
	for inner := range node.Descendants() {
		switch {
		case inner.Type == html.TextNode:
			if inner.Parent == nil || !isUnseen(inner.Parent) {
				out.WriteString(inner.Data)
			}
		case inner.DataAtom == atom.Br:
			out.WriteByte('\n')
		}
	}
	return out.String()
}

func isUnseen(node *html.Node) bool {
	return node.DataAtom == atom.Script || node.DataAtom == atom.Style || node.DataAtom == atom.Template
}

// codeLanguage is the language that a pre element or the code in it states.
func codeLanguage(pre *html.Node) string {
	for _, node := range []*html.Node{pre, firstElement(pre)} {
		if node == nil {
			continue
		}
		for class := range strings.FieldsSeq(attribute(node, "class")) {
			for _, prefix := range []string{"language-", "lang-", "highlight-source-"} {
				if language, ok := strings.CutPrefix(class, prefix); ok {
					return strings.ReplaceAll(language, "`", "")
				}
			}
		}
	}
	return ""
}

func attribute(node *html.Node, key string) string {
	for _, a := range node.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func hasAttribute(node *html.Node, key string) bool {
	for _, a := range node.Attr {
		if a.Key == key {
			return true
		}
	}
	return false
}

func hasClass(node *html.Node, class string) bool {
	for c := range strings.FieldsSeq(attribute(node, "class")) {
		if c == class {
			return true
		}
	}
	return false
}
