package postgres

import (
	"cmp"
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"cairn/internal/knowledge/index"
)

// longestKey is the limit of PostgreSQL's index on a document's id, less some room.
const longestKey = 2600

// Write makes a batch visible as a whole, or not at all.
func (x *Index) Write(ctx context.Context, batch index.Batch) error {
	if x.options.ReadOnly {
		return fmt.Errorf("write to index: %w", errReadOnly)
	}
	if err := cmp.Or(batch.Validate(), checkKeys(batch)); err != nil {
		return fmt.Errorf("write to index: %w", err)
	}
	x.writer.mu.Lock()
	defer x.writer.mu.Unlock()
	err := x.writer.retryWrite(ctx, func(tx pgx.Tx) error {
		w := &batchWrite{tx: tx, pageSize: x.limits.page}
		if err := w.writeBatch(ctx, batch); err != nil {
			return err
		}
		// Passages may have brought all the vectors that they need along.
		_, err := x.markEmbedded(ctx, tx)
		return err
	})
	if err == nil {
		err = x.mergeIfDue(ctx)
	}
	if err != nil {
		return fmt.Errorf("write to index: %w", err)
	}
	return nil
}

// checkKeys returns which id PostgreSQL's index does not take, if any.
func checkKeys(batch index.Batch) error {
	for id := range batch.Named() {
		if len(id) > longestKey {
			return fmt.Errorf("the id of document %.60q… has %d bytes, %d are the most", id, len(id), longestKey)
		}
	}
	return nil
}
