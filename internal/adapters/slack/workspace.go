package slack

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/slack-go/slack"
)

// Single is one workspace, known by the bot's token. Its user is asked of Slack once.
type Single struct {
	api *slack.Client

	mu    sync.Mutex
	known Workspace
}

// NewSingle is the workspace of a bot token. apiURL "" is Slack's, client nil one with a
// time limit.
func NewSingle(token, apiURL string, client *http.Client) *Single {
	if apiURL == "" {
		apiURL = slack.APIURL
	}
	if client == nil {
		client = newClient()
	}
	return &Single{
		api:   slack.New(token, slack.OptionAPIURL(apiURL), slack.OptionHTTPClient(client)),
		known: Workspace{Token: token},
	}
}

// Workspace gives the workspace for every team: in channels that are shared with another
// company, events come under that company's team.
func (s *Single) Workspace(ctx context.Context, _, _ string) (Workspace, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known.Bot == "" {
		told, err := s.api.AuthTestContext(ctx)
		if err != nil {
			return Workspace{}, fmt.Errorf("ask Slack who the bot is: %w", err)
		}
		s.known.Bot, s.known.URL, s.known.Enterprise = told.UserID, told.URL, told.EnterpriseID
		if strings.HasPrefix(told.TeamID, "T") {
			s.known.Team = told.TeamID
		}
	}
	return s.known, nil
}

// Leave does nothing: the token stands in the configuration.
func (s *Single) Leave(context.Context, string, string) error { return nil }
