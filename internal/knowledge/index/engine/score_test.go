package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge/index"
)

const passages = 2*groupSize + 100

// stored is a made-up index of passages of words by Zipf's law.
type stored struct {
	lengths []float32
	total   float64
	terms   map[string]*storedTerm
}

func makeStored(random *rand.Rand, word func() string) *stored {
	s := &stored{lengths: make([]float32, passages), terms: make(map[string]*storedTerm)}
	for slot := range passages {
		words := make(map[string]counts)
		for range 1 + random.IntN(10) {
			name := word()
			c := words[name]
			increment(&c.body)
			words[name] = c
			s.lengths[slot]++
		}
		s.total += float64(s.lengths[slot])
		block := int32(slot >> groupBits)
		for name, c := range words {
			term := s.terms[name]
			if term == nil {
				term = &storedTerm{groups: make(map[int32][][]byte)}
				s.terms[name] = term
			}
			term.passages++
			if term.groups[block] == nil {
				term.groups[block] = [][]byte{nil, nil} // in two parts
			}
			part := &term.groups[block][min(1, slot%groupSize/1000)]
			*part = appendPosting(*part, posting{slot: int32(slot), counts: c})
		}
	}
	return s
}

func (s *stored) search(terms []index.Term, limit int) wordSearch {
	search := wordSearch{limit: limit, passages: len(s.lengths), average: s.total / float64(len(s.lengths))}
	search.look = func(context.Context, int32) (func(int32) (float32, bool), error) {
		return func(slot int32) (float32, bool) { return s.lengths[slot], slot%5 != 0 }, nil
	}
	for _, term := range mergeTerms(terms) {
		found := storedTerm{Term: term}
		if known := s.terms[term.Text]; known != nil {
			found.passages, found.groups = known.passages, known.groups
		}
		search.terms = append(search.terms, found)
	}
	return search
}

// sorted returns the first of scored passages, best first, ties by slot.
func sorted(scored []Scored, limit int) []Scored {
	slices.SortFunc(scored, func(a, b Scored) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Slot, b.Slot)) })
	return scored[:min(limit, len(scored))]
}

// TestPruningChangesNothing compares short results, for which common words are left
// out of the search, with the head of full ones, for which nothing is.
func TestPruningChangesNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(random, 1.3, 2, 3000)
	word := func() string { return fmt.Sprintf("w%d", zipf.Uint64()) }
	s := makeStored(random, word)
	count := 0
	for range 40 {
		var terms []index.Term
		for range 2 + random.IntN(6) {
			terms = append(terms, index.Term{Text: word(), Weight: 0.5 + random.Float64()})
		}
		short, _, pruned, err := s.search(terms, 10).rank(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		full, _, none, err := s.search(terms, passages).rank(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got, want := sorted(short, 10), sorted(full, 10); !slices.Equal(got, want) {
			t.Fatalf("%v: %v, want %v", terms, got, want)
		}
		if len(none) > 0 {
			t.Errorf("%v: a full result leaves out %v", terms, none)
		}
		for _, found := range full {
			if found.Slot%5 == 0 {
				t.Fatalf("slot %d was found and may not be", found.Slot)
			}
		}
		count += len(pruned)
	}
	if count == 0 {
		t.Error("no term was ever left out")
	}
}

func TestDamageAndCancellationEndASearch(t *testing.T) {
	s := &stored{lengths: make([]float32, 10), terms: map[string]*storedTerm{"word": {passages: 1, groups: map[int32][][]byte{0: {{4}}}}}}
	search := s.search([]index.Term{{Text: "word", Weight: 1}}, 3)
	if _, _, _, err := search.rank(t.Context()); !errors.Is(err, ErrDamaged) {
		t.Errorf("damaged postings: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, _, err := search.rank(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}

func TestBestKeepsTheHighestAndTies(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, limit := range []int{1, 7, 100, 5000} {
		var all []Scored
		for slot := range int32(3000) {
			all = append(all, Scored{Slot: slot, Score: float64(random.IntN(200))})
		}
		got := Best(all, limit)
		want := sorted(slices.Clone(all), len(all))
		if limit < len(want) {
			least := want[limit-1].Score
			want = slices.DeleteFunc(want, func(s Scored) bool { return s.Score < least })
		}
		if !slices.Equal(sorted(got, len(got)), want) {
			t.Errorf("best %d: %d of %d", limit, len(got), len(want))
		}
	}
}
