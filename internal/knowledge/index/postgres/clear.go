package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/cairn-bot/cairn/internal/knowledge/index/engine"
)

// Clear throws everything away that was read from sources, and the vectors of all
// embedders but the configured one with their tables. What else is in the database, the
// query log among it, stays. Processes that search go on, and find what is written next;
// a search that is under way in that moment may find nothing.
func (x *Index) Clear(ctx context.Context) error {
	if x.options.ReadOnly {
		return engine.ErrReadOnly
	}
	x.writer.mu.Lock()
	defer x.writer.mu.Unlock()
	err := x.writer.retryWrite(ctx, func(tx pgx.Tx) error {
		if _, err := x.dropOtherEmbedders(ctx, tx); err != nil {
			return err
		}
		// Processes that search begin anew with what they keep in memory.
		tables := []string{
			"cairn.class", "cairn.document", "cairn.slot", "cairn.passage", "cairn.block", "cairn.definition",
			"cairn.segment", "cairn.page", "cairn.cursor", "cairn.ingest", x.embedder.table,
		}
		statements := &pgx.Batch{}
		statements.Queue("TRUNCATE " + strings.Join(tables, ", "))
		statements.Queue("UPDATE cairn.meta SET generation = generation + 1, cleared = generation + 1, title_terms = 0, heading_terms = 0, body_terms = 0")
		statements.Queue("UPDATE cairn.embedder SET indexed = false, embedded_below = (SELECT next_slot FROM cairn.meta)")
		if err := tx.SendBatch(ctx, statements).Close(); err != nil {
			return err
		}
		return markAnalysis(ctx, tx)
	})
	if err != nil {
		return fmt.Errorf("clear index: %w", err)
	}
	return nil
}
