package indextest

import (
	"cmp"
	"maps"
	"slices"
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
)

// checkCatalog compares the classes and the latest documents with those of the model.
func (s *subject) checkCatalog(t *testing.T) {
	t.Helper()
	summaries := map[index.Class]index.ClassSummary{}
	var documents []knowledge.Document
	for _, entry := range s.model.entries {
		document := entry.Document
		documents = append(documents, document)
		class := classOf(document)
		summary := summaries[class]
		summary.Class = class
		summary.Documents++
		if document.Modified.After(summary.Modified) {
			summary.Modified = document.Modified
		}
		if document.LastSeen.After(summary.LastSeen) {
			summary.LastSeen = document.LastSeen
		}
		summaries[class] = summary
	}
	want := slices.SortedFunc(maps.Values(summaries), func(a, b index.ClassSummary) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Audience, b.Audience))
	})
	classes, err := s.Classes(t.Context())
	if err != nil || !slices.Equal(classes, want) {
		t.Errorf("classes %+v, error %v, want %+v", classes, err, want)
	}
	restricted := slices.ContainsFunc(documents, func(d knowledge.Document) bool { return !knowledge.Viewers{}.MaySee(d.Audience) })
	if public, err := s.IsPublic(t.Context()); err != nil || restricted && public {
		t.Errorf("every document is public: %v, error %v", public, err)
	}
	slices.SortFunc(documents, func(a, b knowledge.Document) int {
		return cmp.Or(b.Modified.Compare(a.Modified), cmp.Compare(a.ID, b.ID))
	})
	all := []index.Class{{Source: "no such source"}}
	for _, class := range want {
		all = append(all, class.Class)
	}
	for _, chosen := range [][]index.Class{nil, all[:1], all[:min(2, len(all))], all} {
		passing := slices.DeleteFunc(slices.Clone(documents), func(d knowledge.Document) bool { return !slices.Contains(chosen, classOf(d)) })
		for _, limit := range []int{1, 3, len(documents) + 1} {
			got, err := s.LatestDocuments(t.Context(), chosen, limit)
			if want := passing[:min(limit, len(passing))]; err != nil || !slices.Equal(got, want) {
				t.Errorf("latest %d of %v: %+v, error %v, want %+v", limit, chosen, got, err, want)
			}
		}
	}
}

// classOf returns the class of a document as it was written.
func classOf(d knowledge.Document) index.Class {
	return index.Class{Source: d.Source, Kind: d.Kind, Audience: d.Audience}
}

func testPublic(t *testing.T, s *subject) {
	expect := func(want bool) {
		t.Helper()
		if public, err := s.IsPublic(t.Context()); err != nil || public != want {
			t.Errorf("every document is public: %v, error %v, want %v", public, err, want)
		}
	}
	expect(true)
	open, wide, closed := newEntry("a", "Title", "alpha"), newEntry("b", "Title", "beta"), newEntry("c", "Title", "gamma")
	open.Document.Audience, wide.Document.Audience, closed.Document.Audience = "", "public", "user:ann@example.com"
	s.putEntries(t, open, wide)
	expect(true)
	s.putEntries(t, closed)
	expect(false)
}
