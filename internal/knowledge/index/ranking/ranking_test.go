package ranking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"cairn/internal/knowledge"
	"cairn/internal/knowledge/index"
)

const passages = 2*BlockSize + 100

// passageIDs are made once: a search compares many.
var passageIDs = func() []knowledge.PassageID {
	ids := make([]knowledge.PassageID, passages)
	for slot := range ids {
		ids[slot] = knowledge.MakePassageID("d", slot)
	}
	return ids
}()

func passageID(slot int32) knowledge.PassageID { return passageIDs[slot] }

// stored is a made-up index of passages of words by Zipf's law.
type stored struct {
	lengths []float32
	total   float64
	terms   map[string]*Term
}

func makeStored(random *rand.Rand, word func() string) *stored {
	s := &stored{lengths: make([]float32, passages), terms: make(map[string]*Term)}
	for slot := range passages {
		counts := make(map[string]Counts)
		for range 1 + random.IntN(10) {
			name := word()
			c := counts[name]
			Increment(&c.Body)
			counts[name] = c
			s.lengths[slot]++
		}
		s.total += float64(s.lengths[slot])
		block := int32(slot >> BlockBits)
		for name, c := range counts {
			term := s.terms[name]
			if term == nil {
				term = &Term{Blocks: make(map[int32][][]byte)}
				s.terms[name] = term
			}
			term.Passages++
			if term.Blocks[block] == nil {
				term.Blocks[block] = [][]byte{nil, nil} // in two parts
			}
			part := &term.Blocks[block][min(1, slot%BlockSize/1000)]
			*part = AppendPosting(*part, Posting{Slot: uint16(slot % BlockSize), Counts: c})
		}
	}
	return s
}

func (s *stored) search(terms []index.Term, limit int) Search {
	search := Search{
		Limit: limit, Passages: len(s.lengths), Average: s.total / float64(len(s.lengths)), ID: passageID,
		Look: func(slot int32) (float32, bool) { return s.lengths[slot], slot%5 != 0 },
	}
	for _, term := range MergeTerms(terms) {
		found := Term{Term: term}
		if known := s.terms[term.Text]; known != nil {
			found.Passages, found.Blocks = known.Passages, known.Blocks
		}
		search.Terms = append(search.Terms, found)
	}
	return search
}

// TestPruningChangesNothing compares short results, for which common words are left
// out of the search, with the head of full ones, for which nothing is.
func TestPruningChangesNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(random, 1.3, 2, 3000)
	word := func() string { return fmt.Sprintf("w%d", zipf.Uint64()) }
	s := makeStored(random, word)
	pruned := 0
	for range 40 {
		var terms []index.Term
		for range 2 + random.IntN(6) {
			terms = append(terms, index.Term{Text: word(), Weight: 0.5 + random.Float64()})
		}
		short, slots, err := Lexical(t.Context(), s.search(terms, 10))
		if err != nil {
			t.Fatal(err)
		}
		full, _, err := Lexical(t.Context(), s.search(terms, passages))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(short.Lexical, full.Lexical[:len(short.Lexical)]) {
			t.Fatalf("%v: %v, want %v", terms, short.Lexical, full.Lexical[:len(short.Lexical)])
		}
		for i, hit := range short.Lexical {
			if hit.Passage != passageID(slots[i]) {
				t.Errorf("%s is said to be in slot %d", hit.Passage, slots[i])
			}
		}
		if len(full.Pruned) > 0 {
			t.Errorf("%v: a full result leaves out %v", terms, full.Pruned)
		}
		for _, hit := range full.Lexical {
			if _, slot, _ := hit.Passage.Split(); slot%5 == 0 {
				t.Fatalf("%s was found and may not be", hit.Passage)
			}
		}
		pruned += len(short.Pruned)
	}
	if pruned == 0 {
		t.Error("no term was ever left out")
	}
}

func TestDamageAndCancellationEndASearch(t *testing.T) {
	s := &stored{lengths: make([]float32, 10), terms: map[string]*Term{"word": {Passages: 1, Blocks: map[int32][][]byte{0: {{4}}}}}}
	search := s.search([]index.Term{{Text: "word", Weight: 1}}, 3)
	if _, _, err := Lexical(t.Context(), search); !errors.Is(err, ErrDamaged) {
		t.Errorf("damaged postings: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Lexical(ctx, search); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}

func TestBestKeepsTheHighest(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, limit := range []int{1, 7, 100, 300} {
		best := NewBest(limit, passageID)
		var want []index.Hit
		for slot := range int32(200) {
			score := float64(random.IntN(20)) // with ties
			best.Offer(slot, score)
			want = append(want, index.Hit{Passage: passageID(slot), Score: score})
		}
		slices.SortFunc(want, func(a, b index.Hit) int {
			return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Passage, b.Passage))
		})
		if got, _ := best.Hits(); !slices.Equal(got, want[:min(limit, len(want))]) {
			t.Errorf("best %d: %v", limit, got)
		}
	}
}
