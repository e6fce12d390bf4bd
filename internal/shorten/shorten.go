// Package shorten cuts texts to a number of letters or bytes. A letter is a character of
// Unicode (a rune); none is cut into parts. Lengths of what platforms are sent are counted in
// package chat/render.
package shorten

import (
	"strings"
	"unicode/utf8"
)

// Head returns the first letters of a text, at most so many.
func Head(text string, letters int) string {
	if len(text) <= letters {
		return text
	}
	for at := range text {
		if letters <= 0 {
			return text[:at]
		}
		letters--
	}
	return text
}

// Text returns the first letters of a text, and an ellipsis behind them where there are more.
func Text(text string, letters int) string {
	head := Head(text, letters)
	if len(head) == len(text) {
		return text
	}
	return head + "…"
}

// Line puts a text on one line of valid UTF-8 and shortens it as Text does, with no space before
// the ellipsis.
func Line(text string, letters int) string {
	line := strings.ToValidUTF8(strings.Join(strings.Fields(text), " "), "\uFFFD")
	head := Head(line, letters)
	if len(head) == len(line) {
		return line
	}
	return strings.TrimSuffix(head, " ") + "…"
}

// Bytes returns the longest beginning of a text of at most so many bytes.
func Bytes(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	for bytes > 0 && !utf8.RuneStart(text[bytes]) {
		bytes--
	}
	return text[:bytes]
}
