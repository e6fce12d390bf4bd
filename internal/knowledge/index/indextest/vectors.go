package indextest

import (
	"slices"
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
)

func testVectorsKept(t *testing.T, s *subject) {
	a := newEntry("a", "Title", "alpha", "beta", "gamma")
	s.putEntries(t, a)
	s.writeVectors(t, vectorsFor(a.Passages[0], 1), vectorsFor(a.Passages[1], 2), vectorsFor(a.Passages[2], 3, 4))
	query := index.Query{Vector: unitVector(3)}
	s.checkSearch(t, query)

	s.putEntries(t, newEntry("a", "Title", "gamma", "new", "alpha"))
	s.checkState(t)
	wantIDs(t, "by the vector of gamma", hitIDs(s.checkSearch(t, query).Dense)[:1], "a#0")

	s.putEntries(t, newEntry("a", "Title", "gamma", "gamma", "gamma"))
	s.checkState(t)
	s.checkSearch(t, query)

	s.putEntries(t, newEntry("a", "Another title", "gamma"))
	s.checkState(t)
	if hits := s.checkSearch(t, query).Dense; len(hits) != 0 {
		t.Errorf("vectors of the old title are found: %v", hits)
	}

	// The hash of a passage that stood in another document keeps nothing.
	s.putEntries(t, newEntry("b", "Title", "alpha"))
	s.checkState(t)
}

func testStaleVectors(t *testing.T, s *subject) {
	a := newEntry("a", "Title", "alpha")
	s.putEntries(t, a)
	old := vectorsFor(a.Passages[0], 1)
	s.putEntries(t, newEntry("a", "Title", "changed"))
	s.writeVectors(t, old, index.Vectors{Passage: "gone#0", Hash: "x", Windows: [][]float32{unitVector(1)}})
	s.checkState(t)
	s.checkSearch(t, index.Query{Vector: unitVector(1)})

	fresh := newEntry("a", "Title", "changed").Passages[0]
	s.writeVectors(t, vectorsFor(fresh, 1))
	s.writeVectors(t, vectorsFor(fresh, 2))
	s.checkState(t)
	s.checkSearch(t, index.Query{Vector: unitVector(1)})
}

func testUnembedded(t *testing.T, s *subject) {
	a, b := newEntry("a", "Title", "alpha", "beta"), newEntry("b", "Title", "...")
	s.putEntries(t, a, b)
	listed := make(map[knowledge.PassageID]bool)
	for {
		found, err := s.Unembedded(t.Context(), 2)
		if err != nil {
			t.Fatalf("unembedded: %v", err)
		}
		if len(found) == 0 {
			break
		}
		if len(found) > 2 {
			t.Fatalf("%d passages, limit is 2", len(found))
		}
		again, err := s.Unembedded(t.Context(), 1)
		if err != nil || len(again) != 1 || again[0].Passage.ID != found[0].Passage.ID {
			t.Fatalf("asked again: %v, %v, want %s first", again, err, found[0].Passage.ID)
		}
		for _, f := range found {
			if listed[f.Passage.ID] || f.Document.ID != f.Passage.Document || f.Document.Title != "Title" {
				t.Fatalf("%+v is listed again or without its document", f)
			}
			listed[f.Passage.ID] = true
		}
		// The passage of punctuation has nothing that could be embedded.
		if p := found[0].Passage; p.Document == "b" {
			s.writeVectors(t, vectorsFor(p))
		} else {
			s.writeVectors(t, vectorsFor(p, 1))
			delete(listed, p.ID)
			listed[p.ID] = true
		}
		for _, f := range found[1:] {
			delete(listed, f.Passage.ID)
		}
	}
	if len(listed) != 3 {
		t.Errorf("%v were listed, want all three", listed)
	}
	s.checkState(t)
	s.checkSearch(t, index.Query{Vector: unitVector(1)})
}

// testUnembeddedHits looks at what words find while vectors are made, in and out of order
// (search compares every hit with the model).
func testUnembeddedHits(t *testing.T, s *subject) {
	a, b := newEntry("a", "Title", "alpha one", "alpha two", "alpha three"), newEntry("b", "Title", "alpha four", "...")
	s.putEntries(t, a, b)
	asked := Words("alpha")
	asked.Vector = unitVector(1)
	want := func(unembedded ...string) {
		t.Helper()
		var got []string
		for _, hit := range s.checkSearch(t, asked).Lexical {
			if hit.Unembedded {
				got = append(got, string(hit.Passage))
			}
		}
		slices.Sort(got)
		wantIDs(t, "found without vectors", got, unembedded...)
		for _, hit := range s.checkSearch(t, Words("alpha")).Lexical {
			if hit.Unembedded {
				t.Errorf("%s is said to have no vectors where meaning was not asked for", hit.Passage)
			}
		}
	}
	want("a#0", "a#1", "a#2", "b#0")
	s.writeVectors(t, vectorsFor(a.Passages[1], 1))
	want("a#0", "a#2", "b#0")
	s.writeVectors(t, vectorsFor(a.Passages[0], 1), vectorsFor(b.Passages[0]), vectorsFor(b.Passages[1]))
	want("a#2")
	s.writeVectors(t, vectorsFor(a.Passages[2], 1))
	want()
	s.putEntries(t, newEntry("a", "Title", "alpha two", "alpha new", "alpha one"))
	want("a#1")
	s.putEntries(t, newEntry("a", "Title", "alpha one", "alpha two"))
	want()
}

func testVectorValidation(t *testing.T, s *subject) {
	a := newEntry("a", "Title", "alpha")
	s.putEntries(t, a)
	short, long := vectorsFor(a.Passages[0], 1), vectorsFor(a.Passages[0], 1)
	short.Windows[0] = short.Windows[0][1:]
	long.Windows[0][0] += 2
	for name, v := range map[string]index.Vectors{"short": short, "long": long} {
		if err := s.WriteVectors(t.Context(), []index.Vectors{vectorsFor(a.Passages[0], 2), v}); err == nil {
			t.Errorf("a vector too %s was written", name)
		}
	}
	s.checkState(t)
}

func testWindows(t *testing.T, s *subject) {
	a, b := newEntry("a", "Title", "alpha"), newEntry("b", "Title", "beta")
	s.putEntries(t, a, b)
	s.writeVectors(t, vectorsFor(a.Passages[0], 1, 2, 3), vectorsFor(b.Passages[0], 4))
	for seed := range uint64(5) {
		s.checkSearch(t, index.Query{Vector: unitVector(seed)})
	}
	wantIDs(t, "by the last window", hitIDs(s.checkSearch(t, index.Query{Vector: unitVector(3), Limit: 1}).Dense), "a#0")
}
