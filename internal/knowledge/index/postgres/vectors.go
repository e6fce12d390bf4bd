package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/pgvector/pgvector-go"

	"cairn/internal/knowledge"
	"cairn/internal/knowledge/index"
)

// Unembedded returns passages without vectors of the configured embedder in the order of
// their slots.
func (x *Index) Unembedded(ctx context.Context, limit int) ([]index.Found, error) {
	var found []index.Found
	err := x.inReadTransaction(ctx, x.primary, func(tx pgx.Tx) error {
		slots, err := x.unembeddedSlots(ctx, tx, limit)
		if err != nil || len(slots) == 0 {
			found = nil
			return err
		}
		found, err = readFound(ctx, tx, "slot = ANY ($1) ORDER BY slot", slots)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read passages without vectors: %w", err)
	}
	return found, nil
}

// unembeddedSlots looks from the lowest slot on that may lack vectors: a slot that has
// them never loses them but with its passage. OFFSET 0 has the planner look each slot
// up instead of reading all vectors.
func (x *Index) unembeddedSlots(ctx context.Context, tx pgx.Tx, limit int) ([]int32, error) {
	rows, err := tx.Query(ctx, `SELECT slot FROM cairn.slot s
		WHERE slot >= (SELECT embedded_below FROM cairn.embedder WHERE id = $1)
		AND NOT EXISTS (SELECT FROM `+x.embedder.table+" v WHERE v.slot = s.slot OFFSET 0) ORDER BY slot LIMIT $2", x.embedder.id, limit)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int32])
}

// markEmbedded notes from where on slots may lack vectors, and reports whether any do.
func (x *Index) markEmbedded(ctx context.Context, tx pgx.Tx) (more bool, err error) {
	slots, err := x.unembeddedSlots(ctx, tx, 1)
	if err != nil {
		return false, err
	}
	var next *int32
	if len(slots) > 0 {
		next = &slots[0]
	}
	_, err = tx.Exec(ctx, `UPDATE cairn.embedder SET embedded_below = coalesce($2, (SELECT next_slot FROM cairn.meta)) WHERE id = $1`,
		x.embedder.id, next)
	return next != nil, err
}

// WriteVectors stores the vectors of passages that still are what they were made
// from, all at once. When no passage lacks them any more, the HNSW index is built, if
// one is due.
func (x *Index) WriteVectors(ctx context.Context, vectors []index.Vectors) error {
	if x.options.ReadOnly {
		return fmt.Errorf("write vectors: %w", errReadOnly)
	}
	w := &vectorWrite{table: x.embedder.table, byID: make(map[knowledge.PassageID]index.Vectors, len(vectors))}
	for _, v := range vectors {
		if err := w.addVectors(v, x.options.Dimension); err != nil {
			return fmt.Errorf("write vectors of %s: %w", v.Passage, err)
		}
	}
	x.writer.mu.Lock()
	defer x.writer.mu.Unlock()
	more := true
	err := x.writer.retryWrite(ctx, func(tx pgx.Tx) error {
		if err := w.writeVectors(ctx, tx); err != nil {
			return err
		}
		var err error
		more, err = x.markEmbedded(ctx, tx)
		return err
	})
	if err == nil && !more {
		err = x.buildIfDue(ctx)
	}
	if err != nil {
		return fmt.Errorf("write vectors: %w", err)
	}
	return nil
}

// vectorWrite is one call of WriteVectors.
type vectorWrite struct {
	table     string
	keys      [][]byte
	positions []int32
	hashes    [][]byte
	byID      map[knowledge.PassageID]index.Vectors // the last of each passage
}

func (w *vectorWrite) addVectors(v index.Vectors, dimension int) error {
	document, position, ok := v.Passage.Split()
	if !ok {
		return errors.New("not the id of a passage")
	}
	if err := v.Validate(dimension); err != nil {
		return err
	}
	w.keys = append(w.keys, []byte(document))
	w.positions = append(w.positions, int32(position))
	w.hashes = append(w.hashes, []byte(v.Hash))
	w.byID[v.Passage] = v
	return nil
}

// vectorRow is a row of a table of vectors.
type vectorRow struct {
	slot, part, class, document int32
	restricted                  bool                 // the document is not for everybody
	halves                      *pgvector.HalfVector // nil: no window at all
}

func (w *vectorWrite) writeVectors(ctx context.Context, tx pgx.Tx) error {
	rows, slots, err := w.findRows(ctx, tx)
	if err != nil || len(slots) == 0 {
		return err
	}
	if _, err := tx.Exec(ctx, "DELETE FROM "+w.table+" WHERE slot = ANY ($1)", slots); err != nil {
		return err
	}
	return copyInto(ctx, tx, w.table, []string{"slot", "part", "class", "document", "restricted", "halves"}, len(rows), func(i int) []any {
		r := rows[i]
		if r.halves == nil {
			return []any{r.slot, int16(r.part), r.class, r.document, r.restricted, nil}
		}
		return []any{r.slot, int16(r.part), r.class, r.document, r.restricted, *r.halves}
	})
}

// findRows returns the rows of the passages that are as they were when they were embedded,
// and their slots.
func (w *vectorWrite) findRows(ctx context.Context, tx pgx.Tx) (rows []vectorRow, slots []int32, err error) {
	found, err := tx.Query(ctx, `SELECT DISTINCT slot, document.class, document.id, class.audience <> 'public', document.key, position
		FROM unnest($1::bytea[], $2::integer[], $3::bytea[]) w (key, at, hash)
		JOIN cairn.document ON document.key = w.key JOIN cairn.slot ON slot.document = document.id AND position = at
		JOIN cairn.class ON class.id = document.class JOIN cairn.passage USING (slot) WHERE passage.hash = w.hash`, w.keys, w.positions, w.hashes)
	if err != nil {
		return nil, nil, err
	}
	defer found.Close()
	for found.Next() {
		var row vectorRow
		var key []byte
		var position int
		if err := found.Scan(&row.slot, &row.class, &row.document, &row.restricted, &key, &position); err != nil {
			return nil, nil, err
		}
		slots = append(slots, row.slot)
		windows := w.byID[knowledge.MakePassageID(knowledge.DocumentID(key), position)].Windows
		if len(windows) == 0 {
			rows = append(rows, row)
		}
		for part, window := range windows {
			halves := pgvector.NewHalfVector(window)
			row.part, row.halves = int32(part), &halves
			rows = append(rows, row)
		}
	}
	return rows, slots, found.Err()
}

// Cursor returns what the last Write stored for a source.
func (x *Index) Cursor(ctx context.Context, source knowledge.SourceID) (string, error) {
	var cursor []byte
	err := x.inReadTransaction(ctx, x.primary, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, "SELECT cursor FROM cairn.cursor WHERE source = $1", []byte(source)).Scan(&cursor)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	if err != nil {
		return "", fmt.Errorf("read cursor of %s: %w", source, err)
	}
	return string(cursor), nil
}
