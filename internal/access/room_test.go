package access_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/cairn-bot/cairn/internal/access"
	"github.com/cairn-bot/cairn/internal/chat"
)

// placed is an adapter whose threads are all in one place.
type placed struct {
	place chat.Place
	err   error
}

// Place implements chat.PlaceDescriber.
func (p placed) Place(context.Context, chat.ThreadID) (chat.Place, error) { return p.place, p.err }

// Identify implements chat.Identifier.
func (p placed) Identify(_ context.Context, _ chat.ThreadID, people []chat.UserID) ([]chat.Identity, error) {
	return []chat.Identity{{Email: "Ada@example.com", Team: "T1", Groups: []string{"G1"}}}[:len(people)], p.err
}

// TestARoomIsForThoseWhoSeeIt also sees that nothing is kept for everybody where a platform
// does not answer.
func TestARoomIsForThoseWhoSeeIt(t *testing.T) {
	for name, test := range map[string]struct {
		adapter  any
		identity *chat.Identity
		channel  string
		audience string
		unknown  bool
	}{
		"a channel":                    {adapter: placed{place: chat.Place{Channel: "C1", Team: "T1"}}, channel: "slack:C1", audience: "channel:slack:C1"},
		"a private conversation":       {adapter: placed{}, audience: "user:ada@example.com user:slack:U1"},
		"the machine itself":           {identity: &chat.Identity{Local: true}, channel: "slack"},
		"somebody who signed in":       {identity: &chat.Identity{Email: "bob@example.com", Groups: []string{"G2"}}, audience: "user:bob@example.com user:slack:U1"},
		"a platform that is away":      {adapter: placed{err: errors.New("away")}, unknown: true},
		"an adapter that knows nobody": {adapter: "none"},
	} {
		t.Run(name, func(t *testing.T) {
			resolver := access.NewResolver(access.Options{Adapters: map[string]any{"slack": test.adapter}, Logger: slog.New(slog.DiscardHandler)})
			room, ok := resolver.DescribeRoom(t.Context(), access.Question{Thread: "slack:1", Asker: "U1", Identity: test.identity})
			if ok == test.unknown || room.Channel != test.channel || string(room.Audience) != test.audience {
				t.Errorf("got %+v, %v", room, ok)
			}
		})
	}
}
