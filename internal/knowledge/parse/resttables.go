package parse

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/cairn-bot/cairn/internal/knowledge"
)

// gridTable rewrites a table that is drawn with +---+ and |, and gives its lines.
func (r *restReader) gridTable(lines []string, at int, indent string) int {
	end := at
	for end < len(lines) && strings.TrimSpace(lines[end]) != "" {
		end++
	}
	var rows [][]string
	var cells []string
	flush := func() {
		if len(cells) > 0 {
			for i := range cells {
				cells[i] = r.inline(oneLine(cells[i]))
			}
			rows = append(rows, cells)
		}
		cells = nil
	}
	for _, line := range lines[at:end] {
		line = strings.TrimSpace(line)
		if restGridBorder.MatchString(line) || !strings.HasPrefix(line, "|") {
			flush()
			continue
		}
		for i, cell := range strings.Split(strings.Trim(line, "|"), "|") {
			if i == len(cells) {
				cells = append(cells, "")
			}
			cells[i] += " " + strings.TrimSpace(cell)
		}
	}
	flush()
	r.out.table(indent, rows)
	return end - at
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
