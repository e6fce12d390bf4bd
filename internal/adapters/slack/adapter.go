package slack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/slack-go/slack"

	"cairn/internal/chat"
)

// Workspace is the app in one workspace.
type Workspace struct {
	Token string // of the bot, "xoxb-…"
	Bot   string // the bot's user id
}

// Workspaces knows where the app is installed.
type Workspaces interface {
	// Workspace gives the app's access to a team. chat.ErrGone is the error for one that
	// it is not installed in any more.
	Workspace(ctx context.Context, team string) (Workspace, error)
}

// Bot is what the adapter asks of the handler that it runs with.
type Bot interface {
	chat.Handler
	chat.Controls
	chat.Transcripts
}

// Options is what an Adapter needs. SigningSecret is for events over HTTP, AppToken for
// Socket Mode; at least one of them is there.
type Options struct {
	Workspaces    Workspaces
	SigningSecret string
	AppToken      string // "xapp-…"
	// Sockets is how many Socket Mode connections are held; 0 is 2, so that one may be
	// replaced while the other goes on. Slack allows 10 in all.
	Sockets int
	// Listen tells what is heard in a channel; nil is ListenMention everywhere.
	Listen func(team, channel string) Listening
	// Prompts are suggested to who opens the direct conversation; 4 at most are shown.
	Prompts func(ctx context.Context) ([]Prompt, error)
	APIURL  string       // "" is Slack's
	Client  *http.Client // nil is one with time limits
	Logger  *slog.Logger
}

// Prompt is a suggested question: what the button says, and what is asked.
type Prompt struct{ Title, Message string }

// Adapter is Cairn in Slack.
type Adapter struct {
	options   Options
	clock     clock
	pace      *pace
	recent    *recent
	agentless agentless
	silence   time.Duration       // how long a Socket Mode connection may go without a ping
	running   atomic.Pointer[Bot] // nil while Run does not run
}

// clock is the time and the waits of an adapter.
type clock struct {
	now  func() time.Time
	wait func(ctx context.Context, d time.Duration) error
}

// wait waits for d, or for the end of ctx, which is its error.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

const requestTimeout = 20 * time.Second

// New makes an adapter; it connects to nothing before Run.
func New(options Options) (*Adapter, error) {
	var problems []error
	if options.Workspaces == nil || options.Logger == nil {
		problems = append(problems, errors.New("the Slack adapter needs workspaces and a logger"))
	}
	if options.SigningSecret == "" && options.AppToken == "" {
		problems = append(problems, errors.New("the Slack adapter needs a signing secret, for events over HTTP, or an app token, for Socket Mode"))
	}
	if options.Sockets < 0 || options.Sockets > 10 {
		problems = append(problems, fmt.Errorf("%d Socket Mode connections: Slack allows 1 to 10", options.Sockets))
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	if options.Sockets == 0 {
		options.Sockets = 2
	}
	if options.APIURL == "" {
		options.APIURL = slack.APIURL
	}
	if options.Client == nil {
		options.Client = &http.Client{Timeout: requestTimeout}
	}
	if options.Listen == nil {
		options.Listen = func(string, string) Listening { return ListenMention }
	}
	a := &Adapter{options: options, clock: clock{time.Now, wait}, recent: newRecent(4096), silence: maxSilence}
	a.pace = newPace(&a.clock)
	return a, nil
}

var (
	_ chat.Adapter = (*Adapter)(nil)
	_ chat.Poster  = (*Adapter)(nil)
)

// Name is "slack".
func (a *Adapter) Name() string { return Name }

// Run hands every message to the handler until ctx ends; it must be a Bot. Over HTTP
// messages come by Handler, which refuses them before Run and after it.
func (a *Adapter) Run(ctx context.Context, handler chat.Handler) error {
	bot, ok := handler.(Bot)
	if !ok {
		return fmt.Errorf("run the Slack adapter: a %T can't stop, retry, rate and explain runs", handler)
	}
	a.running.Store(&bot)
	defer a.running.Store(nil)
	if a.options.AppToken != "" {
		return a.runSockets(ctx)
	}
	<-ctx.Done()
	return nil
}

// api gives access to a team.
func (a *Adapter) api(ctx context.Context, team string) (*slack.Client, error) {
	workspace, err := a.options.Workspaces.Workspace(ctx, team)
	if err != nil {
		return nil, fmt.Errorf("access Slack's team %s: %w", team, err)
	}
	return a.client(workspace.Token), nil
}

func (a *Adapter) client(token string) *slack.Client {
	return slack.New(token, slack.OptionAPIURL(a.options.APIURL), slack.OptionHTTPClient(a.options.Client), slack.OptionAppLevelToken(a.options.AppToken))
}
