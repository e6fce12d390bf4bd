package bot

import (
	"context"
	"fmt"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/routing"
	"github.com/cairn-bot/cairn/internal/knowledge"
)

// Corrections tells whether what was said in a thread corrects what its last answer cites.
// Viewers come with ctx.
type Corrections interface {
	MayCorrect(ctx context.Context, request flows.Request) (bool, error)
}

// correctCommand is what a person would write to have a message looked at as a correction.
const correctCommand = "/cairn " + routing.Page + " correct "

var _ chat.Corrector = (*Bot)(nil)

// Correct implements chat.Corrector.
func (b *Bot) Correct(ctx context.Context, message chat.Message) error {
	if b.options.Corrections == nil || message.ID == "" {
		return nil
	}
	remembered, err := b.sessions.Load(ctx, message.Thread)
	if err != nil {
		return fmt.Errorf("look what a message corrects: %w", err)
	}
	if remembered.Waiting != nil || len(remembered.Turns) == 0 {
		return nil
	}
	if message.Text == "" {
		message.Before = readThread(ctx, b, message)
	}
	request := flows.Request{Text: "correct " + message.Text, History: recallHistory(remembered, message.Text)}
	for _, said := range boundSaid(message.Before) {
		request.Before = append(request.Before, flows.Said{Author: said.Author, Text: said.Text, App: said.App, Self: said.Self})
	}
	viewers := b.documents.resolveAccess(ctx, message.Thread, message.Author, message.Asker).Here
	found, err := b.options.Corrections.MayCorrect(knowledge.WithViewers(ctx, viewers), request)
	if err != nil || !found {
		return err
	}
	message.Text, message.Answers = correctCommand+message.Text, nil
	return b.Handle(ctx, message, nil)
}

// readThread gives what was said in a message's thread before it, nil where that can't be read.
func readThread(ctx context.Context, b *Bot, message chat.Message) []chat.Said {
	reader, ok := b.options.Adapters[message.Thread.Adapter()].(chat.ThreadReader)
	if !ok {
		return nil
	}
	ctx, done := context.WithTimeout(ctx, fileTime)
	defer done()
	said, err := reader.Before(ctx, message.Thread, message.ID)
	if err != nil {
		b.logger.WarnContext(ctx, "read a thread for corrections", "thread", string(message.Thread), "error", err)
	}
	return said
}
