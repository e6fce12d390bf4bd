package postgres_test

import (
	"testing"

	"cairn/internal/pages"
	"cairn/internal/pages/pagestest"
	"cairn/internal/pages/postgres"
	"cairn/internal/servertest"
)

func TestStore(t *testing.T) {
	address := servertest.Postgres(t)
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
	for _, address := range []string{"postgres://127.0.0.1:1/none?connect_timeout=1", "postgres://user:secret@host:port/x"} {
		if _, err := postgres.Open(t.Context(), address); err == nil {
			t.Errorf("%s was opened", address)
		}
	}
}
