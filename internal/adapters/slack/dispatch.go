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

// dispatchSignal does what a signal asks for, and gives what Slack is answered with, which is
// nothing for most. It returns once that is durable or done: only then is Slack told that
// the delivery has arrived.
func (a *Adapter) dispatchSignal(ctx context.Context, of signal) (answer []byte, err error) {
	bot := a.running.Handler()
	if bot == nil {
		return nil, errNotRunning
	}
	keys := of.dedupeKeys()
	if a.recent.hasAny(keys) {
		return nil, nil
	}
	answer, err = a.performSignal(ctx, bot, of)
	if errors.Is(err, chat.ErrGone) { // what asked is nowhere that an answer could be
		a.logSkipped(ctx, err.Error())
		err = nil
	}
	if err != nil {
		return nil, err
	}
	a.recent.markDone(of.doneKeys())
	return answer, nil
}

// performSignal does what a signal asks for, where its person may ask. Of what is said the bot is to know
// first whether it is for it.
func (a *Adapter) performSignal(ctx context.Context, bot *running.Handler, of signal) (answer []byte, err error) {
	switch of.kind {
	case said:
		return nil, a.handleMessage(ctx, bot, of)
	case edited, retracted:
		return nil, a.handleChange(ctx, bot, of)
	case left:
		a.options.Logger.WarnContext(ctx, "slack workspace removed the app", slog.String("team", of.place.team))
		return nil, a.options.Workspaces.Leave(ctx, of.place.team, of.enterprise)
	case limited:
		a.options.Logger.WarnContext(ctx, "slack holds events back", slog.String("team", of.place.team))
		return nil, nil
	case ignored:
		a.logSkipped(ctx, of.reason)
		return nil, nil
	}
	given, err := a.admitSignal(ctx, &of)
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
		return nil, a.submitCommand(ctx, bot, of)
	case managed:
		return a.applySettings(ctx, of, given.who)
	case pressed:
		return nil, a.handlePress(ctx, bot, of)
	case submitted:
		if of.verb == verbAsk {
			return a.submitAsked(ctx, bot, of)
		}
		return a.submitReason(ctx, bot, of)
	case opened:
		return nil, a.greetVisitor(ctx, bot, of, given.how.Collections)
	case halted:
		return nil, a.stopWork(ctx, bot, of)
	}
	return nil, nil
}

func (a *Adapter) logSkipped(ctx context.Context, reason string) {
	a.options.Logger.DebugContext(ctx, "slack event ignored", slog.String("reason", reason))
}

// handleMessage hands over what is said to the bot.
func (a *Adapter) handleMessage(ctx context.Context, bot *running.Handler, of signal) error {
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
	ruled := decideHearing(of, how.Mode, listening.PartIn(turns))
	if !ruled.Hear && !ruled.Unsure {
		a.logSkipped(ctx, ruled.Why)
		return nil
	}
	given, err := a.admitSignal(ctx, &of)
	if err != nil {
		return err
	}
	if given.refusal != "" {
		if ruled.Unsure { // it may not be for the bot at all
			a.logSkipped(ctx, "its author is refused: "+given.refusal)
			return nil
		}
		return a.refusePerson(ctx, of, given.refusal)
	}
	if ruled = a.judgeHearing(ctx, of, ruled, turns); !ruled.Hear {
		a.logSkipped(ctx, ruled.Why)
		return nil
	}
	return a.submitMessage(ctx, bot, of)
}

// handleChange hands over that a message was edited or deleted, where the bot may have been
// asked by it.
func (a *Adapter) handleChange(ctx context.Context, bot *running.Handler, of signal) error {
	if bot.Changes == nil {
		a.logSkipped(ctx, "the bot does not hear of changed messages")
		return nil
	}
	turns, err := bot.Transcript(ctx, of.message.Thread)
	if err != nil {
		return fmt.Errorf("look into a thread of Slack's: %w", err)
	}
	known := slices.ContainsFunc(turns, func(turn chat.Turn) bool { return turn.Message == of.message.ID })
	switch {
	case of.kind == edited && of.calledNow && !known:
		return a.handleMessage(ctx, bot, of) // it was not for the bot before
	case !of.direct && !of.called && len(turns) == 0:
		a.logSkipped(ctx, "a change of what the bot was not asked")
		return nil
	case of.kind == retracted:
		return bot.Changes.Deleted(ctx, of.message.Thread, of.message.ID)
	}
	given, err := a.admitSignal(ctx, &of)
	if err != nil {
		return err
	}
	if given.refusal != "" {
		a.logSkipped(ctx, "its author is refused: "+given.refusal)
		return nil
	}
	return bot.Changes.Edited(ctx, of.message)
}

// submitMessage makes a message durable with its files, some of which may have come after the first
// delivery. An author who may not answer is told so in private.
func (a *Adapter) submitMessage(ctx context.Context, bot *running.Handler, of signal) error {
	err := bot.Handle(ctx, of.message, nil)
	if errors.Is(err, chat.ErrForbidden) {
		return a.sendPrivateLine(ctx, of, chat.ErrForbidden.Error())
	}
	if err == nil && of.hasMore() && bot.Changes != nil {
		return bot.Changes.Edited(ctx, of.message) // changes nothing where its files were known
	}
	return err
}

// submitCommand hands over a slash command or a shortcut. A shortcut is answered in the message's
// thread, which the app has to be in.
func (a *Adapter) submitCommand(ctx context.Context, bot *running.Handler, of signal) error {
	if of.place.private != "" {
		return a.submitMessage(ctx, bot, of)
	}
	s, err := a.senderFor(ctx, of.place.threadID())
	if err != nil {
		return err
	}
	_, err = s.postEphemeral(ctx, of.by, []slack.MsgOption{slack.MsgOptionText("On it: the answer comes in this message's thread.", false)})
	if errors.Is(err, chat.ErrGone) {
		return a.tellDirectly(ctx, of, "I am not in that channel, so I can't answer there. Invite me with /invite and try again.")
	}
	if err != nil {
		a.options.Logger.WarnContext(ctx, "slack private line was not shown", slog.Any("error", err))
	}
	return a.submitMessage(ctx, bot, of)
}

// handlePress does what a button says.
func (a *Adapter) handlePress(ctx context.Context, bot *running.Handler, of signal) error {
	run := chat.RunID(of.about)
	err := of.checkRun(ctx, bot)
	if err != nil {
		return a.explainError(ctx, of, err)
	}
	switch of.verb {
	case verbAsk:
		return a.handleHomePress(ctx, bot, of)
	case verbAnswer, verbReply:
		return a.submitMessage(ctx, bot, of)
	case verbRate:
		err = a.saveRating(ctx, bot, of)
	case verbRetry:
		err = bot.Retry(ctx, run, of.by, nil)
	case verbStop:
		return a.stopWork(ctx, bot, of)
	case verbWhy:
		err = a.showWhy(ctx, bot, of)
	case verbSources:
		err = a.showSources(ctx, bot, of)
	case verbShare:
		err = a.shareAnswer(ctx, bot, of)
	case verbHuman:
		err = a.callHuman(ctx, bot, of)
	case verbPrivate:
		err = a.answerPrivately(ctx, bot, of)
	case verbTake:
		err = a.takeHelp(ctx, bot, of)
	case verbSettle:
		err = a.closeRequest(ctx, of)
	case verbExtend:
		if err = chat.ErrUnknownRun; bot.More != nil {
			err = bot.More.Extend(ctx, run, of.by)
		}
	}
	return a.explainError(ctx, of, err)
}

// explainError tells a person in private what an error means for them; other errors stay.
func (a *Adapter) explainError(ctx context.Context, of signal, err error) error {
	if words, is := running.Refusal(err); is {
		return a.sendPrivateLine(ctx, of, words)
	}
	return err
}

func (a *Adapter) stopWork(ctx context.Context, bot running.Bot, of signal) error {
	if _, err := bot.Stop(ctx, of.place.threadID(), of.by); err != nil {
		return a.explainError(ctx, of, err)
	}
	if of.kind != halted {
		return nil
	}
	// Slack leaves it to the app to say that the session does not work any more.
	s, err := a.senderFor(ctx, of.place.threadID())
	if err != nil {
		return err
	}
	s.setSessionStatus(ctx, sessionActive)
	return nil
}

// sendPrivateLine says one line to one person. Where that can't be, nothing else is lost by it.
func (a *Adapter) sendPrivateLine(ctx context.Context, of signal, line string) error {
	s, err := a.senderFor(ctx, of.place.threadID())
	if err != nil {
		return err
	}
	_, err = s.postEphemeral(ctx, of.by, []slack.MsgOption{slack.MsgOptionText(escapeText(line), false)})
	if err != nil {
		a.options.Logger.WarnContext(ctx, "slack private line was not shown", slog.Any("error", err))
	}
	return nil
}

// tellDirectly says one line in the direct conversation with a person.
func (a *Adapter) tellDirectly(ctx context.Context, of signal, line string) error {
	s, err := a.senderFor(ctx, of.place.threadID())
	if err != nil {
		return err
	}
	channel, err := s.openDirect(ctx, of.by)
	if err != nil {
		return err
	}
	s.at = place{team: of.place.team, channel: channel}
	_, err = s.postPart(ctx, part{key: keyOf("line", of), of: 1}, note{text: escapeText(line)})
	return err
}
