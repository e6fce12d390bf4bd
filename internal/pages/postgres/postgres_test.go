package postgres_test

import (
	"log/slog"
	"strings"
	"testing"

	index "github.com/cairn-bot/cairn/internal/knowledge/index/postgres"
	"github.com/cairn-bot/cairn/internal/pages"
	"github.com/cairn-bot/cairn/internal/pages/pagestest"
	"github.com/cairn-bot/cairn/internal/pages/postgres"
	"github.com/cairn-bot/cairn/internal/servertest"
)

func TestStore(t *testing.T) {
	address := servertest.Postgres(t)
	if _, err := index.Migrate(t.Context(), index.Options{URL: address, Logger: slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatal(err)
	}
	pagestest.Run(t, func(t *testing.T) pages.Backend {
		store, err := postgres.Open(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := store.Close(); err != nil {
				t.Error(err)
			}
		})
		return store
	})
}

func TestADatabaseThatIsNotThere(t *testing.T) {
	if _, err := postgres.Open(t.Context(), "postgres://user:secret@host:port/x"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("an address that can't be read gives %v", err)
	}
	store, err := postgres.Open(t.Context(), "postgres://127.0.0.1:1/none?connect_timeout=1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.List(t.Context()); err == nil {
		t.Error("pages of a database that is not there were listed")
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
}
