package discord

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"

	"cairn/internal/chat"
	"cairn/internal/chat/rich"
	"cairn/internal/chat/running"
)

// press does what a button, a menu or a form says.
func (a *Adapter) press(ctx context.Context, bot *running.Handler, of signal, respond responder) error {
	given, err := a.admit(ctx, &of)
	if err != nil {
		return err
	}
	if given.refusal != "" {
		return respond(ctx, of, says(given.refusal))
	}
	of.message.Thread = of.place(given.how.Style).thread()
	if err := of.checkRun(ctx, bot); errors.Is(err, chat.ErrUnknownRun) {
		return respond(ctx, of, says(chat.ErrUnknownRun.Error()))
	} else if err != nil {
		return err
	}
	switch of.interaction.does.does {
	case verbAnswer, verbReply, verbRetry, verbStop, verbExtend:
		return a.act(ctx, bot, of, respond)
	case verbWords:
		return respond(ctx, of, wordsForm(of.interaction.does.about))
	case verbRate:
		return a.rate(ctx, bot, of, respond)
	case verbReason:
		return a.reason(ctx, bot, of, respond)
	case verbTake:
		return a.takeHelp(ctx, bot, of, respond)
	case verbSettle:
		return a.settleHelp(ctx, of, respond)
	case verbWhy, verbSources, verbShare, verbHuman, verbPrivate, verbNone:
		return a.reveal(ctx, bot, of, respond)
	}
	return nil
}

// act does what the bot is to know of: it is durable when this returns.
func (a *Adapter) act(ctx context.Context, bot *running.Handler, of signal, respond responder) error {
	if err := respond(ctx, of, answer{Type: deferredPress}); err != nil {
		return err
	}
	ticket, id := Ticket{On: of.interaction.message}, of.interaction.id
	if m := of.interaction.mark; m != nil && m.private {
		ticket.Private, id = true, m.root
	}
	if err := a.keepTicket(ctx, of, id, ticket); err != nil {
		return err
	}
	var err error
	switch run := chat.RunID(of.interaction.does.about); of.interaction.does.does {
	case verbRetry:
		err = bot.Retry(ctx, run, of.by, nil)
	case verbExtend:
		if err = chat.ErrUnknownRun; bot.More != nil {
			err = bot.More.Extend(ctx, run, of.by)
		}
	case verbStop:
		var stopped bool
		if stopped, err = bot.Stop(ctx, of.message.Thread, of.by); err == nil && !stopped {
			return a.tell(ctx, of, "Nothing works or waits here any more.")
		}
	case verbAnswer:
		if of.message.Answers, err = pressOf(ctx, bot, of); err == nil {
			err = bot.Handle(ctx, of.message, nil)
		}
	default:
		err = bot.Handle(ctx, of.message, nil)
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

// pressOf finds out which choice a press means: buttons carry its number. A question that
// is remembered no more is answered by the number, which the bot says is none.
func pressOf(ctx context.Context, bot running.Bot, of signal) (*chat.Press, error) {
	does := of.interaction.does
	turns, err := bot.Transcript(ctx, of.message.Thread)
	if err != nil {
		return nil, fmt.Errorf("look into a thread of Discord's: %w", err)
	}
	at, err := strconv.Atoi(does.value)
	for _, turn := range turns {
		if q := turn.Question; q != nil && q.ID == does.about && err == nil && at >= 0 && at < len(q.Choices) {
			return &chat.Press{Question: does.about, Choice: q.Choices[at].ID}, nil
		}
	}
	return &chat.Press{Question: does.about, Choice: does.value}, nil
}

// Discord's limits on forms.
const (
	maxTitleOfForm = 45
	maxInput       = 4000
)

// formOf is a form with one field of text.
func formOf(id, title, label, hint string) answer {
	yes := true
	field := component{
		Type: inputType, CustomID: "text", Label: rich.Cut(label, maxTitleOfForm), Style: manyLines, Placeholder: rich.Cut(hint, 100), Required: &yes,
		MaxLength: maxInput,
	}
	return answer{Type: form, Data: &answerData{
		CustomID: id, Title: rich.Cut(title, maxTitleOfForm), note: note{Components: []component{{Type: rowType, Components: []component{field}}}},
	}}
}

func wordsForm(question string) answer {
	id := string(verbReply) + ":" + question
	return formOf(id, "Your answer", "In your own words", "What do you mean?")
}

// rate keeps a thumb, and asks for the reason where it points down.
func (a *Adapter) rate(ctx context.Context, bot running.Bot, of signal, respond responder) error {
	run, verdict := chat.RunID(of.interaction.does.about), chat.Up
	first := says("Thank you: it is kept that this helped.")
	if of.interaction.does.value == thumbDown {
		verdict = chat.Down
		first = formOf(string(verbReason)+":"+string(run), "Not helpful", "What was wrong with this answer?", "The page it quotes is out of date")
		first.Data.Components[0].Components[0].MaxLength = chat.MaxReason
	}
	err := bot.Rate(ctx, run, chat.Rating{By: of.by, Verdict: verdict, At: a.now()})
	if errors.Is(err, chat.ErrUnknownRun) {
		first, err = says("This answer is not remembered any more."), nil
	}
	if err != nil {
		return err
	}
	return respond(ctx, of, first)
}

// reason keeps why an answer was not helpful.
func (a *Adapter) reason(ctx context.Context, bot running.Bot, of signal, respond responder) error {
	first := says("Thank you: it is kept why this did not help.")
	err := bot.Rate(ctx, chat.RunID(of.interaction.does.about), chat.Rating{
		By: of.by, Verdict: chat.Down, Reason: rich.Head(of.interaction.words, chat.MaxReason), At: a.now(),
	})
	if errors.Is(err, chat.ErrUnknownRun) {
		first, err = says("This answer is not remembered any more."), nil
	}
	if err != nil {
		return err
	}
	return respond(ctx, of, first)
}

// reveal does what only shows something. What goes wrong is told to who pressed.
func (a *Adapter) reveal(ctx context.Context, bot *running.Handler, of signal, respond responder) error {
	if err := respond(ctx, of, thinking()); err != nil {
		return err
	}
	var shown note
	var files []upload
	var err error
	switch of.interaction.does.does {
	case verbWhy:
		shown, files, err = a.why(ctx, bot, of)
	case verbSources:
		shown, err = a.sources(ctx, bot, of)
	case verbShare:
		shown, err = a.share(ctx, bot, of)
	case verbHuman:
		shown, err = a.callHuman(ctx, bot, of)
	case verbPrivate:
		shown, err = a.answerPrivately(ctx, bot, of)
	default:
		return nil
	}
	if err != nil {
		line := "This can't be shown just now. Please try again in a minute."
		for _, fit := range []error{chat.ErrForbidden, chat.ErrUnknownRun} {
			if errors.Is(err, fit) {
				line = fit.Error()
			}
		}
		a.options.Logger.WarnContext(ctx, "discord press failed", slog.String("verb", string(of.interaction.does.does)), slog.Any("error", err))
		shown, files = note{Content: escape(line, true), Mentions: nobody()}, nil
	}
	return a.fill(ctx, of, shown, files)
}

// maxAllRows is how many sources are shown of all.
const maxAllRows = 60

// sources shows all sources of an answer.
func (a *Adapter) sources(ctx context.Context, bot running.Bot, of signal) (note, error) {
	reply, err := running.Reply(ctx, bot, of.message.Thread, chat.RunID(of.interaction.does.about))
	if err != nil {
		return note{}, err
	}
	shown, _ := sourcesEmbed(reply.Sources, a.now(), maxAllRows)
	return note{Embeds: shown, Mentions: nobody()}, nil
}

// share posts the answer that one person saw for all in the channel, once.
func (a *Adapter) share(ctx context.Context, bot running.Bot, of signal) (note, error) {
	reply, err := running.Reply(ctx, bot, of.message.Thread, chat.RunID(of.interaction.does.about))
	if err != nil {
		return note{}, err
	}
	of.message.ID = chat.MessageID(reply.Run)
	in := place{guild: of.at.guild, channel: of.at.channel, root: of.interaction.id}
	if m := of.interaction.mark; m != nil && m.root != "" {
		in.root = m.root
	}
	if isThread(of.at.kind) || in.isDirect() {
		in.root = ""
	}
	key := keyOf("share", of)
	if _, there, err := a.Find(ctx, in.thread(), key); err != nil || there {
		return note{Content: "It is in the channel already.", Mentions: nobody()}, err
	}
	_, err = a.Post(ctx, in.thread(), key, chat.Post{Reply: &reply})
	return note{Content: "It is in the channel now.", Mentions: nobody()}, err
}
