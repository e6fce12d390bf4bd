package slack

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"cairn/internal/adapters/slack/slacktest"
	"cairn/internal/chat"
	"cairn/internal/chat/outage"
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
