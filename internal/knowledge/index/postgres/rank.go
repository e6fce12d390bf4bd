package postgres

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"cairn/internal/knowledge/index"
	"cairn/internal/knowledge/lexical"
)

// termLists are the postings of a term of the question.
type termLists struct {
	text     string
	asked    float64            // weight in the question
	passages int                // that contain it
	blocks   map[int32][][]byte // postings by number of block
	weight   float64            // asked, times idf
	most     float64            // more than it adds to any score
}

// ranking is a lexical search under way: BM25 over all terms, exactly. The terms that
// together can't lift a passage into the result (MaxScore: Turtle and Flood 1995, "Query
// evaluation: strategies and optimizations") only add to those that others found.
type ranking struct {
	*plan
	terms   []termLists // once loaded: that add most first
	rest    []float64   // rest[i] is the most that terms[i:] add together
	average float64
	within  map[int32]bool // slots that pass; nil lets all pass
	best    best

	scores [blockSize]float64 // of the block at hand
	found  []int32            // slots of it with a score
}

func newRanking(p *plan) *ranking {
	return &ranking{plan: p, average: p.snap.averageLength(), best: best{snap: p.snap, limit: p.query.Limit}}
}

// restrictTo takes the slots of the documents that the filter names.
func (r *ranking) restrictTo(results pgx.BatchResults) error {
	rows, err := results.Query()
	if err != nil {
		return err
	}
	defer rows.Close()
	r.within = make(map[int32]bool)
	for rows.Next() {
		var slot int32
		if err := rows.Scan(&slot); err != nil {
			return err
		}
		r.within[slot] = true
	}
	return rows.Err()
}

// load takes the pages of the terms and finds their lists in them.
func (r *ranking) load(results pgx.BatchResults) error {
	terms := make([]termLists, len(r.plan.terms))
	for i, term := range r.plan.terms {
		terms[i] = termLists{text: term.Text, asked: term.Weight, blocks: make(map[int32][][]byte)}
	}
	rows, err := results.Query()
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var n int
		var page []byte
		if err := rows.Scan(&n, &page); err != nil {
			return err
		}
		if err := terms[n-1].take(page); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, term := range terms {
		if term.passages > 0 {
			term.weight = term.asked * lexical.IDF(r.snap.passages, term.passages)
			term.most = term.weight * (lexical.DefaultBM25.K1 + 1)
			r.terms = append(r.terms, term)
		}
	}
	slices.SortStableFunc(r.terms, func(a, b termLists) int { return cmp.Compare(b.most, a.most) })
	r.rest = make([]float64, len(r.terms)+1)
	for i := len(r.terms) - 1; i >= 0; i-- {
		r.rest[i] = r.rest[i+1] + r.terms[i].most
	}
	return nil
}

// take adds what a page holds of the term.
func (t *termLists) take(page []byte) error {
	var inner error
	err := eachEntry(page, func(e entry) bool {
		if e.term == t.text {
			t.passages += e.passages
			inner = eachBlock(e.list, func(number int32, postings []byte) {
				t.blocks[number] = append(t.blocks[number], postings)
			})
		}
		return e.term < t.text
	})
	return cmp.Or(err, inner)
}

// rank gives the best passages, and which terms brought them.
func (r *ranking) rank() (index.Candidates, error) {
	for _, block := range r.blocks() {
		if err := r.rankBlock(block); err != nil {
			return index.Candidates{}, err
		}
	}
	candidates := index.Candidates{Lexical: r.best.hits()}
	searched := r.searched()
	for i, term := range r.terms {
		if i < searched {
			candidates.Used = append(candidates.Used, term.text)
		} else {
			candidates.Pruned = append(candidates.Pruned, term.text)
		}
	}
	return candidates, nil
}

// searched is how many of the terms can bring a passage into the result by now.
func (r *ranking) searched() int {
	threshold := r.best.threshold()
	for i := range r.terms {
		if r.rest[i] < threshold {
			return i
		}
	}
	return len(r.terms)
}

// blocks gives the blocks that have any postings, the most promising first, so that
// the threshold rises early.
func (r *ranking) blocks() []int32 {
	promise := make(map[int32]float64)
	for _, term := range r.terms {
		for block := range term.blocks {
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
func (r *ranking) rankBlock(block int32) error {
	if int(block) >= len(r.snap.slots) || r.snap.slots[block] == nil {
		return nil
	}
	searched := r.searched()
	for i := range r.terms {
		if i >= searched && !r.narrow(r.rest[i]) {
			break
		}
		for _, postings := range r.terms[i].blocks[block] {
			if err := r.add(&r.terms[i], block, postings, i < searched); err != nil {
				return fmt.Errorf("postings of %q: %w", r.terms[i].text, err)
			}
		}
	}
	for _, slot := range r.found {
		within := slot & (blockSize - 1)
		r.best.offer(scored{slot: slot, score: r.scores[within]})
		r.scores[within] = 0
	}
	r.found = r.found[:0]
	return nil
}

// narrow drops the passages found in the block that can't reach the threshold with
// all that is to come, and says whether any are left.
func (r *ranking) narrow(rest float64) bool {
	threshold := r.best.threshold()
	kept := r.found[:0]
	for _, slot := range r.found {
		within := slot & (blockSize - 1)
		if r.scores[within]+rest < threshold {
			r.scores[within] = 0
			continue
		}
		kept = append(kept, slot)
	}
	r.found = kept
	return len(kept) > 0
}

// add adds what a term adds to the scores of a block: to all passages with it if it
// searches, else to those found already.
func (r *ranking) add(term *termLists, block int32, postings []byte, searches bool) error {
	slots := r.snap.slots[block]
	bm25 := lexical.DefaultBM25
	return eachPosting(postings, block<<blockBits, func(p posting) {
		within := p.slot & (blockSize - 1)
		score := &r.scores[within]
		if *score == 0 && (!searches || !r.passes(p.slot, slots[within])) {
			return
		}
		count := bm25.Weigh(lexical.Counts{Title: int(p.title), Headings: int(p.headings), Body: int(p.body)})
		added := bm25.Score(term.weight, count, float64(slots[within].length), r.average)
		if *score == 0 && added > 0 {
			r.found = append(r.found, p.slot)
		}
		*score += added
	})
}

func (r *ranking) passes(number int32, s slot) bool {
	return s.document != 0 && (r.allowed == nil || r.allowed[s.class]) && (r.within == nil || r.within[number])
}
