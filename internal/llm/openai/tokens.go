package openai

import (
	"fmt"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer/codec"
)

// The encodings of OpenAI's models: o200k of gpt-4o and later ones, cl100k of gpt-4, gpt-3.5
// and the embedding models. They are shared, for each holds some 20 MB from its first use.
var (
	o200k  = sync.OnceValue(codec.NewO200kBase)
	cl100k = sync.OnceValue(codec.NewCl100kBase)
)

// counter counts tokens.
type counter struct {
	encoding *codec.Codec
	margin   int // percent that are added
}

// foreignMargin is what other vocabularies may need more, in percent.
const foreignMargin = 20

// newCounter gives the counter of a model: of OpenAI's by their encodings, of others by
// the newest of them, and a margin.
func newCounter(model string) counter {
	name := strings.TrimPrefix(strings.ToLower(model), "ft:")
	for _, prefix := range []string{"gpt-4o", "gpt-4.1", "gpt-4.5", "gpt-5", "gpt-6", "chatgpt-4o", "o1", "o3", "o4", "gpt-oss"} {
		if strings.HasPrefix(name, prefix) {
			return counter{encoding: o200k()}
		}
	}
	for _, prefix := range []string{"gpt-4", "gpt-3.5", "gpt-35", "text-embedding-3", "text-embedding-ada-002"} {
		if strings.HasPrefix(name, prefix) {
			return counter{encoding: cl100k()}
		}
	}
	return counter{encoding: o200k(), margin: foreignMargin}
}

// maxPiece bounds the bytes that are counted at once: the tokenizer's time grows with
// the square of a run of white space.
const maxPiece = 512

// count is how many tokens a text has. Long ones are counted in pieces, of which each
// may add a token.
func (c counter) count(text string) int {
	if !utf8.ValidString(text) {
		text = string([]rune(text)) // what is sent has a character for each broken byte
	}
	total := strings.Count(text, "\x7f") // which the tokenizer passes over
	for text != "" {
		piece := text[:cut(text)]
		text = text[len(piece):]
		n, err := c.encoding.Count(piece)
		if err != nil {
			// The tokenizer's expressions have no time limit and match any text.
			panic(fmt.Sprintf("count tokens: %v", err))
		}
		total += n
	}
	return total + (total*c.margin+99)/100
}

// cut is the length of the first piece of a text: it ends before a space, if one is
// near, else between two characters.
func cut(text string) int {
	if len(text) <= maxPiece {
		return len(text)
	}
	if at := strings.LastIndexFunc(text[:maxPiece], unicode.IsSpace); at > maxPiece/2 {
		return at
	}
	end := maxPiece
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return end
}
