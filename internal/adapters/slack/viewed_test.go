package slack

import (
	"testing"

	"github.com/cairn-bot/cairn/internal/adapters/slack/slacktest"
)

// TestQuestionsAreSuggestedForWhatIsLookedAt has a person move between channels with the app open beside
// them, one of which is about a collection.
func TestQuestionsAreSuggestedForWhatIsLookedAt(t *testing.T) {
	w := newTeam(t, false)
	legal := w.Channel("C0LEGAL", "legal")
	w.Person("U0BOSS", "Boss").MakeAdmin().Command(legal, commandName, "admin collections contracts")
	direct := w.ann.OpensDM()
	for _, step := range []struct {
		views string
		want  string
		calls int
	}{
		{w.general, "Roll back", 1}, {legal, "Roll back @contracts", 2}, {legal, "Roll back @contracts", 2}, {"", "Roll back", 3}, {w.general, "Roll back", 3},
	} {
		w.ann.Views(step.views)
		prompts := w.Prompts(direct)
		if len(prompts) != maxPrompts || prompts[0].Title != step.want || len(w.Calls("assistant.threads.setSuggestedPrompts")) != step.calls {
			t.Errorf("looking at %q: %d calls, %+v", step.views, len(w.Calls("assistant.threads.setSuggestedPrompts")), prompts)
		}
	}
	w.Person("U0GUEST", "Guest").MakeGuest().Views(legal)
	if calls := len(w.Calls("assistant.threads.setSuggestedPrompts")); calls != 3 {
		t.Errorf("a guest who is refused had questions suggested: %d calls", calls)
	}
	w.clean(t)
}

// TestContextsThatMeanNothing has contexts of other teams and shapes.
func TestContextsThatMeanNothing(t *testing.T) {
	for _, context := range []string{
		`{}`, `{"entities":[]}`, `{"entities":[{"type":"slack#/types/channel_id","value":{"id":"C1"}}]}`, `{"entities":[{"type":"slack#/types/channel_id","value":"../C1"}]}`,
		`{"entities":[{"type":"slack#/types/channel_id","value":"C1","team_id":"T0OTHER"}]}`, `{"entities":[{"type":"slack#/types/canvas_id","value":"F1"}]}`,
	} {
		got, err := translateEvent([]byte(`{"type":"event_callback","team_id":"`+slacktest.Team+`","event":{"type":"app_context_changed","user":"U1","context":`+context+`}}`), slacktest.Bot)
		if err != nil || got.kind != kindViewed || got.viewed != "" {
			t.Errorf("%s means %+v, %v", context, got, err)
		}
	}
}
