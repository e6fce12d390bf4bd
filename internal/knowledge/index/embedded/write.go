package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"cairn/internal/knowledge/index"
)

// Write makes a batch visible as a whole, or not at all.
func (x *Index) Write(ctx context.Context, batch index.Batch) error {
	if err := batch.Validate(); err != nil {
		return fmt.Errorf("write to index: %w", err)
	}
	err := x.inTransaction(ctx, func(tx *sql.Tx, generation int64) error {
		w := &batchWrite{statements: newStatements(tx), generation: generation}
		return w.writeBatch(ctx, batch)
	})
	if err != nil {
		return fmt.Errorf("write to index: %w", err)
	}
	return nil
}

// inTransaction runs one change of the index under the next generation.
func (x *Index) inTransaction(ctx context.Context, change func(tx *sql.Tx, generation int64) error) error {
	if x.write == nil {
		return errReadOnly
	}
	x.writing.Lock()
	defer x.writing.Unlock()
	tx, err := x.write.BeginTx(ctx, nil)
	if err != nil {
		return explainError(err)
	}
	defer tx.Rollback() // no-op after Commit
	var generation int64
	err = tx.QueryRowContext(ctx, "UPDATE meta SET generation = generation + 1 RETURNING generation").Scan(&generation)
	if err != nil {
		return explainError(err)
	}
	if err := change(tx, generation); err != nil {
		if errors.Is(err, sql.ErrTxDone) {
			return context.Cause(ctx) // which rolled the transaction back
		}
		return explainError(err)
	}
	return explainError(tx.Commit())
}
