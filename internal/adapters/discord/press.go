package discord

import (
	"context"
	"fmt"
	"strconv"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/interact"
	"github.com/cairn-bot/cairn/internal/chat/render"
)

// handlePress does what a button, a menu or a form says. Where something is awaited that can't be
// shown, who pressed is told that.
func (d dispatcher) handlePress(ctx context.Context, bot *interact.Handler, of signal, respond responder) error {
	given, err := d.admitSignal(ctx, &of)
	if err != nil {
		return err
	}
	if given.Refusal != "" {
		return respond(ctx, of, newPrivateLine(given.Refusal))
	}
	of.message.Thread = of.conversationPlace(given.Setting.Style).threadID()
	does := of.interaction.does
	if does.does == verbWords {
		return respond(ctx, of, wordsForm(does.about))
	}
	shown := &surface{adapter: d.adapter, of: of, respond: respond}
	press := interact.Press{
		Verb: does.does, About: does.about, By: of.by, Message: of.message, IsHere: of.isHere, To: shown, In: shown,
	}
	switch does.does {
	case interact.Rate:
		press.Value = string(thumbs[does.value])
	case interact.Reason:
		press.Value = of.interaction.words
	case interact.DraftPage:
		press.Value = does.value
	case interact.Choose:
		if press.Message.Answers, err = findChoice(ctx, bot, of); err != nil {
			return err
		}
	}
	if err = d.adapter.control.Press(ctx, bot, press); err == nil || shown.state != stateAwaited {
		return err
	}
	d.adapter.options.Logger.WarnContext(ctx, "show what was asked for by a button", "platform", "discord", "verb", string(does.does), "error", err)
	return shown.Tell(ctx, "This can't be shown just now. Please try again in a minute.")
}

// thumbs are the values of the buttons of interact.Rate.
var thumbs = map[string]chat.Verdict{thumbUp: chat.Up, thumbDown: chat.Down}

// findChoice finds out which choice a press means: buttons carry its number. A question that
// is remembered no more is answered by the number, which the bot says is none.
func findChoice(ctx context.Context, bot interact.Bot, of signal) (*chat.Press, error) {
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
		Type: inputType, CustomID: "text", Label: render.Cut(label, maxTitleOfForm), Style: manyLines, Placeholder: render.Cut(hint, 100), Required: &yes,
		MaxLength: maxInput,
	}
	return answer{Type: answerForm, Data: &answerData{
		CustomID: id, Title: render.Cut(title, maxTitleOfForm), note: note{Components: []component{{Type: rowType, Components: []component{field}}}},
	}}
}

func wordsForm(question string) answer {
	id := string(interact.Reply) + ":" + question
	return formOf(id, "Your answer", "In your own words", "What do you mean?")
}
