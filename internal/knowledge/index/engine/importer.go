package engine

import (
	"context"
	"maps"
	"slices"

	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
)

// Importer writes the blocks and the posting lists of an index that kept them in another layout.
// The zero Importer is empty.
type Importer struct {
	blocks   blockEdits
	pages    paginator
	term     string
	passages int
	list     listBuilder
}

// AddPassage takes in the passage of a slot, with its class and how many terms its fields have.
func (m *Importer) AddPassage(slot, class int32, lengths lexical.Counts) {
	if m.blocks == nil {
		m.blocks = make(blockEdits)
	}
	m.blocks.set(slot, passageInfo{class: class, length: float32(lexical.DefaultBM25.Weigh(lengths))})
}

// AddPostings takes in the postings of a term in so many passages of one group of 16,384 slots.
// Terms come in order, and of a term the groups.
func (m *Importer) AddPostings(term string, group int32, passages int, postings []byte) {
	if term != m.term {
		m.flushTerm()
		m.term = term
	}
	m.passages += passages
	m.list.addGroup(group, postings)
}

func (m *Importer) flushTerm() {
	if m.passages > 0 {
		m.pages.size = defaultPageSize
		m.pages.addEntry(entry{term: m.term, passages: m.passages, list: m.list.encodeList()})
	}
	m.passages, m.list = 0, listBuilder{}
}

// Write writes what was taken in, as of a generation, into tables that are empty, with one
// segment of the number 1.
func (m *Importer) Write(ctx context.Context, tx Tx, generation int64) error {
	numbers := slices.Sorted(maps.Keys(m.blocks))
	err := tx.Insert(ctx, Columns{"block", []string{"number", "generation", "passages"}}, len(numbers), func(i int) []any {
		return []any{numbers[i], generation, m.blocks[numbers[i]].encode()}
	})
	if err != nil {
		return err
	}
	m.flushTerm()
	m.pages.flushPage()
	if m.pages.bytes == 0 {
		return nil
	}
	if err := insertSegment(ctx, tx, segment{id: 1, first: generation, last: generation, bytes: m.pages.bytes}); err != nil {
		return err
	}
	return insertPages(ctx, tx, 1, m.pages.takePages())
}
