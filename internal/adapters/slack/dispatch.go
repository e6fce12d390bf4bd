package slack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/slack-go/slack"

	"cairn/internal/chat"
	"cairn/internal/chat/listening"
	"cairn/internal/chat/running"
	"cairn/internal/chat/settings"
)

// errNotRunning is the error for what comes before Run or after it. Slack tries again.
var errNotRunning = errors.New("the Slack adapter does not run")

// dispatch does what a signal asks for, and gives what Slack is answered with, which is
// nothing for most. It returns once that is durable or done: only then is Slack told that
// the delivery has arrived.
func (a *Adapter) dispatch(ctx context.Context, of signal) (answer []byte, err error) {
	bot := a.running.Handler()
	if bot == nil {
		return nil, errNotRunning
	}
	keys := of.keys()
	if a.recent.has(keys) {
		return nil, nil
	}
	answer, err = a.do(ctx, bot, of)
	if errors.Is(err, chat.ErrGone) { // what asked is nowhere that an answer could be
		a.skip(ctx, err.Error())
		err = nil
	}
	if err != nil {
		return nil, err
	}
	a.recent.done(of.doneKeys())
	return answer, nil
}

// do does what a signal asks for, where its person may ask. Of what is said the bot is to know
// first whether it is for it.
func (a *Adapter) do(ctx context.Context, bot *running.Handler, of signal) (answer []byte, err error) {
	switch of.kind {
	case said:
		return nil, a.listen(ctx, bot, of)
	case edited, retracted:
		return nil, a.change(ctx, bot, of)
	case left:
		a.options.Logger.WarnContext(ctx, "slack workspace removed the app", slog.String("team", of.place.team))
		return nil, a.options.Workspaces.Leave(ctx, of.place.team, of.enterprise)
	case limited:
		a.options.Logger.WarnContext(ctx, "slack holds events back", slog.String("team", of.place.team))
		return nil, nil
	case ignored:
		a.skip(ctx, of.reason)
		return nil, nil
	}
	given, err := a.admit(ctx, &of)
	if err != nil {
		return nil, err
	}
	if given.refusal != "" {
		return a.refuseSignal(ctx, of, given.refusal)
	}
	return a.doAdmitted(ctx, bot, of, given)
}

// doAdmitted does what somebody asks for who may.
func (a *Adapter) doAdmitted(ctx context.Context, bot *running.Handler, of signal, given admission) (answer []byte, err error) {
	switch of.kind {
	case asked:
		return nil, a.ask(ctx, bot, of)
	case managed:
		return a.manage(ctx, of, given.who)
	case pressed:
		return nil, a.press(ctx, bot, of)
	case submitted:
		return a.submit(ctx, bot, of)
	case opened:
		return nil, a.open(ctx, bot, of, given.how.Collections)
	case halted:
		return nil, a.stop(ctx, bot, of)
	}
	return nil, nil
}

func (a *Adapter) skip(ctx context.Context, reason string) {
	a.options.Logger.DebugContext(ctx, "slack event ignored", slog.String("reason", reason))
}

// listen hands over what is said to the bot.
func (a *Adapter) listen(ctx context.Context, bot *running.Handler, of signal) error {
	var turns []chat.Turn
	if of.reply && !of.direct && !of.called {
		var err error
		if turns, err = bot.Transcript(ctx, of.message.Thread); err != nil {
			return fmt.Errorf("look into a thread of Slack's: %w", err)
		}
	}
	how, err := a.settings.Effective(ctx, settings.NewSpace(Name, of.place.team), of.place.channel,
		settings.Setting{Mode: a.options.Listen(of.place.team, of.place.channel)})
	if err != nil {
		return err
	}
	ruled := hears(of, how.Mode, listening.PartIn(turns))
	if !ruled.Hear && !ruled.Unsure {
		a.skip(ctx, ruled.Why)
		return nil
	}
	given, err := a.admit(ctx, &of)
	if err != nil {
		return err
	}
	if given.refusal != "" {
		if ruled.Unsure { // it may not be for the bot at all
			a.skip(ctx, "its author is refused: "+given.refusal)
			return nil
		}
		return a.refusePerson(ctx, of, given.refusal)
	}
	if ruled = a.judged(ctx, of, ruled, turns); !ruled.Hear {
		a.skip(ctx, ruled.Why)
		return nil
	}
	return a.hand(ctx, bot, of)
}

// change hands over that a message was edited or deleted, where the bot may have been
// asked by it.
func (a *Adapter) change(ctx context.Context, bot *running.Handler, of signal) error {
	if bot.Changes == nil {
		a.skip(ctx, "the bot does not hear of changed messages")
		return nil
	}
	turns, err := bot.Transcript(ctx, of.message.Thread)
	if err != nil {
		return fmt.Errorf("look into a thread of Slack's: %w", err)
	}
	known := slices.ContainsFunc(turns, func(turn chat.Turn) bool { return turn.Message == of.message.ID })
	switch {
	case of.kind == edited && of.calledNow && !known:
		return a.listen(ctx, bot, of) // it was not for the bot before
	case !of.direct && !of.called && len(turns) == 0:
		a.skip(ctx, "a change of what the bot was not asked")
		return nil
	case of.kind == retracted:
		return bot.Changes.Deleted(ctx, of.message.Thread, of.message.ID)
	}
	given, err := a.admit(ctx, &of)
	if err != nil {
		return err
	}
	if given.refusal != "" {
		a.skip(ctx, "its author is refused: "+given.refusal)
		return nil
	}
	return bot.Changes.Edited(ctx, of.message)
}

// hand makes a message durable with its files, some of which may have come after the first
// delivery. An author who may not answer is told so in private.
func (a *Adapter) hand(ctx context.Context, bot *running.Handler, of signal) error {
	err := bot.Handle(ctx, of.message, nil)
	if errors.Is(err, chat.ErrForbidden) {
		return a.tell(ctx, of, chat.ErrForbidden.Error())
	}
	if err == nil && of.hasMore() && bot.Changes != nil {
		return bot.Changes.Edited(ctx, of.message) // changes nothing where its files were known
	}
	return err
}

// ask hands over a slash command or a shortcut. A shortcut is answered in the message's
// thread, which the app has to be in.
func (a *Adapter) ask(ctx context.Context, bot *running.Handler, of signal) error {
	if of.place.private != "" {
		return a.hand(ctx, bot, of)
	}
	s, err := a.sender(ctx, of.place.thread())
	if err != nil {
		return err
	}
	_, err = s.ephemeral(ctx, of.by, []slack.MsgOption{slack.MsgOptionText("On it: the answer comes in this message's thread.", false)})
	if errors.Is(err, chat.ErrGone) {
		return a.tellDirectly(ctx, of, "I am not in that channel, so I can't answer there. Invite me with /invite and try again.")
	}
	if err != nil {
		a.options.Logger.WarnContext(ctx, "slack private line was not shown", slog.Any("error", err))
	}
	return a.hand(ctx, bot, of)
}

// press does what a button says.
func (a *Adapter) press(ctx context.Context, bot *running.Handler, of signal) error {
	run := chat.RunID(of.about)
	err := of.checkRun(ctx, bot)
	if err != nil {
		return a.told(ctx, of, err)
	}
	switch of.verb {
	case verbAnswer, verbReply:
		return a.hand(ctx, bot, of)
	case verbRate:
		err = a.rate(ctx, bot, of)
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
	case verbHuman:
		err = a.callHuman(ctx, bot, of)
	case verbPrivate:
		err = a.answerPrivately(ctx, bot, of)
	case verbTake:
		err = a.takeHelp(ctx, bot, of)
	case verbSettle:
		err = a.settle(ctx, of)
	case verbExtend:
		if err = chat.ErrUnknownRun; bot.More != nil {
			err = bot.More.Extend(ctx, run, of.by)
		}
	}
	return a.told(ctx, of, err)
}

// told tells a person in private what an error means for them; other errors stay.
func (a *Adapter) told(ctx context.Context, of signal, err error) error {
	if words, is := running.Refusal(err); is {
		return a.tell(ctx, of, words)
	}
	return err
}

func (a *Adapter) stop(ctx context.Context, bot running.Bot, of signal) error {
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

// tellDirectly says one line in the direct conversation with a person.
func (a *Adapter) tellDirectly(ctx context.Context, of signal, line string) error {
	s, err := a.sender(ctx, of.place.thread())
	if err != nil {
		return err
	}
	channel, err := s.openDirect(ctx, of.by)
	if err != nil {
		return err
	}
	s.at = place{team: of.place.team, channel: channel}
	_, err = s.post(ctx, part{key: keyOf("line", of), of: 1}, note{text: escape(line)})
	return err
}
