package embedded_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"cairn/internal/graph"
	"cairn/internal/graph/graphtest"
	"cairn/internal/runs/embedded"
)

func open(t *testing.T, dir string, keep time.Duration) *embedded.Checkpoints {
	t.Helper()
	store, err := embedded.Open(context.Background(), dir, keep)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

func TestStore(t *testing.T) {
	graphtest.StoreSuite(t, func(t *testing.T) graph.Store { return open(t, t.TempDir(), 0) })
}

func TestCheckpointsSurviveARestartUntilTheirTime(t *testing.T) {
	dir := t.TempDir()
	first := open(t, dir, 0)
	if err := first.Save(t.Context(), "run", []byte("kept")); err != nil {
		t.Fatal(err)
	}
	if got, err := open(t, dir, time.Hour).Load(t.Context(), "run"); err != nil || string(got) != "kept" {
		t.Errorf("after a restart: %q, %v", got, err)
	}
	if _, err := open(t, dir, -time.Nanosecond).Load(t.Context(), "run"); err != nil {
		t.Errorf("kept for ever, it is gone: %v", err)
	}
	if _, err := first.Load(t.Context(), "other"); !errors.Is(err, graph.ErrNoCheckpoint) {
		t.Errorf("a run that was never saved gives %v", err)
	}
}
