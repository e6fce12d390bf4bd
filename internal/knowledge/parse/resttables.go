package parse

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cairn-bot/cairn/internal/knowledge"
)

// gridTable rewrites a table that is drawn with +---+ and |, and gives its lines. Rows over
// all columns are labels; without a header, the first cell names what the others say.
func (r *restReader) gridTable(lines []string, at int, indent string) int {
	end := at
	for end < len(lines) && strings.TrimSpace(lines[end]) != "" {
		end++
	}
	grid := &gridReader{headed: -1}
	for _, line := range lines[at:end] {
		grid.read(strings.TrimSpace(line))
	}
	grid.flush()
	for i := range grid.rows {
		for j := range grid.rows[i] {
			grid.rows[i][j] = r.inline(oneLine(grid.rows[i][j]))
		}
	}
	if grid.headed >= 0 || !grid.spans {
		r.out.table(indent, grid.rows)
		return end - at
	}
	for _, row := range grid.rows {
		said := slices.DeleteFunc(row, func(cell string) bool { return cell == "" })
		switch len(said) {
		case 0:
		case 1:
			r.out.apart(indent, said[0])
		default:
			r.out.add(indent, "- "+said[0]+": "+strings.Join(said[1:], ", "))
		}
	}
	return end - at
}

// gridReader reads the rows of a drawn table.
type gridReader struct {
	columns []int // where a column may begin, by the borders
	rows    [][]string
	row     []string // the one that is read
	headed  int      // rows of the header, -1 for none
	spans   bool     // a row has fewer cells than there are columns
}

func (g *gridReader) flush() {
	if len(g.row) > 0 {
		g.spans = g.spans || len(g.row) < len(g.columns)-1
		g.rows = append(g.rows, g.row)
	}
	g.row = nil
}

// read reads a line of the table.
func (g *gridReader) read(line string) {
	if restGridBorder.MatchString(line) || !strings.HasPrefix(line, "|") {
		g.flush()
		if strings.HasPrefix(line, "+=") {
			g.headed = len(g.rows)
		}
		for at, r := range []rune(line) {
			if r == '+' && !slices.Contains(g.columns, at) {
				g.columns = append(g.columns, at)
			}
		}
		slices.Sort(g.columns)
		return
	}
	for i, cell := range g.cut(line) {
		if i == len(g.row) {
			g.row = append(g.row, "")
		}
		if cell = strings.TrimSpace(cell); !strings.HasPrefix(cell, ".. ") {
			g.row[i] += " " + cell
		}
	}
}

// cut gives the cells of a line: between bars that stand where a border has a corner, as far as
// its characters are all equally wide.
func (g *gridReader) cut(line string) []string {
	runes := []rune(line)
	if len(g.columns) == 0 || g.columns[len(g.columns)-1] != len(runes)-1 {
		return strings.Split(strings.Trim(line, "|"), "|")
	}
	var cells []string
	begin := 1
	for _, at := range g.columns[1:] {
		if runes[at] == '|' {
			cells = append(cells, string(runes[begin:at]))
			begin = at + 1
		}
	}
	return cells
}

// simpleTable rewrites a table whose columns stand under borders of "=", and gives its lines.
func (r *restReader) simpleTable(lines []string, at int, indent string) int {
	starts := columnStarts(lines[at])
	end, borders := at+1, 1
	for end < len(lines) {
		if restSimpleBorder.MatchString(strings.TrimSpace(lines[end])) {
			borders++
			last := end+1 == len(lines) || strings.TrimSpace(lines[end+1]) == ""
			if end++; borders > 1 && last {
				break
			}
			continue
		}
		end++
	}
	if borders < 2 {
		return 1
	}
	var rows [][]string
	for _, line := range lines[at+1 : end] {
		if strings.TrimSpace(line) == "" || isRuled(line) {
			continue
		}
		cells := cutColumns(line, starts)
		if cells[0] == "" && len(rows) > 0 {
			for i := range cells {
				rows[len(rows)-1][i] += " " + r.inline(cells[i])
			}
			continue
		}
		for i := range cells {
			cells[i] = r.inline(cells[i])
		}
		rows = append(rows, cells)
	}
	r.out.table(indent, rows)
	return end - at
}

func isRuled(line string) bool { return strings.Trim(line, "=- ") == "" }

// columnStarts gives where the columns of a border begin.
func columnStarts(border string) []int {
	var starts []int
	for i := range len(border) {
		if border[i] == '=' && (i == 0 || border[i-1] == ' ') {
			starts = append(starts, i)
		}
	}
	return starts
}

// cutColumns cuts a line where columns begin; the last one goes to the end.
func cutColumns(line string, starts []int) []string {
	runes := []rune(line)
	cells := make([]string, len(starts))
	for i, start := range starts {
		end := len(runes)
		if i+1 < len(starts) {
			end = min(end, starts[i+1])
		}
		if start < end {
			cells[i] = strings.TrimSpace(string(runes[start:end]))
		}
	}
	return cells
}

var (
	restLiteral     = regexp.MustCompile("``(.+?)``")
	restRole        = regexp.MustCompile("(?::[\\w+.-]+)*:([\\w+.-]+):`([^`]+)`")
	restLink        = regexp.MustCompile("`([^`<]+?)\\s*<([^`>]+)>`__?")
	restReference   = regexp.MustCompile("`([^`]+)`__?")
	restWord        = regexp.MustCompile(`\b([A-Za-z][\w.-]*[A-Za-z0-9])_(?:$|([\s.,;:!?)\]]))`)
	restReplacement = regexp.MustCompile(`\|([^|\s](?:[^|]*[^|\s])?)\|_{0,2}`)
	restNoteMark    = regexp.MustCompile(`\s?\[(?:#[\w-]*|\*|\d+)\]_`)
	restLabelled    = regexp.MustCompile(`^(.*?)\s*<[^<>]*>$`)
)

// textRoles say something to readers; the others name things that are written as code.
var textRoles = map[string]bool{
	"ref": true, "doc": true, "term": true, "numref": true, "any": true, "abbr": true, "guilabel": true, "menuselection": true,
	"emphasis": true, "strong": true, "sub": true, "sup": true, "title": true, "rfc": true, "pep": true, "download": true,
}

// inline rewrites roles, references, substitutions and literals.
func (r *restReader) inline(text string) string {
	var kept []string
	keep := func(code string) string { // what later rules must not touch
		kept = append(kept, restore(code, kept))
		return markOf(len(kept) - 1)
	}
	text = strings.ReplaceAll(text, "\x00", "")
	text = restLiteral.ReplaceAllStringFunc(text, func(found string) string {
		return keep(codeSpan(strings.Trim(found, "`")))
	})
	text = restRole.ReplaceAllStringFunc(text, func(found string) string {
		m := restRole.FindStringSubmatch(found)
		said := m[2]
		if labelled := restLabelled.FindStringSubmatch(said); labelled != nil && labelled[1] != "" {
			said = labelled[1]
		}
		switch {
		case m[1] == "doc":
			if said == m[2] {
				said = readableName(said)
			}
			return keep(markdownLink(said, restDocument(m[2])))
		case m[1] == "ref" && said == m[2]:
			return keep(r.labelled(said))
		case textRoles[m[1]]:
			return said
		}
		return keep(codeSpan(strings.TrimLeft(said, "~!.")))
	})
	text = restLink.ReplaceAllStringFunc(text, func(found string) string {
		m := restLink.FindStringSubmatch(found)
		return keep(knowledge.MakeLink(oneLine(m[1]), r.address(m[2])))
	})
	text = restReference.ReplaceAllStringFunc(text, func(found string) string {
		m := restReference.FindStringSubmatch(found)
		return keep(knowledge.MakeLink(oneLine(m[1]), r.targets[restName(m[1])]))
	})
	text = restWord.ReplaceAllStringFunc(text, func(found string) string {
		m := restWord.FindStringSubmatch(found)
		if address, ok := r.targets[restName(m[1])]; ok {
			return keep(knowledge.MakeLink(m[1], address)) + m[2]
		}
		if _, ok := r.labels[restName(m[1])]; ok { // a place on this page
			return m[1] + m[2]
		}
		return found
	})
	text = restReplacement.ReplaceAllStringFunc(text, func(found string) string {
		name := strings.Trim(strings.TrimRight(found, "_"), "|")
		if replaced, ok := r.replacements[name]; ok {
			return replaced
		}
		return found
	})
	text = restNoteMark.ReplaceAllString(text, "")
	return restore(text, kept)
}

// labelled is what a reference to a section says: its title where that is on this page, else
// the words of its name.
func (r *restReader) labelled(name string) string {
	if title := r.labels[restName(name)]; title != "" {
		return title
	}
	return strings.TrimSpace(strings.NewReplacer("_", " ", "-", " ", ":", " ").Replace(name))
}

// restDocument is the file that a reference to a document names.
func restDocument(reference string) string {
	if at := strings.LastIndexByte(reference, '<'); at >= 0 {
		reference = strings.TrimSuffix(reference[at+1:], ">")
	}
	return reference + ".rst"
}

// address is that of a reference: given, or by the name of another.
func (r *restReader) address(given string) string {
	if name, ok := strings.CutSuffix(given, "_"); ok {
		return r.targets[restName(name)]
	}
	return given
}

var keptMark = regexp.MustCompile("\x00([0-9]+)\x00")

func markOf(kept int) string { return "\x00" + strconv.Itoa(kept) + "\x00" }

// restore puts what was kept in the place of its marks.
func restore(text string, kept []string) string {
	return keptMark.ReplaceAllStringFunc(text, func(mark string) string {
		at, err := strconv.Atoi(strings.Trim(mark, "\x00"))
		if err != nil || at >= len(kept) {
			return ""
		}
		return kept[at]
	})
}
