package slack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/slack-go/slack"

	"cairn/internal/chat"
)

// errNotRunning is the error for what comes before Run or after it. Slack tries again.
var errNotRunning = errors.New("the Slack adapter does not run")

// dispatch does what a signal asks for. It returns once that is durable or done: only
// then is Slack told that the delivery has arrived.
func (a *Adapter) dispatch(ctx context.Context, of signal) error {
	bot := a.running.Load()
	if bot == nil {
		return errNotRunning
	}
	keys := of.keys()
	if a.recent.has(keys) {
		return nil
	}
	if err := a.do(ctx, *bot, of); err != nil {
		return err
	}
	a.recent.done(keys)
	return nil
}

func (a *Adapter) do(ctx context.Context, bot Bot, of signal) error {
	switch of.kind {
	case said:
		return a.listen(ctx, bot, of)
	case asked:
		return a.hand(ctx, bot, of)
	case pressed:
		return a.press(ctx, bot, of)
	case opened:
		return a.open(ctx, of)
	case halted:
		return a.stop(ctx, bot, of)
	case left:
		a.options.Logger.WarnContext(ctx, "slack workspace removed the app", slog.String("team", of.place.team))
	case limited:
		a.options.Logger.WarnContext(ctx, "slack holds events back", slog.String("team", of.place.team))
	case edited, retracted:
		// The bot has no way yet to hear that a message changed; it answers what was
		// first asked.
		a.skip(ctx, "the bot does not hear of changed messages")
	case ignored:
		a.skip(ctx, of.reason)
	}
	return nil
}

func (a *Adapter) skip(ctx context.Context, reason string) {
	a.options.Logger.DebugContext(ctx, "slack event ignored", slog.String("reason", reason))
}

// listen hands over what is said to the bot.
func (a *Adapter) listen(ctx context.Context, bot Bot, of signal) error {
	var now taking
	if of.reply && !of.direct && !of.called {
		turns, err := bot.Transcript(ctx, of.message.Thread)
		if err != nil {
			return fmt.Errorf("look into a thread of Slack's: %w", err)
		}
		now = takingIn(turns)
	}
	if hear, reason := hears(of, a.options.Listen(of.place.team, of.place.channel), now); !hear {
		a.skip(ctx, reason)
		return nil
	}
	return a.hand(ctx, bot, of)
}

// hand makes a message durable, and tells its author in private where it is not for
// them to say.
func (a *Adapter) hand(ctx context.Context, bot Bot, of signal) error {
	err := bot.Handle(ctx, of.message, nil)
	if errors.Is(err, chat.ErrForbidden) {
		return a.tell(ctx, of, chat.ErrForbidden.Error())
	}
	return err
}

// press does what a button says.
func (a *Adapter) press(ctx context.Context, bot Bot, of signal) error {
	run := chat.RunID(of.about)
	var err error
	switch of.verb {
	case verbAnswer, verbReply:
		return a.hand(ctx, bot, of)
	case verbRate:
		err = bot.Rate(ctx, run, chat.Rating{By: of.by, Verdict: chat.Verdict(of.value), At: a.clock.now()})
	case verbRetry:
		err = bot.Retry(ctx, run, of.by, nil)
	case verbStop:
		return a.stop(ctx, bot, of)
	case verbWhy:
		err = a.why(ctx, bot, of)
	case verbSources:
		err = a.sources(ctx, bot, of)
	case verbShare:
		err = a.share(ctx, bot, of)
	}
	return a.told(ctx, of, err)
}

// told tells a person in private what an error means for them; other errors stay.
func (a *Adapter) told(ctx context.Context, of signal, err error) error {
	for _, fit := range []error{chat.ErrForbidden, chat.ErrUnknownRun, chat.ErrRunOver} {
		if errors.Is(err, fit) {
			return a.tell(ctx, of, fit.Error())
		}
	}
	return err
}

func (a *Adapter) stop(ctx context.Context, bot Bot, of signal) error {
	if _, err := bot.Stop(ctx, of.place.thread(), of.by); err != nil {
		return a.told(ctx, of, err)
	}
	if of.kind != halted {
		return nil
	}
	// Slack leaves it to the app to say that the session does not work any more.
	s, err := a.sender(ctx, of.place.thread())
	if err != nil {
		return err
	}
	s.session(ctx, sessionActive)
	return nil
}

// tell says one line to one person. Where that can't be, nothing else is lost by it.
func (a *Adapter) tell(ctx context.Context, of signal, line string) error {
	s, err := a.sender(ctx, of.place.thread())
	if err != nil {
		return err
	}
	_, err = s.ephemeral(ctx, of.by, []slack.MsgOption{slack.MsgOptionText(escape(line), false)})
	if err != nil {
		a.options.Logger.WarnContext(ctx, "slack private line was not shown", slog.Any("error", err))
	}
	return nil
}

// open greets who opens the direct conversation with suggested questions.
func (a *Adapter) open(ctx context.Context, of signal) error {
	if of.tab != "messages" || a.options.Prompts == nil || of.place.channel == "" {
		a.skip(ctx, "nothing is shown in this tab")
		return nil
	}
	prompts, err := a.options.Prompts(ctx)
	if err != nil {
		return fmt.Errorf("suggest questions: %w", err)
	}
	api, err := a.api(ctx, of.place.team)
	if err != nil {
		return err
	}
	// Where an app is an agent no thread is told: with one the call would do nothing, and
	// say that all is well. Where it is an assistant, as apps were before, there is one.
	ask := slack.AssistantThreadsSetSuggestedPromptsParameters{
		Title: "Ask about the documents", ChannelID: of.place.channel, ThreadTS: of.place.root,
	}
	for _, prompt := range prompts[:min(len(prompts), maxPrompts)] {
		ask.AddPrompt(cut(prompt.Title, maxLabel), prompt.Message)
	}
	if len(ask.Prompts) == 0 {
		return nil
	}
	return known("assistant.threads.setSuggestedPrompts", api.SetAssistantThreadsSuggestedPromptsContext(ctx, ask))
}

// maxPrompts is how many suggestions Slack shows.
const maxPrompts = 4
