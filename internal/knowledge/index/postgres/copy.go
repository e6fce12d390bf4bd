package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"cairn/internal/knowledge"
)

// copyInto sends n rows by COPY, many times as fast as INSERT.
//
//nolint:revive // a table, its columns and its rows belong together
func copyInto(ctx context.Context, tx pgx.Tx, table string, columns []string, n int, row func(i int) []any) error {
	if n == 0 {
		return nil
	}
	from := pgx.CopyFromSlice(n, func(i int) ([]any, error) { return row(i), nil })
	if _, err := tx.CopyFrom(ctx, pgx.Identifier(strings.Split(table, ".")), columns, from); err != nil {
		return fmt.Errorf("copy into %s: %w", table, err)
	}
	return nil
}

// copyRows sends the rows of the documents put.
func (w *batchWrite) copyRows(ctx context.Context) error {
	err := copyInto(ctx, w.tx, "cairn.document", []string{
		"id", "generation", "key", "class", "path", "title", "url", "owner", "language", "modified", "indexed", "last_seen", "hash", "state",
	}, len(w.documents), func(i int) []any {
		placed := w.documents[i]
		d := placed.document
		return []any{
			placed.id, w.generation, []byte(d.ID), placed.class, []byte(d.Path), []byte(d.Title), []byte(d.URL), []byte(d.Owner),
			[]byte(d.Language), nullTime(d.Modified), nullTime(d.Indexed), nullTime(d.LastSeen), []byte(d.Hash), []byte(d.State),
		}
	})
	if err != nil {
		return err
	}
	err = copyInto(ctx, w.tx, "cairn.passage", []string{"slot", "headings", "anchor", "text", "tokens", "hash"}, len(w.placed), func(i int) []any {
		p := w.placed[i]
		return []any{p.slot, []byte(p.headings), []byte(p.passage.Anchor), []byte(p.passage.Text), int32(p.passage.Tokens), []byte(p.passage.Hash)}
	})
	if err != nil {
		return err
	}
	return w.copyDefinitions(ctx)
}

// copySlots sends the rows of slots, which hold what the analysis found.
func (w *batchWrite) copySlots(ctx context.Context) error {
	return copyInto(ctx, w.tx, "cairn.slot", []string{
		"slot", "generation", "document", "position", "title_terms", "heading_terms", "body_terms",
	}, len(w.placed), func(i int) []any {
		p, lengths := w.placed[i], w.placedWords[i].lengths
		return []any{
			p.slot, w.generation, p.document, int32(p.passage.Position),
			int32(lengths.Title), int32(lengths.Headings), int32(lengths.Body),
		}
	})
}

func (w *batchWrite) copyDefinitions(ctx context.Context) error {
	type row struct {
		slot, place int32
		definition  knowledge.Definition
	}
	var rows []row
	for _, p := range w.placed {
		for i, d := range p.passage.Definitions {
			rows = append(rows, row{slot: p.slot, place: int32(i), definition: d})
		}
	}
	return copyInto(ctx, w.tx, "cairn.definition", []string{"slot", "place", "folded", "short", "long"}, len(rows), func(i int) []any {
		r := rows[i]
		return []any{r.slot, r.place, []byte(strings.ToLower(r.definition.Short)), []byte(r.definition.Short), []byte(r.definition.Long)}
	})
}

func copyPages(ctx context.Context, tx pgx.Tx, segment int32, pages []page) error {
	return copyInto(ctx, tx, "cairn.page", []string{"segment", "first", "entries"}, len(pages), func(i int) []any {
		return []any{segment, pages[i].first, pages[i].entries}
	})
}

// nullTime returns a time as it is stored: NULL for the zero time.
func nullTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func fromTimestamp(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}
