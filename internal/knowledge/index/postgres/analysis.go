package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
)

// checkAnalysis refuses an index whose text another version of this program analysed.
func (x *Index) checkAnalysis(ctx context.Context, tx pgx.Tx) error {
	var version int
	var empty bool
	err := tx.QueryRow(ctx, "SELECT analysis, NOT EXISTS (SELECT FROM cairn.document) FROM cairn.meta").Scan(&version, &empty)
	if err != nil {
		return fmt.Errorf("read the version of the analysis: %w", err)
	}
	if version == lexical.Version || empty || x.options.Rebuild {
		return nil
	}
	return fmt.Errorf("%w: its text was analysed by version %d, this program searches with version %d; build it anew with `cairn ingest --rebuild`",
		index.ErrSchema, version, lexical.Version)
}

// markAnalysis notes that what is written from now on is analysed by this program. The
// index is empty.
func markAnalysis(ctx context.Context, tx pgx.Tx) error {
	_, err := tx.Exec(ctx, "UPDATE cairn.meta SET analysis = $1 WHERE analysis <> $1 AND NOT EXISTS (SELECT FROM cairn.document)", lexical.Version)
	if err != nil {
		return fmt.Errorf("store the version of the analysis: %w", err)
	}
	return nil
}
