package graphtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/cairn-bot/cairn/internal/graph"
)

// StoreSuite is what every graph.Store passes. open gives an empty store, and closes
// it by t.Cleanup.
func StoreSuite(t *testing.T, open func(t *testing.T) graph.Store) {
	t.Run("a run that was never saved has no checkpoint", func(t *testing.T) {
		if _, err := open(t).Load(t.Context(), "unknown"); !errors.Is(err, graph.ErrNoCheckpoint) {
			t.Errorf("Load = %v, want ErrNoCheckpoint", err)
		}
	})
	t.Run("the last checkpoint of each run is loaded", func(t *testing.T) { lastIsLoaded(t, open(t)) })
	t.Run("checkpoints are copies", func(t *testing.T) { testCopies(t, open(t)) })
	t.Run("large and binary checkpoints", func(t *testing.T) { testLargeCheckpoint(t, open(t)) })
	t.Run("a cancelled save keeps the old checkpoint", func(t *testing.T) { testCancelled(t, open(t)) })
	t.Run("runs are saved at the same time", func(t *testing.T) { testConcurrent(t, open(t)) })
}

func mustSave(t *testing.T, store graph.Store, run string, checkpoint []byte) {
	t.Helper()
	if err := store.Save(t.Context(), run, checkpoint); err != nil {
		t.Fatalf("Save(%q): %v", run, err)
	}
}

func mustLoad(t *testing.T, store graph.Store, run string) []byte {
	t.Helper()
	checkpoint, err := store.Load(t.Context(), run)
	if err != nil {
		t.Fatalf("Load(%q): %v", run, err)
	}
	return checkpoint
}

// runIDs are ids that a store must keep apart, whatever it makes keys of.
var runIDs = []string{"1", "1/2", "../1", "a b", "A", "a", "ключ", "run:{1}", "x\x00y"}

func lastIsLoaded(t *testing.T, store graph.Store) {
	for _, version := range []string{"first", "second"} {
		for _, run := range runIDs {
			mustSave(t, store, run, []byte(version+" "+run))
		}
	}
	for _, run := range runIDs {
		if got := string(mustLoad(t, store, run)); got != "second "+run {
			t.Errorf("Load(%q) = %q, want %q", run, got, "second "+run)
		}
	}
}

func testCopies(t *testing.T, store graph.Store) {
	given := []byte("given")
	mustSave(t, store, "run", given)
	given[0] = 'X'
	loaded := mustLoad(t, store, "run")
	if string(loaded) != "given" {
		t.Fatalf("the store kept the caller's slice: loaded %q", loaded)
	}
	loaded[0] = 'Y'
	if again := mustLoad(t, store, "run"); string(again) != "given" {
		t.Errorf("the store gave away its own slice: loaded %q", again)
	}
}

func testLargeCheckpoint(t *testing.T, store graph.Store) {
	for _, size := range []int{0, 1, 1 << 20} {
		checkpoint := bytes.Repeat([]byte{0, 0xff, '{', '\n'}, size/4+1)[:size]
		mustSave(t, store, "run", checkpoint)
		if got := mustLoad(t, store, "run"); !bytes.Equal(got, checkpoint) {
			t.Errorf("a checkpoint of %d bytes came back different, with %d bytes", size, len(got))
		}
	}
}

func testCancelled(t *testing.T, store graph.Store) {
	mustSave(t, store, "run", []byte("old"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := store.Save(ctx, "run", []byte("new")); !errors.Is(err, context.Canceled) {
		t.Errorf("Save with a cancelled ctx = %v, want context.Canceled", err)
	}
	if got := string(mustLoad(t, store, "run")); got != "old" {
		t.Errorf("after a cancelled save Load = %q, want %q", got, "old")
	}
}

func testConcurrent(t *testing.T, store graph.Store) {
	const runs, saves = 8, 10
	var saving sync.WaitGroup
	errs := make([]error, runs)
	for i := range runs {
		saving.Go(func() {
			for n := range saves {
				errs[i] = errors.Join(errs[i], store.Save(t.Context(), fmt.Sprint("run ", i), fmt.Appendf(nil, "%d of %d", n, i)))
			}
		})
	}
	saving.Wait()
	for i := range runs {
		if errs[i] != nil {
			t.Fatalf("Save of run %d: %v", i, errs[i])
		}
		want := fmt.Sprintf("%d of %d", saves-1, i)
		if got := string(mustLoad(t, store, fmt.Sprint("run ", i))); got != want {
			t.Errorf("run %d has %q, want %q", i, got, want)
		}
	}
}
