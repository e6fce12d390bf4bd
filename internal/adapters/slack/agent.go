package slack

import (
	"context"
	"log/slog"
	"slices"
	"sync"

	"github.com/slack-go/slack"

	"github.com/cairn-bot/cairn/internal/chat"
)

// sessionStatus is how an agent's session stands, which Slack shows in the agent pane.
type sessionStatus string

const (
	sessionProcessing sessionStatus = "processing"
	sessionActive     sessionStatus = "active"    // nothing works; the person may go on
	sessionSuspended  sessionStatus = "suspended" // a question waits for the person
)

// agentless are the teams in which the app turned out to be no agent whose work can be stopped:
// they are not asked again until the process ends.
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

// noStopEvent is Slack's warning that nobody can stop a session, since the app does not subscribe
// to that event.
const noStopEvent = "missing_agent_session_stopped_event_subscription"

// setSessionStatus tells Slack how the session of a thread stands, in channels as in direct
// conversations; while it is processing Slack offers to stop it. People lose nothing where it can't
// be told. A team whose app is no agent, or whose sessions nobody can stop, is not told again.
func (s sender) setSessionStatus(ctx context.Context, status sessionStatus) {
	if s.at.root == "" || s.adapter.agentless.hasTeam(s.at.team) {
		return
	}
	stoppable, untitled := true, false
	tell := func(status sessionStatus) error {
		return s.callMethod(ctx, setSession, func() error {
			told, err := s.api.SetAgentSessionStatusContext(ctx, slack.AgentSessionSetStatusParameters{
				Status: string(status), ChannelID: s.at.channel, ThreadTS: s.at.root, Title: s.title,
			})
			stoppable = err != nil || !slices.Contains(append(told.ResponseMetadata.Warnings, told.Warning), noStopEvent)
			untitled = err == nil && told.Title == ""
			return err
		})
	}
	s.patience = 0
	if status != sessionProcessing { // else it would seem to work for ever
		s.patience = turnPatience
	}
	err := tell(status)
	if err == nil && !stoppable && status == sessionProcessing {
		err = tell(sessionActive)
	}
	if refusalName(err) != "" || !stoppable {
		s.adapter.agentless.addTeam(s.at.team)
	}
	if err != nil {
		s.adapter.options.Logger.DebugContext(ctx, "set slack agent session status", slog.String("status", string(status)), slog.Any("error", err))
		return
	}
	if untitled && s.title != "" && status == sessionProcessing {
		s.renameSession(ctx)
	}
}

// maxSessionTitle is Slack's limit.
const maxSessionTitle = 200

// renameSession gives a session its title that began without one: Slack takes a title with the status
// of a new session alone.
func (s sender) renameSession(ctx context.Context) {
	err := s.callMethod(ctx, renameSession, func() error {
		_, err := s.api.RenameAgentSessionContext(ctx, slack.AgentSessionRenameParameters{Title: s.title, ChannelID: s.at.channel, ThreadTS: s.at.root})
		return err
	})
	if err != nil {
		s.adapter.options.Logger.DebugContext(ctx, "rename slack agent session", slog.Any("error", err))
	}
}

// statusAfter is how a session stands once a post is there.
func statusAfter(post chat.Post) sessionStatus {
	if post.Question != nil && post.Answer == "" {
		return sessionSuspended
	}
	return sessionActive
}
