package openai

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// titlePart is how much of a window the title may take: 1 in titlePart tokens.
const titlePart = 4

// Windows cuts a text where words end, into pieces of at most TextTokens with the title.
func (e *Embedder) Windows(title, text string) []string {
	title, text = strings.TrimSpace(title), strings.TrimSpace(text)
	if title != "" {
		title, _ = e.cutPiece(title, e.options.TextTokens/titlePart)
		title = strings.TrimSpace(title) + "\n"
	}
	if text == "" {
		if title == "" {
			return nil
		}
		return []string{strings.TrimSpace(title)}
	}
	room := max(e.options.TextTokens-e.model.Tokens(title), 1)
	var windows []string
	for text != "" {
		var piece string
		piece, text = e.cutPiece(text, room)
		if piece = strings.TrimSpace(piece); piece != "" {
			windows = append(windows, title+piece)
		}
	}
	return windows
}

// fitText is as much of a text as the model reads, and its tokens.
func (e *Embedder) fitText(text string) (string, int) {
	// No token is shorter than a byte.
	if tokens := e.model.Tokens(text); tokens <= e.options.TextTokens {
		return text, tokens
	}
	piece, _ := e.cutPiece(text, e.options.TextTokens)
	return piece, e.model.Tokens(piece)
}

// bytesPerToken is how much text is counted at first for a window: more than most have.
const bytesPerToken = 6

// cutPiece returns the beginning of a text that has at most room tokens, and the rest. It cuts
// between words where it can, else between characters, and takes at least one.
func (e *Embedder) cutPiece(text string, room int) (piece, rest string) {
	most := min(len(text), max(room, 1)*bytesPerToken)
	end := wordBoundary(text, most)
	// The count falls in proportion to the length, nearly: a few rounds suffice.
	for tokens := e.model.Tokens(text[:end]); tokens > room; tokens = e.model.Tokens(text[:end]) {
		shorter := wordBoundary(text, min(end*room/tokens, end-1))
		if shorter >= end {
			break
		}
		end = shorter
	}
	return text[:end], text[end:]
}

// wordBoundary returns the last place in the first most bytes of a text where a word ends, or, in
// a word that long, a character; at least one character is before it.
func wordBoundary(text string, most int) int {
	if most >= len(text) {
		return len(text)
	}
	if at := strings.LastIndexFunc(text[:max(most, 0)], unicode.IsSpace); at > 0 {
		return at + sizeAt(text, at)
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return max(most, sizeAt(text, 0), 1)
}

func sizeAt(text string, at int) int {
	_, size := utf8.DecodeRuneInString(text[at:])
	return size
}
