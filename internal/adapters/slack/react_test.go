package slack

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/slack/slacktest"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
)

// postedByBot gives the messages of the bot's in the channel that all see.
func (w *team) postedByBot() []slacktest.Message {
	return slices.DeleteFunc(w.Messages(w.general), func(m slacktest.Message) bool {
		return m.User != slacktest.Bot || m.Only != "" || m.Deleted
	})
}

// TestAReactionToAnyPartOfAnAnswerIsARating has people react to a long answer, whose last message alone
// has the thumbs.
func TestAReactionToAnyPartOfAnAnswerIsARating(t *testing.T) {
	w := newTeam(t, false)
	w.bot.On("long", answers(chat.Reply{Run: "run-1", Outcome: chat.Answered, Text: chattest.Long(16000)}))
	w.ann.Says(w.general, "", "<@"+slacktest.Bot+"> long")
	w.clock.Advance(10 * time.Second)
	posted := w.postedByBot()
	if len(posted) < 2 {
		t.Fatalf("the answer is one message:\n%s", w.Show(w.general))
	}
	w.ben.Reacts(w.general, posted[0].TS, "thumbsup", true)
	w.ann.Reacts(w.general, posted[len(posted)-1].TS, "-1::skin-tone-6", true)
	kept := w.bot.Ratings("run-1")
	if len(kept) != 2 || kept[0].By != "U0ANN" || kept[0].Verdict != chat.Down || !kept[0].ByReaction || kept[1].Verdict != chat.Up {
		t.Errorf("kept %+v", kept)
	}
	if seen := w.ShowTo(w.general, "U0ANN"); !strings.Contains(seen, "[Say why]") {
		t.Errorf("Ann is not asked why:\n%s", seen)
	}
	if seen := w.ShowTo(w.general, "U0BEN"); strings.Contains(seen, "[Say why]") {
		t.Errorf("Ben is asked why:\n%s", seen)
	}
	w.ann.Presses(w.general, "Say why")
	w.ann.Submits(w.ann.Open(), map[string]string{reasonBlock: "too long"})
	w.ann.Reacts(w.general, posted[len(posted)-1].TS, "-1::skin-tone-6", false)
	w.ben.Reacts(w.general, posted[0].TS, "thumbsup", false)
	if kept = w.bot.Ratings("run-1"); len(kept) != 1 || kept[0].Reason != "too long" {
		t.Errorf("a reason that was written goes with the reaction, or a rating without one stays: %+v", kept)
	}
	w.clean(t)
}

// TestReactionsThatRateNothing has reactions to what is no answer, of other kinds, and of people who
// may not ask.
func TestReactionsThatRateNothing(t *testing.T) {
	w := newTeam(t, false)
	w.bot.On("how do I roll back a release?", answers(chattest.Answer()))
	w.bot.On("who?", answers(chattest.Abstained()))
	root := w.ann.Says(w.general, "", "<@"+slacktest.Bot+"> how do I roll back a release?")
	answer := w.postedByBot()[0]
	w.ben.Reacts(w.general, root, "+1", true)
	w.ben.Reacts(w.general, answer.TS, "eyes", true)
	guest := w.Person("U0GUEST", "Guest").MakeGuest()
	guest.Reacts(w.general, answer.TS, "+1", true)
	other := w.ann.Says(w.general, "", "<@"+slacktest.Bot+"> who?")
	for _, posted := range w.postedByBot() {
		if posted.ThreadTS == other {
			w.ben.Reacts(w.general, posted.TS, "-1", true)
		}
	}
	for _, run := range []chat.RunID{chattest.Answer().Run, chattest.Abstained().Run} {
		if kept := w.bot.Ratings(run); len(kept) != 0 {
			t.Errorf("ratings of %s: %+v", run, kept)
		}
	}
	w.clean(t)
}
