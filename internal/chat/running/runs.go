package running

import (
	"context"
	"fmt"

	"cairn/internal/chat"
)

// CheckRun refuses a press about a run of another place, by chat.ErrUnknownRun. isHere tells
// whether a run's thread is where the press was made.
func CheckRun(ctx context.Context, bot chat.RunThreads, run chat.RunID, isHere func(chat.ThreadID) bool) error {
	thread, err := bot.ThreadOf(ctx, run)
	if err != nil {
		return fmt.Errorf("look where run %s is: %w", run, err)
	}
	if !isHere(thread) {
		return fmt.Errorf("run %s is of another place: %w", run, chat.ErrUnknownRun)
	}
	return nil
}
