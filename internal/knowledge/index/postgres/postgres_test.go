package postgres

import (
	"context"
	"log/slog"
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/index/indextest"
	"github.com/cairn-bot/cairn/internal/servertest"
)

func suiteOptions(url string) Options {
	return Options{URL: url, Embedder: indextest.Embedder, Dimension: indextest.Dimension, Logger: slog.New(slog.DiscardHandler)}
}

// migrateAndOpen opens an index as two commands do.
func migrateAndOpen(ctx context.Context, options Options) (*Index, error) {
	if _, err := Migrate(ctx, options); err != nil {
		return nil, err
	}
	return Open(ctx, options)
}

func TestSuite(t *testing.T) {
	indextest.Run(t, func(t *testing.T) indextest.Store {
		url := servertest.Postgres(t)
		return func() (index.Index, error) {
			return migrateAndOpen(t.Context(), suiteOptions(url))
		}
	})
}
