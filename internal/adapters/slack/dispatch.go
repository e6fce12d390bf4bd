package slack

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"github.com/slack-go/slack"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/expiring"
	"github.com/cairn-bot/cairn/internal/chat/interact"
)

// errNotRunning is the error for what comes before Run or after it. Slack tries again.
var errNotRunning = errors.New("the Slack adapter does not run")

// dispatcher does what signals ask for: it finds out who may ask, and hands on what is for the bot.
type dispatcher struct {
	adapter *Adapter
	done    *expiring.Map[bool] // signals that were dealt with
}

// dispatchSignal does what a signal asks for, and gives what Slack is answered with, which is
// nothing for most. It returns once that is durable or done: only then is Slack told that
// the delivery has arrived.
func (d dispatcher) dispatchSignal(ctx context.Context, of signal) (answer []byte, err error) {
	bot := d.adapter.running.Handler()
	if bot == nil {
		return nil, errNotRunning
	}
	if d.isDone(of) {
		return nil, nil
	}
	answer, err = d.performSignal(ctx, bot, of)
	if errors.Is(err, chat.ErrGone) { // what asked is nowhere that an answer could be
		d.adapter.control.Skip(ctx, err.Error())
		err = nil
	}
	if err != nil {
		return nil, err
	}
	d.markDone(of)
	return answer, nil
}

// isDone tells that a signal was dealt with. It spares work; what must not be done twice is known
// by its message id.
func (d dispatcher) isDone(of signal) bool {
	return slices.ContainsFunc(of.dedupeKeys(), func(key string) bool {
		_, done := d.done.Get(key)
		return done
	})
}

func (d dispatcher) markDone(of signal) {
	for _, key := range of.doneKeys() {
		d.done.Put(key, true)
	}
}

// performSignal does what a signal asks for, where its person may ask. Of what is said the bot is to know
// first whether it is for it.
func (d dispatcher) performSignal(ctx context.Context, bot *interact.Handler, of signal) (answer []byte, err error) {
	d.noteChannelChange(of)
	switch of.kind {
	case kindReacted:
		return nil, d.handleReaction(ctx, bot, of)
	case kindSaid:
		return nil, d.handleMessage(ctx, bot, of)
	case kindPosted:
		return nil, d.handleWorkflow(ctx, bot, of)
	case kindEdited, kindRetracted:
		return nil, d.handleChange(ctx, bot, of)
	case kindLeft:
		d.adapter.options.Logger.WarnContext(ctx, "slack workspace removed the app", slog.String("team", of.place.team))
		return nil, d.adapter.options.Workspaces.Leave(ctx, of.place.team, of.enterprise)
	case kindLimited:
		d.adapter.options.Logger.WarnContext(ctx, "slack holds events back", slog.String("team", of.place.team))
		return nil, nil
	case kindIgnored:
		d.adapter.control.Skip(ctx, of.reason)
		return nil, nil
	}
	given, err := d.admitSignal(ctx, &of)
	if err != nil {
		return nil, err
	}
	if given.Refusal != "" {
		return d.refuseSignal(ctx, of, given.Refusal)
	}
	return d.doAdmitted(ctx, bot, of, given)
}

// noteChannelChange tells who reads the channel that something happened in a thread of it. Of a
// reaction Slack does not tell the thread: it is named by the message.
func (d dispatcher) noteChannelChange(of signal) {
	switch of.kind {
	case kindSaid, kindEdited, kindRetracted, kindReacted, kindPosted:
		if d.adapter.options.ChannelChanged != nil && !of.place.isDirect() {
			d.adapter.options.ChannelChanged(chat.NewChannelID(Name, of.place.team, of.place.channel), of.place.threadID())
		}
	}
}

// doAdmitted does what somebody asks for who may.
func (d dispatcher) doAdmitted(ctx context.Context, bot *interact.Handler, of signal, given admission) (answer []byte, err error) {
	switch of.kind {
	case kindAsked:
		return nil, d.submitCommand(ctx, bot, of)
	case kindManaged:
		return d.applySettings(ctx, of, given.who)
	case kindPressed:
		if of.verb == verbAsk {
			return nil, d.handleHomePress(ctx, bot, of)
		}
		return d.handlePress(ctx, bot, of)
	case kindSubmitted:
		if of.verb == verbAsk {
			return d.submitAsked(ctx, bot, of)
		}
		return d.handlePress(ctx, bot, of)
	case kindOpened:
		return nil, d.greetVisitor(ctx, bot, of, given.Setting.Collections)
	case kindHalted:
		return nil, d.stopWork(ctx, bot, of)
	case kindViewed:
		return nil, d.suggestViewed(ctx, of, given.Setting.Collections)
	}
	return nil, nil
}

// handleMessage hands over what is said to the bot.
func (d dispatcher) handleMessage(ctx context.Context, bot *interact.Handler, of signal) error {
	incoming, err := d.incomingFrom(ctx, of)
	if err != nil {
		return err
	}
	return d.adapter.control.Hear(ctx, bot, incoming)
}

// handleChange hands over that a message was edited or deleted, where the bot may have been
// asked by it.
func (d dispatcher) handleChange(ctx context.Context, bot *interact.Handler, of signal) error {
	_, known, taken, err := d.adapter.control.FindAsked(ctx, bot, of.message.ID, of.message.Thread)
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
		return d.adapter.control.Retract(ctx, bot, of.message.Thread, of.message.ID, asked)
	}
	incoming, err := d.incomingFrom(ctx, of)
	if err != nil {
		return err
	}
	return d.adapter.control.Edit(ctx, bot, incoming, asked)
}

// submitCommand hands over a slash command or a shortcut. A shortcut is answered in the message's
// thread, which the app has to be in.
func (d dispatcher) submitCommand(ctx context.Context, bot *interact.Handler, of signal) error {
	if of.place.private != "" {
		return d.adapter.control.Submit(ctx, bot, of.message, &surface{adapter: d.adapter, of: of})
	}
	s, err := d.adapter.senderFor(ctx, of.place.threadID())
	if err != nil {
		return err
	}
	_, err = s.postEphemeral(ctx, of.by, []slack.MsgOption{slack.MsgOptionText("On it: the answer comes in this message's thread.", false)})
	if errors.Is(err, chat.ErrGone) {
		return d.adapter.tellDirectly(ctx, of, "I am not in that channel, so I can't answer there. Invite me with /invite and try again.")
	}
	if err != nil {
		d.adapter.options.Logger.WarnContext(ctx, "slack private line was not shown", slog.Any("error", err))
	}
	return d.adapter.control.Submit(ctx, bot, of.message, &surface{adapter: d.adapter, of: of})
}

// stopWork stops what works in the agent pane. Slack leaves it to the app to say that the session
// does not work any more.
func (d dispatcher) stopWork(ctx context.Context, bot *interact.Handler, of signal) error {
	of.verb, of.message.Thread = interact.Stop, of.place.threadID()
	if _, err := d.handlePress(ctx, bot, of); err != nil {
		return err
	}
	s, err := d.adapter.senderFor(ctx, of.place.threadID())
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
