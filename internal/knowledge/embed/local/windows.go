package local

import (
	"strings"
	"unicode/utf8"
)

const (
	// windowWords is where a window ends at the latest: 90 words of ordinary English and
	// a title are just below maxTokens.
	windowWords = 90
	// titleTokens is how much of a title stands in front of each window.
	titleTokens = 32
	// A word of more than wordTokens or wordChars is cut: it is a script without spaces,
	// or no word at all.
	wordTokens = 32
	wordChars  = 100
)

// Windows implements embed.Embedder. Each piece begins with the title, cut to 32 tokens,
// and holds at most 90 words of the text and 128 tokens in all. White space is folded; no
// text is lost and none is in two pieces, but bytes that are no UTF-8 are replaced. A
// title without text is one piece, nothing at all is none.
func (e *Embedder) Windows(title, text string) []string {
	prefix := e.titlePrefix(title)
	words := e.splitWords(text)
	if len(words) == 0 {
		if prefix == "" {
			return nil
		}
		return []string{strings.TrimSpace(prefix)}
	}
	budget := maxTokens - e.tokenizer.Count(prefix)
	var pieces []string
	for len(words) > 0 {
		n, tokens := 0, 0
		for n < len(words) && n < windowWords && (n == 0 || tokens+words[n].tokens <= budget) {
			tokens += words[n].tokens
			n++
		}
		pieces = append(pieces, prefix+joinWords(words[:n]))
		words = words[n:]
	}
	return pieces
}

// word is a run of characters between spaces, or a part of one that is too long.
type word struct {
	text   string
	tokens int
	glued  bool // to the part before it
}

// splitWords returns the words of a text, in valid UTF-8: it would be unsafe to halve others.
func (e *Embedder) splitWords(text string) []word {
	var words []word
	for field := range strings.FieldsSeq(strings.ToValidUTF8(text, "\uFFFD")) {
		words = e.appendParts(words, field, false)
	}
	return words
}

// appendParts appends the text, in halves while it is too long.
func (e *Embedder) appendParts(words []word, text string, glued bool) []word {
	if utf8.RuneCountInString(text) <= wordChars {
		tokens := e.tokenizer.Count(text)
		_, first := utf8.DecodeRuneInString(text)
		if tokens <= wordTokens || first == len(text) {
			return append(words, word{text, tokens, glued})
		}
	}
	half := len(text) / 2
	for !utf8.RuneStart(text[half]) {
		half--
	}
	words = e.appendParts(words, text[:half], glued)
	return e.appendParts(words, text[half:], true)
}

func joinWords(words []word) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 && !w.glued {
			b.WriteByte(' ')
		}
		b.WriteString(w.text)
	}
	return b.String()
}

// titlePrefix returns the beginning of the title and a space, or nothing. A full stop behind the
// title made retrieval worse on one of two sets and no better on the other.
func (e *Embedder) titlePrefix(title string) string {
	words := e.splitWords(title)
	n, tokens := 0, 0
	for n < len(words) && tokens+words[n].tokens <= titleTokens {
		tokens += words[n].tokens
		n++
	}
	if n == 0 {
		return ""
	}
	return joinWords(words[:n]) + " "
}
