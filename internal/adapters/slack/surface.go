package slack

import (
	"context"
	"log/slog"
	"strings"

	"github.com/slack-go/slack"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/interact"
	"github.com/cairn-bot/cairn/internal/chat/render"
)

// surface is where a person is answered who wrote something, pressed a button or sent a form, and
// where the channel sees what comes of it.
type surface struct {
	adapter *Adapter
	of      signal
	answer  []byte // to the delivery; nil for none
}

var (
	_ interact.Surface = (*surface)(nil)
	_ interact.Board   = (*surface)(nil)
)

// handlePress does what a button or form says, and gives what Slack is answered with.
func (d dispatcher) handlePress(ctx context.Context, bot *interact.Handler, of signal) (answer []byte, err error) {
	shown := &surface{adapter: d.adapter, of: of}
	err = d.adapter.control.Press(ctx, bot, interact.Press{
		Verb: of.verb, About: of.about, Value: of.value, By: of.by, Message: of.message, IsHere: of.isHere, To: shown, In: shown,
	})
	return shown.answer, err
}

// Tell implements interact.Teller: at the field of a form, else in a message to the person alone.
func (s *surface) Tell(ctx context.Context, line string) (err error) {
	if s.of.kind == kindSubmitted {
		s.answer, err = formError(s.of.formField(), line)
		return err
	}
	return s.adapter.sendPrivateLine(ctx, s.of, line)
}

// formField is the field of a form that a refusal stands at.
func (s signal) formField() string {
	if s.verb == verbAsk {
		return askBlock
	}
	return reasonBlock
}

// Acknowledge implements interact.Surface: Slack wants no more than that the delivery is answered.
func (*surface) Acknowledge(context.Context, interact.Next) error { return nil }

// Confirm implements interact.Surface: Slack shows by itself what was pressed and posted.
func (*surface) Confirm(context.Context, string) error { return nil }

// AskReason implements interact.Surface. Where the form can't be shown the thumb is kept all the same.
func (s *surface) AskReason(ctx context.Context, run chat.RunID) error {
	input := slack.NewPlainTextInputBlockElement(plainText("The page it quotes is out of date"), reasonField)
	input.Multiline, input.MaxLength = true, chat.MaxReason
	field := slack.NewInputBlock(reasonBlock, plainText("What was wrong with this answer?"), nil, input)
	_, err := s.adapter.openView(ctx, s.of, slack.ModalViewRequest{
		Title: plainText("Not helpful"), Submit: plainText("Send"), Close: plainText("Skip"),
		CallbackID: reasonForm, PrivateMetadata: formAbout(run, s.of.place.threadID()), Blocks: slack.Blocks{BlockSet: []slack.Block{field}},
	})
	if err != nil {
		s.adapter.options.Logger.WarnContext(ctx, "slack form was not shown", slog.Any("error", err))
	}
	return nil
}

// ShowExplanation implements interact.Surface: in words at once, and then with a picture.
func (s *surface) ShowExplanation(ctx context.Context, shown interact.Explanation) error {
	blocks := traceBlocks(shown.Run, shown.Trace)
	view, err := s.adapter.openView(ctx, s.of, modalOf(render.TraceTitle, blocks))
	if err != nil {
		return err
	}
	drawn, err := shown.Draw()
	if err == nil && drawn != nil {
		err = s.adapter.addPicture(ctx, s.of, view, modalOf(render.TraceTitle, blocks), drawn)
	}
	if err != nil { // the words are there
		s.adapter.options.Logger.WarnContext(ctx, "slack picture of a run was not shown", slog.Any("error", err))
	}
	return nil
}

// ShowSources implements interact.Surface.
func (s *surface) ShowSources(ctx context.Context, groups []chat.SourceGroup) error {
	pieces, _ := sourcePieces(groups, s.adapter.clock.now(), maxModalRows, messageBudget)
	return s.adapter.showModal(ctx, s.of, "All sources", richText(pieces))
}

// ShareReply implements interact.Board. A repeated press shares the answer again: whoever pressed
// sees that it is there.
func (s *surface) ShareReply(ctx context.Context, key chat.PostKey, reply chat.Reply) (already bool, err error) {
	to, err := s.adapter.senderFor(ctx, s.of.place.threadID())
	if err != nil {
		return false, err
	}
	if len(reply.Documents) > 0 { // the bot keeps them no longer than until they are posted
		reply.Note = strings.TrimSpace(reply.Note + " Its documents are in the direct conversation of who asked.")
		reply.Documents = nil
	}
	shown, err := s.adapter.renderFor(chat.Post{Reply: &reply}, place{})
	if err != nil {
		return false, err
	}
	to.at = place{team: to.at.team, channel: to.at.channel}
	_, err = to.postMissing(ctx, key, shown, nil)
	return false, err
}
