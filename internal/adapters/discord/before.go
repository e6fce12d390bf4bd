package discord

import (
	"context"
	"fmt"
	"slices"

	"github.com/cairn-bot/cairn/internal/chat"
)

var _ chat.ThreadReader = (*Adapter)(nil)

// Before gives what was said in a thread of Discord's before a message. A conversation
// that is held in place has no beginning of its own: nothing is read of its channel.
func (a *Adapter) Before(ctx context.Context, thread chat.ThreadID, message chat.MessageID) ([]chat.Said, error) {
	r, err := a.openRoom(ctx, thread, "")
	from := parseSource(message)
	if err != nil || r.at.private != "" || r.at.root != "" || from.channel != r.at.channel {
		return nil, err // the thread begins with the message, or has none before it
	}
	var before []chat.Said
	err = r.readMessages(ctx, func(said wireMessage) bool { // the latest first
		if said.ID != from.message {
			before = append(before, saidOf(said, identity{user: r.bot})...)
		}
		return len(before) < chat.MaxSaid
	})
	if err != nil {
		return nil, fmt.Errorf("read what was said in a thread of Discord's: %w", err)
	}
	slices.Reverse(before)
	return before[max(0, len(before)-chat.MaxSaid):], nil
}
