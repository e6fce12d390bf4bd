package discord

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"cairn/internal/adapters/discord/gateway"
	"cairn/internal/chat"
	"cairn/internal/chat/listening"
	"cairn/internal/chat/running"
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
	if _, again := a.done.get(key); again && key != "" {
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
		a.done.put(key, true)
	}
	return nil
}

func (a *Adapter) do(ctx context.Context, bot *running.Handler, of signal, respond responder) error {
	switch of.kind {
	case said:
		return a.listen(ctx, bot, of)
	case edited:
		return a.edited(ctx, bot, of)
	case retracted:
		return a.retracted(ctx, bot, of)
	case learned:
		return a.learn(ctx, of)
	case commanded:
		return a.command(ctx, bot, of, respond)
	case pressed:
		return a.press(ctx, bot, of, respond)
	case completed:
		return a.offer(ctx, of, respond)
	case managed:
		return a.administer(ctx, of, respond)
	case pinged, ignored:
		a.skip(ctx, of.reason)
	}
	return nil
}

func (a *Adapter) skip(ctx context.Context, reason string) {
	a.options.Logger.DebugContext(ctx, "discord event ignored", slog.String("reason", reason))
}

// listen hands over what is said to the bot.
func (a *Adapter) listen(ctx context.Context, bot *running.Handler, of signal) error {
	if of.empty && !of.called && of.at.guild != directly && of.at.message != of.at.channel {
		a.skip(ctx, "Discord does not tell what it says: the app lacks the MESSAGE CONTENT intent")
		return nil
	}
	given, err := a.admit(ctx, &of)
	if err != nil {
		return err
	}
	of.message.Thread = of.place(given.how.Style).thread()
	var turns []chat.Turn
	if isThread(of.at.kind) && !of.called {
		if turns, err = bot.Transcript(ctx, of.message.Thread); err != nil {
			return fmt.Errorf("look into a thread of Discord's: %w", err)
		}
	}
	if ruled := hears(of, given.how, listening.PartIn(turns)); !ruled.Hear {
		a.skip(ctx, ruled.Why)
		return nil
	}
	if given.refusal != "" {
		return a.refuseMessage(ctx, of, given.refusal)
	}
	if of.at.forum() {
		of.message.Text = titled(of.at.name, of.message.Text)
	}
	a.threads.put(of.at.channel+" "+of.at.message, of.message.Thread)
	a.parents.put(of.at.message, of.at.channel)
	return a.hand(ctx, bot, of)
}

// titled puts a forum post's title before what it says, as the question often stands there.
func titled(title, text string) string {
	if text == "" {
		return title
	}
	return title + "\n\n" + text
}

// hand makes a message durable. That a "stop" is not for its author to say is told to
// nobody: Discord shows nothing in private to who writes a message.
func (a *Adapter) hand(ctx context.Context, bot running.Bot, of signal) error {
	err := bot.Handle(ctx, of.message, nil)
	if errors.Is(err, chat.ErrForbidden) {
		a.skip(ctx, chat.ErrForbidden.Error())
		return nil
	}
	return err
}

// edited hands over the new text of a message that the bot was asked by, or is now.
func (a *Adapter) edited(ctx context.Context, bot *running.Handler, of signal) error {
	if bot.Changes == nil {
		a.skip(ctx, "the bot does not hear of changed messages")
		return nil
	}
	given, err := a.admit(ctx, &of)
	if err != nil {
		return err
	}
	if given.refusal != "" {
		a.skip(ctx, "its author is refused: "+given.refusal)
		return nil
	}
	thread, known, err := a.askedIn(ctx, bot, of.at, of.place(given.how.Style).thread())
	if err != nil {
		return err
	}
	of.message.Thread = thread
	switch {
	case known && of.at.forum():
		of.message.Text = titled(of.at.name, of.message.Text)
		fallthrough
	case known:
		return bot.Changes.Edited(ctx, of.message)
	case of.called:
		of.kind = said // it was not for the bot before
		of.message.At = bornAt(of.at.message)
		return a.listen(ctx, bot, of)
	}
	a.skip(ctx, "a change of what the bot was not asked")
	return nil
}

// askedIn finds the conversation that a message belongs to: the likely one, the one that
// this process knows of, or one of those that its channel and id make. known is false where
// the bot was not asked by it.
func (a *Adapter) askedIn(ctx context.Context, bot running.Bot, at where, likely chat.ThreadID) (thread chat.ThreadID, known bool, err error) {
	candidates := []chat.ThreadID{likely}
	if kept, ok := a.threads.get(at.channel + " " + at.message); ok {
		candidates = append(candidates, kept)
	}
	for _, p := range []place{
		{guild: at.guild, channel: at.channel}, {guild: at.guild, channel: at.message}, {guild: at.guild, channel: at.channel, root: at.message},
	} {
		candidates = append(candidates, p.thread())
	}
	id := source{channel: at.channel, message: at.message}.id()
	for i, candidate := range candidates {
		if candidate == "" || slices.Contains(candidates[:i], candidate) {
			continue
		}
		turns, err := bot.Transcript(ctx, candidate)
		if err != nil {
			return "", false, fmt.Errorf("look into a thread of Discord's: %w", err)
		}
		if slices.ContainsFunc(turns, func(turn chat.Turn) bool { return turn.Message == id }) {
			return candidate, true, nil
		}
	}
	// One that was handed over and is not worked at yet is in no transcript.
	kept, waits := a.threads.get(at.channel + " " + at.message)
	if waits {
		return kept, true, nil
	}
	return likely, false, nil
}

func (a *Adapter) retracted(ctx context.Context, bot *running.Handler, of signal) error {
	if bot.Changes == nil {
		a.skip(ctx, "the bot does not hear of changed messages")
		return nil
	}
	for _, id := range of.gone {
		at := of.at
		at.message = id
		thread, known, err := a.askedIn(ctx, bot, at, "")
		if err != nil {
			return err
		}
		if !known {
			continue
		}
		if err := bot.Changes.Deleted(ctx, thread, source{channel: at.channel, message: id}.id()); err != nil {
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
func (a *Adapter) command(ctx context.Context, bot *running.Handler, of signal, respond responder) error {
	given, err := a.admit(ctx, &of)
	if err != nil {
		return err
	}
	switch {
	case given.refusal != "":
		return respond(ctx, of, says(given.refusal))
	case of.empty:
		return respond(ctx, of, says("This message has no text that I could read."))
	}
	of.message.Thread = of.place(given.how.Style).thread()
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
	err = bot.Handle(ctx, of.message, nil)
	switch {
	case errors.Is(err, chat.ErrForbidden):
		return a.tell(ctx, of, chat.ErrForbidden.Error())
	case err != nil && a.options.Gateway == nil: // over HTTP it does not come again
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
