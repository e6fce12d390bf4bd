package slack

import (
	"context"
	"log/slog"

	"github.com/slack-go/slack"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/interact"
	"github.com/cairn-bot/cairn/internal/chat/render"
)

// The form that the home tab's button opens.
const (
	askForm  = "ask"
	askBlock = "question"
	askField = "words"
)

// maxQuestion is how many characters the form takes.
const maxQuestion = 2000

// answersDirectly says where the answer to a question of the home tab comes.
const answersDirectly = "On it: the answer comes under Messages."

// askBlocks are the home tab's button and its example questions.
func askBlocks(examples []interact.Prompt) ([]slack.Block, error) {
	id, err := actionID(verbAsk, "form")
	if err != nil {
		return nil, err
	}
	button := slack.NewButtonBlockElement(id, "", plainText("Ask a question")).WithStyle(slack.StylePrimary)
	blocks := []slack.Block{
		slack.NewSectionBlock(plainText("Ask a question about your team's documents. Each answer shows the pages that it rests on."), nil, slack.NewAccessory(button)),
	}
	buttons := &row{}
	for i, example := range examples[:min(len(examples), maxPrompts)] {
		if render.Length(example.Message) <= maxValue {
			buttons.addButton(verbAsk, exampleIDs[i], example.Message, example.Message)
		}
	}
	if len(buttons.elements) > 0 {
		blocks = append(append(blocks, remarkBlock("For example:")), buttons.buildBlocks()...)
	}
	return blocks, buttons.err
}

// exampleIDs tell the buttons of the example questions apart.
var exampleIDs = [maxPrompts]string{"1", "2", "3", "4"}

// homePressMeaning is a press in the home tab, which is in no channel: its value is the
// question, "" for one that is still to be written.
func homePressMeaning(of interaction) signal {
	action := of.Actions[0]
	found := askSignal(of, kindPressed, "home/"+of.User.ID+"/"+action.ActionTS, action.Value)
	found.message.At = timeOf(action.ActionTS)
	return found
}

// askSignal is a question in no channel, "" for none so far. id is that of its message.
func askSignal(of interaction, how kind, id, question string) signal {
	if !slackID.MatchString(of.teamID()) || !userID.MatchString(of.User.ID) {
		return ignoredSignal("a question in no team, or by nobody")
	}
	return signal{
		kind: how, verb: verbAsk, place: place{team: of.teamID()}, by: chat.UserID(of.User.ID), value: question, trigger: of.TriggerID,
		message: chat.Message{ID: chat.MessageID(id), Author: chat.UserID(of.User.ID), Text: question},
	}
}

// handleHomePress asks what an example says, or opens the form for another question.
func (d dispatcher) handleHomePress(ctx context.Context, bot *interact.Handler, of signal) error {
	if of.value == "" {
		input := slack.NewPlainTextInputBlockElement(plainText("How do I …?"), askField)
		input.Multiline, input.MaxLength = true, maxQuestion
		_, err := d.adapter.openView(ctx, of, slack.ModalViewRequest{
			Title: plainText("Ask a question"), Submit: plainText("Ask"), Close: plainText("Cancel"), CallbackID: askForm,
			Blocks: slack.Blocks{BlockSet: []slack.Block{
				slack.NewInputBlock(askBlock, plainText("Your question"), nil, input),
				remarkBlock("The answer comes under Messages, to you alone."),
			}},
		})
		return err
	}
	if err := d.submitDirect(ctx, bot, of); err != nil {
		return err
	}
	if err := d.adapter.showModal(ctx, of, "Ask a question", []slack.Block{slack.NewSectionBlock(plainText(answersDirectly), nil, nil)}); err != nil {
		d.adapter.options.Logger.WarnContext(ctx, "show where a Slack answer comes", slog.Any("error", err))
	}
	return nil
}

// submitAsked asks what somebody wrote into the form.
func (d dispatcher) submitAsked(ctx context.Context, bot *interact.Handler, of signal) ([]byte, error) {
	if of.value == "" {
		return formError(askBlock, "Write a question first.")
	}
	of.message.At = d.adapter.clock.now()
	return nil, d.submitDirect(ctx, bot, of)
}

// submitDirect makes a question durable as a thread of its own in the direct conversation
// with its author.
func (d dispatcher) submitDirect(ctx context.Context, bot *interact.Handler, of signal) error {
	s, err := d.adapter.senderOf(ctx, of.place)
	if err != nil {
		return err
	}
	if of.place, err = s.beginDirect(ctx, of.by, string(of.message.ID), of.value); err != nil {
		return err
	}
	of.message.Thread = of.place.threadID()
	return d.adapter.control.Submit(ctx, bot, of.message, &surface{adapter: d.adapter, of: of})
}
