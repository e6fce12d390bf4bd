package embedded_test

import (
	"testing"

	"cairn/internal/chat/settings"
	"cairn/internal/chat/settings/embedded"
	"cairn/internal/chat/settings/settingstest"
)

func TestStore(t *testing.T) {
	dir := t.TempDir()
	settingstest.Run(t, func(t *testing.T) settings.Store {
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
