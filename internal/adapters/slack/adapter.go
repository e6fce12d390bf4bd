package slack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/slack-go/slack"

	"github.com/cairn-bot/cairn/internal/adapters/slack/pace"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/expiring"
	"github.com/cairn-bot/cairn/internal/chat/interact"
	"github.com/cairn-bot/cairn/internal/chat/settings"
	"github.com/cairn-bot/cairn/internal/chat/webhook"
)

// Workspace is the app in one workspace.
type Workspace struct {
	Token string // of the bot, "xoxb-…"
	Bot   string // the bot's user id
	URL   string // "https://example.slack.com/"
	// Team is the workspace's id, "" where the app is installed for a whole enterprise.
	// Enterprise is the one that it belongs to, "" where there is none or it is not known.
	Team, Enterprise string
}

// Workspaces knows where the app is installed.
type Workspaces interface {
	// Workspace gives the app's access to a team. enterprise is the one that the team
	// belongs to, "" where it has none or it is not told; a team that was found once is
	// found without it. chat.ErrGone is the error for one that the app is not installed in
	// (any more).
	Workspace(ctx context.Context, team, enterprise string) (Workspace, error)
	// Leave tells that the app was removed from a team, or for team "" from a whole
	// enterprise.
	Leave(ctx context.Context, team, enterprise string) error
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
	// Listen tells what is heard in a channel where no admin set it; nil is mentions everywhere.
	Listen func(team, channel string) settings.Mode
	// Settings keeps what admins set by /cairn admin. It is required.
	Settings settings.Store
	// Changed is told what people ask of /cairn admin, to write it down; nil: nobody is.
	Changed func(ctx context.Context, change settings.Change) error
	// Teams are the workspaces and enterprises, by id, each with the collections that may be asked
	// there, none for all; AnyTeam is the rest. One that is not listed is bounded by nothing here:
	// Many keeps it out.
	Teams map[string][]string
	// External lets people of other companies ask in channels that are shared with them, Guests
	// lets guests ask.
	External, Guests bool
	// Workflows tells in which channels messages that a workflow posts are answered; nil: in none.
	Workflows func(team, channel string) bool
	// Classifier tells whether a reply is meant for the bot, where the rules don't know; nil:
	// the rules decide alone. It has 1.5 s.
	Classifier interact.Classifier
	// Humans are the people (U…) and groups (S…) that "Ask a human" calls in a channel; nil
	// or none: it is not offered.
	Humans func(team, channel string) []string
	// Catalog is what the home tab shows of what the bot knows; nil: nothing.
	Catalog chat.Catalog
	// Prompts are suggested to who opens the direct conversation, about documents of collections,
	// none for all; 4 at most are shown.
	Prompts func(ctx context.Context, collections []string) ([]interact.Prompt, error)
	// ChannelChanged is told of each message that is written, edited or deleted in a channel, and of
	// each reaction, with its thread, or the message itself where Slack does not tell the thread;
	// nil: nobody is. It returns at once.
	ChannelChanged func(channel chat.ChannelID, thread chat.ThreadID)
	// Turns share Slack's limits among the processes of the app; nil: this is the only one.
	Turns  pace.Turns
	APIURL string       // "" is Slack's
	Client *http.Client // nil is one with time limits
	Logger *slog.Logger
}

// Adapter is Cairn in Slack.
type Adapter struct {
	options    Options
	clock      clock
	pace       *pacer
	surveys    *expiring.Snapshots[map[string]threadState] // how the threads of channels stand, by team and channel
	agentless  agentless
	suggested  *expiring.Map[string] // collections that questions were suggested of last, by team and person
	names      nameCache
	running    *interact.Slot
	receiver   receiver
	dispatcher dispatcher

	control *interact.Controller
	people  *expiring.Map[person]              // by team and id
	groups  *expiring.Map[map[string][]string] // by team, of each person
	places  *expiring.Map[chat.Place]          // by team and channel
	joined  *expiring.Map[[]string]            // by team and person
}

// clock is the time and the waits of an adapter.
type clock struct {
	now  func() time.Time
	wait func(ctx context.Context, d time.Duration) error
}

// waitFor waits for d, or for the end of ctx, which is its error.
func waitFor(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// requestTimeout is the time that Slack is given: it may be busy and carry a call out late.
const requestTimeout = 30 * time.Second

// newClient is an HTTP client with time limits, that keeps connections to Slack for all
// that is posted at the same time.
func newClient() *http.Client {
	return &http.Client{Timeout: requestTimeout, Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 32, IdleConnTimeout: 90 * time.Second,
		TLSHandshakeTimeout: 10 * time.Second, ExpectContinueTimeout: time.Second,
	}}
}

// New makes an adapter; it connects to nothing before Run.
func New(options Options) (*Adapter, error) {
	var problems []error
	if options.Workspaces == nil || options.Logger == nil || options.Settings == nil {
		problems = append(problems, errors.New("the Slack adapter needs workspaces, settings and a logger"))
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
		options.Client = newClient()
	}
	if options.Listen == nil {
		options.Listen = func(string, string) settings.Mode { return settings.ModeMention }
	}
	if options.Turns == nil {
		options.Turns = pace.NewLocal(nil)
	}
	a := &Adapter{options: options, clock: clock{time.Now, waitFor}, running: interact.NewSlot()}
	a.pace = &pacer{clock: &a.clock, turns: options.Turns}
	a.surveys = expiring.NewSnapshots[map[string]threadState](maxSurveys)
	now := func() time.Time { return a.clock.now() }
	a.control = a.newController()
	a.receiver = receiver{adapter: a, refusals: webhook.NewRefusalLog(options.Logger, "slack delivery refused"), silence: maxSilence}
	a.dispatcher = dispatcher{adapter: a, done: expiring.New[bool](4096, 0, now)}
	a.people, a.groups = expiring.New[person](maxPeople, admittedFor, now), expiring.New[map[string][]string](256, believedFor, now)
	a.suggested = expiring.New[string](maxPeople, 0, now)
	a.places, a.joined = expiring.New[chat.Place](4096, believedFor, now), expiring.New[[]string](4096, believedFor, now)
	return a, nil
}

// newController makes what decides about messages and presses.
func (a *Adapter) newController() *interact.Controller {
	return interact.NewController(interact.Options{
		Platform: Name, Settings: a.options.Settings, Logger: a.options.Logger, Now: func() time.Time { return a.clock.now() },
		Changed: a.options.Changed, Classifier: a.options.Classifier, Catalog: a.options.Catalog, Prompts: a.options.Prompts,
	})
}

var (
	_ chat.Adapter    = (*Adapter)(nil)
	_ chat.Poster     = (*Adapter)(nil)
	_ chat.Drafter    = (*Adapter)(nil)
	_ chat.Tidier     = (*Adapter)(nil)
	_ chat.FileFinder = (*Adapter)(nil)

	_ chat.AbsenceChecker = (*Adapter)(nil)
	_ chat.PlaceDescriber = (*Adapter)(nil)
	_ chat.Identifier     = (*Adapter)(nil)
)

// Name is "slack".
func (a *Adapter) Name() string { return Name }

// Run hands every message to the handler until ctx ends; it must be an interact.Bot. One that
// is a chat.Changes hears of messages that were edited and deleted; the home tab shows the
// questions of one that is a chat.Threads, and "Why this answer" the graph of one that is a
// chat.Graphs. Over HTTP messages come by Handler, which refuses them before Run and after
// it.
func (a *Adapter) Run(ctx context.Context, handler chat.Handler) error {
	bot, err := interact.NewHandler("Slack", handler)
	if err != nil {
		return err
	}
	a.running.Fill(bot)
	defer a.running.Empty()
	if a.options.AppToken != "" {
		return a.receiver.runSockets(ctx)
	}
	a.receiver.refusals.Run(ctx)
	return nil
}

// Ready is closed once Run takes messages: what Handler hears before is refused.
func (a *Adapter) Ready() <-chan struct{} { return a.running.Ready() }

// teamClient gives access to a team.
func (a *Adapter) teamClient(ctx context.Context, team string) (*slack.Client, error) {
	workspace, err := a.options.Workspaces.Workspace(ctx, team, "")
	if err != nil {
		return nil, fmt.Errorf("access Slack's team %s: %w", team, err)
	}
	return a.newClient(workspace.Token), nil
}

func (a *Adapter) newClient(token string) *slack.Client {
	return slack.New(token, slack.OptionAPIURL(a.options.APIURL), slack.OptionHTTPClient(historyClient{a.options.Client}), slack.OptionAppLevelToken(a.options.AppToken))
}
