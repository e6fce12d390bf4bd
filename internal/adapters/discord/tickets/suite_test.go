package tickets_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/discord"
)

// testStore tests a store; open opens the same one again each time, as another process does.
func testStore(t *testing.T, open func(t *testing.T) discord.Tickets) {
	t.Run("a ticket is kept until it ends", func(t *testing.T) { testTickets(t, open(t), open(t)) })
	t.Run("many at once", func(t *testing.T) { testCrowd(t, open(t), open(t)) })
	t.Run("a context that ended", func(t *testing.T) { testEnded(t, open(t)) })
}

func testTickets(t *testing.T, one, other discord.Tickets) {
	ctx := t.Context()
	if got, err := one.Ticket(ctx, "1"); err != nil || got != (discord.Ticket{}) {
		t.Errorf("what was not kept: %+v, %v", got, err)
	}
	until := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	for _, ticket := range []discord.Ticket{{Token: "first", Until: until}, {Token: "second", Original: true, Private: true, On: "3", Until: until}} {
		if err := one.Keep(ctx, "1", ticket); err != nil {
			t.Fatal(err)
		}
		if got, err := other.Ticket(ctx, "1"); err != nil || got != ticket {
			t.Errorf("got %+v, %v, want %+v", got, err, ticket)
		}
	}
	if err := one.Keep(ctx, "2", discord.Ticket{Token: "old", Until: time.Now().Add(-time.Second)}); err != nil {
		t.Fatal(err)
	}
	if got, err := other.Ticket(ctx, "2"); err != nil || got != (discord.Ticket{}) {
		t.Errorf("one that has run out: %+v, %v", got, err)
	}
}

func testCrowd(t *testing.T, one, other discord.Tickets) {
	ctx := t.Context()
	var all sync.WaitGroup
	for i := range 16 {
		store := one
		if i%2 == 1 {
			store = other
		}
		all.Go(func() {
			id := fmt.Sprint(100 + i)
			if err := store.Keep(ctx, id, discord.Ticket{Token: id, Until: time.Now().Add(time.Minute)}); err != nil {
				t.Error(err)
			}
			if got, err := store.Ticket(ctx, id); err != nil || got.Token != id {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
	all.Wait()
}

func testEnded(t *testing.T, store discord.Tickets) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := store.Keep(ctx, "9", discord.Ticket{Token: "t", Until: time.Now().Add(time.Minute)}); err == nil {
		t.Error("a ticket was kept after its context had ended")
	}
}
