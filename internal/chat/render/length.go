package render

import (
	"strings"
	"unicode/utf16"
)

// Length is in UTF-16 units. Platforms don't say how they count characters, and no way of
// counting gives more.
func Length(text string) int {
	n := 0
	for _, r := range text {
		n += max(utf16.RuneLen(r), 1)
	}
	return n
}

// Head returns the longest beginning of text of at most limit of Length.
func Head(text string, limit int) string {
	n := 0
	for at, r := range text {
		if n += max(utf16.RuneLen(r), 1); n > limit {
			return text[:at]
		}
	}
	return text
}

// Cut shortens text to at most limit of Length, with an ellipsis where it had to.
func Cut(text string, limit int) string {
	if Length(text) <= limit {
		return text
	}
	return Head(text, limit-1) + "…"
}

// breakAt returns where to cut text so that at most limit of Length comes before: behind the
// last white space there, if it is not too near to the beginning.
func breakAt(text string, limit int) int {
	fits := len(Head(text, max(limit, 0)))
	if fits == len(text) {
		return fits
	}
	if space := strings.LastIndexAny(text[:fits], " \n"); space > fits/2 {
		return space + 1
	}
	return fits
}
