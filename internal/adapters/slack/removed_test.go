package slack

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/adapters/slack/slacktest"
	"github.com/cairn-bot/cairn/internal/chat"
)

// nowhere are the workspaces of an app that was removed from all of them.
type nowhere struct{ Workspaces }

func (nowhere) Workspace(context.Context, string, string) (Workspace, error) {
	return Workspace{}, chat.ErrGone
}

// TestWhatComesFromARemovedTeamIsAcknowledged has people press and type in a workspace that
// removed the app a moment ago: Slack must not try again, nor count a failure.
func TestWhatComesFromARemovedTeamIsAcknowledged(t *testing.T) {
	w := newTeam(t, false)
	w.adapter.options.Workspaces = nowhere{w.adapter.options.Workspaces}
	handler := w.adapter.Handler()
	press := string(recorded(t, "actions")["action"])
	press = strings.Replace(press, `"info"`, `"stop:run-1"`, 1)
	for name, test := range map[string]struct{ path, body string }{
		"a mention": {"/events", string(recorded(t, "mentions")["mention"])},
		"a press":   {"/interactive", url.Values{"payload": {press}}.Encode()},
		"a command": {"/commands", url.Values{"team_id": {slacktest.Team}, "channel_id": {w.general}, "user_id": {"U0ANN"}, "trigger_id": {"1"}, "text": {"x"}}.Encode()},
	} {
		request := httptest.NewRequest(http.MethodPost, test.path, strings.NewReader(test.body))
		request.Header = w.Sign([]byte(test.body))
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, request)
		if recorder.Code != http.StatusOK {
			t.Errorf("%s is answered by %d", name, recorder.Code)
		}
	}
	if got := strings.Count(w.log.String(), "not installed there any more"); got != 3 {
		t.Errorf("%d deliveries were taken for those of a removed team", got)
	}
	if got := w.bot.Messages(); len(got) != 0 {
		t.Errorf("the bot heard %+v", got)
	}
}
