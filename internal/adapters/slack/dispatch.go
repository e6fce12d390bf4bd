package slack

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"github.com/slack-go/slack"

	"cairn/internal/chat"
	"cairn/internal/chat/interact"
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
	if a.isDone(of) {
		return nil, nil
	}
	answer, err = a.performSignal(ctx, bot, of)
	if errors.Is(err, chat.ErrGone) { // what asked is nowhere that an answer could be
		a.control.Skip(ctx, err.Error())
		err = nil
	}
	if err != nil {
		return nil, err
	}
	a.markDone(of)
	return answer, nil
}

// isDone tells that a signal was dealt with. It spares work; what must not be done twice is known
// by its message id.
func (a *Adapter) isDone(of signal) bool {
	return slices.ContainsFunc(of.dedupeKeys(), func(key string) bool {
		_, done := a.done.Get(key)
		return done
	})
}

func (a *Adapter) markDone(of signal) {
	for _, key := range of.doneKeys() {
		a.done.Put(key, true)
	}
}

// performSignal does what a signal asks for, where its person may ask. Of what is said the bot is to know
// first whether it is for it.
func (a *Adapter) performSignal(ctx context.Context, bot *interact.Handler, of signal) (answer []byte, err error) {
	switch of.kind {
	case kindSaid:
		return nil, a.handleMessage(ctx, bot, of)
	case kindEdited, kindRetracted:
		return nil, a.handleChange(ctx, bot, of)
	case kindLeft:
		a.options.Logger.WarnContext(ctx, "slack workspace removed the app", slog.String("team", of.place.team))
		return nil, a.options.Workspaces.Leave(ctx, of.place.team, of.enterprise)
	case kindLimited:
		a.options.Logger.WarnContext(ctx, "slack holds events back", slog.String("team", of.place.team))
		return nil, nil
	case kindIgnored:
		a.control.Skip(ctx, of.reason)
		return nil, nil
	}
	given, err := a.admitSignal(ctx, &of)
	if err != nil {
		return nil, err
	}
	if given.Refusal != "" {
		return a.refuseSignal(ctx, of, given.Refusal)
	}
	return a.doAdmitted(ctx, bot, of, given)
}

// doAdmitted does what somebody asks for who may.
func (a *Adapter) doAdmitted(ctx context.Context, bot *interact.Handler, of signal, given admission) (answer []byte, err error) {
	switch of.kind {
	case kindAsked:
		return nil, a.submitCommand(ctx, bot, of)
	case kindManaged:
		return a.applySettings(ctx, of, given.who)
	case kindPressed:
		if of.verb == verbAsk {
			return nil, a.handleHomePress(ctx, bot, of)
		}
		return a.handlePress(ctx, bot, of)
	case kindSubmitted:
		if of.verb == verbAsk {
			return a.submitAsked(ctx, bot, of)
		}
		return a.handlePress(ctx, bot, of)
	case kindOpened:
		return nil, a.greetVisitor(ctx, bot, of, given.Setting.Collections)
	case kindHalted:
		return nil, a.stopWork(ctx, bot, of)
	}
	return nil, nil
}

// handleMessage hands over what is said to the bot.
func (a *Adapter) handleMessage(ctx context.Context, bot *interact.Handler, of signal) error {
	incoming, err := a.incomingFrom(ctx, of)
	if err != nil {
		return err
	}
	return a.control.Hear(ctx, bot, incoming)
}

// handleChange hands over that a message was edited or deleted, where the bot may have been
// asked by it.
func (a *Adapter) handleChange(ctx context.Context, bot *interact.Handler, of signal) error {
	_, known, taken, err := a.control.FindAsked(ctx, bot, of.message.ID, of.message.Thread)
	if err != nil {
		return err
	}
	asked := interact.NotAsked
	switch {
	case known:
		asked = interact.WasAsked
	case of.direct || of.called || taken:
		asked = interact.MaybeAsked
	}
	if of.kind == kindRetracted {
		return a.control.Retract(ctx, bot, of.message.Thread, of.message.ID, asked)
	}
	incoming, err := a.incomingFrom(ctx, of)
	if err != nil {
		return err
	}
	return a.control.Edit(ctx, bot, incoming, asked)
}

// submitCommand hands over a slash command or a shortcut. A shortcut is answered in the message's
// thread, which the app has to be in.
func (a *Adapter) submitCommand(ctx context.Context, bot *interact.Handler, of signal) error {
	if of.place.private != "" {
		return a.control.Submit(ctx, bot, of.message, &surface{adapter: a, of: of})
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
	return a.control.Submit(ctx, bot, of.message, &surface{adapter: a, of: of})
}

// stopWork stops what works in the agent pane. Slack leaves it to the app to say that the session
// does not work any more.
func (a *Adapter) stopWork(ctx context.Context, bot *interact.Handler, of signal) error {
	of.verb, of.message.Thread = interact.Stop, of.place.threadID()
	if _, err := a.handlePress(ctx, bot, of); err != nil {
		return err
	}
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
	_, err = s.postPart(ctx, part{key: interact.NewPostKey("line", of.place.threadID(), string(of.message.ID)), of: 1}, note{text: escapeText(line)})
	return err
}
