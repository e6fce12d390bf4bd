// Package bpe counts tokens as OpenAI's models do, by byte-pair encoding with their
// vocabularies.
//
// The vocabularies stand packed in the program: as the map literals of the library that
// they were made from, they took 9 MB of it, and 20 MB of memory.
package bpe

import (
	"bytes"
	"compress/flate"
	_ "embed"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"io"
	"sync"

	"github.com/dlclark/regexp2/v2"
	_ "github.com/tiktoken-go/tokenizer/codec" // compiles the two expressions ahead
)

//go:generate go run generate.go

var (
	//go:embed o200k.bin
	o200kTokens []byte
	//go:embed cl100k.bin
	cl100kTokens []byte
)

// The encodings of OpenAI's models: O200k of gpt-4o and later ones, Cl100k of gpt-4,
// gpt-3.5 and the embedding models. They are shared; the first call takes some 50 ms.
var (
	O200k = sync.OnceValue(func() *Encoding {
		return load(o200kTokens, `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|`+
			`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|`+
			`\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`)
	})
	Cl100k = sync.OnceValue(func() *Encoding {
		return load(cl100kTokens, `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`)
	})
)

// Encoding is a vocabulary, and the expression that divides text into what is encoded by
// itself.
type Encoding struct {
	divide *regexp2.Regexp
	tokens string   // all, by rank
	ends   []uint32 // where in tokens each ends
	seed   maphash.Seed
	table  []uint32 // ranks + 1 by the hash of their tokens, at the next free place; 0 is free
}

// load reads a vocabulary as generate.go writes it: of each token its length and its bytes,
// in the order of the ranks.
func load(packed []byte, expression string) *Encoding {
	e := &Encoding{divide: regexp2.MustCompile(expression, regexp2.None), seed: maphash.MakeSeed()}
	all, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	if err != nil {
		panic(fmt.Sprintf("read a vocabulary: %v", err)) // it is embedded
	}
	var tokens []byte
	for len(all) > 0 {
		length, n := binary.Uvarint(all)
		token := all[n : n+int(length)] //nolint:gosec // of a file that is embedded
		tokens = append(tokens, token...)
		e.ends = append(e.ends, uint32(len(tokens))) //nolint:gosec // some 1.3 million bytes
		all = all[n+len(token):]
	}
	e.tokens = string(tokens)
	size := 1
	for size < 2*len(e.ends) {
		size *= 2
	}
	e.table = make([]uint32, size)
	for rank := range e.ends {
		at := e.place(e.token(rank))
		e.table[at] = uint32(rank) + 1 //nolint:gosec // some 200,000
	}
	return e
}

func (e *Encoding) token(rank int) string {
	start := uint32(0)
	if rank > 0 {
		start = e.ends[rank-1]
	}
	return e.tokens[start:e.ends[rank]]
}

// place is where in the table a token stands, or is to stand.
func (e *Encoding) place(token string) int {
	last := len(e.table) - 1
	at := int(maphash.String(e.seed, token)) & last //nolint:gosec // a hash
	for e.table[at] != 0 && e.token(int(e.table[at])-1) != token {
		at = (at + 1) & last
	}
	return at
}

// none is the rank of what is no token: it is merged after all others.
const none = int(^uint(0) >> 1)

func (e *Encoding) rank(token string) int {
	if found := e.table[e.place(token)]; found != 0 {
		return int(found) - 1
	}
	return none
}

// Count is how many tokens a text has. Its time grows with the square of the longest word:
// give it no more than some thousand bytes at a time.
func (e *Encoding) Count(text string) (int, error) {
	count := 0
	match, err := e.divide.FindStringMatch(text)
	for ; match != nil && err == nil; match, err = e.divide.FindNextMatch(match) {
		count += e.countWord(match.String())
	}
	if err != nil {
		return 0, fmt.Errorf("count tokens: %w", err)
	}
	return count, nil
}

// piece is a part of a word that is not merged further yet.
type piece struct {
	start int
	rank  int // of the piece together with the next one
}

// countWord merges the bytes of a word, the pair of the lowest rank first, the leftmost of
// those, until no two pieces together are a token, and gives how many pieces there are.
func (e *Encoding) countWord(word string) int {
	if e.rank(word) != none {
		return 1
	}
	pieces := make([]piece, len(word)+1)
	for i := range pieces {
		pieces[i] = piece{i, none}
	}
	pair := func(at int) int {
		if at+2 >= len(pieces) {
			return none
		}
		return e.rank(word[pieces[at].start:pieces[at+2].start])
	}
	for i := range len(pieces) - 1 {
		pieces[i].rank = pair(i)
	}
	for {
		first := 0
		for i := range pieces {
			if pieces[i].rank < pieces[first].rank {
				first = i
			}
		}
		if pieces[first].rank == none {
			return len(pieces) - 1
		}
		pieces = append(pieces[:first+1], pieces[first+2:]...)
		pieces[first].rank = pair(first)
		if first > 0 {
			pieces[first-1].rank = pair(first - 1)
		}
	}
}
