package indextest

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
)

func testRoundTrip(t *testing.T, s *subject) {
	full := newEntry("guide.md", "Guide", "First words.", "Second words.")
	full.Document.Owner = "Ada"
	full.Document.Language = "en-GB"
	full.Passages[1].Headings = []string{"Setup", `"Quotes" & <tags>`}
	full.Passages[1].Anchor = "setup"
	full.Passages[1].Definitions = []knowledge.Definition{{Short: "CRD", Long: "Custom Resource Definition"}}
	bare := index.Entry{Document: knowledge.Document{ID: "bare"}}
	s.putEntries(t, full, bare)
	s.checkState(t)

	found := s.findPassages(t, full.Passages[1].ID, "guide.md#7", "nobody#0", "no id", full.Passages[0].ID)
	if len(found) != 2 {
		t.Fatalf("%d passages found, want 2", len(found))
	}
	for i, want := range []knowledge.Passage{full.Passages[1], full.Passages[0]} {
		got := found[i].Passage
		if len(got.Headings) == 0 {
			got.Headings = want.Headings // nil and empty are the same
		}
		if !reflect.DeepEqual(got, want) || found[i].Document != full.Document {
			t.Errorf("found %+v of %+v, want %+v of %+v", got, found[i].Document, want, full.Document)
		}
	}
}

func testReplace(t *testing.T, s *subject) {
	s.putEntries(t, newEntry("a", "Old title", "alpha beta", "gamma", "delta"), newEntry("b", "Other", "beta"))
	s.checkSearch(t, Words("alpha"))
	s.putEntries(t, newEntry("a", "New title", "gamma", "epsilon"))
	s.checkState(t)
	for _, query := range []string{"alpha beta", "old", "new title", "gamma epsilon", "delta"} {
		s.checkSearch(t, Words(query))
	}
	wantIDs(t, "moved passage", hitIDs(s.checkSearch(t, Words("gamma")).Lexical), "a#0")

	// The same words under another hash, and other words under the same hash.
	again := newEntry("a", "New title", "gamma", "epsilon")
	again.Passages[0].Hash = "other"
	again.Passages[1].Text = "zeta"
	s.putEntries(t, again)
	s.checkState(t)
	s.checkSearch(t, Words("gamma zeta epsilon"))

	s.putEntries(t, newEntry("a", "Emptied"))
	s.checkState(t)
	s.checkSearch(t, Words("gamma beta"))
}

func testDelete(t *testing.T, s *subject) {
	a, b := newEntry("a", "Title", "alpha", "beta"), newEntry("b", "Title", "beta")
	s.putEntries(t, a, b)
	s.writeVectors(t, vectorsFor(a.Passages[0], 1), vectorsFor(a.Passages[1], 2), vectorsFor(b.Passages[0], 3))
	query := Words("alpha beta title")
	query.Vector = unitVector(1)
	s.checkSearch(t, query)
	s.writeBatch(t, index.Batch{Delete: []knowledge.DocumentID{"a", "never there"}})
	s.checkState(t)
	s.checkSearch(t, query)
	if found := s.findPassages(t, "a#0", "b#0"); len(found) != 1 || found[0].Passage.ID != "b#0" {
		t.Errorf("found %v, want b#0 alone", found)
	}
	s.writeBatch(t, index.Batch{Delete: []knowledge.DocumentID{"b"}})
	s.checkState(t)
	s.checkSearch(t, query)
	s.putEntries(t, a)
	s.checkState(t)
	s.checkSearch(t, query)
}

func testSeen(t *testing.T, s *subject) {
	s.putEntries(t, newEntry("a", "Title", "alpha"))
	seen := knowledge.Document{ID: "a", Title: "ignored", LastSeen: dayOf(20)}
	s.writeBatch(t, index.Batch{Seen: []knowledge.Document{seen, {ID: "unknown", LastSeen: dayOf(20)}}})
	s.checkState(t)
	for document, err := range s.Documents(t.Context(), "docs") {
		if err != nil || !document.LastSeen.Equal(dayOf(20)) || document.Title != "Title" {
			t.Errorf("document %+v, error %v: want the old one last seen on %v", document, err, dayOf(20))
		}
	}
}

func testValidation(t *testing.T, s *subject) {
	before := newEntry("kept", "Title", "alpha")
	s.putEntries(t, before)
	good := newEntry("good", "Title", "beta")
	wrongID, wrongOrder, noHash := newEntry("x", "Title", "gamma"), newEntry("x", "Title", "gamma", "delta"), newEntry("x", "Title", "gamma")
	wrongID.Passages[0].ID = "y#0"
	wrongOrder.Passages[0], wrongOrder.Passages[1] = wrongOrder.Passages[1], wrongOrder.Passages[0]
	noHash.Passages[0].Hash = ""
	for name, batch := range map[string]index.Batch{
		"document without id":   {Put: []index.Entry{good, {}}},
		"put twice":             {Put: []index.Entry{good, good}},
		"put and deleted":       {Put: []index.Entry{good}, Delete: []knowledge.DocumentID{"good"}},
		"foreign passage":       {Put: []index.Entry{good, wrongID}},
		"passages not in order": {Put: []index.Entry{good, wrongOrder}},
		"passage without hash":  {Put: []index.Entry{good, noHash}},
	} {
		if err := s.Write(t.Context(), batch); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	s.checkState(t)
}

func testCursors(t *testing.T, s *subject) {
	for source, want := range map[knowledge.SourceID]string{"docs": ""} {
		if cursor, err := s.Cursor(t.Context(), source); err != nil || cursor != want {
			t.Errorf("cursor of a source never synced: %q, %v", cursor, err)
		}
	}
	s.writeBatch(t, index.Batch{
		Put:     []index.Entry{newEntry("a", "Title", "alpha")},
		Cursors: map[knowledge.SourceID]string{"docs": "one", "web": "page=2&x='\x00"},
	})
	s.writeBatch(t, index.Batch{Cursors: map[knowledge.SourceID]string{"docs": "two"}})
	refused := index.Batch{Put: []index.Entry{{}}, Cursors: map[knowledge.SourceID]string{"docs": "three"}}
	if err := s.Write(t.Context(), refused); err == nil {
		t.Error("a document without id was written")
	}
	for source, want := range s.model.cursors {
		if cursor, err := s.Cursor(t.Context(), source); err != nil || cursor != want {
			t.Errorf("cursor of %s: %q, %v, want %q", source, cursor, err, want)
		}
	}
}

func testDefinitions(t *testing.T, s *subject) {
	define := func(id knowledge.DocumentID, longs ...string) index.Entry {
		e := newEntry(id, "Title", "text of "+string(id))
		for _, long := range longs {
			e.Passages[0].Definitions = append(e.Passages[0].Definitions, knowledge.Definition{Short: "BRD", Long: long})
		}
		return e
	}
	s.putEntries(t,
		define("a", "Business Requirements Document"),
		define("b", "business requirements document", "Big Red Dog"),
		define("c", "Business Requirements Document"),
		define("d", "Big Red Dog", "Bird"))
	want := []string{"Business Requirements Document", "Big Red Dog", "Bird"}
	for _, short := range []string{"BRD", "brd", "Brd"} {
		s.checkDefinitions(t, short, want...)
	}
	s.checkDefinitions(t, "br_")
	s.writeBatch(t, index.Batch{Delete: []knowledge.DocumentID{"b", "c"}, Put: []index.Entry{define("d", "Bird", "Bird")}})
	s.checkDefinitions(t, "brd", "Bird", "Business Requirements Document")
	secret := define("e", "Black Rubber Duck", "Bird")
	secret.Document.Audience = "group:ducks"
	s.putEntries(t, secret)
	s.checkDefinitions(t, "brd", "Bird", "Business Requirements Document")
	s.viewers = knowledge.NewViewers([]knowledge.Principal{"group:ducks"})
	s.checkDefinitions(t, "brd", "Bird", "Black Rubber Duck", "Business Requirements Document")
}

func (s *subject) checkDefinitions(t *testing.T, short string, want ...string) {
	t.Helper()
	definitions, err := s.Definitions(t.Context(), short, s.viewers)
	if err != nil {
		t.Fatalf("definitions of %s: %v", short, err)
	}
	longs := make([]string, len(definitions))
	for i, d := range definitions {
		longs[i] = d.Long
	}
	wantIDs(t, "definitions of "+short, longs, append([]string{}, want...)...)
}

func testRestart(t *testing.T, s *subject) {
	a, b := newEntry("a", "Title", "alpha", "beta"), newEntry("b", "Title", "gamma")
	s.writeBatch(t, index.Batch{Put: []index.Entry{a, b}, Cursors: map[knowledge.SourceID]string{"docs": "one"}})
	s.writeVectors(t, vectorsFor(a.Passages[0], 1, 2), vectorsFor(b.Passages[0]))
	s.writeBatch(t, index.Batch{Delete: []knowledge.DocumentID{"nothing"}})
	query := Words("alpha gamma")
	query.Vector = unitVector(2)
	s.checkSearch(t, query)
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatalf("close: %v", err)
		}
		s.openIndex(t)
		s.checkState(t)
		s.checkSearch(t, query)
		s.putEntries(t, newEntry("c", "Title", "later"))
	}
	if cursor, err := s.Cursor(t.Context(), "docs"); err != nil || cursor != "one" {
		t.Errorf("cursor %q, %v after a restart", cursor, err)
	}
}

func testCancel(t *testing.T, s *subject) {
	s.putEntries(t, newEntry("a", "Title", "alpha"))
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	if err := s.Write(ctx, index.Batch{Put: []index.Entry{newEntry("b", "Title", "beta")}}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("write past the deadline: %v", err)
	}
	if _, err := s.Search(ctx, Words("alpha")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("search past the deadline: %v", err)
	}
	for _, err := range s.Documents(ctx, "") {
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("documents past the deadline: %v", err)
		}
	}
	s.checkState(t)
}
