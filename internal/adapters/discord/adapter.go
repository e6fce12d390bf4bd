package discord

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/discord/gateway"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/expiring"
	"github.com/cairn-bot/cairn/internal/chat/interact"
	"github.com/cairn-bot/cairn/internal/chat/outage"
	"github.com/cairn-bot/cairn/internal/chat/settings"
	"github.com/cairn-bot/cairn/internal/chat/webhook"
)

// Gateway hands over what happens in Discord. handle returns once an event is durable or
// done; one for which it fails is handed over again.
type Gateway interface {
	Run(ctx context.Context, handle gateway.Handler) error
}

// Options is what an Adapter needs. Token, Settings, Tickets and Logger are required, and
// one of Gateway and PublicKey.
type Options struct {
	Token    string // of the bot, without "Bot "
	Settings settings.Store
	Tickets  Tickets
	Logger   *slog.Logger
	// Gateway tells of messages and interactions; nil: only Handler is told of interactions,
	// and messages are not heard.
	Gateway Gateway
	// PublicKey of the app, in hex, for interactions over HTTP; "" where the gateway tells of
	// them.
	PublicKey string
	// Default is how the bot behaves where nothing was set by /cairn-admin; nil, and what is
	// empty: mentions are heard and answered in threads, by everybody, of all collections.
	Default func(guild, channel string) settings.Setting
	// HearsAll tells that the app has the MESSAGE CONTENT intent: follow-ups in the bot's
	// threads need no mention.
	HearsAll bool
	// Servers are the ids of those that the bot answers in, each with the collections that may be
	// asked there, none for all; empty: the servers that the app was in when it was set up. Others
	// are left.
	Servers map[string][]string
	// Humans are the users ("123") and roles ("&123") that "Ask a human" calls in a channel;
	// nil or none: it is not offered.
	Humans func(guild, channel string) []string
	// Classifier tells whether a reply is meant for the bot, where the rules don't know; nil: the
	// rules decide alone. It has 1.5 s.
	Classifier interact.Classifier
	// Changed is told what people ask of /cairn-admin, to write it down; nil: nobody is.
	Changed func(ctx context.Context, change settings.Change) error
	// ChannelChanged is told of each message that is written, edited or deleted in a channel, and of
	// each reaction, with its conversation, which in a channel is named by the message; nil: nobody
	// is. It returns at once.
	ChannelChanged func(channel chat.ChannelID, thread chat.ThreadID)
	// Catalog is what fields of commands offer of what the bot knows; nil: nothing.
	Catalog chat.Catalog
	Client  *http.Client // keeps Discord's pace; nil is one that does not
	Now     func() time.Time
}

// Adapter is Cairn in Discord.
type Adapter struct {
	options Options
	now     func() time.Time
	outage  outage.Gate

	running    *interact.Slot
	receiver   receiver
	dispatcher dispatcher
	servers    *serverList
	self       atomic.Pointer[self] // nil until Discord told it

	channels *expiring.Map[wireChannel] // by id
	started  *expiring.Map[bool]        // threads that are known to be there
	titles   *expiring.Map[string]      // of threads whose start waits for its turn, by channel
	roles    *expiring.Map[string]      // the bot's own, by server
	control  *interact.Controller
	threads  *expiring.Map[chat.ThreadID]
	waiting  *expiring.Map[string]       // drafts that tell of a wait for a turn, by waitKey; "" where one is over
	typed    *expiring.Map[time.Time]    // when it was last told that the bot types, by channel
	parents  *expiring.Map[string]       // channels of the messages that threads begin at
	surveys  *expiring.Snapshots[survey] // by server, or by server and channel

	members *expiring.Map[membership] // by server and person
	layouts *expiring.Map[layout]     // by server
}

// believedFor is how long is believed what Discord tells of members and channels.
const believedFor = time.Minute

// self is what Discord tells of the bot.
type self struct{ user, application string }

// New makes an adapter; it connects to nothing before Run.
func New(options Options) (*Adapter, error) {
	var problems []error
	if options.Token == "" || options.Settings == nil || options.Tickets == nil || options.Logger == nil {
		problems = append(problems, errors.New("the Discord adapter needs a token, settings, tickets and a logger"))
	}
	if options.Gateway == nil && options.PublicKey == "" {
		problems = append(problems, errors.New("the Discord adapter needs the gateway, or the app's public key for interactions over HTTP"))
	}
	key, err := hex.DecodeString(options.PublicKey)
	if err != nil || options.PublicKey != "" && len(key) != ed25519.PublicKeySize {
		problems = append(problems, errors.New("the public key is none: copy it from discord.com/developers → your app → General Information → Public Key"))
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	if options.Client == nil {
		options.Client = newClient()
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	a := &Adapter{
		options: options, now: options.Now, running: interact.NewSlot(),
		channels: expiring.New[wireChannel](20000, 0, options.Now), started: expiring.New[bool](4096, 0, options.Now),
		titles: expiring.New[string](1024, believedFor, options.Now),
		roles:  expiring.New[string](4096, 0, options.Now), threads: expiring.New[chat.ThreadID](4096, 0, options.Now),
		waiting: expiring.New[string](4096, 0, options.Now), typed: expiring.New[time.Time](4096, 0, options.Now),
		parents: expiring.New[string](4096, 0, options.Now), members: expiring.New[membership](20000, believedFor, options.Now),
		layouts: expiring.New[layout](64, believedFor, options.Now), surveys: expiring.NewSnapshots[survey](maxSurveys),
	}
	a.control = a.newController()
	a.receiver = receiver{adapter: a, key: key, refusals: webhook.NewRefusalLog(options.Logger, "discord interaction refused")}
	a.dispatcher = dispatcher{adapter: a, done: expiring.New[bool](4096, 0, options.Now)}
	a.servers = &serverList{adapter: a}
	return a, nil
}

// newController makes what decides about messages and presses.
func (a *Adapter) newController() *interact.Controller {
	return interact.NewController(interact.Options{
		Platform: Name, Settings: a.options.Settings, Logger: a.options.Logger, Now: a.now, Changed: a.options.Changed, Catalog: a.options.Catalog,
		Classifier: a.options.Classifier,
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

// Name is "discord".
func (a *Adapter) Name() string { return Name }

// Run hands every message to the handler until ctx ends; it must be an interact.Bot. One that
// is a chat.Changes hears of messages that were edited and deleted; "Why this answer" shows
// the graph of one that is a chat.Graphs. Over HTTP interactions come by Handler, which
// refuses them before Run and after it.
func (a *Adapter) Run(ctx context.Context, handler chat.Handler) error {
	bot, err := interact.NewHandler("Discord", handler)
	if err != nil {
		return err
	}
	if _, err := a.identifyBot(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return fmt.Errorf("run the Discord adapter: %w", err)
	}
	if err := a.servers.admitServers(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return fmt.Errorf("run the Discord adapter: %w", err)
	}
	a.running.Fill(bot)
	defer a.running.Empty()
	if a.options.Gateway == nil {
		a.receiver.refusals.Run(ctx)
		return nil
	}
	return a.options.Gateway.Run(ctx, a.dispatcher.takeDispatch)
}

// Ready is closed once Run takes events.
func (a *Adapter) Ready() <-chan struct{} { return a.running.Ready() }

// identifyBot asks Discord once who the bot is.
func (a *Adapter) identifyBot(ctx context.Context) (self, error) {
	if known := a.self.Load(); known != nil {
		return *known, nil
	}
	told, err := tellApplication(ctx, a.options.Client, a.options.Token)
	if err != nil {
		return self{}, err
	}
	found := self{user: told.Bot.ID, application: told.ID}
	if found.user == "" {
		found.user = told.ID // Discord gives new apps one id for both
	}
	a.self.Store(&found)
	return found, nil
}
