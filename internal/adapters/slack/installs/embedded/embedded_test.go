package embedded_test

import (
	"testing"

	"cairn/internal/adapters/slack"
	"cairn/internal/adapters/slack/installs/embedded"
	"cairn/internal/adapters/slack/installs/installstest"
)

func TestStore(t *testing.T) {
	dir := t.TempDir()
	installstest.Run(t, func(t *testing.T) slack.Installs {
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
