package discord

import (
	"strings"
	"unicode/utf16"
)

// length counts as Discord's limits are taken to count, the most cautious way: in UTF-16
// units.
func length(text string) int {
	n := 0
	for _, r := range text {
		n += max(utf16.RuneLen(r), 1)
	}
	return n
}

// head is the longest beginning of text of at most limit of length.
func head(text string, limit int) string {
	n := 0
	for at, r := range text {
		if n += max(utf16.RuneLen(r), 1); n > limit {
			return text[:at]
		}
	}
	return text
}

// cut shortens text to at most limit of length, with an ellipsis where it had to.
func cut(text string, limit int) string {
	if length(text) <= limit {
		return text
	}
	return head(text, limit-1) + "…"
}

// divide is where to cut text so that at most limit of length comes before: behind the
// last white space there, if it is not too near to the beginning.
func divide(text string, limit int) int {
	fits := len(head(text, max(limit, 0)))
	if fits == len(text) {
		return fits
	}
	if space := strings.LastIndexAny(text[:fits], " \n"); space > fits/2 {
		return space + 1
	}
	return fits
}
