package slack

import (
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/slack/slacktest"
	"github.com/cairn-bot/cairn/internal/chat"
)

// TestAMentionIsAnsweredAfterTheInvitation mentions the bot where it is not: Slack tells of that
// once it was invited, by app_mention alone.
func TestAMentionIsAnsweredAfterTheInvitation(t *testing.T) {
	w := newTeam(t, false)
	closed := w.Channel("C0CLOSED", "closed")
	w.Remove(closed)
	w.ann.Says(closed, "", "is anybody there?")
	asked := w.ann.Says(closed, "", "<@"+slacktest.Bot+"> how do I roll back a release?")
	if heard := w.bot.Messages(); len(heard) != 0 {
		t.Fatalf("heard before the invitation: %+v", heard)
	}
	w.Invite(closed, slacktest.Bot)
	w.clean(t)
	heard := w.bot.Messages()
	if len(heard) != 1 || string(heard[0].ID) != asked || heard[0].Text != "how do I roll back a release?" {
		t.Fatalf("heard: %+v", heard)
	}
	if posted := w.Messages(closed); posted[len(posted)-1].User != slacktest.Bot || posted[len(posted)-1].ThreadTS != asked {
		t.Errorf("nothing was answered:\n%s", w.Show(closed))
	}
}

// TestAMentionWithFilesIsHeardOnceAndWithThem has both events of one mention come, the one
// without the files first: what comes second brings them, as a change of the same message.
func TestAMentionWithFilesIsHeardOnceAndWithThem(t *testing.T) {
	w := newTeam(t, false)
	bot := withChanges(t, w)
	w.ann.Shares(w.general, "", "<@"+slacktest.Bot+"> what is this?", slacktest.File{Name: "a.md", Content: []byte("# A")})
	w.clock.Advance(2 * time.Second)
	if heard := bot.Messages(); len(heard) != 1 || len(heard[0].Files) != 0 {
		t.Fatalf("heard: %+v", heard)
	}
	if got := strings.Join(bot.changed, ", "); got != "edited to what is this? with 1 files" {
		t.Errorf("changes: %s", got)
	}
	var types []string
	ids := map[string]bool{}
	for _, delivery := range w.Deliveries() {
		if strings.Contains(string(delivery.Body), `"user":"U0ANN"`) {
			types, ids[delivery.ID] = append(types, delivery.Type), true
		}
	}
	if got := strings.Join(types, " "); got != "app_mention message" || len(ids) != 2 {
		t.Errorf("delivered: %s, %d ids", got, len(ids))
	}
}

// TestTheMessageWithItsFilesCanComeFirst has the mention come after it: nothing is left of that.
func TestTheMessageWithItsFilesCanComeFirst(t *testing.T) {
	with, err := translateEvent(event(`{"type":"message","subtype":"file_share","user":"U1","text":"<@UBOT> x","ts":"1.1","channel":"C1","files":[{"id":"F1","name":"a.md"}]}`), "")
	if err != nil {
		t.Fatal(err)
	}
	mention, err := translateEvent([]byte(strings.Replace(string(event(`{"type":"app_mention","user":"U1","text":"<@UBOT> x","ts":"1.1","channel":"C1"}`)), "Ev1", "Ev2", 1)), "")
	if err != nil {
		t.Fatal(err)
	}
	w := newTeam(t, false)
	for _, test := range []struct {
		name        string
		first, next signal
		known       bool
	}{
		{"the mention second", with, mention, true},
		{"the message second", mention, with, false},
		{"the message again", with, with, true},
	} {
		w.adapter.dispatcher.done.Clear()
		w.adapter.dispatcher.markDone(test.first)
		if got := w.adapter.dispatcher.isDone(test.next); got != test.known {
			t.Errorf("%s: known is %v", test.name, got)
		}
	}
}

// TestAForwardedMessageComesWithTheOneThatForwardsIt shares a message of one channel in another.
func TestAForwardedMessageComesWithTheOneThatForwardsIt(t *testing.T) {
	w := newTeam(t, false)
	other := w.Channel("C0OTHER", "other")
	w.ben.Says(other, "", "Releases are rolled back with `deploy back`.")
	said := w.Messages(other)[0]
	w.ann.Forwards(w.general, "", "<@"+slacktest.Bot+"> is that right?", said)
	w.clock.Advance(2 * time.Second)
	w.clean(t)
	heard := w.bot.Messages()
	if len(heard) != 1 || len(heard[0].Shared) != 1 {
		t.Fatalf("heard: %+v", heard)
	}
	forwarded := chat.Said{
		Author: "Ben", Text: "Releases are rolled back with `deploy back`.", At: timeOf(said.TS),
		Thread: place{team: slacktest.Team, channel: other, root: said.TS}.threadID(), Message: chat.MessageID(said.TS),
	}
	if got := heard[0].Shared[0]; got != forwarded {
		t.Errorf("shared: %+v, want %+v", got, forwarded)
	}
	root := w.Messages(w.general)[0].TS
	w.ann.Forwards(w.general, root, "and this?", said)
	last := w.Messages(w.general)
	before, err := w.adapter.Before(t.Context(), heard[0].Thread, chat.MessageID(last[len(last)-1].TS+"9"))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, line := range before {
		if !line.Self {
			lines = append(lines, line.Author+": "+line.Text)
		}
	}
	want := "Ann: is that right?|Ben: Releases are rolled back with `deploy back`.|Ann: and this?|Ben: Releases are rolled back with `deploy back`."
	if got := strings.Join(lines, "|"); got != want {
		t.Errorf("before:\n got %s\nwant %s", got, want)
	}
}
