package embedded_test

import (
	"testing"

	"cairn/internal/adapters/discord"
	"cairn/internal/adapters/discord/tickets/embedded"
	"cairn/internal/adapters/discord/tickets/ticketstest"
)

func TestStore(t *testing.T) {
	dir := t.TempDir()
	ticketstest.Run(t, func(t *testing.T) discord.Tickets {
		store, err := embedded.Open(t.Context(), dir)
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

func TestADirectoryThatIsNotThere(t *testing.T) {
	if _, err := embedded.Open(t.Context(), t.TempDir()+"/none"); err == nil {
		t.Error("no error")
	}
}
