package browser

import (
	"regexp"
	"strings"

	"github.com/go-sourcemap/sourcemap"
)

// Bounds of what is searched for a mapping, in letters.
const (
	maxColumns = 2_000 // before a place
	maxInside  = 4_000 // of a function
	maxOutside = 4_000 // of the source before a place
)

// mapping is where a source map leads to.
type mapping struct {
	file         string
	line, column int // counted from 1 and 0
}

// findMapping finds the mapping at a place or before it. The library has none for what is behind
// the last one.
func findMapping(read *sourcemap.Consumer, line, column int) (found mapping, ok bool) {
	for at := column; at >= max(0, column-maxColumns); at-- {
		if file, _, sourceLine, sourceColumn, ok := read.Source(line, at); ok {
			return mapping{file, sourceLine, sourceColumn}, true
		}
	}
	return mapping{}, false
}

// functionHead is what stands in a function before the place that the engine names as its own: the
// parameters.
var functionHead = regexp.MustCompile(`^(?:async\s+)?(?:function\b)?[\s*]*[\w$]*\s*\(|^async\s*`)

// findFunction finds the line of the source in which a function begins, at a place of a script with
// the lines counted from 1. Compilers leave out mappings: where none is of the function's own head,
// the first one in its body is taken, and the source before that is searched for the head.
func findFunction(read *sourcemap.Consumer, line, column int, code string) (file string, sourceLine int, ok bool) {
	at, ok := findMapping(read, line, column)
	if code == "" {
		return at.file, at.line, ok
	}
	head := strings.TrimSuffix(functionHead.FindString(code), "(")
	before, hasBefore := findMapping(read, line, max(0, column-len(head)-1))
	if ok && (!hasBefore || before != at || column == 0) {
		return at.file, at.line, true
	}
	inside, found := findInside(read, line, column, code[len(head):], at)
	if !found {
		return at.file, at.line, ok
	}
	return inside.file, findHead(read.SourceContent(inside.file), inside), true
}

// findInside finds the first mapping in the code of a function that is another one than that
// before it.
func findInside(read *sourcemap.Consumer, line, column int, code string, before mapping) (inside mapping, ok bool) {
	for i, letter := range code {
		if i > maxInside {
			break
		}
		if file, _, sourceLine, sourceColumn, ok := read.Source(line, column); ok {
			if inside = (mapping{file, sourceLine, sourceColumn}); inside != before {
				return inside, true
			}
		}
		column++
		if letter == '\n' {
			line, column = line+1, 0
		}
	}
	return mapping{}, false
}

// findHead finds the line of the function around a place of a source: that of the place itself
// where there is none.
func findHead(source string, place mapping) (line int) {
	at := offsetOf(source, place)
	text := strings.TrimRight(source[:at], " \t\r\n")
	if arrow, ok := strings.CutSuffix(text, "=>"); ok { // it is the whole body
		return lineOf(source, beginParameters(arrow))
	}
	depth := 0
	for i := at - 1; i >= max(0, at-maxOutside); i-- {
		switch source[i] {
		case ')', ']', '}':
			depth++
		case '(', '[':
			depth = max(0, depth-1) // else the place is one of its arguments
		case '{':
			if depth > 0 {
				depth--
				continue
			}
			text := strings.TrimRight(source[:i], " \t\r\n")
			if arrow, ok := strings.CutSuffix(text, "=>"); ok {
				return lineOf(source, beginParameters(arrow))
			}
			if strings.HasSuffix(text, ")") {
				return lineOf(source, beginParameters(text))
			}
			return place.line
		}
	}
	return place.line
}

// beginParameters gives where the parameters begin that a text ends with.
func beginParameters(text string) int {
	text = strings.TrimRight(text, " \t\r\n")
	if !strings.HasSuffix(text, ")") {
		return max(0, len(text)-1)
	}
	depth := 0
	for i := len(text) - 1; i >= 0; i-- {
		switch text[i] {
		case ')':
			depth++
		case '(':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(text) - 1
}

// offsetOf gives the place in a text of a mapping; columns behind a line's end are at its end.
func offsetOf(source string, place mapping) int {
	at := 0
	for range place.line - 1 {
		next := strings.IndexByte(source[at:], '\n')
		if next < 0 {
			return len(source)
		}
		at += next + 1
	}
	end := strings.IndexByte(source[at:], '\n')
	if end < 0 {
		end = len(source) - at
	}
	return at + min(place.column, end)
}

func lineOf(source string, at int) int { return strings.Count(source[:min(at, len(source))], "\n") + 1 }
