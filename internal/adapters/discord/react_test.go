package discord

import (
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
)

// TestAReactionToAnyPartOfAnAnswerIsARating has people react to a long answer, whose last message alone
// has the thumbs. Why it did not help is asked in the direct conversation, where Discord lets that be.
func TestAReactionToAnyPartOfAnAnswerIsARating(t *testing.T) {
	w := newTeam(t, nil)
	w.bot.On("long", chattest.Says(chat.Reply{Run: "run-1", Outcome: chat.Answered, Text: chattest.Long(4000)}))
	asked := w.Say(w.ann, w.general, bot+"long")
	w.wait(t)
	posted := w.byBot(asked.ID)
	if len(posted) < 2 {
		t.Fatalf("the answer is one message:\n%s", w.Show(w.general))
	}
	w.React(w.ben, posted[0].ID, "👍🏽", true)
	w.React(w.ann, posted[len(posted)-1].ID, "👎", true)
	w.wait(t)
	verdicts := map[chat.UserID]chat.Verdict{}
	for _, rating := range w.bot.Ratings("run-1") {
		verdicts[rating.By] = rating.Verdict
	}
	if len(verdicts) != 2 || verdicts[chat.UserID(w.ann)] != chat.Down || verdicts[chat.UserID(w.ben)] != chat.Up {
		t.Errorf("kept %+v", w.bot.Ratings("run-1"))
	}
	direct, ok := w.Last(w.DM(w.ann))
	if !ok || !strings.Contains(direct.Content, "What was wrong with it?") || !strings.Contains(direct.Content, "/"+asked.ID+"/"+posted[len(posted)-1].ID) {
		t.Fatalf("Ann is told %+v", direct)
	}
	golden(t, "say-why", w.Show(w.DM(w.ann)))
	pressed := w.Press(w.ann, direct.ID, "Say why")
	w.wait(t)
	w.Submit(pressed.Modal(), map[string]string{"text": "too long"})
	w.React(w.ben, posted[0].ID, "👍🏽", false)
	w.React(w.ann, posted[len(posted)-1].ID, "👎", false)
	w.wait(t)
	if kept := w.bot.Ratings("run-1"); len(kept) != 1 || kept[0].Reason != "too long" {
		t.Errorf("a reason that was written goes with the reaction, or a rating without one stays: %+v", kept)
	}
	w.clean(t)
}

// TestReactionsThatRateNothing has reactions to what is no answer, of other kinds, and of people who may
// not ask, and somebody who takes no direct messages.
func TestReactionsThatRateNothing(t *testing.T) {
	w := newTeam(t, nil)
	answer := chattest.Answer()
	w.bot.On("how do I roll back a release?", chattest.Says(answer))
	w.bot.On("who?", chattest.Says(chattest.Abstained()))
	asked := w.Say(w.ann, w.general, bot+"how do I roll back a release?")
	w.wait(t)
	posted := w.byBot(asked.ID)[0]
	w.React(w.ben, asked.ID, "👍", true)
	w.React(w.ben, posted.ID, "👀", true)
	other := w.Say(w.ann, w.general, bot+"who?")
	w.wait(t)
	w.React(w.ben, w.byBot(other.ID)[0].ID, "👎", true)
	w.wait(t)
	for _, run := range []chat.RunID{answer.Run, chattest.Abstained().Run} {
		if kept := w.bot.Ratings(run); len(kept) != 0 {
			t.Errorf("ratings of %s: %+v", run, kept)
		}
	}
	w.clean(t)
	w.CloseDMs(w.ben)
	w.React(w.ben, posted.ID, "👎", true)
	w.settle(t)
	if kept := w.bot.Ratings(answer.Run); len(kept) != 1 || kept[0].Verdict != chat.Down {
		t.Errorf("of somebody who takes no direct messages: %+v", kept)
	}
}
