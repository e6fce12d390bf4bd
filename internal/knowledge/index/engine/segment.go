package engine

import (
	"cmp"
	"context"
	"maps"
	"slices"
)

// segmentBuilder gathers what a write changes in the posting lists, by term.
type segmentBuilder map[string]*termChange

type termChange struct {
	passages int
	postings []posting
}

func (b segmentBuilder) changeOf(term string) *termChange {
	change, ok := b[term]
	if !ok {
		change = &termChange{}
		b[term] = change
	}
	return change
}

func (b segmentBuilder) addPassage(slot int32, words analysedPassage) {
	for _, c := range words.terms {
		change := b.changeOf(c.term)
		change.passages++
		change.postings = append(change.postings, posting{slot: slot, counts: c.counts})
	}
}

// removePassage takes a passage out of the counts. Its postings stay in the segment that has
// them, where no search looks at a slot that is gone.
func (b segmentBuilder) removePassage(words analysedPassage) {
	for _, c := range words.terms {
		b.changeOf(c.term).passages--
	}
}

// allEntries yields the changed entries, in order of term.
func (b segmentBuilder) allEntries(yield func(entry) bool) {
	for _, term := range slices.Sorted(maps.Keys(b)) {
		change := b[term]
		if change.passages == 0 && len(change.postings) == 0 {
			continue
		}
		if !yield(entry{term: term, passages: change.passages, list: makeList(change.postings)}) {
			return
		}
	}
}

// segment is a row of the table segment: the posting lists of the writes of some generations,
// for slots that follow those of the segment before. It never changes; some are merged into one.
type segment struct {
	id          int32
	first, last int64 // generations
	bytes       int64
}

func listSegments(ctx context.Context, tx Tx) (segments []segment, err error) {
	var s segment
	err = tx.Select(ctx, query("SELECT id, first_generation, last_generation, bytes FROM @segment ORDER BY first_generation"), func() error {
		segments = append(segments, s)
		return nil
	}, &s.id, &s.first, &s.last, &s.bytes)
	return segments, err
}

func insertSegment(ctx context.Context, tx Tx, s segment) error {
	_, err := tx.Exec(ctx, "INSERT INTO @segment (id, first_generation, last_generation, bytes) VALUES ($1, $2, $3, $4)", s.id, s.first, s.last, s.bytes)
	return err
}

func insertPages(ctx context.Context, tx Tx, segment int32, pages []page) error {
	return tx.Insert(ctx, Columns{"page", []string{"segment", "first", "entries"}}, len(pages), func(i int) []any {
		return []any{segment, pages[i].first, pages[i].entries}
	})
}

// eachEntryOf yields the entries of terms in all segments, with the number of the term from 0.
func eachEntryOf(ctx context.Context, tx Tx, terms []string, use func(n int, e entry) error) error {
	if len(terms) == 0 {
		return nil
	}
	var n int
	var entries []byte
	return tx.Select(ctx, query(`SELECT number, (SELECT entries FROM @page
			WHERE page.segment = s.id AND first <= value ORDER BY first DESC LIMIT 1) AS entries -- NULL: none has the term
		FROM strings($1) CROSS JOIN @segment s`, terms), func() error {
		term := terms[n-1]
		var inner error
		err := eachEntry(entries, func(e entry) bool {
			if e.term == term {
				inner = use(n-1, e)
			}
			return e.term < term
		})
		return cmp.Or(err, inner)
	}, &n, &entries)
}

// readPages is how many pages are read at once, of all segments that are merged together.
const readPages = 1000

// segmentReader reads the entries of a segment in order of term.
type segmentReader struct {
	tx      Tx
	segment int32
	pages   int     // read at once
	entries []entry // that were read and are next
	last    string  // first term of the last page read
	begun   bool
	ended   bool
}

// peek returns the next entry, false at the end.
func (r *segmentReader) peek(ctx context.Context) (entry, bool, error) {
	for len(r.entries) == 0 && !r.ended {
		if err := r.readPages(ctx); err != nil {
			return entry{}, false, err
		}
	}
	if len(r.entries) == 0 {
		return entry{}, false, nil
	}
	return r.entries[0], true, nil
}

func (r *segmentReader) next() { r.entries = r.entries[1:] }

func (r *segmentReader) readPages(ctx context.Context) error {
	asked := query("SELECT first, entries FROM @page WHERE segment = $1 AND first > $2 ORDER BY first LIMIT $3", r.segment, r.last, r.pages)
	if !r.begun { // the first term may be ""
		asked = query("SELECT first, entries FROM @page WHERE segment = $1 ORDER BY first LIMIT $2", r.segment, r.pages)
	}
	r.begun, r.entries = true, nil
	count := 0
	var entries []byte
	err := r.tx.Select(ctx, asked, func() error {
		count++
		return eachEntry(slices.Clone(entries), func(e entry) bool {
			r.entries = append(r.entries, e)
			return true
		})
	}, &r.last, &entries)
	r.ended = count < r.pages
	return err
}
