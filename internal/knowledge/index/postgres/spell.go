package postgres

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5"

	"cairn/internal/knowledge/index"
	"cairn/internal/knowledge/index/spelling"
)

// Similar gives terms one edit away, or two for long ones; an edit is a character
// more, less or other, or two neighbours swapped. Nearer ones come first, of equally
// near ones the commoner. The extension pg_trgm, which a server may not have, is not
// needed, and its trigrams find less in short words.
func (x *Index) Similar(ctx context.Context, term string, limit int) ([]index.TermStats, error) {
	if !spelling.IsCorrectable(term) || limit <= 0 {
		return nil, nil
	}
	var near []spelling.Neighbor
	err := x.inRead(ctx, x.read, func(tx pgx.Tx) error {
		var err error
		near, err = x.dictionary.near(ctx, tx, term)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find terms like %q: %w", term, err)
	}
	return spelling.Likeliest(near, limit), nil
}

// dictionary holds all terms and how many passages have each in memory, from the first
// call that needs them on. It reads the segments that are new; where some it has read
// were merged with new ones, all of them again.
type dictionary struct {
	mu      sync.Mutex
	through int64 // generation of the last segment it has read
	terms   map[string]int
	words   spelling.Words
	present int // terms that any passage has
}

// size gives the number of terms that any passage has.
func (d *dictionary) size(ctx context.Context, tx pgx.Tx) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.load(ctx, tx); err != nil {
		return 0, fmt.Errorf("load terms: %w", err)
	}
	return d.present, nil
}

func (d *dictionary) near(ctx context.Context, tx pgx.Tx, term string) ([]spelling.Neighbor, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.load(ctx, tx); err != nil {
		return nil, fmt.Errorf("load terms: %w", err)
	}
	near := d.words.Near(term)
	for i := range near {
		near[i].Passages = d.terms[near[i].Term]
	}
	return near, nil
}

// load brings the dictionary up to the transaction.
func (d *dictionary) load(ctx context.Context, tx pgx.Tx) error {
	segments, err := listSegments(ctx, tx)
	if err != nil {
		return err
	}
	straddles := func(s storedSegment) bool { return s.first <= d.through && s.last > d.through }
	if d.terms == nil || slices.ContainsFunc(segments, straddles) || len(segments) > 0 && segments[len(segments)-1].last < d.through {
		d.through, d.terms, d.words, d.present = 0, make(map[string]int), spelling.Words{}, 0
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
	if err := d.read(ctx, tx, fresh); err != nil {
		d.terms = nil // half of them are in: begin again
		return err
	}
	d.through = segments[len(segments)-1].last
	return nil
}

func (d *dictionary) read(ctx context.Context, tx pgx.Tx, segments []int32) error {
	rows, err := tx.Query(ctx, "SELECT entries FROM cairn.page WHERE segment = ANY ($1)", segments)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var page []byte
		if err := rows.Scan(&page); err != nil {
			return err
		}
		err := eachEntry(page, func(e entry) bool {
			d.add(e)
			return true
		})
		if err != nil {
			return err
		}
	}
	return rows.Err()
}

func (d *dictionary) add(e entry) {
	before, known := d.terms[e.term]
	after := before + e.passages
	d.terms[e.term] = after
	switch {
	case before <= 0 && after > 0:
		d.present++
	case before > 0 && after <= 0:
		d.present--
	}
	if !known {
		d.words.Add(e.term)
	}
}
