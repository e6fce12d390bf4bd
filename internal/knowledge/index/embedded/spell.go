package embedded

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"

	"cairn/internal/knowledge/index"
	"cairn/internal/knowledge/index/ranking"
)

// mostSpelled bounds the nearest terms whose frequency is looked up.
const mostSpelled = 50

// Similar returns terms one edit away, or two for long ones (see ranking.Words). Nearer
// ones come first, of equally near ones the commoner.
func (x *Index) Similar(ctx context.Context, term string, limit int) ([]index.TermStats, error) {
	if !ranking.IsCorrectable(term) || limit <= 0 {
		return nil, nil
	}
	var similar []index.TermStats
	err := x.readSnapshot(ctx, func(tx *sql.Tx, snap *snapshot) error {
		near, err := x.dictionary.nearestTerms(ctx, tx, term)
		if err != nil {
			return err
		}
		if err := countPassages(ctx, tx, snap, near); err != nil {
			return err
		}
		similar = ranking.Likeliest(near, limit)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("find terms of similar spelling: %w", err)
	}
	return similar, nil
}

// countPassages fills in how many passages contain each term. Some may be in none any more.
func countPassages(ctx context.Context, tx *sql.Tx, snap *snapshot, near []ranking.Neighbor) error {
	terms := make([]string, len(near))
	for i, neighbor := range near {
		terms[i] = neighbor.Term
	}
	counts, err := countTerms(ctx, tx, snap, terms)
	for i := range near {
		near[i].Passages = counts[near[i].Term]
	}
	return err
}

// dictionary holds all terms in memory from the first Similar on. Terms are added as
// the file gains them; those that went stay until many have come since.
type dictionary struct {
	mu     sync.Mutex
	words  ranking.Words
	last   int64 // id of the newest term
	loaded int   // terms at the last full load
	added  int   // since
}

// nearestTerms returns the nearest terms; of equally near ones those that begin alike, then
// those that the index met first, which are mostly the common ones.
func (d *dictionary) nearestTerms(ctx context.Context, tx *sql.Tx, term string) ([]ranking.Neighbor, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.loadTerms(ctx, tx); err != nil {
		return nil, fmt.Errorf("load terms: %w", err)
	}
	near := d.words.Near(term)
	slices.SortStableFunc(near, func(a, b ranking.Neighbor) int {
		return cmp.Or(a.Distance-b.Distance, compareStart(a.Term, b.Term, term))
	})
	return near[:min(mostSpelled, len(near))], nil
}

// compareStart orders terms that begin as the wanted one does first.
func compareStart(a, b, wanted string) int {
	other := func(term string) int {
		if term[0] == wanted[0] {
			return 0
		}
		return 1
	}
	return other(a) - other(b)
}

// loadPage is how many terms are read at once, joined by the database: a row each
// takes several times as long.
const loadPage = 50_000

// loadTerms adds the terms that the file gained since the last call.
func (d *dictionary) loadTerms(ctx context.Context, tx *sql.Tx) error {
	if d.added > d.loaded/2+loadPage {
		d.words, d.last, d.loaded, d.added = ranking.Words{}, 0, 0, 0
	}
	first := d.last == 0
	for {
		var joined sql.NullString
		var last sql.NullInt64
		err := tx.QueryRowContext(ctx, `SELECT group_concat(text, char(10)), max(id)
			FROM (SELECT id, text FROM term WHERE id > ? ORDER BY id LIMIT ?)`, d.last, loadPage).Scan(&joined, &last)
		if err != nil {
			return err
		}
		if !last.Valid {
			break
		}
		d.last = last.Int64
		for term := range strings.SplitSeq(joined.String, "\n") {
			d.words.Add(term)
			d.added++
		}
	}
	if first {
		d.loaded, d.added = d.added, 0
	}
	return nil
}
