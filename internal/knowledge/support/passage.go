package support

import (
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
	"github.com/cairn-bot/cairn/internal/language"
)

// Passage is a passage of a document, as far as its words go.
type Passage struct {
	Language language.Tag
	Title    string   // of the document
	Headings []string // from the document's to the passage's own
	Text     string
}

// Analysis is the terms of a passage. It may be shared: don't change it.
type Analysis struct {
	Text []string // terms of the text, in order
	// All gives these, and those of title and headings.
	All func() Set
}

// kept are analyses of passages that were met lately: one run looks at the same passages
// many times. Each passage has one place, and the last one met with that place stays;
// there is no lock.
var kept [1 << 9]atomic.Pointer[analysed]

type analysed struct {
	passage  Passage
	analysis Analysis
}

var passageSeed = maphash.MakeSeed()

// Analyze gives the terms of a passage.
func (p Passage) Analyze() Analysis {
	place := &kept[maphash.String(passageSeed, p.Text)%uint64(len(kept))]
	if known := place.Load(); known != nil && known.passage.equals(p) {
		return known.analysis
	}
	p.Headings = slices.Clone(p.Headings)
	terms := lexical.AnalyzeIn(p.Language, p.Text)
	made := &analysed{passage: p, analysis: Analysis{Text: terms, All: sync.OnceValue(func() Set {
		all := OfIn(p.Language, p.Title, strings.Join(p.Headings, " "))
		for _, term := range terms {
			all[term] = struct{}{}
		}
		return all
	})}}
	place.Store(made)
	return made.analysis
}

func (p Passage) equals(other Passage) bool {
	return p.Language == other.Language && p.Title == other.Title && p.Text == other.Text && slices.Equal(p.Headings, other.Headings)
}
