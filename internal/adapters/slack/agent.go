package slack

import (
	"context"
	"log/slog"
	"sync"

	"github.com/slack-go/slack"

	"cairn/internal/chat"
)

// sessionStatus is how an agent's session stands, which Slack shows in the agent pane.
type sessionStatus string

const (
	sessionProcessing sessionStatus = "processing"
	sessionActive     sessionStatus = "active"    // nothing works; the person may go on
	sessionSuspended  sessionStatus = "suspended" // a question waits for the person
)

// agentless are the teams in which the app turned out to be no agent: they are not
// asked again until the process ends.
type agentless struct {
	mu    sync.Mutex
	teams map[string]bool
}

func (a *agentless) hasTeam(team string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.teams[team]
}

func (a *agentless) addTeam(team string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.teams == nil {
		a.teams = map[string]bool{}
	}
	a.teams[team] = true
}

// setSessionStatus tells Slack how a direct conversation's session stands. People lose nothing
// where it can't be told.
func (s sender) setSessionStatus(ctx context.Context, status sessionStatus) {
	if !s.at.isDirect() || s.at.root == "" || s.agentless.hasTeam(s.at.team) {
		return
	}
	s.patience = 0
	err := s.callMethod(ctx, setSession, func() error {
		_, err := s.api.SetAgentSessionStatusContext(ctx, slack.AgentSessionSetStatusParameters{
			Status: string(status), ChannelID: s.at.channel, ThreadTS: s.at.root,
		})
		return err
	})
	if err == nil {
		return
	}
	if refusalName(err) != "" {
		s.agentless.addTeam(s.at.team)
	}
	s.options.Logger.DebugContext(ctx, "slack agent session was not told", slog.Any("error", err))
}

// statusAfter is how a session stands once a post is there.
func statusAfter(post chat.Post) sessionStatus {
	if post.Question != nil && post.Answer == "" {
		return sessionSuspended
	}
	return sessionActive
}
