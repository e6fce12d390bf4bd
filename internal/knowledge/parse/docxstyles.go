package parse

import (
	"encoding/xml"
	"regexp"
	"strconv"
	"strings"
)

// style is a paragraph style of a Word document.
type style struct {
	name    string // in lower case; Word keeps the English names of its own styles
	basedOn string
	outline int    // level of a heading, 1 to 9; 0 where the style does not say
	list    string // id of the list that it numbers by, "" for none
	level   int    // in that list, from 0
}

// styles are the paragraph styles by their ids.
type styles map[string]style

// maxInheritance bounds how far a chain of styles is followed; it may be a circle.
const maxInheritance = 20

var headingStyle = regexp.MustCompile(`^heading ([1-9])$`)

func readStyles(a *archive) (styles, error) {
	found := styles{}
	var id string
	var current style
	err := a.read("word/styles.xml", func(t xml.Token) error {
		switch t := t.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "style":
				id, current = value(t, "styleId"), style{}
			case "name":
				current.name = strings.ToLower(value(t, "val"))
			case "basedOn":
				current.basedOn = value(t, "val")
			case "outlineLvl":
				current.outline = outlineLevel(value(t, "val"))
			case "numId":
				current.list = value(t, "val")
			case "ilvl":
				current.level = listDepth(value(t, "val"))
			}
		case xml.EndElement:
			if t.Name.Local == "style" {
				found[id] = current
			}
		}
		return nil
	})
	return found, err
}

// outlineLevel is a level of Word, 0 to 8 for headings, as a heading's level; 0 else.
func outlineLevel(text string) int {
	level, err := strconv.Atoi(text)
	if err != nil || level < 0 || level > 8 {
		return 0
	}
	return level + 1
}

func listDepth(text string) int {
	depth, err := strconv.Atoi(text)
	if err != nil || depth < 0 || depth > 8 {
		return 0
	}
	return depth
}

// resolved follows a style to what it is based on, for all that it does not say.
func (s styles) resolved(id string) style {
	var whole style
	for range maxInheritance {
		current, ok := s[id]
		if !ok {
			break
		}
		if m := headingStyle.FindStringSubmatch(current.name); m != nil && current.outline == 0 {
			current.outline = int(m[1][0] - '0')
		}
		if whole.name == "" {
			whole.name = current.name
		}
		if whole.outline == 0 {
			whole.outline = current.outline
		}
		if whole.list == "" {
			whole.list, whole.level = current.list, current.level
		}
		id = current.basedOn
	}
	return whole
}

// isCode says whether a style is for program text.
func (s style) isCode() bool {
	return strings.Contains(s.name, "code") || strings.Contains(s.name, "preformatted") || strings.Contains(s.name, "source")
}

// isContents says whether a style is for the table of contents, which repeats the headings.
func (s style) isContents() bool {
	return strings.HasPrefix(s.name, "toc ") || strings.HasPrefix(s.name, "table of ")
}

// listLevel is one level of a list.
type listLevel struct {
	list  string
	level int
}

// numbering says which levels of lists count, instead of having bullets.
type numbering map[listLevel]bool

func readNumbering(a *archive) (numbering, error) {
	abstract := map[listLevel]bool{}
	found := numbering{}
	var of, list string
	level := 0
	err := a.read("word/numbering.xml", func(t xml.Token) error {
		element, ok := t.(xml.StartElement)
		if !ok {
			return nil
		}
		switch element.Name.Local {
		case "abstractNum":
			of = value(element, "abstractNumId")
		case "lvl":
			level = listDepth(value(element, "ilvl"))
		case "numFmt":
			format := value(element, "val")
			abstract[listLevel{of, level}] = format != "bullet" && format != "none"
		case "num":
			list = value(element, "numId")
		case "abstractNumId":
			for level := range 9 {
				found[listLevel{list, level}] = abstract[listLevel{value(element, "val"), level}]
			}
		}
		return nil
	})
	return found, err
}
