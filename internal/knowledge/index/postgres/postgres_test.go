package postgres

import (
	"log/slog"
	"testing"

	"cairn/internal/knowledge/index"
	"cairn/internal/knowledge/index/indextest"
	"cairn/internal/servertest"
)

func suiteOptions(url string) Options {
	return Options{URL: url, Embedder: indextest.Embedder, Dimension: indextest.Dimension, Logger: slog.New(slog.DiscardHandler)}
}

func TestSuite(t *testing.T) {
	indextest.Run(t, func(t *testing.T) indextest.Store {
		url := servertest.Postgres(t)
		return func() (index.Index, error) {
			return Open(t.Context(), suiteOptions(url))
		}
	})
}
