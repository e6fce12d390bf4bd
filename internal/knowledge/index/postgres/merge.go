package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
)

const (
	// mergeFactor is how many segments of about a size are merged into one, so that a
	// search meets a few in each order of magnitude.
	mergeFactor = 8
	// minSegmentBytes is the size of segments, in bytes, below which they count as equal.
	minSegmentBytes = 64 << 10
	// mergePages is how many pages are read and written at once.
	mergePages = 2000
	// keptRemovals is how many generations of removals are kept for the snapshots of
	// other processes; one that is older starts anew.
	keptRemovals = 1000
)

// storedSegment is a row of cairn.segment.
type storedSegment struct {
	id          int32
	first, last int64 // generations
	bytes       int64
}

// sizeLevel returns the order of magnitude of a segment's size.
func (s storedSegment) sizeLevel() int {
	level := 0
	for size := int64(minSegmentBytes); s.bytes > size; size *= mergeFactor {
		level++
	}
	return level
}

// dueMerges returns the segments to merge, or none: those of a level that has enough of them, and
// the newer ones below it. What comes of it is a level higher, so that a posting is
// written again once for each level.
func dueMerges(segments []storedSegment) []storedSegment {
	from, highest, count := len(segments), 0, 0
	for at := len(segments) - 1; at >= 0; at-- {
		if level := segments[at].sizeLevel(); level > highest {
			highest, count = level, 0
		}
		count++ // one that has shrunk counts as one of the level around it
		if count >= mergeFactor {
			from = at
		}
	}
	return segments[from:]
}

// mergeIfDue merges segments, leaving out deleted postings, until no merge is due.
// The caller holds x.writer.mu.
func (x *Index) mergeIfDue(ctx context.Context) error {
	for more := true; more; {
		var err error
		if more, err = x.mergeOnce(ctx); err != nil {
			return fmt.Errorf("merge segments: %w", err)
		}
	}
	return nil
}

// mergeOnce does the merge that is due, and reports whether there was one.
func (x *Index) mergeOnce(ctx context.Context) (merged bool, err error) {
	err = x.writer.retryWrite(ctx, func(tx pgx.Tx) error {
		segments, err := listSegments(ctx, tx)
		if err != nil {
			return err
		}
		parts := dueMerges(segments)
		merged = len(parts) > 0
		if !merged {
			return nil
		}
		snap, err := x.snapshots.load(ctx, tx, x.embedder)
		if err != nil {
			return err
		}
		m := &merging{tx: tx, snap: snap, segments: parts, waiting: make(map[string][]segmentEntry), intact: make(map[int32]bool), pages: paginator{size: x.limits.page}}
		if err := m.mergeAll(ctx); err != nil {
			return err
		}
		return forgetRemovals(ctx, tx)
	})
	return merged, err
}

func listSegments(ctx context.Context, tx pgx.Tx) ([]storedSegment, error) {
	rows, err := tx.Query(ctx, "SELECT id, first_generation, last_generation, bytes FROM cairn.segment ORDER BY first_generation")
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (storedSegment, error) {
		var s storedSegment
		err := row.Scan(&s.id, &s.first, &s.last, &s.bytes)
		return s, err
	})
}

// forgetRemovals drops removals that hardly any snapshot lacks.
func forgetRemovals(ctx context.Context, tx pgx.Tx) error {
	_, err := tx.Exec(ctx, `WITH old AS (DELETE FROM cairn.removal WHERE generation < (SELECT generation FROM cairn.meta) - $1 RETURNING generation)
		UPDATE cairn.meta SET forgotten = greatest(forgotten, (SELECT max(generation) FROM old))`, keptRemovals)
	return err
}

// merging is one merge under way. Pages come in order of their first term, whichever
// segment they are of, so that a term is complete once a later one begins a page.
type merging struct {
	tx       pgx.Tx
	snap     *snapshot
	segments []storedSegment
	id       int32
	waiting  map[string][]segmentEntry // by term
	intact   map[int32]bool            // blocks, as far as they have been looked at
	pages    paginator
}

// segmentEntry is the entry of a term in the n-th segment.
type segmentEntry struct {
	entry
	n int
}

func (m *merging) mergeAll(ctx context.Context) error {
	if err := m.tx.QueryRow(ctx, "UPDATE cairn.meta SET next_segment = next_segment + 1 RETURNING next_segment - 1").Scan(&m.id); err != nil {
		return err
	}
	ids := make([]int32, len(m.segments))
	for i, s := range m.segments {
		ids[i] = s.id
	}
	// Slots ascend with the generations, so that lists can be put behind one another.
	_, err := m.tx.Exec(ctx, `DECLARE merged NO SCROLL CURSOR FOR SELECT n::integer, first, entries FROM cairn.page
		JOIN unnest($1::integer[]) WITH ORDINALITY AS s (id, n) ON segment = id ORDER BY first, n`, ids)
	if err != nil {
		return err
	}
	for done := false; !done; {
		if done, err = m.mergePages(ctx); err != nil {
			return err
		}
	}
	statements := &pgx.Batch{}
	statements.Queue("CLOSE merged")
	statements.Queue("DELETE FROM cairn.page WHERE segment = ANY ($1)", ids)
	statements.Queue("DELETE FROM cairn.segment WHERE id = ANY ($1)", ids)
	statements.Queue("INSERT INTO cairn.segment (id, first_generation, last_generation, bytes) VALUES ($1, $2, $3, $4)",
		m.id, m.segments[0].first, m.segments[len(m.segments)-1].last, m.pages.bytes)
	return m.tx.SendBatch(ctx, statements).Close()
}

// mergePages reads some pages and writes those that they complete.
func (m *merging) mergePages(ctx context.Context) (done bool, err error) {
	rows, err := m.tx.Query(ctx, fmt.Sprintf("FETCH %d FROM merged", mergePages))
	if err != nil {
		return false, err
	}
	defer rows.Close()
	count := 0
	for rows.Next() {
		var n int
		var first, entries []byte
		if err := rows.Scan(&n, &first, &entries); err != nil {
			return false, err
		}
		count++
		if err := m.flushTerms(func(term string) bool { return term < string(first) }); err != nil {
			return false, err
		}
		err := eachEntry(entries, func(e entry) bool {
			m.waiting[e.term] = append(m.waiting[e.term], segmentEntry{n: n, entry: e})
			return true
		})
		if err != nil {
			return false, err
		}
	}
	if err := rows.Err(); err != nil {
		return false, err
	}
	if count == 0 {
		if err := m.flushTerms(func(string) bool { return true }); err != nil {
			return false, err
		}
		m.pages.flushPage()
	}
	return count == 0, copyPages(ctx, m.tx, m.id, m.pages.takePages())
}

// flushTerms writes the terms that no further page contains.
func (m *merging) flushTerms(isLast func(term string) bool) error {
	var terms []string
	for term := range m.waiting {
		if isLast(term) {
			terms = append(terms, term)
		}
	}
	slices.Sort(terms)
	for _, term := range terms {
		joined, err := m.mergeTerm(m.waiting[term])
		if err != nil {
			return fmt.Errorf("term %q: %w", term, err)
		}
		delete(m.waiting, term)
		if len(joined.list) > 0 || joined.passages != 0 {
			m.pages.addEntry(joined)
		}
	}
	return nil
}

// mergeTerm merges the entries of a term in all segments into one.
func (m *merging) mergeTerm(pieces []segmentEntry) (entry, error) {
	slices.SortFunc(pieces, func(a, b segmentEntry) int { return a.n - b.n })
	joined := entry{term: pieces[0].term}
	var list listBuilder
	for _, p := range pieces {
		joined.passages += p.passages
		var inner error
		err := eachBlock(p.list, func(number int32, postings []byte) {
			inner = cmp.Or(inner, m.keepPostings(&list, number, postings))
		})
		if err = cmp.Or(err, inner); err != nil {
			return entry{}, err
		}
	}
	joined.list = list.encodeList()
	return joined, nil
}

// keepPostings adds the postings of a block to a list but for those of slots that are free.
// Where none is, they are taken over as they are.
func (m *merging) keepPostings(list *listBuilder, number int32, postings []byte) error {
	if m.isIntact(number) {
		list.addBlock(number, postings)
		return nil
	}
	var kept []byte
	err := eachPosting(number, postings, func(p posting) {
		if m.snap.isUsed(p.slot) {
			kept = appendPosting(kept, p)
		}
	})
	list.addBlock(number, kept)
	return err
}

// isIntact reports whether a block has no free slot below the last one in use.
func (m *merging) isIntact(number int32) bool {
	intact, ok := m.intact[number]
	if !ok {
		intact = int(number) < len(m.snap.slots) && m.snap.slots[number] != nil && !hasGap(m.snap.slots[number])
		m.intact[number] = intact
	}
	return intact
}

func hasGap(block []slot) bool {
	gap := false
	for _, s := range block {
		if s.document != 0 && gap {
			return true
		}
		gap = gap || s.document == 0
	}
	return false
}
