package chunk

import (
	"unicode"
	"unicode/utf8"

	"github.com/cairn-bot/cairn/internal/knowledge"
)

// CountTokens estimates how many tokens a language model makes of a text, the addresses of
// its links left out: four for
// three words or one for four bytes, whichever is more, rounded up. English prose
// is counted by its words; code, long identifiers and scripts without spaces by
// their bytes.
func CountTokens(text string) int {
	return measure(text).tokens()
}

// size is what the estimate is made of; sizes of texts that white space separates add up.
type size struct{ words, bytes int }

func (s size) plus(other size) size {
	return size{words: s.words + other.words, bytes: s.bytes + other.bytes}
}

func (s size) tokens() int {
	return max((s.words*4+2)/3, (s.bytes+3)/4)
}

func measure(text string) size {
	text = knowledge.WithoutAddresses(text)
	words, inside := 0, false
	for i := 0; i < len(text); {
		r, width := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, width = utf8.DecodeRuneInString(text[i:])
		}
		i += width
		if unicode.IsSpace(r) {
			inside = false
		} else if !inside {
			inside = true
			words++
		}
	}
	return size{words: words, bytes: len(text)}
}
