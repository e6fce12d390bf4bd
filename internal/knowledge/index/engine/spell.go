package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/cairn-bot/cairn/internal/knowledge/index"
)

// mostNear bounds the nearest terms whose passages are counted.
const mostNear = 200

// Similar returns terms one edit away, or two for long ones; an edit is a character
// more, less or other, or two neighbours swapped. Nearer ones come first, of equally
// near ones the commoner. No extension of a database is needed for it, and trigrams find less
// in short words.
func (x *Index) Similar(ctx context.Context, term string, limit int) ([]index.TermStats, error) {
	if !isCorrectable(term) || limit <= 0 {
		return nil, nil
	}
	var near []neighbor
	err := x.options.Database.Read(ctx, func(tx Tx) error {
		var err error
		if near, err = x.dictionary.nearestTerms(ctx, tx, term); err != nil {
			return err
		}
		terms := make([]string, len(near))
		for i, n := range near {
			terms[i] = n.term
		}
		counted, err := countTerms(ctx, tx, terms)
		for i := range near {
			near[i].passages = counted[i].Passages
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find terms of similar spelling: %w", err)
	}
	return likeliest(near, limit), nil
}

// dictionary holds all terms in memory, from the first call that needs them on. It reads the
// segments that it has not read, merged ones among them; terms that went stay until it begins
// anew, which it does when the index was cleared.
type dictionary struct {
	mu      sync.Mutex
	through int64 // generation up to which it has read all segments
	words   words
}

// nearestTerms returns the nearest terms; of equally near ones those that begin alike first.
func (d *dictionary) nearestTerms(ctx context.Context, tx Tx, term string) ([]neighbor, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.loadTerms(ctx, tx); err != nil {
		return nil, fmt.Errorf("load terms: %w", err)
	}
	near := d.words.near(term)
	startsOther := func(n neighbor) int {
		if n.term[0] == term[0] {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(near, func(a, b neighbor) int {
		return cmp.Or(a.distance-b.distance, startsOther(a)-startsOther(b), strings.Compare(a.term, b.term))
	})
	return near[:min(mostNear, len(near))], nil
}

// loadTerms adds the terms of the segments that are new.
func (d *dictionary) loadTerms(ctx context.Context, tx Tx) error {
	segments, err := listSegments(ctx, tx)
	if err != nil {
		return err
	}
	var cleared int64
	if err := selectOne(ctx, tx, query("SELECT cleared FROM @meta"), &cleared); err != nil {
		return err
	}
	if d.through < cleared {
		d.words, d.through = words{}, cleared
	}
	for _, s := range segments {
		if s.last <= d.through {
			continue
		}
		reader := &segmentReader{tx: tx, segment: s.id, pages: readPages}
		for {
			e, ok, err := reader.peek(ctx)
			if err != nil {
				return err
			}
			if !ok {
				break
			}
			reader.next()
			d.words.add(e.term)
		}
		d.words.removeDuplicates()
	}
	if len(segments) > 0 {
		d.through = max(d.through, segments[len(segments)-1].last)
	}
	return nil
}
