package slack

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/slack/slacktest"
	"github.com/cairn-bot/cairn/internal/chat"
)

// TestWorkflowsAreAnsweredWhereThatIsSet has a workflow post in a channel that answers it, and in one
// that does not.
func TestWorkflowsAreAnsweredWhereThatIsSet(t *testing.T) {
	w := newTeam(t, false)
	help := w.Channel("C0HELP", "help")
	w.adapter.options.Workflows = func(_, channel string) bool { return channel == help }
	w.WorkflowSays(w.general, "", "New question: how do I roll back?")
	w.WorkflowSays(w.general, "", "<@"+slacktest.Bot+"> New question: how do I roll back?")
	if heard := w.bot.Messages(); len(heard) != 0 {
		t.Errorf("heard where that is not set: %+v", heard)
	}
	root := w.WorkflowSays(help, "", "New question from <@U0ANN>: how do I get a laptop?")
	w.WorkflowSays(help, "", "<@"+slacktest.Bot+"> where is the menu?") // comes twice
	heard := w.bot.Messages()
	if len(heard) != 2 || heard[0].Author != "" || heard[0].Text != "New question from @U0ANN: how do I get a laptop?" || heard[1].Text != "where is the menu?" {
		t.Fatalf("heard %+v", heard)
	}
	w.clock.Advance(2 * time.Second)
	w.WorkflowSays(help, root, "Thank you! how may I help you?")
	w.WorkflowSays(help, "", "")
	if again := w.bot.Messages(); len(again) != 2 {
		t.Errorf("a workflow was answered in a thread, or for nothing: %+v", again[2:])
	}
	w.Command(t, "off", help)
	w.WorkflowSays(help, "", "and now?")
	if again := w.bot.Messages(); len(again) != 2 {
		t.Errorf("a workflow was answered where Cairn is off: %+v", again[2:])
	}
	w.clean(t)
}

// TestTwoProgramsDoNotTalkForEver has a workflow post because of each answer.
func TestTwoProgramsDoNotTalkForEver(t *testing.T) {
	w := newTeam(t, false)
	w.adapter.options.Workflows = func(string, string) bool { return true }
	for n := range maxWorkflow + 10 {
		w.WorkflowSays(w.general, "", fmt.Sprintf("question %d?", n))
		w.clock.Advance(2 * time.Second)
	}
	if heard := w.bot.Messages(); len(heard) != maxWorkflow {
		t.Errorf("%d of a workflow's messages were answered, want %d", len(heard), maxWorkflow)
	}
	if !strings.Contains(w.log.String(), "ignore messages of workflows") {
		t.Error("the log does not say that messages were ignored")
	}
	w.clean(t)
}

// TestAProgramThatAsksSeesNothing has the access of a workflow looked up.
func TestAProgramThatAsksSeesNothing(t *testing.T) {
	w := newTeam(t, false)
	got, err := w.adapter.Identify(t.Context(), place{team: slacktest.Team, channel: w.general, root: "1.1"}.threadID(), []chat.UserID{""})
	if err != nil || len(got) != 1 || got[0].Team != "" || len(got[0].Channels) != 0 {
		t.Errorf("Identify = %+v, %v", got, err)
	}
}

// Command has an admin turn Cairn off in a channel.
func (w *team) Command(t *testing.T, text, channel string) {
	t.Helper()
	w.Person("U0BOSS", "Boss").MakeAdmin().Command(channel, commandName, "admin "+text)
}
