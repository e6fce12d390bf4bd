package engine

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
)

// storedTerm is a term of a question and all that the index holds of it.
type storedTerm struct {
	index.Term
	passages int // that contain it
	// groups are the stored postings by number of group, in one or more parts.
	groups map[int32][][]byte
}

// wordSearch is a search by words.
type wordSearch struct {
	terms    []storedTerm // each once; those that no passage contains do not count
	limit    int          // at least 1
	passages int          // of the whole index
	average  float64      // their mean length
	// look gives the length of the passage in a slot of a group, and whether one is there that
	// may be found.
	look func(ctx context.Context, group int32) (func(slot int32) (length float32, passes bool), error)
}

// mergeTerms sums the weights of terms named twice.
func mergeTerms(terms []index.Term) []index.Term {
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

// rank scores by BM25 over all terms, exactly. The terms that together can't lift a
// passage into the result (MaxScore: Turtle and Flood 1995, "Query evaluation:
// strategies and optimizations") only add to those that others found. It gives the best
// passages with all that tie, in no order, and the terms that searched and those that did not.
func (s wordSearch) rank(ctx context.Context) (found []Scored, used, pruned []string, err error) {
	r := newRun(s)
	for _, group := range r.orderGroups() {
		if err := ctx.Err(); err != nil {
			return nil, nil, nil, err
		}
		if err := r.rankGroup(ctx, group); err != nil {
			return nil, nil, nil, err
		}
	}
	searched := r.countSearched()
	for i, term := range r.terms {
		if i < searched {
			used = append(used, term.Text)
		} else {
			pruned = append(pruned, term.Text)
		}
	}
	return r.best.all(), used, pruned, nil
}

// run is a search under way.
type run struct {
	wordSearch
	terms  []weighedTerm // most telling first
	rest   []float64     // what the terms from i on add to a score at most
	best   *best
	scores [groupSize]float64 // of the group at hand
	found  []int32            // slots of it with a score
}

// weighedTerm is a term with what it counts for.
type weighedTerm struct {
	storedTerm
	weight float64 // in the question, times idf
	most   float64 // more than it adds to any score
}

func newRun(search wordSearch) *run {
	r := &run{wordSearch: search, best: &best{limit: search.limit}}
	for _, term := range search.terms {
		if term.passages > 0 {
			weight := term.Weight * lexical.IDF(search.passages, term.passages)
			r.terms = append(r.terms, weighedTerm{storedTerm: term, weight: weight, most: weight * (lexical.DefaultBM25.K1 + 1)})
		}
	}
	slices.SortStableFunc(r.terms, func(a, b weighedTerm) int { return cmp.Compare(b.most, a.most) })
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

// orderGroups returns the groups that have any postings, the most promising first, so that
// the threshold rises early.
func (r *run) orderGroups() []int32 {
	promise := make(map[int32]float64)
	for _, term := range r.terms {
		for group := range term.groups {
			promise[group] += term.most
		}
	}
	numbers := make([]int32, 0, len(promise))
	for group := range promise {
		numbers = append(numbers, group)
	}
	slices.SortFunc(numbers, func(a, b int32) int { return cmp.Or(cmp.Compare(promise[b], promise[a]), cmp.Compare(a, b)) })
	return numbers
}

// rankGroup offers the passages of one group.
func (r *run) rankGroup(ctx context.Context, group int32) error {
	look, err := r.look(ctx, group)
	if err != nil {
		return err
	}
	searched := r.countSearched()
	for i := range r.terms {
		if i >= searched && !r.dropBelowThreshold(r.rest[i]) {
			break
		}
		for _, part := range r.terms[i].groups[group] {
			scorer := &termScorer{run: r, term: &r.terms[i], look: look, searches: i < searched}
			if err := eachPosting(group, part, scorer.addScore); err != nil {
				return fmt.Errorf("postings of %q: %w", r.terms[i].Text, err)
			}
		}
	}
	for _, slot := range r.found {
		within := slot & (groupSize - 1)
		r.best.offer(Scored{Slot: slot, Score: r.scores[within]})
		r.scores[within] = 0
	}
	r.found = r.found[:0]
	return nil
}

// dropBelowThreshold drops the passages found in the group that can't reach the threshold with
// all that is to come, and reports whether any are left.
func (r *run) dropBelowThreshold(rest float64) bool {
	threshold := r.best.threshold()
	kept := r.found[:0]
	for _, slot := range r.found {
		within := slot & (groupSize - 1)
		if r.scores[within]+rest < threshold {
			r.scores[within] = 0
			continue
		}
		kept = append(kept, slot)
	}
	r.found = kept
	return len(kept) > 0
}

// termScorer adds what a term adds to the scores of a group: to all passages with it if it
// searches, else to those found already.
type termScorer struct {
	*run
	term     *weighedTerm
	look     func(slot int32) (length float32, passes bool)
	searches bool
}

func (t *termScorer) addScore(p posting) {
	score := &t.scores[p.slot&(groupSize-1)]
	if *score == 0 && !t.searches {
		return
	}
	length, passes := t.look(p.slot)
	if !passes {
		return
	}
	bm25 := lexical.DefaultBM25
	count := bm25.Weigh(lexical.Counts{Title: int(p.title), Headings: int(p.headings), Body: int(p.body)})
	added := bm25.Score(t.term.weight, count, float64(length), t.average)
	if *score == 0 && added > 0 {
		t.found = append(t.found, p.slot)
	}
	*score += added
}

// Scored is a passage by its slot, with its score.
type Scored struct {
	Slot  int32
	Score float64
}

// best keeps the highest scores of all that are offered, and all that tie with the last.
type best struct {
	limit int
	heap  lowestFirst // the highest scores
	kept  []Scored
	full  int // how many kept are looked through for some to drop
}

// threshold returns what a score must reach to get in.
func (b *best) threshold() float64 {
	if len(b.heap) < b.limit {
		return math.Inf(-1)
	}
	return b.heap[0]
}

// offer takes in a passage, which is offered once, if it is good enough.
func (b *best) offer(candidate Scored) {
	switch threshold := b.threshold(); {
	case candidate.Score < threshold:
		return
	case len(b.heap) < b.limit:
		heap.Push(&b.heap, candidate.Score)
	case candidate.Score > threshold:
		b.heap[0] = candidate.Score
		heap.Fix(&b.heap, 0)
	}
	b.kept = append(b.kept, candidate)
	if len(b.kept) > max(b.full, 4*b.limit) {
		b.full = 2 * len(b.all())
	}
}

// all returns what was kept.
func (b *best) all() []Scored {
	threshold := b.threshold()
	b.kept = slices.DeleteFunc(b.kept, func(s Scored) bool { return s.Score < threshold })
	return b.kept
}

// Best returns the best of some scored passages, so many and those that tie with the last.
func Best(scored []Scored, limit int) []Scored {
	b := &best{limit: limit}
	for _, s := range scored {
		b.offer(s)
	}
	return b.all()
}

type lowestFirst []float64

func (l *lowestFirst) Len() int           { return len(*l) }
func (l *lowestFirst) Less(i, j int) bool { return (*l)[i] < (*l)[j] }
func (l *lowestFirst) Swap(i, j int)      { (*l)[i], (*l)[j] = (*l)[j], (*l)[i] }
func (l *lowestFirst) Push(s any)         { *l = append(*l, s.(float64)) }
func (l *lowestFirst) Pop() any {
	last := (*l)[len(*l)-1]
	*l = (*l)[:len(*l)-1]
	return last
}
