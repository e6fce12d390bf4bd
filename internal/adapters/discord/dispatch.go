package discord

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"cairn/internal/adapters/discord/gateway"
	"cairn/internal/chat"
	"cairn/internal/chat/interact"
)

// errNotRunning is the error for what comes before Run or after it.
var errNotRunning = errors.New("the Discord adapter does not run")

// take deals with an event of the gateway. It returns once that is durable or done: only
// then does the gateway count the event as arrived, and after an error it hands it over
// again, while others of its channel wait. What is malformed is dropped: it would be so
// again.
func (a *Adapter) take(ctx context.Context, event gateway.Dispatch) error {
	me, err := a.identity(ctx)
	if err != nil {
		return err
	}
	found, err := translate(event.Type, event.Data, me)
	if err == nil && found.kind == said && !found.called && found.roleful {
		if err := a.askRole(ctx, found.at.guild); err != nil {
			return err
		}
		found, err = translate(event.Type, event.Data, me)
	}
	if err != nil {
		a.options.Logger.WarnContext(ctx, "discord event is malformed", slog.Any("error", err))
		return nil
	}
	return a.dispatch(ctx, found, a.callback)
}

// dispatch does what a signal asks for, once.
func (a *Adapter) dispatch(ctx context.Context, of signal, respond responder) error {
	bot := a.running.Handler()
	if bot == nil {
		return errNotRunning
	}
	key := of.again()
	if _, again := a.done.Get(key); again && key != "" {
		return nil
	}
	err := a.do(ctx, bot, of, respond)
	if errors.Is(err, chat.ErrGone) || errors.Is(err, chat.ErrRefused) { // it would be so again
		a.options.Logger.ErrorContext(ctx, "discord event given up", slog.Any("error", err))
		err = nil
	}
	if err != nil {
		return err
	}
	if key != "" {
		a.done.Put(key, true)
	}
	return nil
}

func (a *Adapter) do(ctx context.Context, bot *interact.Handler, of signal, respond responder) error {
	switch of.kind {
	case said:
		return a.hearMessage(ctx, bot, of)
	case edited:
		return a.editMessage(ctx, bot, of)
	case retracted:
		return a.retractMessages(ctx, bot, of)
	case learned:
		return a.learn(ctx, of)
	case commanded:
		return a.command(ctx, bot, of, respond)
	case pressed:
		return a.handlePress(ctx, bot, of, respond)
	case completed:
		return a.offer(ctx, of, respond)
	case managed:
		return a.administer(ctx, of, respond)
	case pinged, ignored:
		a.control.Skip(ctx, of.reason)
	}
	return nil
}

// hearMessage hands over what is said to the bot.
func (a *Adapter) hearMessage(ctx context.Context, bot *interact.Handler, of signal) error {
	if of.empty && !of.called && of.at.guild != directly && of.at.message != of.at.channel {
		a.control.Skip(ctx, "Discord does not tell what it says: the app lacks the MESSAGE CONTENT intent")
		return nil
	}
	given, err := a.admit(ctx, &of)
	if err != nil {
		return err
	}
	of.message.Thread = of.place(given.Setting.Style).thread()
	return a.control.Hear(ctx, bot, a.incomingFrom(of, given))
}

// editMessage hands over the new text of a message that the bot was asked by, or is now.
func (a *Adapter) editMessage(ctx context.Context, bot *interact.Handler, of signal) error {
	given, err := a.admit(ctx, &of)
	if err != nil {
		return err
	}
	thread, asked, err := a.findAsked(ctx, bot, of.at, of.place(given.Setting.Style).thread())
	if err != nil {
		return err
	}
	of.message.Thread = thread
	if asked != interact.WasAsked {
		of.message.At = bornAt(of.at.message)
	}
	return a.control.Edit(ctx, bot, a.incomingFrom(of, given), asked)
}

// findAsked finds the conversation that a message belongs to: the likely one, the one that
// this process knows of, or one of those that its channel and id make.
func (a *Adapter) findAsked(ctx context.Context, bot *interact.Handler, at where, likely chat.ThreadID) (chat.ThreadID, interact.Asked, error) {
	kept, waits := a.threads.Get(at.channel + " " + at.message)
	candidates := []chat.ThreadID{likely, kept}
	for _, p := range []place{
		{guild: at.guild, channel: at.channel}, {guild: at.guild, channel: at.message}, {guild: at.guild, channel: at.channel, root: at.message},
	} {
		candidates = append(candidates, p.thread())
	}
	thread, known, _, err := a.control.FindAsked(ctx, bot, source{channel: at.channel, message: at.message}.id(), candidates...)
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
func (a *Adapter) retractMessages(ctx context.Context, bot *interact.Handler, of signal) error {
	for _, id := range of.gone {
		at := of.at
		at.message = id
		thread, asked, err := a.findAsked(ctx, bot, at, "")
		if err != nil {
			return err
		}
		if err := a.control.Retract(ctx, bot, thread, source{channel: at.channel, message: id}.id(), asked); err != nil {
			return err
		}
	}
	return nil
}

// ticketTime is how long Discord lets an interaction be answered.
const ticketTime = 15 * time.Minute

func (a *Adapter) keepTicket(ctx context.Context, of signal, id string, ticket Ticket) error {
	made := bornAt(of.interaction.id)
	if made.IsZero() {
		made = a.now()
	}
	ticket.Token, ticket.Until = of.interaction.token, made.Add(ticketTime)
	if err := a.options.Tickets.Keep(ctx, id, ticket); err != nil {
		return fmt.Errorf("keep the right to answer a command of Discord's: %w", err)
	}
	return nil
}

// command answers a command at once by "Cairn is thinking", and hands it over.
func (a *Adapter) command(ctx context.Context, bot *interact.Handler, of signal, respond responder) error {
	given, err := a.admit(ctx, &of)
	if err != nil {
		return err
	}
	switch {
	case given.Refusal != "":
		return respond(ctx, of, says(given.Refusal))
	case of.empty:
		return respond(ctx, of, says("This message has no text that I could read."))
	}
	of.message.Thread = of.place(given.Setting.Style).thread()
	if of.interaction.target != "" {
		err = respond(ctx, of, says("On it: the answer comes to that message."))
	} else {
		first := answer{Type: deferred}
		if of.interaction.private {
			first.Data = &answerData{note: note{Flags: ephemeral}}
		}
		if err = respond(ctx, of, first); err == nil {
			err = a.keepTicket(ctx, of, of.interaction.id, Ticket{Original: true, Private: of.interaction.private})
		}
	}
	if err != nil {
		return err
	}
	err = a.control.Submit(ctx, bot, of.message, &surface{adapter: a, of: of, state: stateQuiet})
	if err != nil && a.options.Gateway == nil { // over HTTP it does not come again
		return errors.Join(err, a.tell(ctx, of, "This could not be taken down. Please try again in a minute."))
	}
	return err
}

// administer does what /cairn-admin asks for.
func (a *Adapter) administer(ctx context.Context, of signal, respond responder) error {
	served, err := a.isServed(ctx, of.at.guild)
	if err == nil && !served {
		return respond(ctx, of, says(refusedServer))
	}
	var told string
	if err == nil {
		told, err = a.manage(ctx, of)
	}
	if err != nil {
		return errors.Join(err, respond(ctx, of, says("The settings can't be read or kept just now. Please try again in a minute.")))
	}
	return respond(ctx, of, answer{Type: message, Data: &answerData{note: note{Content: told, Mentions: nobody(), Flags: ephemeral}}})
}
