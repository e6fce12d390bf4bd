package jira

import (
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge/connect/atlassian"
)

// maxNesting is how many nodes may be within one another.
const maxNesting = 100

// node is a part of a document in the Atlassian Document Format.
type node struct {
	Type    string         `json:"type"`
	Text    string         `json:"text"`
	Attrs   map[string]any `json:"attrs"`
	Marks   []mark         `json:"marks"`
	Content []node         `json:"content"`
}

// mark is how a text is set.
type mark struct {
	Type  string         `json:"type"`
	Attrs map[string]any `json:"attrs"`
}

// textOf gives the first of some attributes that is a text.
func textOf(attrs map[string]any, names ...string) string {
	for _, name := range names {
		if text, ok := attrs[name].(string); ok && text != "" {
			return text
		}
	}
	return ""
}

// elements are the nodes that are elements of HTML with what is in them.
var elements = map[string]string{
	"paragraph": "p", "bulletList": "ul", "orderedList": "ol", "listItem": "li", "taskList": "ul", "taskItem": "li", "blockTaskItem": "li",
	"decisionList": "ul", "decisionItem": "li", "blockquote": "blockquote", "panel": "blockquote", "table": "table", "tableRow": "tr", "caption": "p",
	"mediaSingle": "p", "mediaGroup": "p", "expand": "div", "nestedExpand": "div", "layoutSection": "div", "layoutColumn": "div",
}

// markElements are the marks that Markdown has.
var markElements = map[string]string{"strong": "strong", "em": "em", "code": "code", "strike": "del"}

// adfWriter rewrites the Atlassian Document Format as HTML.
type adfWriter struct {
	out   strings.Builder
	below int // the level of the heading that the text is below
	limit int64
	cells int // of tables that are open; what is in them is one line
}

// errTooDeep is that nodes are nested too deep.
var errTooDeep = fmt.Errorf("%w: its text is nested more than %d deep", atlassian.ErrUnreadable, maxNesting)

// writeADF writes a field as HTML, with its headings below those of a level. null is nothing.
func (w *adfWriter) writeADF(field json.RawMessage, below int) error {
	if !isSet(field) {
		return nil
	}
	var document node
	if err := json.Unmarshal(field, &document); err != nil {
		return fmt.Errorf("%w: its text is not in the Atlassian Document Format: %w", atlassian.ErrUnreadable, err)
	}
	w.below = below
	return w.write(document, 0)
}

// errTooLarge is that what is written is over the limit.
var errTooLarge = errors.New("too large")

func (w *adfWriter) writeAll(nodes []node, depth int) error {
	for _, one := range nodes {
		if err := w.write(one, depth); err != nil {
			return err
		}
	}
	return nil
}

func (w *adfWriter) write(one node, depth int) error {
	switch {
	case depth == maxNesting:
		return errTooDeep
	case int64(w.out.Len()) > w.limit:
		return errTooLarge
	}
	depth++
	element, ok := elements[one.Type]
	switch {
	case ok:
		return w.writeElement(element, one, depth)
	case one.Type == "heading":
		return w.writeHeading(one, depth)
	case one.Type == "codeBlock":
		return w.writeCode(one)
	case one.Type == "tableCell", one.Type == "tableHeader":
		return w.writeCell(one, depth)
	}
	w.writeInline(one)
	return w.writeAll(one.Content, depth)
}

// writeElement writes a block; in a cell, what is in it, with a space behind.
func (w *adfWriter) writeElement(element string, one node, depth int) error {
	if w.cells == 0 {
		w.out.WriteString("<" + element + ">")
	}
	switch one.Type {
	case "taskItem", "blockTaskItem":
		if textOf(one.Attrs, "state") == "DONE" {
			w.out.WriteString("(done) ")
		}
	case "expand", "nestedExpand":
		if title := textOf(one.Attrs, "title"); title != "" {
			w.writeText("strong", title)
			w.out.WriteString(" ")
		}
	}
	err := w.writeAll(one.Content, depth)
	if w.cells == 0 {
		w.out.WriteString("</" + element + ">\n")
	} else {
		w.out.WriteString(" ")
	}
	return err
}

// writeHeading writes a heading below ours, that can't be taken for one of ours.
func (w *adfWriter) writeHeading(one node, depth int) error {
	level, _ := one.Attrs["level"].(float64) // 0 where it has none
	element := "h" + strconv.Itoa(min(w.below+max(1, min(int(level), 6)), 6))
	if w.cells > 0 {
		element = "strong"
	}
	inside := adfWriter{below: w.below, limit: w.limit, cells: 1}
	if err := inside.writeAll(one.Content, depth); err != nil {
		return err
	}
	w.out.WriteString("<" + element + ">" + withoutBraces(inside.out.String()) + "</" + element + ">\n")
	return nil
}

func (w *adfWriter) writeCode(one node) error {
	var code strings.Builder
	for _, line := range one.Content {
		code.WriteString(line.Text)
	}
	if w.cells > 0 {
		w.writeText("code", strings.Join(strings.Fields(code.String()), " "))
		return nil
	}
	language := textOf(one.Attrs, "language")
	if strings.Trim(strings.ToLower(language), "abcdefghijklmnopqrstuvwxyz0123456789+#-") != "" {
		language = ""
	}
	w.out.WriteString(`<pre><code class="language-` + language + `">` + html.EscapeString(code.String()) + "</code></pre>\n")
	return nil
}

func (w *adfWriter) writeCell(one node, depth int) error {
	element := "td"
	if one.Type == "tableHeader" {
		element = "th"
	}
	if w.cells > 0 { // a table in a cell
		element = ""
	}
	if element != "" {
		w.out.WriteString("<" + element + ">")
	}
	w.cells++
	err := w.writeAll(one.Content, depth)
	w.cells--
	if element != "" {
		w.out.WriteString("</" + element + ">")
	}
	return err
}

// writeText writes text in an element.
func (w *adfWriter) writeText(element, text string) {
	w.out.WriteString("<" + element + ">" + html.EscapeString(text) + "</" + element + ">")
}

// writeInline writes what a node says beside what is in it.
func (w *adfWriter) writeInline(one node) {
	switch one.Type {
	case "text":
		w.writeMarked(one)
	case "hardBreak":
		if w.cells > 0 {
			w.out.WriteString(" ")
		} else {
			w.out.WriteString("<br>")
		}
	case "rule":
		if w.cells == 0 {
			w.out.WriteString("<hr>\n")
		}
	case "mention", "status":
		w.out.WriteString(html.EscapeString(textOf(one.Attrs, "text")))
	case "emoji":
		w.out.WriteString(html.EscapeString(textOf(one.Attrs, "text", "shortName")))
	case "date":
		w.out.WriteString(dateOf(one.Attrs))
	case "inlineCard", "blockCard", "embedCard":
		address := textOf(one.Attrs, "url")
		w.writeLink(address, html.EscapeString(address))
		w.out.WriteString(" ")
	case "media", "mediaInline":
		w.out.WriteString(html.EscapeString(textOf(one.Attrs, "alt", "__fileName")) + " ")
	default:
		w.out.WriteString(html.EscapeString(one.Text))
		if text := textOf(one.Attrs, "text"); one.Text == "" && one.Type != "placeholder" {
			w.out.WriteString(html.EscapeString(text))
		}
	}
}

// dateOf gives the day of a date, which is in milliseconds.
func dateOf(attrs map[string]any) string {
	var milliseconds int64
	switch value := attrs["timestamp"].(type) {
	case string:
		milliseconds, _ = strconv.ParseInt(value, 10, 64) //nolint:errcheck // 0 then
	case float64:
		milliseconds = int64(value)
	}
	if at := time.UnixMilli(milliseconds).UTC(); milliseconds != 0 && at.Year() > 0 && at.Year() < 10_000 {
		return at.Format(time.DateOnly)
	}
	return ""
}

// writeMarked writes a text with its marks.
func (w *adfWriter) writeMarked(one node) {
	text := html.EscapeString(one.Text)
	address := ""
	set := make(map[string]bool)
	for _, m := range one.Marks {
		if element, ok := markElements[m.Type]; ok && !set[element] {
			set[element] = true
			text = "<" + element + ">" + text + "</" + element + ">"
		}
		if m.Type == "link" {
			address = textOf(m.Attrs, "href")
		}
	}
	w.writeLink(address, text)
}

// writeLink writes HTML as a link, where it leads somewhere that people can open.
func (w *adfWriter) writeLink(address, text string) {
	parsed, err := url.Parse(address)
	if err != nil || address == "" || parsed.Scheme != "https" && parsed.Scheme != "http" && parsed.Scheme != "mailto" && (parsed.Scheme != "" || !strings.HasPrefix(address, "/")) {
		w.out.WriteString(text)
		return
	}
	w.out.WriteString(`<a href="` + html.EscapeString(address) + `">` + text + "</a>")
}
