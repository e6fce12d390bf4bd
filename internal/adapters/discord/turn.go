package discord

import (
	"context"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/discord/fleet"
	"github.com/cairn-bot/cairn/internal/chat"
)

// How long a call waits for its turn under Discord's limits by itself. What comes later is
// left to the bot, which has other threads to work at meanwhile.
const (
	postPatience = time.Second
	// partPatience is for the parts of a post behind the first: people should not see half of
	// one for long.
	partPatience = 20 * time.Second
	// draftPatience is for what answers need more than the showing of work does.
	draftPatience = 100 * time.Millisecond
)

// inTurn gives the calls for a post their turn: posts in a channel go in the order of the
// messages that they are about.
func (r room) inTurn(ctx context.Context, key string, patience time.Duration) context.Context {
	at := r.adapter.now()
	for _, about := range []string{r.to.interaction, r.to.message, r.at.root} {
		if born := bornAt(about); about != "" && !born.IsZero() {
			at = born
			break
		}
	}
	return fleet.WithTurn(ctx, fleet.Turn{Key: key, Order: at.UnixMilli(), Patience: patience})
}

// yieldTurn has calls go behind all that wait in line.
func yieldTurn(ctx context.Context, patience time.Duration) context.Context {
	return fleet.WithTurn(ctx, fleet.Turn{Patience: patience})
}

// editKey is the turn of an edit of a message.
func editKey(message chat.MessageID) string { return "edit " + string(message) }
