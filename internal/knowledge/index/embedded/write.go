package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"cairn/internal/knowledge"
	"cairn/internal/knowledge/index"
)

// Write makes a batch visible as a whole, or not at all.
func (x *Index) Write(ctx context.Context, batch index.Batch) error {
	if err := validate(batch); err != nil {
		return fmt.Errorf("write to index: %w", err)
	}
	err := x.transact(ctx, func(tx *sql.Tx, generation int64) error {
		w := &batchWrite{statements: newStatements(tx), generation: generation}
		return w.run(ctx, batch)
	})
	if err != nil {
		return fmt.Errorf("write to index: %w", err)
	}
	return nil
}

// transact runs one change of the index under the next generation.
func (x *Index) transact(ctx context.Context, change func(tx *sql.Tx, generation int64) error) error {
	if x.write == nil {
		return errReadOnly
	}
	x.writing.Lock()
	defer x.writing.Unlock()
	tx, err := x.write.BeginTx(ctx, nil)
	if err != nil {
		return storage(err)
	}
	defer tx.Rollback() // no-op after Commit
	var generation int64
	err = tx.QueryRowContext(ctx, "UPDATE meta SET generation = generation + 1 RETURNING generation").Scan(&generation)
	if err != nil {
		return storage(err)
	}
	if err := change(tx, generation); err != nil {
		if errors.Is(err, sql.ErrTxDone) {
			return context.Cause(ctx) // which rolled the transaction back
		}
		return storage(err)
	}
	return storage(tx.Commit())
}

func validate(batch index.Batch) error {
	named := make(map[knowledge.DocumentID]bool)
	name := func(id knowledge.DocumentID) error {
		if id == "" {
			return errors.New("a document has no id")
		}
		if named[id] {
			return fmt.Errorf("document %q is named twice in one batch", id)
		}
		named[id] = true
		return nil
	}
	for _, entry := range batch.Put {
		if err := name(entry.Document.ID); err != nil {
			return err
		}
		if err := validatePassages(entry); err != nil {
			return err
		}
	}
	for _, id := range batch.Delete {
		if err := name(id); err != nil {
			return err
		}
	}
	for _, document := range batch.Seen {
		if err := name(document.ID); err != nil {
			return err
		}
	}
	return nil
}

func validatePassages(entry index.Entry) error {
	last := -1
	for _, passage := range entry.Passages {
		want := knowledge.MakePassageID(entry.Document.ID, passage.Position)
		if passage.ID != want || passage.Document != entry.Document.ID {
			return fmt.Errorf("passage %q of document %q must have the id %q of its document and position", passage.ID, passage.Document, want)
		}
		if passage.Position <= last {
			return fmt.Errorf("passage %q comes after position %d", passage.ID, last)
		}
		if passage.Hash == "" {
			return fmt.Errorf("passage %q has no hash", passage.ID)
		}
		last = passage.Position
	}
	return nil
}
