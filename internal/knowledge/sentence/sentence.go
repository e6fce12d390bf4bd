// Package sentence cuts the text of a passage into the sentences that an answer
// quotes.
package sentence

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cairn-bot/cairn/internal/knowledge"
)

// Sentence is a piece of a text that is quoted whole: text[Start:End].
type Sentence struct {
	Text       string
	Start, End int  // bytes
	Block      bool // code, a table row or a list item: stands on lines of its own
}

// Split cuts Markdown-flavoured text, as parse gives it, into sentences in the order
// they stand. A fenced code block is one, and so is a list item with the lines that
// continue it, and a table row; a table's header goes with the delimiter row below
// it. A line break ends a sentence: wrapped lines have to be joined before. Points
// in abbreviations and dates of nine languages, versions, file names, URLs and code in
// back quotes end none.
// Only white space is left out.
func Split(text string) []Sentence {
	var found []Sentence
	for at := 0; at < len(text); {
		end := lineEnd(text, at)
		line := text[at:end]
		switch {
		case strings.TrimSpace(line) == "":
		case fenceMark(line) != "":
			end = fenceEnd(text, end, fenceMark(line))
			found = appendBlock(found, text, at, end)
		case isRow(line):
			if next := lineEnd(text, end); isDelimiter(text[end:next]) {
				end = next
			}
			found = appendBlock(found, text, at, end)
		case ItemMarker(line) > 0:
			end = itemEnd(text, end)
			found = appendBlock(found, text, at, end)
		default:
			found = appendProse(found, text, at, end)
		}
		at = end
	}
	return found
}

// lineEnd returns where the line that begins at a place ends, its line break included.
func lineEnd(text string, at int) int {
	if cut := strings.IndexByte(text[at:], '\n'); cut >= 0 {
		return at + cut + 1
	}
	return len(text)
}

// appendBlock adds text[start:end] without the white space around it.
func appendBlock(found []Sentence, text string, start, end int) []Sentence {
	start, end = trimSpace(text, start, end)
	return append(found, Sentence{Text: text[start:end], Start: start, End: end, Block: true})
}

func trimSpace(text string, start, end int) (from, to int) {
	to = start + len(strings.TrimRightFunc(text[start:end], unicode.IsSpace))
	from = to - len(strings.TrimLeftFunc(text[start:to], unicode.IsSpace))
	return from, to
}

// fenceMark returns the mark of a line that opens a code block, or "".
func fenceMark(line string) string {
	line = strings.TrimSpace(line)
	for _, mark := range []string{"`", "~"} {
		rest := strings.TrimLeft(line, mark)
		if length := len(line) - len(rest); length >= 3 && (mark == "~" || !strings.Contains(rest, "`")) {
			return line[:length]
		}
	}
	return ""
}

// fenceEnd returns where the code block ends whose first line ends at a place. One that
// is not closed goes to the end.
func fenceEnd(text string, at int, open string) int {
	for at < len(text) {
		end := lineEnd(text, at)
		line := strings.TrimSpace(text[at:end])
		if len(line) >= len(open) && strings.Trim(line, open[:1]) == "" {
			return end
		}
		at = end
	}
	return at
}

func isRow(line string) bool {
	line = strings.TrimSpace(line)
	return len(line) > 1 && line[0] == '|' && line[len(line)-1] == '|'
}

func isDelimiter(line string) bool {
	return isRow(line) && strings.Contains(line, "-") && strings.Trim(line, "|-: \t\n") == ""
}

// ItemMarker returns the length of the marker that a list item's line begins with, with
// the white space around it; 0 for any other line.
func ItemMarker(line string) int {
	rest := strings.TrimLeft(line, " \t")
	var size int
	if r, length := utf8.DecodeRuneInString(rest); strings.ContainsRune("-*+•–", r) && length > 0 {
		size = length
	} else {
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		if digits == 0 || digits > 9 || digits == len(rest) || rest[digits] != '.' && rest[digits] != ')' {
			return 0
		}
		size = digits + 1
	}
	after := strings.TrimLeft(rest[size:], " \t")
	if len(after) == len(rest)-size || strings.TrimSpace(after) == "" {
		return 0
	}
	return len(line) - len(after)
}

// itemEnd returns where the list item ends whose first line ends at a place: with the
// lines that continue it.
func itemEnd(text string, at int) int {
	for at < len(text) {
		end := lineEnd(text, at)
		line := text[at:end]
		if strings.TrimSpace(line) == "" || ItemMarker(line) > 0 || isRow(line) || fenceMark(line) != "" {
			return at
		}
		at = end
	}
	return at
}

// appendProse adds the sentences of one line.
func appendProse(found []Sentence, text string, start, end int) []Sentence {
	add := func(from, to int) {
		from, to = trimSpace(text, from, to)
		if from < to {
			found = append(found, Sentence{Text: text[from:to], Start: from, End: to})
		}
	}
	for at := start; at < end; {
		if text[at] == '`' {
			at = CodeSpanEnd(text[:end], at)
			continue
		}
		if text[at] == '[' {
			if length := knowledge.LinkLength(text[at:end]); length > 0 {
				at += length
				continue
			}
		}
		r, size := utf8.DecodeRuneInString(text[at:end])
		at += size
		if !strings.ContainsRune(".!?…。！？", r) {
			continue
		}
		closed := at + len(text[at:end]) - len(strings.TrimLeft(text[at:end], ".!?…。！？\"')]}”’»」』）】》〉*_~"))
		if endsSentence(text[start:at-size], text[at-size:closed], text[closed:end]) {
			add(start, closed)
			start = closed
		}
		at = closed
	}
	add(start, end)
	return found
}

// CodeSpanEnd is behind the code span that begins at a place, or behind its back quotes
// where nothing closes them.
func CodeSpanEnd(text string, at int) int {
	rest := strings.TrimLeft(text[at:], "`")
	open := len(text) - at - len(rest)
	for from := at + open; from < len(text); {
		next := strings.IndexByte(text[from:], '`')
		if next < 0 {
			break
		}
		from += next
		length := len(text[from:]) - len(strings.TrimLeft(text[from:], "`"))
		from += length
		if length == open {
			return from
		}
	}
	return at + open
}
