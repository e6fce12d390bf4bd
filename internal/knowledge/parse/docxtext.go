package parse

import (
	"encoding/xml"
	"strings"
)

// docxReader turns the elements of a Word document's main part into an outline.
type docxReader struct {
	outline   *outline
	styles    styles
	numbering numbering
	counters  map[listLevel]int
	title     string // of a paragraph in the style Title

	open   []*docxParagraph // the innermost last: a text box stands inside a paragraph
	tables []*docxTable
	inText bool     // inside an element that holds text
	hidden int      // depth inside an element that is passed over
	code   []string // lines of the code block so far
}

// docxParagraph is a paragraph under way.
type docxParagraph struct {
	text    strings.Builder
	style   string
	outline int // as the paragraph itself states it; -1 where it does not
	list    string
	level   int
}

type docxTable struct{ rows [][]string }

func (r *docxReader) token(t xml.Token) {
	switch t := t.(type) {
	case xml.StartElement:
		if r.hidden > 0 || isPassedOver(t.Name.Local) {
			r.hidden++
			return
		}
		r.start(t)
	case xml.EndElement:
		if r.hidden > 0 {
			r.hidden--
			return
		}
		r.end(t.Name.Local)
	case xml.CharData:
		if r.inText && len(r.open) > 0 {
			r.current().text.WriteString(printable(string(t)))
		}
	}
}

// isPassedOver says whether an element repeats what stands elsewhere or is no text
// any more: fallbacks for old programs, deleted and moved text, the earlier properties
// of a changed paragraph.
func isPassedOver(name string) bool {
	switch name {
	case "Fallback", "del", "moveFrom", "pPrChange", "rPrChange", "instrText":
		return true
	}
	return false
}

func (r *docxReader) current() *docxParagraph { return r.open[len(r.open)-1] }

func (r *docxReader) start(element xml.StartElement) {
	switch element.Name.Local {
	case "p":
		r.open = append(r.open, &docxParagraph{outline: -1})
	case "tbl":
		r.endCode()
		r.tables = append(r.tables, &docxTable{})
	case "tr":
		if len(r.tables) > 0 {
			table := r.tables[len(r.tables)-1]
			table.rows = append(table.rows, nil)
		}
	case "tc":
		if row := r.row(); row != nil {
			*row = append(*row, "")
		}
	default:
		if len(r.open) > 0 {
			r.property(element)
		}
	}
}

// property takes up what stands inside a paragraph.
func (r *docxReader) property(element xml.StartElement) {
	p := r.current()
	switch element.Name.Local {
	case "t":
		r.inText = true
	case "tab":
		if len(element.Attr) == 0 { // not the definition of a tab stop
			p.text.WriteByte(' ')
		}
	case "br", "cr":
		p.text.WriteByte('\n')
	case "noBreakHyphen":
		p.text.WriteByte('-')
	case "pStyle":
		p.style = value(element, "val")
	case "outlineLvl":
		p.outline = outlineLevel(value(element, "val"))
	case "numId":
		p.list = value(element, "val")
	case "ilvl":
		p.level = listDepth(value(element, "val"))
	}
}

func (r *docxReader) end(name string) {
	switch name {
	case "t":
		r.inText = false
	case "p":
		if len(r.open) > 0 {
			p := r.current()
			r.open = r.open[:len(r.open)-1]
			r.paragraph(p)
		}
	case "tbl":
		if len(r.tables) > 0 {
			table := r.tables[len(r.tables)-1]
			r.tables = r.tables[:len(r.tables)-1]
			r.table(table)
		}
	}
}

// row is the row that the innermost table is at, nil outside of tables.
func (r *docxReader) row() *[]string {
	if len(r.tables) == 0 {
		return nil
	}
	table := r.tables[len(r.tables)-1]
	if len(table.rows) == 0 {
		return nil
	}
	return &table.rows[len(table.rows)-1]
}

func (r *docxReader) paragraph(p *docxParagraph) {
	text := strings.TrimSpace(p.text.String())
	if row := r.row(); row != nil {
		r.cell(row, text)
		return
	}
	style := r.styles.resolved(p.style)
	if style.isCode() {
		r.code = append(r.code, strings.TrimRight(p.text.String(), " "))
		return
	}
	r.endCode()
	level := style.outline
	if p.outline >= 0 {
		level = p.outline
	}
	list, depth := p.list, p.level
	if list == "" {
		list, depth = style.list, style.level
	}
	switch {
	case text == "" || style.isContents():
	case style.name == "title" && r.title == "":
		r.title = oneLine(text)
	case level > 0:
		heading := oneLine(text)
		r.outline.heading(min(level, 6), heading, r.outline.repeated.unique(slug(heading)))
	case list != "" && list != "0":
		r.outline.add(ListItem, r.marker(listLevel{list, depth})+text)
	default:
		r.outline.add(Paragraph, text)
	}
}

// marker counts a list item and gives what it begins with.
func (r *docxReader) marker(at listLevel) string {
	if !r.numbering[at] {
		return bullet(at.level, -1)
	}
	r.counters[at]++
	for deeper := at.level + 1; deeper < 9; deeper++ {
		delete(r.counters, listLevel{at.list, deeper})
	}
	return bullet(at.level, r.counters[at])
}

// cell adds a paragraph to the last cell of a row.
func (r *docxReader) cell(row *[]string, text string) {
	if len(*row) == 0 {
		*row = append(*row, "")
	}
	last := &(*row)[len(*row)-1]
	*last = strings.TrimSpace(*last + " " + text)
}

// table adds a finished table: to the outline, or where it stands inside a cell, to
// the text of that.
func (r *docxReader) table(table *docxTable) {
	if row := r.row(); row != nil {
		for _, inner := range table.rows {
			r.cell(row, strings.Join(inner, " "))
		}
		return
	}
	if len(table.rows) == 1 && len(table.rows[0]) == 1 { // a frame around text
		r.outline.add(Paragraph, table.rows[0][0])
		return
	}
	r.outline.table(table.rows)
}

func (r *docxReader) endCode() {
	r.outline.code("", strings.Join(r.code, "\n"))
	r.code = nil
}
