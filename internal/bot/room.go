package bot

import (
	"context"
	"errors"

	"github.com/cairn-bot/cairn/internal/access"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/routing"
)

// errUnknownRoom is the error for a request whose place is not known just now.
var errUnknownRoom = errors.New("it could not be found out who sees this place, for whom a page would be kept: try again in a moment")

// describeRoom tells where a run's request was made, for the flows that keep something there; the
// zero Room for all others, which costs the platform no call.
func describeRoom(ctx context.Context, documents documentAccess, flow string, question access.Question) (flows.Room, error) {
	if flow != routing.Page {
		return flows.Room{}, nil
	}
	made := flows.Room{Thread: string(question.Thread), Author: string(question.Asker)}
	if documents.access == nil {
		return made, nil
	}
	found, ok := documents.access.DescribeRoom(ctx, question)
	if !ok {
		return flows.Room{}, errUnknownRoom
	}
	made.Channel, made.Audience = found.Channel, found.Audience
	if question.Identity != nil && question.Identity.Local { // each command at a terminal is a thread of its own
		made.Thread = ""
	}
	return made, nil
}

// needsThread tells whether a flow's request leans on what was said in its thread.
func needsThread(flow string, message chat.Message) bool {
	return flow == routing.Page && message.Before == nil
}
