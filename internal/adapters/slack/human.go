package slack

import (
	"context"
	"log/slog"

	"github.com/slack-go/slack"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/interact"
	"github.com/cairn-bot/cairn/internal/chat/render"
)

// humansFor are who "Ask a human" calls in a place.
func (a *Adapter) humansFor(at place) []string {
	if a.options.Humans == nil || at.private != "" {
		return nil
	}
	return a.options.Humans(at.team, at.channel)
}

// Humans implements interact.Board.
func (s *surface) Humans(context.Context) ([]string, error) {
	return s.adapter.humansFor(s.of.place), nil
}

// PostHelp implements interact.Board.
func (s *surface) PostHelp(ctx context.Context, key chat.PostKey, request interact.HelpRequest) (already bool, err error) {
	to, err := s.adapter.senderFor(ctx, s.of.place.threadID())
	if err != nil {
		return false, err
	}
	there, err := to.readParts(ctx, key, "")
	if err != nil || len(there) > 0 {
		return len(there) > 0, err
	}
	shown, err := helpNote(request, to.linkTo(ctx))
	if err != nil {
		return false, err
	}
	_, err = to.postPart(ctx, part{key: key, of: 1}, shown)
	return false, err
}

// UpdateHelp implements interact.Board. A thread whose question a person has settled is marked.
func (s *surface) UpdateHelp(ctx context.Context, key chat.PostKey, request interact.HelpRequest) error {
	to, err := s.adapter.senderFor(ctx, s.of.place.threadID())
	if err != nil {
		return err
	}
	shown, err := helpNote(request, to.linkTo(ctx))
	if err != nil {
		return err
	}
	if err := to.updatePart(ctx, part{key: key, of: 1, ts: s.of.on}, shown); err != nil || request.State != interact.HelpClosed {
		return err
	}
	err = to.callMethod(ctx, addReaction, func() error {
		return to.api.AddReactionContext(ctx, settledMark, slack.NewRefToMessage(to.at.channel, to.at.root))
	})
	if err != nil && refusalName(err) != "already_reacted" { // the line tells it as well
		s.adapter.options.Logger.WarnContext(ctx, "slack thread was not marked", slog.Any("error", err))
	}
	return nil
}

// settledMark is the reaction on a thread whose question a person has settled.
const settledMark = "white_check_mark"

// linkTo is the address of the sender's thread, "" where it is not known.
func (s sender) linkTo(ctx context.Context) string {
	workspace, err := s.adapter.options.Workspaces.Workspace(ctx, s.at.team, "")
	if err != nil {
		return ""
	}
	return threadLink(workspace.URL, s.at)
}

// helpNote shows a call for help: who is called, the question, whose text leads to link, why, and
// the buttons.
func helpNote(request interact.HelpRequest, link string) (note, error) {
	blocks := []slack.Block{slack.NewRichTextBlock("", slack.NewRichTextSection(sectionElements(request.Headline())...))}
	if request.State != interact.HelpClosed {
		question := render.Run{Text: render.Cut(request.Question, maxRemark), URL: link}
		if question.Text == "" {
			question.Text = "the question above"
		}
		blocks = append(blocks, richText([]render.Piece{{Shape: render.Quote, Runs: []render.Run{question}}})...)
		blocks = append(blocks, remarkBlock(request.Reason))
	}
	buttons := &row{}
	buttons.addButtons(request.Buttons())
	return note{text: request.Summary(), blocks: append(blocks, buttons.buildBlocks()...)}, buttons.err
}
