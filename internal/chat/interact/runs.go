package interact

import (
	"context"
	"errors"
	"fmt"

	"github.com/cairn-bot/cairn/internal/chat"
)

// checkRun refuses a press about a run of another place, by chat.ErrUnknownRun. isHere tells
// whether a run's thread is where the press was made.
func checkRun(ctx context.Context, bot chat.RunThreads, run chat.RunID, isHere func(chat.ThreadID) bool) error {
	thread, err := bot.ThreadOf(ctx, run)
	if err != nil {
		return fmt.Errorf("look where run %s is: %w", run, err)
	}
	if !isHere(thread) {
		return fmt.Errorf("run %s is of another place: %w", run, chat.ErrUnknownRun)
	}
	return nil
}

// FindReply finds what a run answered in a thread; chat.ErrUnknownRun where it is not
// remembered there.
func FindReply(ctx context.Context, bot chat.Transcripts, thread chat.ThreadID, run chat.RunID) (chat.Reply, error) {
	turns, err := bot.Transcript(ctx, thread)
	if err != nil {
		return chat.Reply{}, fmt.Errorf("look for the answer of run %s: %w", run, err)
	}
	for _, turn := range turns {
		if turn.Reply != nil && turn.Reply.Run == run {
			return *turn.Reply, nil
		}
	}
	return chat.Reply{}, chat.ErrUnknownRun
}

// Refusal returns the words for a person whom the bot refuses something; false for errors
// that are not for people.
func Refusal(err error) (words string, ok bool) {
	for _, fit := range []error{chat.ErrForbidden, chat.ErrUnknownRun, chat.ErrRunOver, chat.ErrOpenQuestion} {
		if errors.Is(err, fit) {
			return fit.Error(), true
		}
	}
	return "", false
}
