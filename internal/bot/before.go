package bot

import (
	"context"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/language/smalltalk"
)

// readBefore has the adapter read what was said in the thread until the bot was called in,
// where the message may lean on that. What can't be read is done without.
func (r *flowRun) readBefore(ctx context.Context) {
	reader, ok := r.job.poster.(chat.ThreadReader)
	if !ok || r.job.message.Before != nil || len(r.conversation.session.Turns) > 0 && !smalltalk.Points(r.job.message.Text) && !needsThread(r.job.record.Flow, r.job.message) {
		return
	}
	ctx, done := context.WithTimeout(ctx, fileTime)
	defer done()
	said, err := reader.Before(ctx, r.job.message.Thread, r.job.message.ID)
	if err != nil {
		r.job.logger.WarnContext(ctx, "what was said in a thread was not read", "thread", string(r.job.message.Thread), "error", err)
		return
	}
	r.job.message.Before = said
}

// loadPriorMessages gives the flow what others said that the message may lean on: what was said in
// the thread, then what the message passes on.
func (r *flowRun) loadPriorMessages(ctx context.Context) []flows.Said {
	r.readBefore(ctx)
	var before []flows.Said
	add := func(list []chat.Said, shared bool) {
		for _, said := range boundSaid(list) {
			before = append(before, flows.Said{Author: said.Author, Text: said.Text, App: said.App, Self: said.Self, Shared: shared})
		}
	}
	add(r.job.message.Before, false)
	add(r.job.message.Shared, true)
	return before
}
