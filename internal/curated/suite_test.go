package curated_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/curated"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/redis/conn/conntest"
	"github.com/cairn-bot/cairn/internal/servertest"
	"github.com/cairn-bot/cairn/internal/sqlite/sqlitetest"
)

var monday = time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)

func TestSQLite(t *testing.T) {
	dir := t.TempDir()
	testStore(t, func(t *testing.T) curated.Store { return curated.OpenSQLite(sqlitetest.Open(t, dir)) })
}

func TestRedis(t *testing.T) {
	servertest.EachRedis(t, func(t *testing.T, address string) {
		testStore(t, func(t *testing.T) curated.Store { return curated.OpenRedis(conntest.Connect(t, address)) })
	})
}

// testStore tests a store; open opens the same one again each time, as another process does.
func testStore(t *testing.T, open func(t *testing.T) curated.Store) {
	one, other := open(t), open(t)
	first, second := sample("pin-1", monday), sample("pin-2", monday.Add(time.Hour))
	second.Groups, second.RestsOn, second.Author, second.Name = nil, nil, "", ""
	if all, err := one.List(t.Context()); err != nil || len(all) != 0 {
		t.Fatalf("an empty store has %v, %v", all, err)
	}
	begun := revisionOf(t, other)
	for _, answer := range []curated.Answer{first, second} {
		if err := one.Put(t.Context(), answer); err != nil {
			t.Fatal(err)
		}
	}
	want := []curated.Answer{second, first}
	if all, err := other.List(t.Context()); err != nil || !reflect.DeepEqual(all, want) {
		t.Fatalf("%v: got %+v, want %+v", err, all, want)
	}
	put := revisionOf(t, other)
	if put == begun {
		t.Error("the revision did not change with an answer")
	}
	if forgotten, err := curated.Forget(t.Context(), one, first.Author); err != nil || forgotten != 1 {
		t.Errorf("forgot %d, %v", forgotten, err)
	}
	first.Author, first.Name = "", ""
	if all, err := other.List(t.Context()); err != nil || !reflect.DeepEqual(all, []curated.Answer{second, first}) {
		t.Errorf("%v: after its author was forgotten %+v", err, all)
	}
	if err := one.Delete(t.Context(), second.ID); err != nil {
		t.Fatal(err)
	}
	if err := other.Delete(t.Context(), second.ID); !errors.Is(err, curated.ErrUnknown) {
		t.Errorf("deleted twice: %v", err)
	}
	if revisionOf(t, one) == put {
		t.Error("the revision did not change with a removal")
	}
	for i := 2; i <= curated.MaxAnswers; i++ {
		if err := one.Put(t.Context(), sample(curated.ID(fmt.Sprintf("pin-many-%d", i)), monday)); err != nil {
			t.Fatal(err)
		}
	}
	if err := other.Put(t.Context(), second); !errors.Is(err, curated.ErrFull) {
		t.Errorf("one too many: %v", err)
	}
	if err := other.Put(t.Context(), first); err != nil {
		t.Errorf("one that is there, in a full store: %v", err)
	}
}

func revisionOf(t *testing.T, store curated.Store) int64 {
	t.Helper()
	revision, err := store.Revision(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return revision
}

// sample is an answer that cites a document.
func sample(id curated.ID, pinned time.Time) curated.Answer {
	return curated.Answer{
		ID: id, Question: "How do I rotate the signing key?", Text: "Run `keyctl rotate` twice.[1]", Audience: "group:ops",
		Groups: []flows.SourceGroup{{Kind: knowledge.KindDocumentation, Sources: []flows.Source{{
			Document: "docs:keys.md", Title: "Keys", Path: "keys.md", Modified: monday, State: knowledge.StateLive,
			Sections: []flows.Section{{Number: 1, Heading: "Rotate", Anchor: "rotate", Passage: "1-abc"}},
		}}}},
		RestsOn: []knowledge.DocumentID{"docs:keys.md"}, Author: "U1", Name: "Ada", Run: "run-1", Pinned: pinned, Expires: pinned.AddDate(0, 6, 0),
	}
}

func TestAnswersThatCannotBeKeptAreRefusedInWords(t *testing.T) {
	for want, change := range map[string]func(*curated.Answer){
		"question is missing": func(a *curated.Answer) { a.Question = " \n" },
		"answer is empty":     func(a *curated.Answer) { a.Text = "" },
		"expires before":      func(a *curated.Answer) { a.Expires = a.Pinned },
		"has no id":           func(a *curated.Answer) { a.ID = "" },
	} {
		answer := sample("pin-1", monday)
		change(&answer)
		if err := answer.Validate(); err == nil || !contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := curated.Decode([]byte(`{"version":2,"id":"pin-1"}`)); err == nil || !contains(err.Error(), "upgrade cairn") {
		t.Errorf("a newer version: %v", err)
	}
}
