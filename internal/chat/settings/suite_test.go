package settings_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/chat/settings"
)

// testStore tests a store; open opens the same one again each time, as another process does.
func testStore(t *testing.T, open func(t *testing.T) settings.Store) {
	t.Run("a setting is kept", func(t *testing.T) { testKept(t, open(t), open(t)) })
	t.Run("settings are listed", func(t *testing.T) { testListed(t, open(t), open(t)) })
	t.Run("spaces are remembered once", func(t *testing.T) { testRemembered(t, open(t), open(t)) })
	t.Run("a notice is given once", func(t *testing.T) { testNotified(t, open(t), open(t)) })
	t.Run("many at once", func(t *testing.T) { testCrowd(t, open(t), open(t)) })
	t.Run("a context that ended", func(t *testing.T) { testEnded(t, open(t)) })
}

func testKept(t *testing.T, one, other settings.Store) {
	ctx := t.Context()
	here, there := settings.NewSpace("discord", "1"), settings.NewSpace("slack", "1")
	if got, err := one.Get(ctx, here, "2"); err != nil || !reflect.DeepEqual(got, settings.Setting{}) {
		t.Errorf("a setting that was not put: %+v, %v", got, err)
	}
	space := settings.Setting{Mode: settings.ModeOff}
	channel := settings.Setting{
		Mode: settings.ModeThread, Style: settings.ReplyInPlace, Collections: []string{"handbook", "日本 \x00'\""}, Askers: []string{"3"},
	}
	for _, put := range []struct {
		channel string
		setting settings.Setting
	}{{"2", settings.Setting{Mode: settings.ModeMention}}, {"2", channel}, {"", space}} {
		if err := one.Put(ctx, here, put.channel, put.setting); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []struct {
		space   settings.Space
		channel string
		setting settings.Setting
	}{{here, "2", channel}, {here, "", space}, {there, "2", settings.Setting{}}, {there, "", settings.Setting{}}} {
		if got, err := other.Get(ctx, want.space, want.channel); err != nil || !reflect.DeepEqual(got, want.setting) {
			t.Errorf("%s, channel %q: got %+v, %v, want %+v", want.space, want.channel, got, err, want.setting)
		}
	}
}

func testListed(t *testing.T, one, other settings.Store) {
	ctx := t.Context()
	space := settings.NewSpace("discord", "listed")
	want := []settings.Placed{
		{Space: space, Setting: settings.Setting{Mode: settings.ModeOff}}, {Space: space, Channel: "7", Setting: settings.Setting{Mode: settings.ModeThread}},
	}
	for _, put := range want {
		if err := one.Put(ctx, put.Space, put.Channel, put.Setting); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := one.RememberSpaces(ctx, "listed", []settings.Space{"discord:other"}); err != nil {
		t.Fatal(err)
	}
	list, err := other.List(ctx)
	list = slices.DeleteFunc(list, func(placed settings.Placed) bool { return placed.Space != space }) // other tests share the store
	if err != nil || !reflect.DeepEqual(list, want) {
		t.Errorf("listed are %+v, %v", list, err)
	}
}

func testRemembered(t *testing.T, one, other settings.Store) {
	ctx := t.Context()
	first, later := []settings.Space{"discord:1", "discord:2"}, []settings.Space{"discord:3"}
	for _, step := range []struct {
		store settings.Store
		app   string
		given []settings.Space
		want  []settings.Space
	}{{one, "a", nil, nil}, {one, "a", first, first}, {other, "a", later, first}, {other, "a", nil, first}, {other, "b", later, later}} {
		got, err := step.store.RememberSpaces(ctx, step.app, step.given)
		if err != nil || !slices.Equal(got, step.want) {
			t.Errorf("app %s given %v: got %v, %v, want %v", step.app, step.given, got, err, step.want)
		}
	}
}

func testNotified(t *testing.T, one, other settings.Store) {
	ctx := t.Context()
	for i, step := range []struct {
		store settings.Store
		key   string
		want  bool
	}{{one, "k1", true}, {one, "k1", false}, {other, "k1", false}, {other, "k2", true}} {
		if first, err := step.store.MarkTold(ctx, step.key, time.Hour); err != nil || first != step.want {
			t.Errorf("step %d: first = %v, %v, want %v", i, first, err, step.want)
		}
	}
	// A mark of a millisecond has run out once a later mark of the same key is the first again.
	if _, err := one.MarkTold(ctx, "k3", time.Millisecond); err != nil {
		t.Fatal(err)
	}
	for {
		first, err := other.MarkTold(ctx, "k3", time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		if first {
			return
		}
	}
}

func testCrowd(t *testing.T, one, other settings.Store) {
	ctx := t.Context()
	var all sync.WaitGroup
	var firsts atomic.Int32
	for i := range 16 {
		store := one
		if i%2 == 1 {
			store = other
		}
		all.Go(func() {
			id := fmt.Sprint(100 + i)
			want := settings.Setting{Askers: []string{id}}
			if err := store.Put(ctx, "discord:7", id, want); err != nil {
				t.Error(err)
			}
			if got, err := store.Get(ctx, "discord:7", id); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v, %v", got, err)
			}
			first, err := store.MarkTold(ctx, "crowd", time.Hour)
			if err != nil {
				t.Error(err)
			}
			if first {
				firsts.Add(1)
			}
		})
	}
	all.Wait()
	if firsts.Load() != 1 {
		t.Errorf("%d of 16 were told that theirs is the first notice", firsts.Load())
	}
}

func testEnded(t *testing.T, store settings.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := store.Put(ctx, "discord:9", "9", settings.Setting{Mode: settings.ModeOff}); err == nil {
		t.Error("a setting was put after its context had ended")
	}
}
