package markup

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean makes text from outside safe to show: broken UTF-8 becomes U+FFFD, line ends
// become "\n", a tab becomes four spaces, and what would steer a terminal or hide or
// reorder other text is left out: control characters, escape sequences' ESC, bidi
// embeddings and overrides, and invisible tag characters. Scripts, emoji and joiners stay.
func Clean(text string) string {
	if isClean(text) {
		return text
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	var b strings.Builder
	b.Grow(len(text))
	for _, r := range text {
		switch {
		case r == '\r' || r == '\u2028' || r == '\u2029' || r == '\u0085':
			b.WriteByte('\n')
		case r == '\t':
			b.WriteString("    ")
		case r == '\n' || !isHidden(r):
			b.WriteRune(r) // a broken byte was decoded as utf8.RuneError
		}
	}
	return b.String()
}

// CleanLine is Clean for what stands on one line, such as a title or a path: runs of
// white space become one space and the ends are trimmed.
func CleanLine(text string) string {
	return strings.Join(strings.Fields(Clean(text)), " ")
}

func isClean(text string) bool {
	if !utf8.ValidString(text) {
		return false
	}
	for _, r := range text {
		if r != '\n' && (isHidden(r) || r == '\u2028' || r == '\u2029') {
			return false
		}
	}
	return true
}

// isHidden tells characters that act on the text around them instead of being read.
func isHidden(r rune) bool {
	switch {
	case unicode.IsControl(r):
		return true
	case r >= '\u202A' && r <= '\u202E', r >= '\u2066' && r <= '\u2069': // bidi embeddings, overrides, isolates
		return true
	case r >= '\uFFF9' && r <= '\uFFFB': // interlinear annotation
		return true
	case r >= 0xE0000 && r <= 0xE007F: // tags: text that no font draws
		return true
	}
	return r == '\uFEFF'
}
