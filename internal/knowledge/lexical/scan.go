package lexical

import (
	"unicode"
	"unicode/utf8"
)

// scanner walks the runes of a text with a look at the next one.
type scanner struct {
	text    string
	r       rune
	at, end int // text[at:end] is r
}

func (s *scanner) next() bool {
	if s.end >= len(s.text) {
		return false
	}
	s.at = s.end
	r, size := utf8.DecodeRuneInString(s.text[s.at:])
	s.r = r
	s.end = s.at + size
	return true
}

func (s *scanner) peek() rune {
	r, _ := utf8.DecodeRuneInString(s.text[s.end:])
	return r
}

func (s *scanner) followedByWord() bool {
	return s.end < len(s.text) && isWordRune(s.peek())
}

func (s *scanner) beforeLower() bool {
	return s.end < len(s.text) && unicode.IsLower(s.peek())
}
