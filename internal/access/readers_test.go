package access_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/cairn-bot/cairn/internal/access"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/knowledge"
)

// oneRoom is a platform with one place.
type oneRoom struct {
	place chat.Place
	err   error
}

func (r oneRoom) Place(context.Context, chat.ThreadID) (chat.Place, error) { return r.place, r.err }

func (r oneRoom) Identify(_ context.Context, _ chat.ThreadID, people []chat.UserID) ([]chat.Identity, error) {
	identities := make([]chat.Identity, len(people))
	for i, person := range people {
		identities[i] = chat.Identity{Email: string(person) + "@example.com", Team: "T1", Groups: []string{"G1"}}
	}
	return identities, r.err
}

func TestReadersArePeopleWhoSeeAPlace(t *testing.T) {
	ann := []knowledge.Principal{"user:ann@example.com"}
	inTeam := []knowledge.Principal{"user:cid@example.com", "team:chat:T1", "group:chat:G1"}
	inChannel := []knowledge.Principal{"user:dan@example.com", "channel:chat:C1"}
	many := make([]chat.UserID, chat.MaxMembers+1)
	for name, test := range map[string]struct {
		room     oneRoom
		identity *chat.Identity
		want     [3]bool // ann, who is in the team and group, who is in the channel
	}{
		"open":              {oneRoom{place: chat.Place{Channel: "C1", Team: "T1", Open: true}}, nil, [3]bool{true, true, true}},
		"closed, unlisted":  {oneRoom{place: chat.Place{Channel: "C1", Team: "T1"}}, nil, [3]bool{false, false, true}},
		"closed, listed":    {oneRoom{place: chat.Place{Channel: "C1", Team: "T1", Members: []chat.UserID{"ann", "bob"}, Complete: true}}, nil, [3]bool{true, false, true}},
		"too many":          {oneRoom{place: chat.Place{Channel: "C1", Members: many, Complete: true}}, nil, [3]bool{false, false, true}},
		"private":           {oneRoom{}, nil, [3]bool{true, false, false}},
		"platform is away":  {oneRoom{err: errors.New("it is away")}, nil, [3]bool{}},
		"signed in as ann":  {oneRoom{}, &chat.Identity{Email: "ann@example.com"}, [3]bool{true, false, false}},
		"signed in without": {oneRoom{}, &chat.Identity{Holds: []string{"group:chat:G1"}}, [3]bool{}},
		"at the machine":    {oneRoom{}, &chat.Identity{Local: true}, [3]bool{}},
	} {
		resolver := access.NewResolver(access.Options{Adapters: map[string]any{"chat": test.room}, Logger: slog.New(slog.DiscardHandler)})
		readers, ok := resolver.FindReaders(t.Context(), access.Question{Thread: "chat:1", Asker: "ann", Identity: test.identity})
		if ok == (test.room.err != nil) {
			t.Errorf("%s: found out: %t", name, ok)
		}
		for i, holds := range [][]knowledge.Principal{ann, inTeam, inChannel} {
			if got := readers.Include(knowledge.NewViewers(holds)); got != test.want[i] {
				t.Errorf("%s: %v are readers: %t, want %t", name, holds, got, test.want[i])
			}
		}
		if !test.room.place.Open && readers.Include(knowledge.Viewers{}) {
			t.Errorf("%s: who holds nothing is a reader", name)
		}
	}
}
