package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
)

// Vectors keeps the vectors of passages by slot. What it changes is part of a transaction.
type Vectors interface {
	Change(ctx context.Context, tx Tx, change VectorChange) error
	// Write replaces the vectors of the slots of these rows.
	Write(ctx context.Context, tx Tx, rows []VectorRow) error
	// Search gives the nearest passages with the cosine of their best window; more than the
	// limit where some tie with the last.
	Search(ctx context.Context, tx Tx, query *DenseQuery) ([]Scored, error)
}

// VectorChange is what a write of documents changes: first vectors are copied, then those of
// slots that are gone are removed, then passages get another class.
type VectorChange struct {
	Generation int64
	Moved      []Move
	Gone       []int32
	Reclassed  []Reclassed
}

// Move copies the vectors of one slot to another, whose document and class are told.
type Move struct{ From, To, Document, Class int32 }

// Reclassed is a document with another class.
type Reclassed struct{ Document, Class int32 }

// VectorRow are the vectors of a passage.
type VectorRow struct {
	Slot, Class, Document int32
	Public                bool        // everybody may read it
	Windows               [][]float32 // none: nothing to embed
}

// lacksVectors is the condition that a slot has no vectors. A count has a planner look each slot
// up instead of reading all vectors.
func (x *Index) lacksVectors(slot string) string {
	return "(SELECT count(*) FROM @" + x.options.VectorTable + " v WHERE v.slot = " + slot + ") = 0"
}

// Unembedded returns passages without vectors in the order of their slots.
func (x *Index) Unembedded(ctx context.Context, limit int) ([]index.Found, error) {
	var found []index.Found
	err := x.options.Database.Read(ctx, func(tx Tx) error {
		slots, err := x.unembeddedSlots(ctx, tx, limit)
		if err != nil || len(slots) == 0 {
			found = nil
			return err
		}
		found, err = readFound(ctx, tx, "s.slot IN (SELECT value FROM ints($1)) ORDER BY s.slot", slots)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read passages without vectors: %w", err)
	}
	return found, nil
}

// unembeddedSlots looks from the lowest slot on that may lack vectors: a slot that has
// them never loses them but with its passage.
func (x *Index) unembeddedSlots(ctx context.Context, tx Tx, limit int) ([]int32, error) {
	return selectInts(ctx, tx, query(`SELECT s.slot FROM @slot s WHERE s.slot >= (SELECT embedded_below FROM @embedder WHERE id = $1)
		AND `+x.lacksVectors("s.slot")+" ORDER BY s.slot LIMIT $2", x.options.Embedder, limit))
}

// LacksVectors reports whether any passage has no vectors yet.
func (x *Index) LacksVectors(ctx context.Context, tx Tx) (bool, error) {
	slots, err := x.unembeddedSlots(ctx, tx, 1)
	return len(slots) > 0, err
}

// markEmbedded notes from where on slots may lack vectors.
func (x *Index) markEmbedded(ctx context.Context, tx Tx) error {
	slots, err := x.unembeddedSlots(ctx, tx, 1)
	if err != nil {
		return err
	}
	below := "(SELECT next_slot FROM @meta)"
	if len(slots) > 0 {
		below = fmt.Sprint(slots[0])
	}
	_, err = tx.Exec(ctx, "UPDATE @embedder SET embedded_below = "+below+" WHERE id = $1", x.options.Embedder)
	return err
}

// WriteVectors stores the vectors of passages that still are what they were made
// from, all at once.
func (x *Index) WriteVectors(ctx context.Context, vectors []index.Vectors) error {
	w := &vectorWrite{byID: make(map[knowledge.PassageID]index.Vectors, len(vectors))}
	for _, v := range vectors {
		if err := w.addVectors(v, x.options.Dimension); err != nil {
			return fmt.Errorf("write vectors of %s: %w", v.Passage, err)
		}
	}
	err := x.options.Database.Write(ctx, func(tx Tx) error {
		rows, err := w.findRows(ctx, tx)
		if err != nil {
			return err
		}
		if len(rows) > 0 {
			if err := x.options.Vectors.Write(ctx, tx, rows); err != nil {
				return err
			}
		}
		return x.markEmbedded(ctx, tx)
	})
	if err != nil {
		return fmt.Errorf("write vectors: %w", err)
	}
	return nil
}

// vectorWrite is one call of WriteVectors.
type vectorWrite struct {
	keys []string                              // of documents
	byID map[knowledge.PassageID]index.Vectors // the last of each passage
}

func (w *vectorWrite) addVectors(v index.Vectors, dimension int) error {
	document, _, ok := v.Passage.Split()
	if !ok {
		return errors.New("not the id of a passage")
	}
	if err := v.Validate(dimension); err != nil {
		return err
	}
	if len(w.keys) == 0 || w.keys[len(w.keys)-1] != string(document) {
		w.keys = append(w.keys, string(document))
	}
	w.byID[v.Passage] = v
	return nil
}

// findRows returns the rows of the passages that are as they were when they were embedded.
func (w *vectorWrite) findRows(ctx context.Context, tx Tx) (rows []VectorRow, err error) {
	var row VectorRow
	var key, hash, audience string
	var position int
	err = tx.Select(ctx, query(`SELECT s.slot, d.class, d.id, c.audience, d.key, s.position, p.hash FROM @document d
		JOIN @slot s ON s.document = d.id JOIN @passage p ON p.slot = s.slot JOIN @class c ON c.id = d.class
		WHERE d.key IN (SELECT value FROM strings($1))`, w.keys), func() error {
		made, ok := w.byID[knowledge.MakePassageID(knowledge.DocumentID(key), position)]
		if ok && made.Hash == hash {
			row.Windows, row.Public = made.Windows, audience == string(knowledge.PublicAudience)
			rows = append(rows, row)
		}
		return nil
	}, &row.Slot, &row.Class, &row.Document, &audience, &key, &position, &hash)
	return rows, err
}
