package embedded

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"

	"cairn/internal/knowledge/index"
	"cairn/internal/knowledge/lexical"
)

// postingsOfTerm are the rows of a term in the first so many blocks. It seeks in
// each block: the key starts with it.
const postingsOfTerm = `(WITH RECURSIVE block (number) AS (SELECT 0 UNION ALL SELECT number + 1 FROM block LIMIT ?) SELECT number FROM block)
	CROSS JOIN posting ON posting.block = number AND posting.term = ?`

type lexicalQuery struct {
	snap    *snapshot
	allowed slotSet
	terms   []index.Term
	limit   int
}

// termPostings are all postings of a term of the question.
type termPostings struct {
	text   string
	blocks [][]byte // the stored postings by number of block
	weight float64  // of the term, times its idf
	most   float64  // more than it adds to any score
}

// searchLexical scores by BM25 over all terms, exactly. The terms that together
// can't lift a passage into the result (MaxScore: Turtle and Flood 1995, "Query
// evaluation: strategies and optimizations") only add to those that others found.
func searchLexical(ctx context.Context, tx *sql.Tx, query lexicalQuery) (index.Candidates, error) {
	terms, err := loadPostings(ctx, tx, query)
	if err != nil || len(terms) == 0 {
		return index.Candidates{}, err
	}
	slices.SortStableFunc(terms, func(a, b termPostings) int { return cmp.Compare(b.most, a.most) })
	r := &ranking{
		query:   query,
		terms:   terms,
		rest:    make([]float64, len(terms)+1),
		average: query.snap.averageLength(),
		best:    best{snap: query.snap, limit: query.limit},
	}
	for i := len(terms) - 1; i >= 0; i-- {
		r.rest[i] = r.rest[i+1] + terms[i].most
	}
	for _, block := range r.blocks() {
		if err := ctx.Err(); err != nil {
			return index.Candidates{}, err
		}
		if err := r.rankBlock(block); err != nil {
			return index.Candidates{}, err
		}
	}
	candidates := index.Candidates{Lexical: r.best.hits()}
	searched := r.searched()
	for i, term := range terms {
		if i < searched {
			candidates.Used = append(candidates.Used, term.text)
		} else {
			candidates.Pruned = append(candidates.Pruned, term.text)
		}
	}
	return candidates, nil
}

// loadPostings reads the terms that the index holds. A term that is named twice
// counts for the sum of its weights.
func loadPostings(ctx context.Context, tx *sql.Tx, query lexicalQuery) ([]termPostings, error) {
	if len(query.terms) == 0 {
		return nil, nil
	}
	find, err := tx.PrepareContext(ctx, "SELECT number, passages, postings FROM "+postingsOfTerm)
	if err != nil {
		return nil, err
	}
	var terms []termPostings
	for _, term := range query.terms {
		same := func(known termPostings) bool { return known.text == term.Text }
		if slices.ContainsFunc(terms, same) {
			continue
		}
		var weight float64
		for _, other := range query.terms {
			if other.Text == term.Text {
				weight += other.Weight
			}
		}
		loaded := termPostings{text: term.Text, blocks: make([][]byte, query.snap.blocks())}
		passages, err := loaded.load(ctx, find)
		if err != nil {
			return nil, fmt.Errorf("read the postings of %q: %w", term.Text, err)
		}
		if passages == 0 {
			continue
		}
		loaded.weight = weight * lexical.IDF(query.snap.passages, passages)
		loaded.most = loaded.weight * (lexical.DefaultBM25.K1 + 1)
		terms = append(terms, loaded)
	}
	return terms, nil
}

// load reads all blocks and gives the number of passages that contain the term.
func (t *termPostings) load(ctx context.Context, find *sql.Stmt) (int, error) {
	rows, err := find.QueryContext(ctx, len(t.blocks), t.text)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	passages := 0
	for rows.Next() {
		var number, count int
		var postings []byte
		if err := rows.Scan(&number, &count, &postings); err != nil {
			return 0, err
		}
		t.blocks[number] = postings
		passages += count
	}
	return passages, rows.Err()
}

// ranking is a lexical search under way.
type ranking struct {
	query   lexicalQuery
	terms   []termPostings // that add most first
	rest    []float64      // rest[i] is the most that terms[i:] add together
	average float64
	best    best

	scores [blockSize]float64 // of the block at hand
	found  []int32            // slots of it with a score
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
func (r *ranking) blocks() []int {
	var numbers []int
	promise := make([]float64, r.query.snap.blocks())
	for block := range promise {
		for _, term := range r.terms {
			if len(term.blocks[block]) > 0 {
				promise[block] += term.most
			}
		}
		if promise[block] > 0 {
			numbers = append(numbers, block)
		}
	}
	slices.SortStableFunc(numbers, func(a, b int) int { return cmp.Compare(promise[b], promise[a]) })
	return numbers
}

// rankBlock offers the passages of one block.
func (r *ranking) rankBlock(block int) error {
	searched := r.searched()
	for i := range r.terms {
		if i >= searched && !r.narrow(r.rest[i]) {
			break
		}
		if err := r.add(&r.terms[i], block, i < searched); err != nil {
			return fmt.Errorf("postings of %q: %w", r.terms[i].text, err)
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
func (r *ranking) add(term *termPostings, block int, searches bool) error {
	base := int32(block << blockBits)
	bm25 := lexical.DefaultBM25
	return eachPosting(term.blocks[block], func(p posting) {
		slot := base + int32(p.slot)
		score := &r.scores[p.slot]
		if *score == 0 && (!searches || !r.query.allowed.has(slot)) {
			return
		}
		count := bm25.Weigh(lexical.Counts{Title: int(p.title), Headings: int(p.headings), Body: int(p.body)})
		added := bm25.Score(term.weight, count, float64(r.query.snap.slots[slot].length), r.average)
		if *score == 0 && added > 0 {
			r.found = append(r.found, slot)
		}
		*score += added
	})
}
