package lexical

import (
	"hash/maphash"
	"strings"
	"sync/atomic"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/spanish"

	"github.com/cairn-bot/cairn/internal/language"
)

// stemmers are Snowball's, by language; Japanese and Chinese words have no endings.
var stemmers = map[language.Tag]*stemmer{
	language.English:    {stem: english.Stem},
	language.German:     {stem: german.Stem},
	language.French:     {stem: french.Stem},
	language.Spanish:    {stem: spanish.Stem},
	language.Portuguese: {stem: portuguese.Stem},
	language.Italian:    {stem: italian.Stem},
	language.Dutch:      {stem: dutch.Stem},
}

// stemmer keeps the stems of words that were met lately: text repeats itself, and stemming
// a word takes some twenty times as long as finding it here. Each word has one place, and
// the last one met with that place stays; there is no lock.
type stemmer struct {
	stem func(*snowballstem.Env) bool
	kept [1 << 13]atomic.Pointer[stemmed]
}

// stemmed is a word and its stem.
type stemmed struct{ word, stem string }

var stemSeed = maphash.MakeSeed()

// apply returns the Snowball stem of a word in lower case.
func (s *stemmer) apply(word string) string {
	place := &s.kept[maphash.String(stemSeed, word)%uint64(len(s.kept))]
	if known := place.Load(); known != nil && known.word == word {
		return known.stem
	}
	made := &stemmed{word: strings.Clone(word)} // word may be a part of a large text
	env := snowballstem.NewEnv(made.word)
	s.stem(env)
	made.stem = env.Current()
	place.Store(made)
	return made.stem
}
