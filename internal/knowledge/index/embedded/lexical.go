package embedded

import (
	"context"
	"database/sql"
	"fmt"

	"cairn/internal/knowledge/index"
	"cairn/internal/knowledge/index/ranking"
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
	dense   bool // meaning is asked for too
}

// searchLexical scores by BM25, exactly.
func searchLexical(ctx context.Context, tx *sql.Tx, query lexicalQuery) (index.Candidates, error) {
	if len(query.terms) == 0 {
		return index.Candidates{}, nil
	}
	terms, err := loadTerms(ctx, tx, query)
	if err != nil {
		return index.Candidates{}, err
	}
	candidates, slots, err := ranking.Lexical(ctx, ranking.Search{
		Terms:    terms,
		Limit:    query.limit,
		Passages: query.snap.passages,
		Average:  query.snap.averageLength(),
		ID:       query.snap.passageID,
		Look: func(slot int32) (float32, bool) {
			return query.snap.slots[slot].length, query.allowed.contains(slot)
		},
	})
	for i, slot := range slots {
		candidates.Lexical[i].Unembedded = query.dense && !query.snap.slots[slot].embedded
	}
	return candidates, err
}

// loadTerms reads what the file holds of the terms, each once.
func loadTerms(ctx context.Context, tx *sql.Tx, query lexicalQuery) ([]ranking.Term, error) {
	find, err := tx.PrepareContext(ctx, "SELECT number, passages, postings FROM "+postingsOfTerm)
	if err != nil {
		return nil, err
	}
	var terms []ranking.Term
	for _, asked := range ranking.MergeTerms(query.terms) {
		term, err := loadTerm(ctx, find, asked, query.snap.countBlocks())
		if err != nil {
			return nil, fmt.Errorf("read the postings of a term: %w", err)
		}
		terms = append(terms, term)
	}
	return terms, nil
}

func loadTerm(ctx context.Context, find *sql.Stmt, asked index.Term, blocks int) (ranking.Term, error) {
	term := ranking.Term{Term: asked, Blocks: make(map[int32][][]byte)}
	rows, err := find.QueryContext(ctx, blocks, asked.Text)
	if err != nil {
		return term, err
	}
	defer rows.Close()
	for rows.Next() {
		var block int32
		var passages int
		var data []byte
		if err := rows.Scan(&block, &passages, &data); err != nil {
			return term, err
		}
		term.Passages += passages
		term.Blocks[block] = [][]byte{data}
	}
	return term, rows.Err()
}
