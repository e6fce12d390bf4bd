package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"cairn/internal/knowledge"
	"cairn/internal/knowledge/index"
)

// longestKey is what PostgreSQL's index takes of a document's id, less some room.
const longestKey = 2600

// Write makes a batch visible as a whole, or not at all.
func (x *Index) Write(ctx context.Context, batch index.Batch) error {
	if x.options.ReadOnly {
		return fmt.Errorf("write to index: %w", errReadOnly)
	}
	if err := validate(batch); err != nil {
		return fmt.Errorf("write to index: %w", err)
	}
	x.writing.Lock()
	defer x.writing.Unlock()
	err := x.retryWrite(ctx, func(tx pgx.Tx) error {
		w := &batchWrite{tx: tx, pageSize: x.limits.page}
		return w.run(ctx, batch)
	})
	if err == nil {
		err = x.mergeIfDue(ctx)
	}
	if err != nil {
		return fmt.Errorf("write to index: %w", err)
	}
	return nil
}

func validate(batch index.Batch) error {
	named := make(map[knowledge.DocumentID]bool)
	name := func(id knowledge.DocumentID) error {
		if id == "" {
			return errors.New("a document has no id")
		}
		if len(id) > longestKey {
			return fmt.Errorf("the id of document %.60q… has %d bytes, %d are the most", id, len(id), longestKey)
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
