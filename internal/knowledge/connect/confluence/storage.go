package confluence

import (
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/cairn-bot/cairn/internal/knowledge/connect"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/atlassian"
)

// maxNesting is how many elements may be within one another.
const maxNesting = 200

// renderPage writes a page as Markdown: its title, and what it says.
func renderPage(one content, storage string, limit int64) ([]byte, error) {
	if int64(len(storage)) > limit {
		return nil, &connect.TooLargeError{Size: int64(len(storage)), Limit: limit}
	}
	page, err := storageToHTML(storage)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", atlassian.ErrUnreadable, err)
	}
	text, err := atlassian.ToMarkdown("<h1>" + html.EscapeString(atlassian.OneLine(one.Title)) + "</h1>\n" + page)
	if err != nil {
		return nil, err
	}
	return []byte(text + "\n"), nil
}

// plainElements are the elements of HTML that storage format has and that stay as they are.
var plainElements = map[string]bool{
	"p": true, "h1": true, "h2": true, "h3": true, "h4": true, "h5": true, "h6": true, "ul": true, "ol": true, "li": true, "pre": true, "code": true,
	"blockquote": true, "table": true, "tbody": true, "thead": true, "tr": true, "th": true, "td": true, "strong": true, "em": true, "b": true, "i": true,
	"br": true, "hr": true, "del": true, "s": true,
}

// droppedElements are those whose content is nothing that a reader sees as text.
var droppedElements = map[string]bool{
	"ac:parameter": true, "ac:task-id": true, "ac:task-uuid": true, "ac:task-status": true, "ac:placeholder": true, "ac:adf-attribute": true,
	"ac:adf-fallback": true, "script": true, "style": true,
}

// blockElements are the elements of storage format that stand as blocks of their own, and what
// they are as HTML.
var blockElements = map[string]string{
	"ac:task-list": "ul", "ac:task": "li", "ac:rich-text-body": "div", "ac:layout-section": "div", "ac:layout-cell": "div",
}

// storageWriter rewrites storage format, Confluence's XHTML with elements of its own, as HTML.
type storageWriter struct {
	out  strings.Builder
	open []openElement
	drop int // elements that are left out and are open
}

// openElement is an element that is open.
type openElement struct {
	end   string // its end tag, "" where it writes none
	macro string // the name of the macro that it is in, or is
}

// macro gives the name of the macro that the next element is in.
func (w *storageWriter) macro() string {
	if len(w.open) == 0 {
		return ""
	}
	return w.open[len(w.open)-1].macro
}

// storageToHTML rewrites a page.
func storageToHTML(storage string) (string, error) {
	decoder := xml.NewDecoder(strings.NewReader("<page>" + strings.ToValidUTF8(storage, "\uFFFD") + "</page>"))
	decoder.Strict, decoder.AutoClose, decoder.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	w := &storageWriter{}
	for {
		token, err := decoder.RawToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", fmt.Errorf("its storage format is broken: %w", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			if len(w.open) == maxNesting {
				return "", fmt.Errorf("its elements are nested more than %d deep", maxNesting)
			}
			w.start(elementName(token.Name), token.Attr)
		case xml.EndElement:
			w.end()
		case xml.CharData:
			if w.drop == 0 {
				w.out.WriteString(html.EscapeString(string(token)))
			}
		}
	}
	for len(w.open) > 0 {
		w.end()
	}
	return w.out.String(), nil
}

func elementName(name xml.Name) string {
	if name.Space != "" {
		return name.Space + ":" + name.Local
	}
	return strings.ToLower(name.Local)
}

// attribute gives an attribute by its name without its prefix.
func attribute(attributes []xml.Attr, name string) string {
	for _, one := range attributes {
		if one.Name.Local == name {
			return one.Value
		}
	}
	return ""
}

func (w *storageWriter) start(name string, attributes []xml.Attr) {
	if w.drop > 0 || droppedElements[name] {
		w.drop++
		w.open = append(w.open, openElement{})
		return
	}
	end, macro := "", w.macro()
	block, isBlock := blockElements[name]
	switch {
	case plainElements[name]:
		end = w.writeTag(name)
	case isBlock:
		end = w.writeTag(block)
	case name == "a":
		w.out.WriteString(`<a href="` + html.EscapeString(attribute(attributes, "href")) + `">`)
		end = "</a>"
	case name == "img":
		w.out.WriteString(html.EscapeString(attribute(attributes, "alt")))
	case name == "time":
		w.out.WriteString(html.EscapeString(attribute(attributes, "datetime")))
	case name == "ac:structured-macro", name == "ac:macro":
		macro = attribute(attributes, "name")
		end = w.writeTag("div")
	case name == "ac:plain-text-body":
		end = w.startPlain()
	case name == "ri:page", name == "ri:blog-post":
		w.out.WriteString(html.EscapeString(attribute(attributes, "content-title")) + " ")
	case name == "ri:attachment":
		w.out.WriteString(html.EscapeString(attribute(attributes, "filename")) + " ")
	}
	w.open = append(w.open, openElement{end, macro})
}

func (w *storageWriter) writeTag(name string) (end string) {
	w.out.WriteString("<" + name + ">")
	if name == "br" || name == "hr" {
		return ""
	}
	return "</" + name + ">"
}

// startPlain begins the text of a macro: code, or what is not to be formatted.
func (w *storageWriter) startPlain() (end string) {
	if name := w.macro(); name == "code" || name == "noformat" {
		w.out.WriteString("<pre><code>")
		return "</code></pre>"
	}
	w.out.WriteString("<p>")
	return "</p>"
}

// end closes the element that was opened last.
func (w *storageWriter) end() {
	if len(w.open) == 0 {
		return
	}
	last := w.open[len(w.open)-1]
	w.open = w.open[:len(w.open)-1]
	if w.drop > 0 {
		w.drop--
		return
	}
	w.out.WriteString(last.end)
}
