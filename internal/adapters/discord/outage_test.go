package discord

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/discord/discordtest"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/outage"
	"github.com/cairn-bot/cairn/internal/chat/settings"
)

// TestAnOutageHoldsCallsBack has Discord fail for a minute while posts are tried each second: few of
// them are sent, so that few are unknown, and once it is well they are sent again.
func TestAnOutageHoldsCallsBack(t *testing.T) {
	w := newTeam(t, nil)
	room := w.room(settings.ReplyInPlace)
	tried := 0
	post := func() error {
		tried++
		_, err := w.adapter.Post(t.Context(), room.Thread, chat.PostKey(fmt.Sprintf("KEY%021d", tried)), post1("one"))
		return err
	}
	w.Disturb(func(string) *discordtest.Fault { return &discordtest.Fault{Status: http.StatusInternalServerError} })
	failed := 0
	for begun := w.clock.Now(); w.clock.Now().Sub(begun) < time.Minute; w.clock.Advance(time.Second) {
		var later *chat.RetryAfterError
		switch err := post(); {
		case err == nil:
			t.Fatal("a post was made while Discord failed")
		case !errors.As(err, &later):
			failed++
		case later.After > outage.ProbeEvery:
			t.Errorf("a post is to wait for %s", later.After)
		}
	}
	if failed < 5 || failed > 15 {
		t.Errorf("%d of %d posts were sent while Discord failed", failed, tried)
	}
	w.Disturb(nil)
	w.clock.Advance(outage.ProbeEvery)
	for range 3 {
		w.clock.Advance(2 * time.Second)
		if err := post(); err != nil {
			t.Errorf("Discord is well again: %v", err)
		}
	}
}
