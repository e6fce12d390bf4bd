package lexical

import (
	"hash/maphash"
	"strings"
	"sync/atomic"

	"github.com/kljensen/snowball/english"
)

// stems keeps the stems of words that were met lately: text repeats itself, and stemming
// a word takes some fifty times as long as finding it here. Each word has one place, and
// the last one met with that place stays; there is no lock.
var stems [1 << 14]atomic.Pointer[stemmed]

// stemmed is a word and its stem.
type stemmed struct{ word, stem string }

var stemSeed = maphash.MakeSeed()

// stem gives the Snowball stem of a word of the letters a to z.
func stem(word string) string {
	place := &stems[maphash.String(stemSeed, word)%uint64(len(stems))]
	if known := place.Load(); known != nil && known.word == word {
		return known.stem
	}
	made := &stemmed{word: strings.Clone(word)} // word may be a part of a large text
	made.stem = english.Stem(made.word, true)
	place.Store(made)
	return made.stem
}
