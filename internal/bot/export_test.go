package bot

import (
	"context"

	"cairn/internal/chat"
)

// Threads lets the tests stand in line.
type Threads struct{ threads }

// Hold is threads.hold.
func (t *Threads) Hold(ctx context.Context, thread chat.ThreadID) (func(), error) {
	return t.hold(ctx, thread)
}
