package bot

import (
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
)

// Tokens gives what is streamed of a run's events.
func Tokens(events []graph.Event) []chat.Token {
	var draft draft
	var tokens []chat.Token
	for _, event := range events {
		if token, shown := draft.convertToken(event); shown {
			tokens = append(tokens, token)
		}
	}
	return tokens
}

// History is what flows are told of a thread.
func History(turns []chat.Turn) []flows.Turn { return convertHistory(turns) }

// Command reads a text as a command.
func Command(text string) (word, rest string) {
	read := commandOf(text)
	return read.word, read.rest
}

// ShownName is how people are shown the name of a file.
func ShownName(name string) string { return shownName(name) }

// DocumentName is what a file that a run made is called.
func DocumentName(name string) string { return documentName(name) }
