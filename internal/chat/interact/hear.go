package interact

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/settings"
)

// Teller says something to one person.
type Teller interface {
	// Tell says one line to the person alone. Where the platform can't, it says nothing; that
	// is no error.
	Tell(ctx context.Context, line string) error
}

// Incoming is a message that an adapter hears, with what its platform tells of whom it is for.
type Incoming struct {
	Message chat.Message
	Mode    settings.Mode // of the channel

	Direct     bool // in a direct conversation with the bot
	InThread   bool // in a thread, not its first message
	Called     bool // mentions the bot, or replies to it
	CalledNow  bool // is an edit that mentions the bot, and may be the first that does
	ToOther    bool // mentions somebody else
	OpensTopic bool // opens a thread that is there for questions, as a forum's post does
	Unreadable bool // the platform does not tell what it says

	// Again tells that the message may have been handed over before without its files.
	Again bool
	// Admit tells what its author may ask where the message is.
	Admit func(ctx context.Context) (Admission, error)
	// To is its author. NoticeKey names the author and the place where they are told once why
	// they are refused; "" where they are not told.
	To        Teller
	NoticeKey string
	// Accepted is called before the message is handed to the bot; nil: nothing is.
	Accepted func()
}

// Controller decides what comes of what people write and press, for one adapter. Make one
// with NewController; its methods may be called concurrently.
type Controller struct {
	options Options
	reader  *settings.Reader
}

// Options is what a Controller needs. Platform, Settings, Logger and Now are required.
type Options struct {
	Platform string         // the adapter's name, in logs
	Settings settings.Store // also remembers who was told why they are refused
	Logger   *slog.Logger
	Now      func() time.Time
	// Changed is told what people ask of settings, to write it down; nil: nobody is.
	Changed func(ctx context.Context, change settings.Change) error
	// Classifier tells whether a reply is meant for the bot, where the rules don't know; nil:
	// the rules decide alone. It has 1.5 s.
	Classifier Classifier
	// Catalog lists what the bot knows; nil: it can't be listed.
	Catalog chat.Catalog
	// Prompts suggests questions about documents of collections, none for all; nil: none are
	// suggested.
	Prompts func(ctx context.Context, collections []string) ([]Prompt, error)
}

// NewController makes a controller.
func NewController(options Options) *Controller {
	return &Controller{options: options, reader: settings.NewReader(options.Settings, options.Now)}
}

// Hear hands a message to the bot where it is for it and its author may ask, and returns once
// that is durable.
func (c *Controller) Hear(ctx context.Context, bot *Handler, incoming Incoming) error {
	var turns []chat.Turn
	if incoming.InThread && !incoming.Direct && !incoming.Called {
		var err error
		if turns, err = bot.Transcript(ctx, incoming.Message.Thread); err != nil {
			return fmt.Errorf("read the thread of a message: %w", err)
		}
	}
	ruled := incoming.Decide(PartIn(turns))
	if !ruled.Hear && !ruled.Unsure {
		c.Skip(ctx, ruled.Reason)
		return c.overhear(ctx, bot, incoming, len(turns) > 0)
	}
	given, err := incoming.Admit(ctx)
	if err != nil {
		return err
	}
	if given.Refusal != "" && ruled.Unsure { // it may not be for the bot at all
		c.Skip(ctx, "its author is refused: "+given.Refusal)
		return nil
	}
	if given.Refusal != "" {
		return c.RefuseOnce(ctx, incoming.To, incoming.NoticeKey, given.Refusal)
	}
	if ruled = c.classifyReply(ctx, incoming.Message.Text, ruled, turns); !ruled.Hear {
		c.Skip(ctx, ruled.Reason)
		c.proposeCorrection(ctx, bot, incoming.Message)
		return nil
	}
	incoming.Message.Collections = given.Setting.Collections
	if incoming.Accepted != nil {
		incoming.Accepted()
	}
	if err := c.Submit(ctx, bot, incoming.Message, incoming.To); err != nil || !incoming.Again || bot.Changes == nil {
		return err
	}
	return bot.Changes.Edited(ctx, incoming.Message) // changes nothing where its files were known
}

// overhear looks at what people tell one another in a thread that the bot takes part in: it may
// correct what the bot's answer rests on.
func (c *Controller) overhear(ctx context.Context, bot *Handler, incoming Incoming, taken bool) error {
	if !taken || bot.Correct == nil || incoming.Mode == settings.ModeOff || incoming.Unreadable {
		return nil
	}
	given, err := incoming.Admit(ctx)
	if err == nil && given.Refusal == "" {
		c.proposeCorrection(ctx, bot, incoming.Message)
	}
	return err
}

// proposeCorrection has a message looked at as a correction. What fails is logged: nobody asked for it.
func (c *Controller) proposeCorrection(ctx context.Context, bot *Handler, message chat.Message) {
	if bot.Correct == nil {
		return
	}
	if err := bot.Correct.Correct(ctx, message); err != nil {
		c.options.Logger.WarnContext(ctx, "look for corrections in a message", slog.String("platform", c.options.Platform), slog.String("thread", string(message.Thread)), slog.Any("error", err))
	}
}

// Submit makes a message durable. An author who may not say it is told so.
func (c *Controller) Submit(ctx context.Context, bot *Handler, message chat.Message, to Teller) error {
	err := bot.Handle(ctx, message, nil)
	if errors.Is(err, chat.ErrForbidden) {
		return to.Tell(ctx, chat.ErrForbidden.Error())
	}
	return err
}

// Skip logs why nothing comes of an event.
func (c *Controller) Skip(ctx context.Context, reason string) {
	c.options.Logger.DebugContext(ctx, "ignore event", slog.String("platform", c.options.Platform), slog.String("reason", reason))
}

// Asked is what is known of whether the bot was asked by a message.
type Asked int

const (
	// NotAsked is a message that was not for the bot.
	NotAsked Asked = iota
	// MaybeAsked is one that may wait to be worked at: no transcript has it yet.
	MaybeAsked
	// WasAsked is one that the bot was asked by.
	WasAsked
)

// FindAsked looks for a message in the transcripts of the threads that it may belong to. Where
// it is in none the first thread is returned; taken tells that the bot takes part in that.
func (c *Controller) FindAsked(ctx context.Context, bot *Handler, message chat.MessageID, threads ...chat.ThreadID) (in chat.ThreadID, known, taken bool, err error) {
	for i, thread := range threads {
		if thread == "" || slices.Contains(threads[:i], thread) {
			continue
		}
		turns, err := bot.Transcript(ctx, thread)
		if err != nil {
			return "", false, false, fmt.Errorf("read the thread of a changed message: %w", err)
		}
		if slices.ContainsFunc(turns, func(turn chat.Turn) bool { return turn.Message == message }) {
			return thread, true, true, nil
		}
		if i == 0 {
			taken = len(turns) > 0
		}
	}
	return threads[0], false, taken, nil
}

// Edit hands over the new text of a message that the bot was asked by, or is now.
func (c *Controller) Edit(ctx context.Context, bot *Handler, incoming Incoming, asked Asked) error {
	switch {
	case bot.Changes == nil:
		c.Skip(ctx, "the bot does not hear of changed messages")
		return nil
	case asked != WasAsked && incoming.CalledNow:
		return c.Hear(ctx, bot, incoming) // it was not for the bot before
	case asked == NotAsked:
		c.Skip(ctx, "a change of what the bot was not asked")
		return nil
	}
	given, err := incoming.Admit(ctx)
	if err != nil {
		return err
	}
	if given.Refusal != "" {
		c.Skip(ctx, "its author is refused: "+given.Refusal)
		return nil
	}
	incoming.Message.Collections = given.Setting.Collections
	return bot.Changes.Edited(ctx, incoming.Message)
}

// Classifier tells whether a reply in a thread that the bot takes part in is meant for the bot.
type Classifier interface {
	// IsForBot is asked where the rules don't know. thread is what was said to the bot and by it
	// before; ctx ends soon.
	IsForBot(ctx context.Context, thread []chat.Turn, text string) (bool, error)
}

// classifyLimit is how long a Classifier may take: platforms wait for 3 s.
const classifyLimit = 1500 * time.Millisecond

// classifyReply asks the Classifier where the rules are unsure. Where there is none, or it takes
// too long, the rules hold.
func (c *Controller) classifyReply(ctx context.Context, text string, ruled Verdict, turns []chat.Turn) Verdict {
	if !ruled.Unsure || c.options.Classifier == nil {
		return ruled
	}
	ctx, cancel := context.WithTimeout(ctx, classifyLimit)
	defer cancel()
	isForBot, err := c.options.Classifier.IsForBot(ctx, turns, text)
	if err != nil {
		c.options.Logger.WarnContext(ctx, "judge a reply by rules alone", slog.String("platform", c.options.Platform), slog.Any("error", err))
		return ruled
	}
	return Verdict{Hear: isForBot, Reason: "the model says that it is not for the bot"}
}

// Retract tells the bot that a message is gone, where it may have been asked by it.
func (c *Controller) Retract(ctx context.Context, bot *Handler, thread chat.ThreadID, message chat.MessageID, asked Asked) error {
	switch {
	case bot.Changes == nil:
		c.Skip(ctx, "the bot does not hear of changed messages")
		return nil
	case asked == NotAsked:
		c.Skip(ctx, "a deletion of what the bot was not asked")
		return nil
	}
	return bot.Changes.Deleted(ctx, thread, message)
}
