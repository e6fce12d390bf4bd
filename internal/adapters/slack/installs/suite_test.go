package installs_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/slack"
)

// testStore tests a store; open opens the same one again each time, as another process does.
func testStore(t *testing.T, open func(t *testing.T) slack.Installs) {
	t.Run("an install is kept until it ends", func(t *testing.T) { testKept(t, open(t), open(t)) })
	t.Run("one caller at a time holds an install", func(t *testing.T) { testLocked(t, open(t), open(t)) })
	t.Run("what nobody lets go of is free after its limit", func(t *testing.T) { testExpired(t, open(t), open(t)) })
	t.Run("many at once", func(t *testing.T) { testCrowd(t, open(t), open(t)) })
}

func testKept(t *testing.T, one, other slack.Installs) {
	ctx := t.Context()
	if _, err := one.Load(ctx, "T0NONE"); !errors.Is(err, slack.ErrNotInstalled) {
		t.Errorf("what is not installed: %v", err)
	}
	odd := []byte{0, 1, 0xff, '\n', 0}
	for _, sealed := range [][]byte{[]byte("first"), odd} {
		if err := one.Save(ctx, "T0KEPT", sealed); err != nil {
			t.Fatal(err)
		}
		got, err := other.Load(ctx, "T0KEPT")
		if err != nil || !bytes.Equal(got, sealed) {
			t.Errorf("got %q, %v, want %q", got, err, sealed)
		}
	}
	for range 2 { // the second time there is none
		if err := other.Delete(ctx, "T0KEPT"); err != nil {
			t.Errorf("delete: %v", err)
		}
	}
	if _, err := one.Load(ctx, "T0KEPT"); !errors.Is(err, slack.ErrNotInstalled) {
		t.Errorf("after its end: %v", err)
	}
}

func testLocked(t *testing.T, one, other slack.Installs) {
	ctx := t.Context()
	held, unlock, err := one.Lock(ctx, "T0LOCK", time.Minute)
	if !held || err != nil {
		t.Fatalf("%v, %v", held, err)
	}
	if second, again, err := other.Lock(ctx, "T0LOCK", time.Minute); second || again != nil || err != nil {
		t.Errorf("held twice: %v, %v", second, err)
	}
	if second, release, err := other.Lock(ctx, "T0OTHER", time.Minute); !second || err != nil {
		t.Errorf("another install is not free: %v", err)
	} else if err := release(ctx); err != nil {
		t.Error(err)
	}
	if err := unlock(ctx); err != nil {
		t.Fatal(err)
	}
	third, release, err := other.Lock(ctx, "T0LOCK", time.Minute)
	if !third || err != nil {
		t.Fatalf("not free after it was let go: %v", err)
	}
	if err := unlock(ctx); err != nil { // it is somebody else's now
		t.Error(err)
	}
	if held, _, err := one.Lock(ctx, "T0LOCK", time.Minute); held || err != nil {
		t.Errorf("who has let go once let go of another's: %v", err)
	}
	if err := release(ctx); err != nil {
		t.Error(err)
	}
}

func testExpired(t *testing.T, one, other slack.Installs) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if held, _, err := one.Lock(ctx, "T0DEAD", 50*time.Millisecond); !held || err != nil {
		t.Fatalf("%v, %v", held, err)
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		held, unlock, err := other.Lock(ctx, "T0DEAD", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if held {
			if err := unlock(ctx); err != nil {
				t.Error(err)
			}
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("it is never free")
		}
	}
}

func testCrowd(t *testing.T, one, other slack.Installs) {
	ctx := t.Context()
	var holders, most atomic.Int32
	var all sync.WaitGroup
	for i := range 16 {
		store := one
		if i%2 == 1 {
			store = other
		}
		all.Go(func() {
			id := slack.InstallID(fmt.Sprintf("T0%d", i))
			if err := store.Save(ctx, id, []byte(id)); err != nil {
				t.Error(err)
			}
			if got, err := store.Load(ctx, id); err != nil || string(got) != string(id) {
				t.Errorf("got %q, %v", got, err)
			}
			held, unlock, err := store.Lock(ctx, "T0CROWD", time.Minute)
			if err != nil {
				t.Error(err)
			}
			if held {
				most.Store(max(most.Load(), holders.Add(1)))
				holders.Add(-1)
				if err := unlock(ctx); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if most.Load() != 1 {
		t.Errorf("%d held it at the same time", most.Load())
	}
}
