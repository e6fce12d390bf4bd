package engine

import (
	"cmp"
	"context"
	"fmt"
)

const (
	// mergeFactor is how many segments of about a size are merged into one, so that a
	// search meets a few in each order of magnitude.
	mergeFactor = 8
	// minSegmentBytes is the size of segments, in bytes, below which they count as equal.
	minSegmentBytes = 64 << 10
	// writePages is how many pages of a merged segment are written at once.
	writePages = 2000
)

// sizeLevel returns the order of magnitude of a segment's size.
func (s segment) sizeLevel() int {
	level := 0
	for size := int64(minSegmentBytes); s.bytes > size; size *= mergeFactor {
		level++
	}
	return level
}

// dueMerges returns the segments to merge, or none: those of a level that has enough of them, and
// the newer ones below it. What comes of it is a level higher, so that a posting is
// written again once for each level.
func dueMerges(segments []segment) []segment {
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
func (x *Index) mergeIfDue(ctx context.Context) error {
	for more := true; more; {
		err := x.options.Database.Write(ctx, func(tx Tx) error {
			segments, err := listSegments(ctx, tx)
			if err != nil {
				return err
			}
			parts := dueMerges(segments)
			more = len(parts) > 0
			if !more {
				return nil
			}
			snap, err := x.loadSnapshot(ctx, tx)
			if err != nil {
				return err
			}
			m := &merging{tx: tx, passages: passageReader{index: x, tx: tx, snap: snap}, pages: paginator{size: x.PageSize}}
			return m.merge(ctx, parts)
		})
		if err != nil {
			return fmt.Errorf("merge segments: %w", err)
		}
	}
	return nil
}

// merging is one merge under way.
type merging struct {
	tx       Tx
	passages passageReader
	readers  []*segmentReader // in order of generation
	pages    paginator
}

func (m *merging) merge(ctx context.Context, parts []segment) error {
	merged := segment{first: parts[0].first, last: parts[len(parts)-1].last}
	if err := selectOne(ctx, m.tx, query("UPDATE @meta SET next_segment = next_segment + 1 RETURNING next_segment - 1"), &merged.id); err != nil {
		return err
	}
	ids := make([]int32, len(parts))
	for i, part := range parts {
		ids[i] = part.id
		m.readers = append(m.readers, &segmentReader{tx: m.tx, segment: part.id, pages: max(1, readPages/len(parts))})
	}
	for {
		joined, ok, err := m.nextTerm(ctx)
		if err != nil {
			return err
		}
		if !ok {
			m.pages.flushPage()
		} else if len(joined.list) > 0 || joined.passages != 0 {
			m.pages.addEntry(joined)
		}
		if !ok || len(m.pages.pages) >= writePages {
			if err := insertPages(ctx, m.tx, merged.id, m.pages.takePages()); err != nil {
				return err
			}
		}
		if !ok {
			break
		}
	}
	for _, statement := range []string{
		"DELETE FROM @page WHERE segment IN (SELECT value FROM ints($1))", "DELETE FROM @segment WHERE id IN (SELECT value FROM ints($1))",
	} {
		if _, err := m.tx.Exec(ctx, statement, ids); err != nil {
			return err
		}
	}
	merged.bytes = m.pages.bytes
	return insertSegment(ctx, m.tx, merged)
}

// nextTerm merges the entries of the next term in all segments into one. Slots ascend with the
// generations, so that lists can be put behind one another.
func (m *merging) nextTerm(ctx context.Context) (joined entry, ok bool, err error) {
	for _, r := range m.readers {
		e, more, err := r.peek(ctx)
		if err != nil {
			return entry{}, false, err
		}
		if more && (!ok || e.term < joined.term) {
			joined.term, ok = e.term, true
		}
	}
	var list listBuilder
	for _, r := range m.readers {
		if len(r.entries) == 0 || r.entries[0].term != joined.term {
			continue
		}
		joined.passages += r.entries[0].passages
		var inner error
		err := eachGroup(r.entries[0].list, func(number int32, postings []byte) {
			inner = cmp.Or(inner, m.keepPostings(ctx, &list, number, postings))
		})
		if err = cmp.Or(err, inner); err != nil {
			return entry{}, false, fmt.Errorf("term %q: %w", joined.term, err)
		}
		r.next()
	}
	joined.list = list.encodeList()
	return joined, ok, nil
}

// keepPostings adds the postings of a group to a list but for those of slots that are free.
// Where none is, they are taken over as they are.
func (m *merging) keepPostings(ctx context.Context, list *listBuilder, number int32, postings []byte) error {
	group, err := m.passages.readGroup(ctx, number)
	if err != nil {
		return err
	}
	if group.isWhole() {
		list.addGroup(number, postings)
		return nil
	}
	var kept []byte
	err = eachPosting(number, postings, func(p posting) {
		if group.at(p.slot).class != 0 {
			kept = appendPosting(kept, p)
		}
	})
	list.addGroup(number, kept)
	return err
}
