package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"

	"cairn/internal/knowledge"
	"cairn/internal/knowledge/index"
	"cairn/internal/knowledge/index/ranking"
	"cairn/internal/knowledge/lexical"
)

// errDropped says that nobody keeps the vectors of the embedder any more.
var errDropped = fmt.Errorf("%w: its vectors were dropped; configure the embedder that is in use", index.ErrEmbedder)

// snapshot is what searches need of every passage, as of one generation of the
// database. It never changes; advance makes the next one, which shares unchanged parts.
type snapshot struct {
	generation int64
	slots      table[slot]
	documents  table[document]
	present    int           // documents
	classes    []index.Class // by number; numbers that were never given hold none
	passagesOf []int         // how many passages a class has
	passages   int
	length     float64 // sum of the passages' lengths
	indexed    bool    // the embedder's vectors have an HNSW index
}

// slot is a place for a passage; document is 0 if it has none any more.
type slot struct {
	document, position int32
	class              int32
	length             float32 // weighted, see lexical.BM25.Weigh
}

type document struct {
	key   knowledge.DocumentID
	class int32
}

// passageID returns the passage in a slot that is in use.
func (s *snapshot) passageID(number int32) knowledge.PassageID {
	slot := s.slots.at(number)
	return knowledge.MakePassageID(s.documents.at(slot.document).key, int(slot.position))
}

func (s *snapshot) isUsed(number int32) bool { return s.slots.at(number).document != 0 }

// averageLength returns the mean length over all passages.
func (s *snapshot) averageLength() float64 {
	if s.passages == 0 {
		return 0
	}
	return s.length / float64(s.passages)
}

// table is a list of values by number, in blocks that tables share until one changes.
type table[T any] [][]T

// at returns the value of a number, zero where none was set.
func (t table[T]) at(number int32) T {
	if block := int(number >> ranking.BlockBits); block < len(t) && t[block] != nil {
		return t[block][number&(ranking.BlockSize-1)]
	}
	var zero T
	return zero
}

// tableEdit makes the next state of a table.
type tableEdit[T any] struct {
	table table[T]
	own   map[int]bool // blocks that no other table has
}

func editTable[T any](t table[T]) *tableEdit[T] {
	return &tableEdit[T]{table: slices.Clone(t), own: make(map[int]bool)}
}

func (e *tableEdit[T]) set(number int32, value T) {
	block := int(number >> ranking.BlockBits)
	for block >= len(e.table) {
		e.table = append(e.table, nil)
	}
	if !e.own[block] {
		fresh := make([]T, ranking.BlockSize)
		copy(fresh, e.table[block])
		e.table[block], e.own[block] = fresh, true
	}
	e.table[block][number&(ranking.BlockSize-1)] = value
}

// snapshots keeps the latest snapshot.
type snapshots struct {
	refreshing sync.Mutex // held to make the next one
	latest     atomic.Pointer[snapshot]
}

// load returns the snapshot of the transaction's generation for searches by an embedder,
// making it if nobody has.
func (s *snapshots) load(ctx context.Context, tx pgx.Tx, of embedder) (*snapshot, error) {
	var generation, forgotten int64
	if err := tx.QueryRow(ctx, "SELECT generation, forgotten FROM cairn.meta").Scan(&generation, &forgotten); err != nil {
		return nil, err
	}
	s.refreshing.Lock()
	defer s.refreshing.Unlock()
	snap := s.latest.Load()
	if snap != nil && snap.generation == generation {
		return snap, nil
	}
	older := snap != nil && snap.generation > generation // this replica is behind another
	if snap == nil || older || snap.generation < forgotten {
		snap = &snapshot{generation: -1}
	}
	next, err := snap.advance(ctx, tx, generation, of)
	if err != nil {
		return nil, fmt.Errorf("load what searches need: %w", err)
	}
	if !older {
		s.latest.Store(next)
	}
	return next, nil
}

// advance returns the snapshot of the transaction's generation, which is later.
func (s *snapshot) advance(ctx context.Context, tx pgx.Tx, generation int64, of embedder) (*snapshot, error) {
	a := &snapshotEdit{
		next:      &snapshot{generation: generation, classes: slices.Clone(s.classes), present: s.present, passages: s.passages, length: s.length},
		slots:     editTable(s.slots),
		documents: editTable(s.documents),
	}
	a.next.passagesOf = slices.Clone(s.passagesOf)
	if err := a.loadClasses(ctx, tx); err != nil {
		return nil, err
	}
	if err := a.loadRemovals(ctx, tx, s.generation); err != nil {
		return nil, err
	}
	if err := a.loadDocuments(ctx, tx, s.generation); err != nil {
		return nil, err
	}
	if err := a.loadSlots(ctx, tx, s.generation); err != nil {
		return nil, err
	}
	a.next.slots, a.next.documents = a.slots.table, a.documents.table
	err := tx.QueryRow(ctx, "SELECT indexed FROM cairn.embedder WHERE id = $1", of.id).Scan(&a.next.indexed)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, errDropped
	}
	return a.next, err
}

// snapshotEdit builds the next snapshot.
type snapshotEdit struct {
	next      *snapshot
	slots     *tableEdit[slot]
	documents *tableEdit[document]
}

func (a *snapshotEdit) loadClasses(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, "SELECT id, source, kind, audience FROM cairn.class WHERE id >= $1 ORDER BY id", len(a.next.classes))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int
		var source, kind, audience []byte
		if err := rows.Scan(&id, &source, &kind, &audience); err != nil {
			return err
		}
		for id >= len(a.next.classes) {
			a.next.classes = append(a.next.classes, index.Class{})
			a.next.passagesOf = append(a.next.passagesOf, 0)
		}
		a.next.classes[id] = index.Class{Source: knowledge.SourceID(source), Kind: knowledge.Kind(kind), Audience: knowledge.Audience(audience)}
	}
	return rows.Err()
}

func (a *snapshotEdit) loadRemovals(ctx context.Context, tx pgx.Tx, after int64) error {
	if after < 0 {
		return nil // nothing is there to be removed
	}
	rows, err := tx.Query(ctx, "SELECT slots, documents FROM cairn.removal WHERE generation > $1", after)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var slots, documents []int32
		if err := rows.Scan(&slots, &documents); err != nil {
			return err
		}
		for _, number := range slots {
			a.setSlot(number, slot{})
		}
		for _, id := range documents {
			a.setDocument(id, document{})
		}
	}
	return rows.Err()
}

func (a *snapshotEdit) loadDocuments(ctx context.Context, tx pgx.Tx, after int64) error {
	rows, err := tx.Query(ctx, "SELECT id, key, class FROM cairn.document WHERE generation > $1", after)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id, class int32
		var key []byte
		if err := rows.Scan(&id, &key, &class); err != nil {
			return err
		}
		a.setDocument(id, document{key: knowledge.DocumentID(key), class: class})
	}
	return rows.Err()
}

func (a *snapshotEdit) loadSlots(ctx context.Context, tx pgx.Tx, after int64) error {
	rows, err := tx.Query(ctx, `SELECT slot, document, position, title_terms, heading_terms, body_terms
		FROM cairn.slot WHERE generation > $1`, after)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var number int32
		var s slot
		var lengths lexical.Counts
		if err := rows.Scan(&number, &s.document, &s.position, &lengths.Title, &lengths.Headings, &lengths.Body); err != nil {
			return err
		}
		s.length = float32(lexical.DefaultBM25.Weigh(lengths))
		s.class = a.documents.table.at(s.document).class
		if s.class == 0 {
			return fmt.Errorf("slot %d belongs to document %d, which is not there", number, s.document)
		}
		a.setSlot(number, s)
	}
	return rows.Err()
}

// setDocument puts a document in, or takes the one there out, and keeps the count.
func (a *snapshotEdit) setDocument(id int32, d document) {
	if a.documents.table.at(id).class != 0 {
		a.next.present--
	}
	a.documents.set(id, d)
	if d.class != 0 {
		a.next.present++
	}
}

// setSlot puts a passage into a slot, or takes the one there out, and keeps the counts.
func (a *snapshotEdit) setSlot(number int32, s slot) {
	if before := a.slots.table.at(number); before.document != 0 {
		a.next.passages--
		a.next.passagesOf[before.class]--
		a.next.length -= float64(before.length)
	}
	a.slots.set(number, s)
	if s.document != 0 {
		a.next.passages++
		a.next.passagesOf[s.class]++
		a.next.length += float64(s.length)
	}
}
