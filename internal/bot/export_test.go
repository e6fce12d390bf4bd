package bot

import (
	"context"

	"cairn/internal/chat"
	"cairn/internal/graph"
	"cairn/internal/graph/flows"
)

// Lines lets the tests stand in line.
type Lines struct{ lines }

// Enter is lines.enter, or lines.enterNext.
func (l *Lines) Enter(ctx context.Context, thread chat.ThreadID, next bool) (leave func(), err error) {
	enter := l.enter
	if next {
		enter = l.enterNext
	}
	w, err := enter(ctx, thread, "ann")
	if err != nil {
		return nil, err
	}
	return func() { l.leave(thread, w) }, nil
}

// Tokens gives what is streamed of a run's events.
func Tokens(events []graph.Event) []chat.Token {
	var draft draft
	var tokens []chat.Token
	for _, event := range events {
		if token, shown := draft.token(event); shown {
			tokens = append(tokens, token)
		}
	}
	return tokens
}

// History is what flows are told of a thread.
func History(turns []chat.Turn) []flows.Turn { return history(turns) }
