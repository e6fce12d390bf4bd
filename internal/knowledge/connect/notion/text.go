package notion

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"slices"
	"strings"
)

// richText is a piece of text of one look.
type richText struct {
	Type        string  `json:"type"` // text, mention or equation
	PlainText   *string `json:"plain_text"`
	Href        string  `json:"href"` // null for none
	Annotations struct {
		Bold          bool `json:"bold"`
		Italic        bool `json:"italic"`
		Strikethrough bool `json:"strikethrough"`
		Code          bool `json:"code"`
	} `json:"annotations"`
}

func (t richText) text() string {
	if t.PlainText == nil {
		return ""
	}
	return strings.ToValidUTF8(*t.PlainText, "\uFFFD")
}

// plainText gives the text alone.
func plainText(texts []richText) string {
	var text strings.Builder
	for _, one := range texts {
		text.WriteString(one.text())
	}
	return text.String()
}

// writeRichText writes text with its looks and links.
func (w *blockWriter) writeRichText(texts []richText) { w.out.WriteString(richHTML(texts)) }

func richHTML(texts []richText) string {
	var made strings.Builder
	for _, one := range texts {
		made.WriteString(one.html())
	}
	return made.String()
}

func (t richText) html() string {
	made := strings.ReplaceAll(html.EscapeString(t.text()), "\n", "<br>")
	if strings.TrimSpace(t.text()) == "" {
		return made
	}
	if t.Annotations.Code || t.Type == "equation" {
		made = "<code>" + made + "</code>"
	}
	if t.Annotations.Bold {
		made = "<strong>" + made + "</strong>"
	}
	if t.Annotations.Italic {
		made = "<em>" + made + "</em>"
	}
	if t.Annotations.Strikethrough {
		made = "<del>" + made + "</del>"
	}
	return anchor(linkAddress(t.Href), made)
}

// anchor makes a link of HTML; without an address it stays as it is.
func anchor(address, made string) string {
	if address == "" {
		return made
	}
	return `<a href="` + html.EscapeString(address) + `">` + made + "</a>"
}

// oneLine makes a text one line.
func oneLine(text string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
}

// property is a property of a page. Its value stands under the name of its type.
type property map[string]json.RawMessage

// text gives a value that is a text, "" for another one.
func (p property) text(key string) string { return textOf(p[key]) }

// textOf gives the text that a value of JSON is, "" for another one.
func textOf(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return ""
	}
	return text
}

// readProperties reads the properties by their names.
func (p page) readProperties() (map[string]property, error) {
	var properties map[string]property
	if len(p.Properties) == 0 {
		return properties, nil
	}
	if err := json.Unmarshal(p.Properties, &properties); err != nil {
		return nil, fmt.Errorf("%w: its properties: %w", errUnreadable, err)
	}
	return properties, nil
}

// title gives the title of a page, which is the property of that type.
func (p page) title() string {
	properties, err := p.readProperties()
	if err == nil {
		for _, one := range properties {
			var texts []richText
			if one.text("type") == "title" && json.Unmarshal(one["title"], &texts) == nil {
				if title := oneLine(plainText(texts)); title != "" {
					return title
				}
			}
		}
	}
	return "Untitled"
}

// writeProperties writes the properties of a row of a database as a list of names and values.
func (w *blockWriter) writeProperties(one page) error {
	properties, err := one.readProperties()
	if err != nil {
		return err
	}
	var items strings.Builder
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		kind := properties[name].text("type")
		if kind == "title" {
			continue
		}
		if value := w.valueHTML(properties[name][kind], 0); value != "" {
			items.WriteString("<li>" + html.EscapeString(oneLine(name)) + ": " + value + "</li>\n")
		}
	}
	if items.Len() > 0 {
		w.out.WriteString("<ul>\n" + items.String() + "</ul>\n")
	}
	return nil
}

// maxValueDepth is how many values may be within one another: a rollup has a list of values.
const maxValueDepth = 8

// valueHTML writes the value of a property on one line, "" where there is none.
func (w *blockWriter) valueHTML(raw json.RawMessage, depth int) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || depth == maxValueDepth {
		return ""
	}
	switch raw[0] {
	case '[':
		return w.listHTML(raw, depth)
	case '{':
		var object property
		if json.Unmarshal(raw, &object) != nil {
			return ""
		}
		return w.objectHTML(object, depth)
	case '"':
		text := oneLine(textOf(raw))
		if strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "http://") {
			return anchor(linkAddress(text), html.EscapeString(text))
		}
		return html.EscapeString(text)
	case 't':
		return "Yes"
	case 'f':
		return "No"
	case 'n':
		return ""
	}
	return html.EscapeString(string(raw)) // a number
}

// listHTML writes several values, or pieces of one text.
func (w *blockWriter) listHTML(raw json.RawMessage, depth int) string {
	var texts []richText
	if json.Unmarshal(raw, &texts) == nil && len(texts) > 0 && texts[0].PlainText != nil {
		return richHTML(texts)
	}
	var entries []json.RawMessage
	if json.Unmarshal(raw, &entries) != nil {
		return ""
	}
	var values []string
	for _, one := range entries {
		if value := w.valueHTML(one, depth+1); value != "" {
			values = append(values, value)
		}
	}
	return strings.Join(values, ", ")
}

// objectHTML writes a value with parts: an option, a person and a file have a name, a date has a
// start, a number of an item may have a prefix, a formula and a rollup have a type, a verification
// has a state, and a relation has the id of a page.
func (w *blockWriter) objectHTML(object property, depth int) string {
	name := oneLine(object.text("name"))
	id, kind := object.text("id"), object.text("type")
	switch {
	case name != "":
		return html.EscapeString(name)
	case object.text("object") == "user":
		return ""
	case object.text("start") != "":
		if end := object.text("end"); end != "" {
			return html.EscapeString(oneLine(object.text("start") + " to " + end))
		}
		return html.EscapeString(oneLine(object.text("start")))
	case object["number"] != nil && kind == "":
		number := w.valueHTML(object["number"], depth+1)
		if prefix := oneLine(object.text("prefix")); prefix != "" {
			return html.EscapeString(prefix) + "-" + number
		}
		return number
	case kind != "":
		return w.valueHTML(object[kind], depth+1)
	case object.text("state") != "":
		return html.EscapeString(oneLine(object.text("state")))
	case isPageID(id) && w.title(id) != "":
		return anchor(pageAddress(id), html.EscapeString(w.title(id)))
	}
	return ""
}
