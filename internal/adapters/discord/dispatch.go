package discord

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/discord/gateway"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/expiring"
	"github.com/cairn-bot/cairn/internal/chat/interact"
)

// errNotRunning is the error for what comes before Run or after it.
var errNotRunning = errors.New("the Discord adapter does not run")

// dispatcher does what signals ask for: it finds out who may ask, and hands on what is for the bot.
type dispatcher struct {
	adapter *Adapter
	done    *expiring.Map[bool] // signals that were dealt with
}

// takeDispatch deals with an event of the gateway. It returns once that is durable or done: only
// then does the gateway count the event as arrived, and after an error it hands it over
// again, while others of its channel wait. What is malformed is dropped: it would be so
// again.
func (d dispatcher) takeDispatch(ctx context.Context, event gateway.Dispatch) error {
	me, err := d.adapter.ownIdentity(ctx)
	if err != nil {
		return err
	}
	found, err := translateEvent(event.Type, event.Data, me)
	if err == nil && found.kind == kindSaid && !found.called && found.roleful {
		if err := d.askRole(ctx, found.at.guild); err != nil {
			return err
		}
		found, err = translateEvent(event.Type, event.Data, me)
	}
	if err != nil {
		d.adapter.options.Logger.WarnContext(ctx, "discord event is malformed", slog.Any("error", err))
		return nil
	}
	return d.dispatchSignal(ctx, found, d.adapter.answerInteraction)
}

// dispatchSignal does what a signal asks for, once.
func (d dispatcher) dispatchSignal(ctx context.Context, of signal, respond responder) error {
	bot := d.adapter.running.Handler()
	if bot == nil {
		return errNotRunning
	}
	key := of.dedupeKey()
	if _, again := d.done.Get(key); again && key != "" {
		return nil
	}
	err := d.performSignal(ctx, bot, of, respond)
	if errors.Is(err, chat.ErrGone) || errors.Is(err, chat.ErrRefused) { // it would be so again
		d.adapter.options.Logger.ErrorContext(ctx, "discord event given up", slog.Any("error", err))
		err = nil
	}
	if err != nil {
		return err
	}
	if key != "" {
		d.done.Put(key, true)
	}
	return nil
}

func (d dispatcher) performSignal(ctx context.Context, bot *interact.Handler, of signal, respond responder) error {
	d.noteChannelChange(ctx, of)
	switch of.kind {
	case kindReacted:
		return d.handleReaction(ctx, bot, of)
	case kindSaid:
		return d.hearMessage(ctx, bot, of)
	case kindEdited:
		return d.editMessage(ctx, bot, of)
	case kindRetracted:
		return d.retractMessages(ctx, bot, of)
	case kindLearned:
		return d.recordPlaces(ctx, of)
	case kindCommanded:
		return d.submitCommand(ctx, bot, of, respond)
	case kindPressed:
		return d.handlePress(ctx, bot, of, respond)
	case kindCompleted:
		return d.offerCompletions(ctx, of, respond)
	case kindManaged:
		return d.handleAdminCommand(ctx, of, respond)
	case kindPinged, kindIgnored:
		d.adapter.control.Skip(ctx, of.reason)
	}
	return nil
}

// noteChannelChange tells who reads the channel that something happened in a conversation of it. One
// that is held in place is named by the message.
func (d dispatcher) noteChannelChange(ctx context.Context, of signal) {
	note := d.adapter.options.ChannelChanged
	if note == nil || of.at.guild == directGuild {
		return
	}
	var messages []string
	switch of.kind {
	case kindSaid, kindEdited, kindReacted:
		messages = []string{of.at.message}
	case kindRetracted:
		messages = of.gone
	default:
		return
	}
	at, err := d.adapter.locateChannel(ctx, of.at)
	if err != nil { // its next listing shows it
		d.adapter.options.Logger.DebugContext(ctx, "find the channel of an event", "platform", "discord", "error", err)
		return
	}
	channel := chat.NewChannelID(Name, at.guild, at.settingsChannel())
	for _, message := range messages {
		in := place{guild: at.guild, channel: at.channel, root: message}
		if isThread(at.kind) {
			in.root = ""
		}
		note(channel, in.threadID())
	}
}

// hearMessage hands over what is said to the bot.
func (d dispatcher) hearMessage(ctx context.Context, bot *interact.Handler, of signal) error {
	if of.empty && !of.called && of.at.guild != directGuild && of.at.message != of.at.channel {
		d.adapter.control.Skip(ctx, "Discord does not tell what it says: the app lacks the MESSAGE CONTENT intent")
		return nil
	}
	given, err := d.admitSignal(ctx, &of)
	if err != nil {
		return err
	}
	of.message.Thread = of.conversationPlace(given.Setting.Style).threadID()
	return d.adapter.control.Hear(ctx, bot, d.incomingFrom(of, given))
}

// editMessage hands over the new text of a message that the bot was asked by, or is now.
func (d dispatcher) editMessage(ctx context.Context, bot *interact.Handler, of signal) error {
	given, err := d.admitSignal(ctx, &of)
	if err != nil {
		return err
	}
	thread, asked, err := d.findAsked(ctx, bot, of.at, of.conversationPlace(given.Setting.Style).threadID())
	if err != nil {
		return err
	}
	of.message.Thread = thread
	if asked != interact.WasAsked {
		of.message.At = bornAt(of.at.message)
	}
	return d.adapter.control.Edit(ctx, bot, d.incomingFrom(of, given), asked)
}

// findAsked finds the conversation that a message belongs to: the likely one, the one that
// this process knows of, or one of those that its channel and id make.
func (d dispatcher) findAsked(ctx context.Context, bot *interact.Handler, at where, likely chat.ThreadID) (chat.ThreadID, interact.Asked, error) {
	kept, waits := d.adapter.threads.Get(at.channel + " " + at.message)
	candidates := []chat.ThreadID{likely, kept}
	for _, p := range []place{
		{guild: at.guild, channel: at.channel}, {guild: at.guild, channel: at.message}, {guild: at.guild, channel: at.channel, root: at.message},
	} {
		candidates = append(candidates, p.threadID())
	}
	thread, known, _, err := d.adapter.control.FindAsked(ctx, bot, source{channel: at.channel, message: at.message}.messageID(), candidates...)
	switch {
	case err != nil:
		return "", interact.NotAsked, err
	case known:
		return thread, interact.WasAsked, nil
	case waits: // one that was handed over and is not worked at yet is in no transcript
		return kept, interact.WasAsked, nil
	}
	return likely, interact.NotAsked, nil
}

// retractMessages tells the bot that messages are gone which it was asked by.
func (d dispatcher) retractMessages(ctx context.Context, bot *interact.Handler, of signal) error {
	for _, id := range of.gone {
		at := of.at
		at.message = id
		thread, asked, err := d.findAsked(ctx, bot, at, "")
		if err != nil {
			return err
		}
		if err := d.adapter.control.Retract(ctx, bot, thread, source{channel: at.channel, message: id}.messageID(), asked); err != nil {
			return err
		}
	}
	return nil
}

// ticketTime is how long Discord lets an interaction be answered.
const ticketTime = 15 * time.Minute

func (d dispatcher) keepTicket(ctx context.Context, of signal, id string, ticket Ticket) error {
	made := bornAt(of.interaction.id)
	if made.IsZero() {
		made = d.adapter.now()
	}
	ticket.Token, ticket.Until = of.interaction.token, made.Add(ticketTime)
	if err := d.adapter.options.Tickets.Keep(ctx, id, ticket); err != nil {
		return fmt.Errorf("keep the right to answer a command of Discord's: %w", err)
	}
	return nil
}

// submitCommand answers a command at once by "Cairn is thinking", and hands it over.
func (d dispatcher) submitCommand(ctx context.Context, bot *interact.Handler, of signal, respond responder) error {
	given, err := d.admitSignal(ctx, &of)
	if err != nil {
		return err
	}
	switch {
	case given.Refusal != "":
		return respond(ctx, of, newPrivateLine(given.Refusal))
	case of.empty:
		return respond(ctx, of, newPrivateLine("This message has no text that I could read."))
	}
	of.message.Thread = of.conversationPlace(given.Setting.Style).threadID()
	if of.interaction.target != "" {
		err = respond(ctx, of, newPrivateLine("On it: the answer comes to that message."))
	} else {
		first := answer{Type: answerDeferred}
		if of.interaction.private {
			first.Data = &answerData{note: note{Flags: ephemeral}}
		}
		if err = respond(ctx, of, first); err == nil {
			err = d.keepTicket(ctx, of, of.interaction.id, Ticket{Original: true, Private: of.interaction.private})
		}
	}
	if err != nil {
		return err
	}
	err = d.adapter.control.Submit(ctx, bot, of.message, &surface{adapter: d.adapter, of: of, state: stateQuiet})
	if err != nil && d.adapter.options.Gateway == nil { // over HTTP it does not come again
		return errors.Join(err, d.adapter.sendPrivateLine(ctx, of, "This could not be taken down. Please try again in a minute."))
	}
	return err
}

// handleAdminCommand does what /cairn-admin asks for.
func (d dispatcher) handleAdminCommand(ctx context.Context, of signal, respond responder) error {
	served, err := d.adapter.servers.isServed(ctx, of.at.guild)
	if err == nil && !served {
		return respond(ctx, of, newPrivateLine(refusedServer))
	}
	var told string
	if err == nil {
		told, err = d.applySettings(ctx, of)
	}
	if err != nil {
		return errors.Join(err, respond(ctx, of, newPrivateLine("The settings can't be read or kept just now. Please try again in a minute.")))
	}
	return respond(ctx, of, answer{Type: answerMessage, Data: &answerData{note: note{Content: told, Mentions: callNobody(), Flags: ephemeral}}})
}
