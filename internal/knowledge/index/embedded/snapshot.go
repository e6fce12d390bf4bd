package embedded

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"cairn/internal/knowledge"
	"cairn/internal/knowledge/index"
	"cairn/internal/knowledge/index/ranking"
	"cairn/internal/knowledge/lexical"
)

// snapshot is what searches need of every passage, as of one generation of the
// file. It never changes; advance makes the next one.
type snapshot struct {
	generation int64
	slots      []slot
	classes    []index.Class
	passages   int     // slots in use
	length     float64 // sum of the slots' lengths
	windows    windows
}

// slot is a place for a passage; its index in snapshot.slots is its number.
type slot struct {
	document *document // nil: free
	position int32
	length   float32 // weighted, see lexical.BM25.Weigh
	embedded bool    // it has its vectors, be they none
}

// document is what a search needs of a document, shared by its passages.
type document struct {
	key   knowledge.DocumentID
	class int // index in snapshot.classes
}

// windows are the vectors' sign bits, in order of slot.
type windows struct {
	words int      // 64-bit words a window
	signs []uint64 // window after window
	slots []int32  // of each window
}

func (w *windows) appendWindow(slot int32, signs []uint64) {
	w.slots = append(w.slots, slot)
	w.signs = append(w.signs, signs...)
}

// passageID returns the passage in a slot that is in use.
func (s *snapshot) passageID(number int32) knowledge.PassageID {
	slot := s.slots[number]
	return knowledge.MakePassageID(slot.document.key, int(slot.position))
}

// averageLength returns the mean length over all passages.
func (s *snapshot) averageLength() float64 {
	if s.passages == 0 {
		return 0
	}
	return s.length / float64(s.passages)
}

// countBlocks returns how many blocks of posting lists there are at most.
func (s *snapshot) countBlocks() int {
	return (len(s.slots) + ranking.BlockSize - 1) >> ranking.BlockBits
}

// errMoved says that the snapshot in memory is newer than a transaction.
var errMoved = errors.New("index changed under a read")

// readSnapshot runs a read in one transaction with the snapshot of the same generation.
func (x *Index) readSnapshot(ctx context.Context, use func(tx *sql.Tx, snap *snapshot) error) error {
	for {
		err := x.readTransaction(ctx, func(tx *sql.Tx) error {
			snap, err := x.currentSnapshot(ctx, tx)
			if err != nil {
				return err
			}
			return use(tx, snap)
		})
		if !errors.Is(err, errMoved) {
			return err
		}
	}
}

func (x *Index) readTransaction(ctx context.Context, use func(tx *sql.Tx) error) error {
	tx, err := x.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return explainError(err)
	}
	defer tx.Rollback() // ends the read; there is nothing to commit
	return explainError(use(tx))
}

// currentSnapshot returns the snapshot of the transaction's generation, making it if nobody
// has. It fails with errMoved when a later one has been made already.
func (x *Index) currentSnapshot(ctx context.Context, tx *sql.Tx) (*snapshot, error) {
	var generation int64
	if err := tx.QueryRowContext(ctx, "SELECT generation FROM meta").Scan(&generation); err != nil {
		return nil, err
	}
	if snap := x.snapshot.Load(); snap != nil && snap.generation == generation {
		return snap, nil
	}
	x.refreshing.Lock()
	defer x.refreshing.Unlock()
	snap := x.snapshot.Load()
	switch {
	case snap == nil:
		snap = &snapshot{generation: -1, windows: windows{words: signWords(x.dimension)}}
	case snap.generation == generation:
		return snap, nil
	case snap.generation > generation:
		return nil, errMoved
	}
	next, err := snap.nextSnapshot(ctx, tx, generation)
	if err != nil {
		return nil, fmt.Errorf("load what searches need: %w", err)
	}
	x.snapshot.Store(next)
	return next, nil
}

// nextSnapshot returns the snapshot of the transaction's generation.
func (s *snapshot) nextSnapshot(ctx context.Context, tx *sql.Tx, generation int64) (*snapshot, error) {
	next := &snapshot{
		generation: generation,
		slots:      slices.Clone(s.slots),
		classes:    slices.Clone(s.classes),
	}
	documents, err := next.changedDocuments(ctx, tx, s.generation)
	if err != nil {
		return nil, err
	}
	changed, err := next.changedSlots(ctx, tx, s, documents)
	if err != nil {
		return nil, err
	}
	next.windows = s.windows.mergeWindows(changed)
	for _, slot := range next.slots {
		if slot.document != nil {
			next.passages++
			next.length += float64(slot.length)
		}
	}
	return next, nil
}

// changedDocuments loads the documents put after a generation, by row id.
func (s *snapshot) changedDocuments(ctx context.Context, tx *sql.Tx, after int64) (map[int64]*document, error) {
	known := make(map[index.Class]int, len(s.classes))
	for i, c := range s.classes {
		known[c] = i
	}
	rows, err := tx.QueryContext(ctx, "SELECT id, key, source, kind, audience FROM document WHERE generation > ?", after)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	documents := make(map[int64]*document)
	for rows.Next() {
		var id int64
		var d document
		var c index.Class
		if err := rows.Scan(&id, &d.key, &c.Source, &c.Kind, &c.Audience); err != nil {
			return nil, err
		}
		number, ok := known[c]
		if !ok {
			number = len(s.classes)
			known[c] = number
			s.classes = append(s.classes, c)
		}
		d.class = number
		documents[id] = &d
	}
	return documents, rows.Err()
}

// slotWindows are the windows of a slot that changed, none if it has no vectors.
type slotWindows struct {
	slot  int32
	signs []uint64
}

// changedSlots takes over the slots changed after old, and gives their windows in
// order of slot. A Put changes all slots of its document, so that a slot whose
// document was not put again (only its vectors came) keeps the document it had.
func (s *snapshot) changedSlots(ctx context.Context, tx *sql.Tx, old *snapshot, documents map[int64]*document) ([]slotWindows, error) {
	rows, err := tx.QueryContext(ctx, `SELECT slot, document, position, title_terms, heading_terms, body_terms, signs IS NOT NULL, signs
		FROM slot WHERE generation > ? ORDER BY slot`, old.generation)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var changed []slotWindows
	for rows.Next() {
		var number int32
		var id sql.NullInt64
		var place slot
		var counts lexical.Counts
		var signs sql.RawBytes
		if err := rows.Scan(&number, &id, &place.position, &counts.Title, &counts.Headings, &counts.Body, &place.embedded, &signs); err != nil {
			return nil, err
		}
		place.length = float32(lexical.DefaultBM25.Weigh(counts))
		for int(number) >= len(s.slots) {
			s.slots = append(s.slots, slot{})
		}
		if put := documents[id.Int64]; id.Valid && put != nil {
			place.document = put
		} else if id.Valid {
			place.document = s.slots[number].document
		}
		if id.Valid && place.document == nil {
			return nil, fmt.Errorf("slot %d belongs to a document that is not there", number)
		}
		s.slots[number] = place
		if len(signs)%(8*old.windows.words) != 0 {
			return nil, fmt.Errorf("slot %d has %d bytes of signs, not a multiple of %d", number, len(signs), 8*old.windows.words)
		}
		changed = append(changed, slotWindows{slot: number, signs: decodeSigns(signs)})
	}
	return changed, rows.Err()
}

// mergeWindows returns the windows after the changes; both are in order of slot.
func (w windows) mergeWindows(changed []slotWindows) windows {
	if len(changed) == 0 {
		return w
	}
	more := 0
	for _, c := range changed {
		more += len(c.signs)
	}
	next := windows{
		words: w.words,
		signs: make([]uint64, 0, len(w.signs)+more),
		slots: make([]int32, 0, len(w.slots)+more/w.words),
	}
	i := 0
	for _, c := range changed {
		from := i
		for i < len(w.slots) && w.slots[i] < c.slot {
			i++
		}
		next.slots = append(next.slots, w.slots[from:i]...)
		next.signs = append(next.signs, w.signs[from*w.words:i*w.words]...)
		for i < len(w.slots) && w.slots[i] == c.slot {
			i++
		}
		for at := 0; at < len(c.signs); at += w.words {
			next.appendWindow(c.slot, c.signs[at:at+w.words])
		}
	}
	next.slots = append(next.slots, w.slots[i:]...)
	next.signs = append(next.signs, w.signs[i*w.words:]...)
	return next
}

func decodeSigns(data []byte) []uint64 {
	signs := make([]uint64, len(data)/8)
	for i := range signs {
		signs[i] = binary.LittleEndian.Uint64(data[8*i:])
	}
	return signs
}
