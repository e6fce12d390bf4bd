// Package settingstest is the suite that every store of the Discord app's settings and
// tickets passes.
package settingstest

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"cairn/internal/adapters/discord"
)

// Store keeps both.
type Store interface {
	discord.Settings
	discord.Tickets
}

// Run tests a store; open opens the same one again each time, as another process does.
func Run(t *testing.T, open func(t *testing.T) Store) {
	t.Run("a setting is kept", func(t *testing.T) { kept(t, open(t), open(t)) })
	t.Run("a ticket is kept until it ends", func(t *testing.T) { tickets(t, open(t), open(t)) })
	t.Run("many at once", func(t *testing.T) { crowd(t, open(t), open(t)) })
	t.Run("a context that ended", func(t *testing.T) { ended(t, open(t)) })
}

func kept(t *testing.T, one, other Store) {
	ctx := t.Context()
	if got, err := one.Get(ctx, "1", "2"); err != nil || !reflect.DeepEqual(got, discord.Setting{}) {
		t.Errorf("what was not put: %+v, %v", got, err)
	}
	server := discord.Setting{Mode: discord.ModeOff}
	channel := discord.Setting{
		Mode: discord.ModeThread, Style: discord.ReplyInPlace, Collections: []string{"handbook", "日本 \x00'\""}, Roles: []string{"3"},
	}
	for _, put := range []struct {
		guild, channel string
		setting        discord.Setting
	}{{"1", "2", discord.Setting{Mode: discord.ModeMention}}, {"1", "2", channel}, {"1", "", server}} {
		if err := one.Put(ctx, put.guild, put.channel, put.setting); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []struct {
		guild, channel string
		setting        discord.Setting
	}{{"1", "2", channel}, {"1", "", server}, {"2", "2", discord.Setting{}}, {"2", "", discord.Setting{}}} {
		if got, err := other.Get(ctx, want.guild, want.channel); err != nil || !reflect.DeepEqual(got, want.setting) {
			t.Errorf("server %s, channel %q: got %+v, %v, want %+v", want.guild, want.channel, got, err, want.setting)
		}
	}
}

func tickets(t *testing.T, one, other Store) {
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

func crowd(t *testing.T, one, other Store) {
	ctx := t.Context()
	var all sync.WaitGroup
	for i := range 16 {
		store := one
		if i%2 == 1 {
			store = other
		}
		all.Go(func() {
			id := fmt.Sprint(100 + i)
			want := discord.Setting{Roles: []string{id}}
			if err := store.Put(ctx, "7", id, want); err != nil {
				t.Error(err)
			}
			if got, err := store.Get(ctx, "7", id); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v, %v", got, err)
			}
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

func ended(t *testing.T, store Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := store.Put(ctx, "9", "9", discord.Setting{Mode: discord.ModeOff}); err == nil {
		t.Error("a setting was put after its context had ended")
	}
}
