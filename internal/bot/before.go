package bot

import (
	"context"

	"cairn/internal/chat"
	"cairn/internal/graph/flows"
	"cairn/internal/language/smalltalk"
)

// readBefore has the adapter read what was said in the thread until the bot was called in,
// where the message may lean on that. What can't be read is done without.
func (t *turn) readBefore(ctx context.Context) {
	reader, ok := t.poster.(chat.ThreadReader)
	if !ok || t.message.Before != nil || len(t.session.Turns) > 0 && !smalltalk.Points(t.message.Text) {
		return
	}
	ctx, done := context.WithTimeout(ctx, fileTime)
	defer done()
	said, err := reader.Before(ctx, t.message.Thread, t.message.ID)
	if err != nil {
		t.logger.WarnContext(ctx, "what was said in a thread was not read", "thread", string(t.message.Thread), "error", err)
		return
	}
	t.message.Before = said
}

// loadPriorMessages gives the flow what others said that the message may lean on: what was said in
// the thread, then what the message passes on.
func (t *turn) loadPriorMessages(ctx context.Context) []flows.Said {
	t.readBefore(ctx)
	var before []flows.Said
	add := func(list []chat.Said, shared bool) {
		for _, said := range boundSaid(list) {
			before = append(before, flows.Said{Author: said.Author, Text: said.Text, App: said.App, Self: said.Self, Shared: shared})
		}
	}
	add(t.message.Before, false)
	add(t.message.Shared, true)
	return before
}
