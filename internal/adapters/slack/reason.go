package slack

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"

	"github.com/slack-go/slack"

	"cairn/internal/chat"
	"cairn/internal/chat/rich"
	"cairn/internal/chat/running"
)

// The form that asks why an answer was not helpful.
const (
	reasonForm  = "reason"
	reasonBlock = "reason"
	reasonField = "words"
)

// formAbout is what a form carries: which run it is about, and in which thread.
func formAbout(run chat.RunID, thread chat.ThreadID) string {
	return string(run) + " " + string(thread)
}

// readForm reads what a form carries; false for one that is not of this package.
func readForm(callback, about string) (chat.RunID, chat.ThreadID, bool) {
	run, thread, found := strings.Cut(about, " ")
	return chat.RunID(run), chat.ThreadID(thread), found && callback == reasonForm
}

// saveRating keeps a thumb, and asks for the reason where it points down.
func (a *Adapter) saveRating(ctx context.Context, bot running.Bot, of signal) error {
	run, verdict := chat.RunID(of.about), chat.Verdict(of.value)
	if verdict != chat.Up && verdict != chat.Down {
		a.logSkipped(ctx, "a rating that is none")
		return nil
	}
	if err := bot.Rate(ctx, run, chat.Rating{By: of.by, Verdict: verdict, At: a.clock.now()}); err != nil || verdict == chat.Up {
		return err
	}
	input := slack.NewPlainTextInputBlockElement(plainText("The page it quotes is out of date"), reasonField)
	input.Multiline, input.MaxLength = true, chat.MaxReason
	field := slack.NewInputBlock(reasonBlock, plainText("What was wrong with this answer?"), nil, input)
	_, err := a.openView(ctx, of, slack.ModalViewRequest{
		Title: plainText("Not helpful"), Submit: plainText("Send"), Close: plainText("Skip"),
		CallbackID: reasonForm, PrivateMetadata: formAbout(run, of.place.threadID()), Blocks: slack.Blocks{BlockSet: []slack.Block{field}},
	})
	if err != nil { // the thumb is kept all the same
		a.options.Logger.WarnContext(ctx, "slack form was not shown", slog.Any("error", err))
	}
	return nil
}

// submitReason keeps the reason of a rating, or says in the form why it can't.
func (a *Adapter) submitReason(ctx context.Context, bot running.Bot, of signal) (answer []byte, err error) {
	if of.value == "" {
		return formError(reasonBlock, "Say in a few words what was wrong, or choose Skip.")
	}
	if err = of.checkRun(ctx, bot); err == nil {
		err = bot.Rate(ctx, chat.RunID(of.about), chat.Rating{
			By: of.by, Verdict: chat.Down, Reason: rich.Head(of.value, chat.MaxReason), At: a.clock.now(),
		})
	}
	if errors.Is(err, chat.ErrUnknownRun) {
		return formError(reasonBlock, "This answer is not remembered any more.")
	}
	return nil, err
}

// formError is the answer that keeps a form open and says why at one of its fields.
func formError(block, why string) ([]byte, error) {
	return json.Marshal(struct {
		Action string            `json:"response_action"`
		Errors map[string]string `json:"errors"`
	}{"errors", map[string]string{block: why}})
}
