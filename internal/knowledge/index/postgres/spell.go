package postgres

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5"

	"cairn/internal/knowledge/index"
	"cairn/internal/knowledge/index/ranking"
)

// Similar returns terms one edit away, or two for long ones; an edit is a character
// more, less or other, or two neighbours swapped. Nearer ones come first, of equally
// near ones the commoner. The extension pg_trgm, which a server may not have, is not
// needed, and its trigrams find less in short words.
func (x *Index) Similar(ctx context.Context, term string, limit int) ([]index.TermStats, error) {
	if !ranking.IsCorrectable(term) || limit <= 0 {
		return nil, nil
	}
	var near []ranking.Neighbor
	err := x.inReadTransaction(ctx, x.read, func(tx pgx.Tx) error {
		var err error
		near, err = x.dictionary.nearestTerms(ctx, tx, term)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find terms of similar spelling: %w", err)
	}
	return ranking.Likeliest(near, limit), nil
}

// dictionary holds all terms and how many passages have each in memory, from the first
// call that needs them on. It reads the segments that are new; where some it has read
// were merged with new ones, or cleared away, all of them again.
type dictionary struct {
	mu      sync.Mutex
	through int64 // generation up to which it has read all segments
	terms   map[string]int
	words   ranking.Words
}

func (d *dictionary) nearestTerms(ctx context.Context, tx pgx.Tx, term string) ([]ranking.Neighbor, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.loadTerms(ctx, tx); err != nil {
		return nil, fmt.Errorf("load terms: %w", err)
	}
	near := d.words.Near(term)
	for i := range near {
		near[i].Passages = d.terms[near[i].Term]
	}
	return near, nil
}

// loadTerms updates the dictionary to the transaction's generation.
func (d *dictionary) loadTerms(ctx context.Context, tx pgx.Tx) error {
	segments, err := listSegments(ctx, tx)
	if err != nil {
		return err
	}
	var forgotten int64
	if err := tx.QueryRow(ctx, "SELECT forgotten FROM cairn.meta").Scan(&forgotten); err != nil {
		return err
	}
	straddles := func(s storedSegment) bool { return s.first <= d.through && s.last > d.through }
	behind := len(segments) > 0 && segments[len(segments)-1].last < d.through // this replica is behind another
	if d.terms == nil || d.through < forgotten || behind || slices.ContainsFunc(segments, straddles) {
		d.through, d.terms, d.words = 0, make(map[string]int), ranking.Words{}
	}
	var fresh []int32
	for _, s := range segments {
		if s.first > d.through {
			fresh = append(fresh, s.id)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	if err := d.readSegments(ctx, tx, fresh); err != nil {
		d.terms = nil // half of them are in: begin again
		return err
	}
	d.through = max(segments[len(segments)-1].last, forgotten)
	return nil
}

// readPages is how many pages of segments one statement reads: all of a large index would
// take longer than a statement may.
const readPages = 2000

func (d *dictionary) readSegments(ctx context.Context, tx pgx.Tx, segments []int32) error {
	_, err := tx.Exec(ctx, "DECLARE pages NO SCROLL CURSOR FOR SELECT entries FROM cairn.page WHERE segment = ANY ($1)", segments)
	if err != nil {
		return err
	}
	for more := true; more; {
		if more, err = d.readSome(ctx, tx); err != nil {
			return err
		}
	}
	_, err = tx.Exec(ctx, "CLOSE pages")
	return err
}

func (d *dictionary) readSome(ctx context.Context, tx pgx.Tx) (more bool, err error) {
	rows, err := tx.Query(ctx, fmt.Sprintf("FETCH %d FROM pages", readPages))
	if err != nil {
		return false, err
	}
	defer rows.Close()
	for rows.Next() {
		more = true
		var page []byte
		if err := rows.Scan(&page); err != nil {
			return false, err
		}
		err := eachEntry(page, func(e entry) bool {
			d.addTerms(e)
			return true
		})
		if err != nil {
			return false, err
		}
	}
	return more, rows.Err()
}

func (d *dictionary) addTerms(e entry) {
	before, ok := d.terms[e.term]
	d.terms[e.term] = before + e.passages
	if !ok {
		d.words.Add(e.term)
	}
}
