package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cairn-bot/cairn/internal/chat"
)

// notShared takes the place of what a reader of a shared thread may not see.
const notShared = "This is not shown: it rests on what you may not read, or is for the person who asked."

// SharedTranscript implements chat.ThreadManager.
func (m *Manager) SharedTranscript(ctx context.Context, thread chat.ThreadID, by chat.Identity) ([]chat.Turn, error) {
	remembered, err := m.bot.sessions.Load(ctx, thread)
	if err != nil {
		return nil, err
	}
	if !remembered.Shared {
		return nil, chat.ErrForbidden
	}
	rests, err := m.documentsOfAnswers(ctx, remembered.Turns)
	if err != nil {
		return nil, fmt.Errorf("read shared thread %s: %w", thread, err)
	}
	var all []string
	for _, documents := range rests {
		all = append(all, documents...)
	}
	readable, err := m.bot.ReadableDocuments(ctx, by, all)
	if err != nil {
		return nil, fmt.Errorf("read shared thread %s: %w", thread, err)
	}
	shown := make([]chat.Turn, 0, len(remembered.Turns))
	for _, turn := range remembered.Turns {
		shared := chat.Turn{Role: turn.Role, At: turn.At, Author: turn.Author, Message: turn.Message, Text: turn.Text}
		if turn.Role == chat.Bot {
			shared.Reply = sharedReply(turn.Reply, rests, readable)
		}
		shown = append(shown, shared)
	}
	return shown, nil
}

// documentsOfAnswers gives the documents of the index that each run's answer was made from and
// cites. A run that is not remembered, or whose answer rests on something else, has none.
func (m *Manager) documentsOfAnswers(ctx context.Context, turns []chat.Turn) (map[chat.RunID][]string, error) {
	rests := make(map[chat.RunID][]string)
	for _, turn := range turns {
		if turn.Reply == nil || turn.Reply.Run == "" {
			continue
		}
		record, err := m.bot.records.Load(ctx, turn.Reply.Run)
		if errors.Is(err, chat.ErrUnknownRun) {
			continue
		}
		if err != nil {
			return nil, err
		}
		trace := record.Trace
		trace.Evidence = slices.DeleteFunc(slices.Clone(trace.Evidence), func(e chat.TraceEvidence) bool { return !e.Kept })
		documents := documentsIn(trace)
		if len(documents) < len(trace.Evidence) { // some came with the question
			continue
		}
		rests[turn.Reply.Run] = append(documents, turn.Reply.Cited()...)
	}
	return rests, nil
}

// sharedReply is a reply as a reader of a shared thread sees it.
func sharedReply(reply *chat.Reply, rests map[chat.RunID][]string, readable map[string]bool) *chat.Reply {
	hidden := &chat.Reply{Outcome: chat.Noticed, Text: notShared}
	if reply == nil || reply.Outcome != chat.Answered && reply.Outcome != chat.Abstained {
		return hidden
	}
	documents := rests[reply.Run]
	if len(documents) == 0 || slices.ContainsFunc(documents, func(id string) bool { return !readable[id] }) {
		return hidden
	}
	return &chat.Reply{Outcome: reply.Outcome, Text: reply.Text, Sources: reply.Sources}
}
