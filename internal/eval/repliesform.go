package eval

import (
	"regexp"
	"strings"
)

// form counts what a reader of GitHub's Markdown finds in a text.
type form struct{ tables, rows, items, blocks int }

var (
	quoteStart     = regexp.MustCompile(`^\s*(?:>\s?)*`)
	fenceStart     = regexp.MustCompile("^(?:[-*+]\\s+|\\d{1,9}[.)]\\s+)?(`{3,}|~{3,})")
	itemStart      = regexp.MustCompile(`^(?:[-*+]|\d{1,9}[.)])\s`)
	itemLine       = regexp.MustCompile(`^(?:[-*+]|\d{1,9}[.)])\s+\S`)
	ruleLine       = regexp.MustCompile(`^\s*(?:[-*_]\s*){3,}$`)
	delimiterCell  = regexp.MustCompile(`^\s*:?-+:?\s*$`)
	interruptsRows = regexp.MustCompile("^\\s*(?:#{1,6}\\s|`{3}|~{3}|>|[-*+]\\s|\\d{1,9}[.)]\\s)")
)

// countForm reads Markdown by lines.
func countForm(text string) form {
	var f form
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); {
		body := quoteStart.ReplaceAllString(lines[i], "")
		if fence := fenceStart.FindStringSubmatch(body); fence != nil {
			if itemStart.MatchString(body) {
				f.items++
			}
			i++
			for i < len(lines) && !closesFence(lines[i], fence[1]) {
				i++
			}
			if i < len(lines) { // an unclosed fence isn't a block
				f.blocks++
			}
			i++
			continue
		}
		if rows := tableRows(lines[i:], body); rows >= 0 {
			f.tables++
			f.rows += rows
			i += rows + 2
			continue
		}
		if itemLine.MatchString(body) && !ruleLine.MatchString(body) {
			f.items++
		}
		i++
	}
	return f
}

// closesFence says whether a line is a fence at least as long as the one that opened.
func closesFence(line, open string) bool {
	mark := strings.TrimSpace(quoteStart.ReplaceAllString(line, ""))
	return len(mark) >= len(open) && strings.Trim(mark, open[:1]) == ""
}

// tableRows counts the rows of the table whose header is the first of the lines, -1 where
// none begins there.
func tableRows(lines []string, body string) int {
	if !strings.Contains(body, "|") || len(lines) < 2 || !strings.Contains(lines[1], "|") {
		return -1
	}
	delimiters := tableCells(lines[1])
	for _, cell := range delimiters {
		if !delimiterCell.MatchString(cell) {
			return -1
		}
	}
	if len(tableCells(body)) != len(delimiters) {
		return -1
	}
	rows := 0
	for _, line := range lines[2:] {
		if !strings.Contains(line, "|") || interruptsRows.MatchString(line) {
			break
		}
		rows++
	}
	return rows
}

// tableCells cuts a row at the bars that no backslash stands in front of.
func tableCells(line string) []string {
	line = strings.TrimPrefix(strings.TrimSpace(line), "|")
	if strings.HasSuffix(line, "|") && !strings.HasSuffix(line, `\|`) {
		line = line[:len(line)-1]
	}
	var cells []string
	start := 0
	for i := range len(line) {
		if line[i] == '|' && (i == 0 || line[i-1] != '\\') {
			cells = append(cells, line[start:i])
			start = i + 1
		}
	}
	return append(cells, line[start:])
}

var (
	foreignMark = regexp.MustCompile(`\[\[[^\s\[\]]*#[^\s\[\]]*\]\]|\[(?:[Ss]ource|[Qq]uelle|doc)s? \d+(?:, ?\d+)*\]|\(Sources? \d+(?:, ?(?:Source )?\d+)*\)|【\d+[^】]*】|<sup>\d+</sup>|\[\^\d+\]`)
	numberMark  = regexp.MustCompile(`\[(\d{1,3}(?:, ?\d{1,3})*)\]`)
	noteLine    = regexp.MustCompile(`(?m)^\[\^(\d+)\]:`)
)

// danglingMarks counts citations that lead nowhere: left in a foreign style, or a number
// without a source.
func danglingMarks(text string, sources map[string]string) int {
	text = withoutCodeSpans(withoutFences(text))
	notes := make(map[string]bool)
	for _, note := range noteLine.FindAllStringSubmatch(text, -1) {
		notes[note[1]] = true
	}
	count := 0
	for _, at := range foreignMark.FindAllStringIndex(text, -1) {
		mark := text[at[0]:at[1]]
		if note, ok := strings.CutPrefix(mark, "[^"); ok && (strings.HasPrefix(text[at[1]:], ":") || notes[strings.TrimSuffix(note, "]")]) {
			continue
		}
		count++
	}
	if sources == nil {
		return count
	}
	for _, at := range numberMark.FindAllStringSubmatchIndex(text, -1) {
		if strings.HasPrefix(text[at[1]:], "(") {
			continue
		}
		for number := range strings.SplitSeq(text[at[2]:at[3]], ",") {
			if _, ok := sources[strings.TrimPrefix(number, " ")]; !ok {
				count++
			}
		}
	}
	return count
}

var anyFence = regexp.MustCompile("^\\s*(`{3,}|~{3,})")

// withoutFences takes out closed code blocks.
func withoutFences(text string) string {
	lines := strings.Split(text, "\n")
	var left []string
	for i := 0; i < len(lines); i++ {
		if fence := anyFence.FindStringSubmatch(lines[i]); fence != nil {
			end := i + 1
			for end < len(lines) && strings.TrimSpace(lines[end]) != fence[1] {
				end++
			}
			if end < len(lines) {
				i = end
				continue
			}
		}
		left = append(left, lines[i])
	}
	return strings.Join(left, "\n")
}

// withoutCodeSpans takes out what stands between equal runs of back quotes on a line.
func withoutCodeSpans(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		for line != "" {
			at := strings.IndexByte(line, '`')
			if at < 0 {
				break
			}
			b.WriteString(line[:at])
			line = line[at:]
			line = line[codeSpan(line):]
		}
		b.WriteString(line)
	}
	return b.String()
}

// codeSpan is the length of the code span at the beginning of a text, or that of its back
// quotes where nothing closes them.
func codeSpan(text string) int {
	run := len(text) - len(strings.TrimLeft(text, "`"))
	for length := run; length > 0; length-- {
		if length+1 > len(text) {
			continue
		}
		if end := strings.Index(text[length+1:], text[:length]); end >= 0 {
			return length + 1 + end + length
		}
	}
	return run
}
