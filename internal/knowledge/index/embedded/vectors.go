package embedded

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"

	"cairn/internal/knowledge"
	"cairn/internal/knowledge/index"
)

// Unembedded returns passages without vectors in the order of their slots.
func (x *Index) Unembedded(ctx context.Context, limit int) ([]index.Found, error) {
	var found []index.Found
	err := x.readTransaction(ctx, func(tx *sql.Tx) error {
		slots, err := queryInts(ctx, tx, "SELECT slot FROM slot WHERE signs IS NULL AND document IS NOT NULL ORDER BY slot LIMIT ?", limit)
		if err != nil {
			return err
		}
		reader, err := newFoundReader(ctx, tx, "passage.slot = ?")
		if err != nil {
			return err
		}
		for _, slot := range slots {
			if err := reader.readPassage(ctx, slot); err != nil {
				return err
			}
		}
		found = reader.found
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read passages without vectors: %w", err)
	}
	return found, nil
}

func queryInts(ctx context.Context, tx *sql.Tx, query string, arguments ...any) ([]int64, error) {
	rows, err := tx.QueryContext(ctx, query, arguments...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var numbers []int64
	for rows.Next() {
		var number int64
		if err := rows.Scan(&number); err != nil {
			return nil, err
		}
		numbers = append(numbers, number)
	}
	return numbers, rows.Err()
}

// WriteVectors stores the vectors of passages that still are what they were made
// from, all at once.
func (x *Index) WriteVectors(ctx context.Context, vectors []index.Vectors) error {
	for _, v := range vectors {
		if err := v.Validate(x.dimension); err != nil {
			return fmt.Errorf("write vectors of %s: %w", v.Passage, err)
		}
	}
	err := x.inTransaction(ctx, func(tx *sql.Tx, generation int64) error {
		w := newStatements(tx)
		for _, v := range vectors {
			if err := w.writeVectors(ctx, generation, v); err != nil {
				return fmt.Errorf("of %s: %w", v.Passage, err)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("write vectors: %w", err)
	}
	return nil
}

func (s *statements) writeVectors(ctx context.Context, generation int64, v index.Vectors) error {
	document, position, ok := v.Passage.Split()
	if !ok {
		return errors.New("not the id of a passage")
	}
	var slot int64
	err := s.queryRow(ctx, `SELECT slot FROM document JOIN passage ON passage.document = document.id
		WHERE key = ? AND position = ? AND passage.hash = ?`, document, position, v.Hash).Scan(&slot)
	if errors.Is(err, sql.ErrNoRows) {
		return nil // stale: the passage changed or went while it was embedded
	}
	if err != nil {
		return err
	}
	signs := []byte{}
	halves := []byte{}
	for _, window := range v.Windows {
		for _, word := range signsOf(window) {
			signs = binary.LittleEndian.AppendUint64(signs, word)
		}
		halves = appendHalves(halves, window)
	}
	if err := s.execStatement(ctx, "UPDATE slot SET generation = ?, signs = ? WHERE slot = ?", generation, signs, slot); err != nil {
		return err
	}
	return s.execStatement(ctx, "INSERT OR REPLACE INTO vector (slot, halves) VALUES (?, ?)", slot, halves)
}

// Cursor returns what the last Write stored for a source.
func (x *Index) Cursor(ctx context.Context, source knowledge.SourceID) (string, error) {
	var cursor string
	err := x.read.QueryRowContext(ctx, "SELECT cursor FROM cursor WHERE source = ?", source).Scan(&cursor)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("read cursor of %s: %w", source, explainError(err))
	}
	return cursor, nil
}
