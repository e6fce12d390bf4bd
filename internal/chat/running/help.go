package running

import (
	"context"
	"fmt"

	"cairn/internal/chat"
)

// Help is what a person is asked to help with.
type Help struct {
	Question string // as it was asked; "" where it is not remembered
	Reason   string // why a person is asked, as people read it
}

// FindHelp finds the question that a run was about, and why its answer does not do.
func FindHelp(ctx context.Context, bot chat.Transcripts, thread chat.ThreadID, run chat.RunID) (Help, error) {
	turns, err := bot.Transcript(ctx, thread)
	if err != nil {
		return Help{}, fmt.Errorf("look for the question of run %s: %w", run, err)
	}
	found := Help{Reason: "The answer above did not settle it."}
	for _, turn := range turns {
		if turn.Reply == nil || turn.Reply.Run != run {
			continue
		}
		switch turn.Reply.Outcome {
		case chat.Abstained:
			found.Reason = "I couldn't find an answer in the documents."
		case chat.Failure:
			found.Reason = "The answer could not be made."
		}
		for _, asked := range turns {
			if asked.Role == chat.Person && asked.Message == turn.Message {
				found.Question = asked.Text
			}
		}
	}
	return found, nil
}
