package postgres

import (
	"cmp"
	"context"

	"github.com/jackc/pgx/v5"

	"cairn/internal/knowledge/index"
	"cairn/internal/knowledge/index/ranking"
)

// rankPassages reads the pages of the terms and returns the best passages.
func (p *plan) rankPassages(ctx context.Context, results pgx.BatchResults, look slotLookup) (index.Candidates, error) {
	rows, err := results.Query()
	if err != nil {
		return index.Candidates{}, err
	}
	terms := make([]ranking.Term, len(p.terms))
	for i, term := range p.terms {
		terms[i] = ranking.Term{Term: term, Blocks: make(map[int32][][]byte)}
	}
	err = eachFound(rows, p.terms, func(n int, e entry) error {
		terms[n].Passages += e.passages
		return eachBlock(e.list, func(number int32, postings []byte) {
			terms[n].Blocks[number] = append(terms[n].Blocks[number], postings)
		})
	})
	if err != nil {
		return index.Candidates{}, err
	}
	candidates, found, err := ranking.Lexical(ctx, ranking.Search{
		Terms:    terms,
		Limit:    p.query.Limit,
		Passages: p.snap.passages,
		Average:  p.snap.averageLength(),
		ID:       p.snap.passageID,
		Look:     look.lengthAt,
	})
	p.found = found
	return candidates, err
}

// eachFound reads what pagesOfTerms finds: for each segment that holds one of the terms
// the number of the term and its entry.
func eachFound(rows pgx.Rows, terms []index.Term, use func(n int, e entry) error) error {
	defer rows.Close()
	for rows.Next() {
		var n int
		var page []byte
		if err := rows.Scan(&n, &page); err != nil {
			return err
		}
		term := terms[n-1].Text
		var inner error
		err := eachEntry(page, func(e entry) bool {
			if e.term == term {
				inner = use(n-1, e)
			}
			return e.term < term
		})
		if err := cmp.Or(err, inner); err != nil {
			return err
		}
	}
	return rows.Err()
}

// slotLookup tells which slots a plan may find.
type slotLookup struct {
	*plan
	within map[int32]bool // slots of the documents that the filter names; nil: of all
}

// restrictTo takes the slots of the documents that the filter names.
func (l *slotLookup) restrictTo(results pgx.BatchResults) error {
	rows, err := results.Query()
	if err != nil {
		return err
	}
	defer rows.Close()
	l.within = make(map[int32]bool)
	for rows.Next() {
		var slot int32
		if err := rows.Scan(&slot); err != nil {
			return err
		}
		l.within[slot] = true
	}
	return rows.Err()
}

// lengthAt returns the length of the passage in a slot, and whether one is there that passes.
func (l *slotLookup) lengthAt(number int32) (length float32, passes bool) {
	s := l.snap.slots.at(number)
	return s.length, s.document != 0 && (l.allowed == nil || l.allowed[s.class]) && (l.within == nil || l.within[number])
}
