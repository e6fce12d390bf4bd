// Package ranking puts in order what backends read from their stores: passages by the
// words of a question, the best of many scored ones, definitions by how common they are. It also has the form in which
// they store how often which passage contains a term, and finds terms that are spelled alike.
package ranking

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"cairn/internal/knowledge"
	"cairn/internal/knowledge/index"
	"cairn/internal/knowledge/lexical"
)

// Term is a term of a question and all that the index holds of it.
type Term struct {
	index.Term
	Passages int // that contain it
	// Blocks are the stored postings by number of block, in one or more parts.
	Blocks map[int32][][]byte
}

// Search is a search by words.
type Search struct {
	Terms    []Term  // each once; those that no passage contains do not count
	Limit    int     // at least 1
	Passages int     // of the whole index
	Average  float64 // their mean length
	// ID names the passage in a slot that Look lets pass.
	ID func(slot int32) knowledge.PassageID
	// Look gives the length of the passage in a slot (see lexical.BM25.Weigh), and
	// whether one is there that may be found.
	Look func(slot int32) (length float32, passes bool)
}

// MergeTerms sums the weights of terms named twice.
func MergeTerms(terms []index.Term) []index.Term {
	merged := make([]index.Term, 0, len(terms))
	at := make(map[string]int, len(terms))
	for _, term := range terms {
		if i, ok := at[term.Text]; ok {
			merged[i].Weight += term.Weight
			continue
		}
		at[term.Text] = len(merged)
		merged = append(merged, term)
	}
	return merged
}

// Lexical scores by BM25 over all terms, exactly. The terms that together can't lift a
// passage into the result (MaxScore: Turtle and Flood 1995, "Query evaluation:
// strategies and optimizations") only add to those that others found. It gives the slots
// of the passages it found, too.
func Lexical(ctx context.Context, search Search) (candidates index.Candidates, slots []int32, err error) {
	r := newRun(search)
	for _, block := range r.orderBlocks() {
		if err := ctx.Err(); err != nil {
			return index.Candidates{}, nil, err
		}
		if err := r.rankBlock(block); err != nil {
			return index.Candidates{}, nil, err
		}
	}
	candidates.Lexical, slots = r.best.Hits()
	searched := r.countSearched()
	for i, term := range r.terms {
		if i < searched {
			candidates.Used = append(candidates.Used, term.Text)
		} else {
			candidates.Pruned = append(candidates.Pruned, term.Text)
		}
	}
	return candidates, slots, nil
}

// run is a search under way.
type run struct {
	Search
	terms []weighed // that add most first
	rest  []float64 // rest[i] is the most that terms[i:] add together
	best  *Best

	scores [BlockSize]float64 // of the block at hand
	found  []int32            // slots of it with a score
}

// weighed is a term with what it counts for.
type weighed struct {
	Term
	weight float64 // in the question, times idf
	most   float64 // more than it adds to any score
}

func newRun(search Search) *run {
	r := &run{Search: search, best: NewBest(search.Limit, search.ID)}
	for _, term := range search.Terms {
		if term.Passages > 0 {
			weight := term.Weight * lexical.IDF(search.Passages, term.Passages)
			r.terms = append(r.terms, weighed{Term: term, weight: weight, most: weight * (lexical.DefaultBM25.K1 + 1)})
		}
	}
	slices.SortStableFunc(r.terms, func(a, b weighed) int { return cmp.Compare(b.most, a.most) })
	r.rest = make([]float64, len(r.terms)+1)
	for i := len(r.terms) - 1; i >= 0; i-- {
		r.rest[i] = r.rest[i+1] + r.terms[i].most
	}
	return r
}

// countSearched returns how many of the terms can bring a passage into the result by now.
func (r *run) countSearched() int {
	threshold := r.best.threshold()
	for i := range r.terms {
		if r.rest[i] < threshold {
			return i
		}
	}
	return len(r.terms)
}

// orderBlocks returns the blocks that have any postings, the most promising first, so that
// the threshold rises early.
func (r *run) orderBlocks() []int32 {
	promise := make(map[int32]float64)
	for _, term := range r.terms {
		for block := range term.Blocks {
			promise[block] += term.most
		}
	}
	numbers := make([]int32, 0, len(promise))
	for block := range promise {
		numbers = append(numbers, block)
	}
	slices.SortFunc(numbers, func(a, b int32) int { return cmp.Or(cmp.Compare(promise[b], promise[a]), cmp.Compare(a, b)) })
	return numbers
}

// rankBlock offers the passages of one block.
func (r *run) rankBlock(block int32) error {
	searched := r.countSearched()
	for i := range r.terms {
		if i >= searched && !r.dropBelowThreshold(r.rest[i]) {
			break
		}
		for _, part := range r.terms[i].Blocks[block] {
			if err := r.addScores(&r.terms[i], block, part, i < searched); err != nil {
				return fmt.Errorf("postings of %q: %w", r.terms[i].Text, err)
			}
		}
	}
	for _, slot := range r.found {
		within := slot & (BlockSize - 1)
		r.best.Offer(slot, r.scores[within])
		r.scores[within] = 0
	}
	r.found = r.found[:0]
	return nil
}

// dropBelowThreshold drops the passages found in the block that can't reach the threshold with
// all that is to come, and reports whether any are left.
func (r *run) dropBelowThreshold(rest float64) bool {
	threshold := r.best.threshold()
	kept := r.found[:0]
	for _, slot := range r.found {
		within := slot & (BlockSize - 1)
		if r.scores[within]+rest < threshold {
			r.scores[within] = 0
			continue
		}
		kept = append(kept, slot)
	}
	r.found = kept
	return len(kept) > 0
}

// addScores adds what a term adds to the scores of a block: to all passages with it if it
// searches, else to those found already.
func (r *run) addScores(term *weighed, block int32, data []byte, searches bool) error {
	base := block << BlockBits
	bm25 := lexical.DefaultBM25
	return EachPosting(data, func(p Posting) {
		score := &r.scores[p.Slot]
		if *score == 0 && !searches {
			return
		}
		slot := base + int32(p.Slot)
		length, passes := r.Look(slot)
		if !passes {
			return
		}
		count := bm25.Weigh(lexical.Counts{Title: int(p.Title), Headings: int(p.Headings), Body: int(p.Body)})
		added := bm25.Score(term.weight, count, float64(length), r.Average)
		if *score == 0 && added > 0 {
			r.found = append(r.found, slot)
		}
		*score += added
	})
}
