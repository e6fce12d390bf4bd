package slack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/slack-go/slack"

	"github.com/cairn-bot/cairn/internal/adapters/slack/pace"
	"github.com/cairn-bot/cairn/internal/adapters/slack/slacktest"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/outage"
)

// TestAnOutageHoldsPostsBack has Slack fail for a minute while posts are tried each second: few of
// them are sent, so that few are unknown, and once it is well they are sent again.
func TestAnOutageHoldsPostsBack(t *testing.T) {
	w := newTeam(t, false)
	thread := place{team: slacktest.Team, channel: w.general, root: w.ann.Says(w.general, "", "hello")}.threadID()
	sent := 0
	post := func() error {
		sent++
		_, err := w.adapter.Post(t.Context(), thread, chat.PostKey(fmt.Sprint("k", sent)), chat.Post{Reply: &chat.Reply{Text: "one"}})
		return err
	}
	w.Disturb(func(string) (slacktest.Fault, bool) { return slacktest.Fault{Status: 500}, true })
	unknown := 0
	for begun := w.clock.Now(); w.clock.Now().Sub(begun) < time.Minute; w.clock.Advance(time.Second) {
		var later *chat.RetryAfterError
		switch err := post(); {
		case err == nil:
			t.Fatal("a post was made while Slack failed")
		case !errors.As(err, &later):
			unknown++
		case later.After > outage.ProbeEvery:
			t.Errorf("a post is to wait for %s", later.After)
		}
	}
	if unknown < 5 || unknown > 15 {
		t.Errorf("%d of %d posts were sent while Slack failed", unknown, sent)
	}
	w.Disturb(nil)
	w.clock.Advance(outage.ProbeEvery)
	for range 3 {
		w.clock.Advance(2 * time.Second)
		if err := post(); err != nil {
			t.Errorf("Slack is well again: %v", err)
		}
	}
}

// countingTurns counts the turns that are taken.
type countingTurns struct {
	pace.Turns
	taken int
}

func (c *countingTurns) Take(ctx context.Context, ask pace.Ask) (time.Duration, error) {
	wait, err := c.Turns.Take(ctx, ask)
	if err == nil && wait == 0 {
		c.taken++
	}
	return wait, err
}

// TestAnOutageTakesNoTurns has streams begin, which Slack allows few of in a minute, while Slack
// fails: those that are held back take no turn.
func TestAnOutageTakesNoTurns(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	turns := &countingTurns{Turns: pace.NewLocal(func() time.Time { return now })}
	p := &pacer{clock: &clock{now: func() time.Time { return now }}, turns: turns}
	sent := 0
	for range 10 {
		err := p.callPaced(t.Context(), turn{team: "T1", method: startStream}, func() error {
			sent++
			return slack.StatusCodeError{Code: http.StatusInternalServerError}
		})
		if err == nil {
			t.Fatal("a call succeeded while Slack failed")
		}
	}
	if sent != outage.After || turns.taken != sent {
		t.Errorf("%d calls were sent and %d turns taken, want %d of each", sent, turns.taken, outage.After)
	}
}

// TestAFailureNowAndThenHoldsNothingBack has every third post fail.
func TestAFailureNowAndThenHoldsNothingBack(t *testing.T) {
	w := newTeam(t, false)
	thread := place{team: slacktest.Team, channel: w.general, root: w.ann.Says(w.general, "", "hello")}.threadID()
	for i := range 30 {
		if i%3 == 0 {
			w.Fail("chat.postMessage", slacktest.Fault{Status: 500})
		}
		var later *chat.RetryAfterError
		_, err := w.adapter.Post(t.Context(), thread, chat.PostKey(fmt.Sprint("k", i)), chat.Post{Reply: &chat.Reply{Text: "one"}})
		if (err != nil) != (i%3 == 0) || errors.As(err, &later) {
			t.Errorf("post %d: %v", i, err)
		}
		w.clock.Advance(2 * time.Second)
	}
}
