package indextest

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
)

func testIngestStates(t *testing.T, s *subject) {
	states := func() index.IngestStates {
		kept, ok := s.Index.(index.IngestStates)
		if !ok {
			t.Fatal("the index keeps no states of ingests")
		}
		return kept
	}
	save := func(state index.IngestState) {
		t.Helper()
		if err := states().SaveIngest(t.Context(), state); err != nil {
			t.Fatalf("save ingest: %v", err)
		}
	}
	wants := func(want ...index.IngestState) {
		t.Helper()
		got, err := states().IngestStates(t.Context())
		if err != nil {
			t.Fatalf("ingest states: %v", err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("ingest states\n%+v, want\n%+v", got, want)
		}
	}
	wants()

	wiki := index.IngestState{Source: "wiki\x00'", Began: dayOf(2)}
	docs := index.IngestState{
		Source: "docs", Began: dayOf(1), Ended: dayOf(2), Complete: dayOf(2), Seen: 5, Changed: 3, Deleted: 1, Passages: 9,
		Failed: 1, Failures: []index.IngestFailure{{Document: "a/ü.pdf", Reason: "it is “broken”"}},
	}
	save(wiki)
	save(docs)
	wants(docs, wiki)

	again := index.IngestState{Source: "docs", Began: dayOf(3)}
	save(again)
	again.Complete = docs.Complete
	wants(again, wiki)

	stopped := index.IngestState{
		Source: "docs", Began: dayOf(3), Ended: dayOf(4), Seen: 2, Reason: "the folder is gone", Held: 7, Attempts: 2, NotBefore: dayOf(5),
	}
	save(stopped)
	stopped.Complete = docs.Complete
	wants(stopped, wiki)

	if err := s.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
	s.openIndex(t)
	wants(stopped, wiki)

	if err := states().SaveIngest(t.Context(), index.IngestState{Began: dayOf(1)}); err == nil {
		t.Error("a state without a source was saved")
	}
	wants(stopped, wiki)
}

func testIngestBounds(t *testing.T, s *subject) {
	kept, ok := s.Index.(index.IngestStates)
	if !ok {
		t.Fatal("the index keeps no states of ingests")
	}
	long := strings.Repeat("ü", index.MaxIngestText)
	state := index.IngestState{Source: "docs", Began: dayOf(1).Add(time.Nanosecond), Failed: 2 * index.MaxIngestFailures, Reason: long}
	for range state.Failed {
		state.Failures = append(state.Failures, index.IngestFailure{Document: "\xff" + long, Reason: "a\x00b"})
	}
	if err := kept.SaveIngest(t.Context(), state); err != nil {
		t.Fatalf("save ingest: %v", err)
	}
	got, err := kept.IngestStates(t.Context())
	if err != nil || len(got) != 1 {
		t.Fatalf("ingest states %+v, %v", got, err)
	}
	if got[0].Failed != state.Failed || len(got[0].Failures) != index.MaxIngestFailures {
		t.Errorf("%d failed, %d listed", got[0].Failed, len(got[0].Failures))
	}
	if want := strings.Repeat("ü", index.MaxIngestText/2); got[0].Reason != want {
		t.Errorf("reason of %d bytes, want %d", len(got[0].Reason), len(want))
	}
	if first := got[0].Failures[0]; len(first.Document) > index.MaxIngestText || !strings.HasPrefix(first.Document, "�ü") || first.Reason != "a\x00b" {
		t.Errorf("failure %q", first)
	}
	if got[0].Source != knowledge.SourceID("docs") || !got[0].Began.Equal(dayOf(1)) {
		t.Errorf("state of %q from %s", got[0].Source, got[0].Began)
	}
}
