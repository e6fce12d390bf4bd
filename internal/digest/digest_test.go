package digest_test

import (
	"context"
	"iter"
	"strings"
	"testing"
	"time"

	"cairn/internal/chat"
	"cairn/internal/digest"
	"cairn/internal/knowledge"
	"cairn/internal/runs"
)

var monday = time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC)

// shelf is the runs and documents of a test.
type shelf struct {
	records   []runs.Record
	documents []knowledge.Document
}

func (s *shelf) List(_ context.Context, filter runs.Filter, limit int) ([]runs.Record, error) {
	var listed []runs.Record
	for _, record := range s.records {
		if filter.Takes(record) && len(listed) < limit {
			record.Ratings = nil
			listed = append(listed, record)
		}
	}
	return listed, nil
}

func (s *shelf) Load(_ context.Context, run chat.RunID) (runs.Record, error) {
	for _, record := range s.records {
		if record.ID == run {
			return record, nil
		}
	}
	return runs.Record{}, chat.ErrUnknownRun
}

func (s *shelf) list(context.Context, knowledge.SourceID) iter.Seq2[knowledge.Document, error] {
	return func(yield func(knowledge.Document, error) bool) {
		for _, document := range s.documents {
			if !yield(document, nil) {
				return
			}
		}
	}
}

func (s *shelf) ask(question string, outcome chat.Outcome, at time.Time, documents ...string) *runs.Record {
	record := runs.Record{ID: chat.RunID(rune('a' + len(s.records))), Request: question}
	record.Move(runs.Queued, at, "")
	record.Move(runs.Running, at, "")
	record.Move(runs.Done, at, string(outcome))
	record.Trace.Queries = []chat.TraceQuery{{Text: question}}
	for _, document := range documents {
		record.Trace.Evidence = append(record.Trace.Evidence, chat.TraceEvidence{Passage: string(knowledge.MakePassageID(knowledge.DocumentID(document), 0)), Kept: outcome == chat.Answered})
	}
	s.records = append(s.records, record)
	return &s.records[len(s.records)-1]
}

func TestMake(t *testing.T) {
	s := &shelf{documents: []knowledge.Document{
		{ID: "docs:old.md", Source: "docs", Path: "old.md", Title: "Old guide", Modified: monday.AddDate(-2, 0, 0)},
		{ID: "docs:new.md", Source: "docs", Path: "new.md", Title: "New guide", Modified: monday.AddDate(0, -1, 0)},
		{ID: "docs:unread.md", Source: "docs", Path: "unread.md", Title: "Unread", Modified: monday.AddDate(-2, 0, 0)},
	}}
	s.ask("how do I renew the wildcard certificate?", chat.Abstained, monday, "docs:new.md")
	s.ask("renew wildcard certificate how?", chat.Abstained, monday, "docs:new.md")
	s.ask("who owns billing?", chat.Abstained, monday)
	s.ask("is this too early?", chat.Abstained, monday.AddDate(0, 0, -8), "docs:new.md")
	for range 3 {
		s.ask("how do I deploy?", chat.Answered, monday, "docs:old.md", "docs:new.md")
	}
	s.records[4].Ratings = []chat.Rating{{By: "ann", Verdict: chat.Down, Reason: "it is 45s `now`", At: monday}, {By: "ben", Verdict: chat.Down, At: monday}}
	made, err := digest.Make(t.Context(), digest.Options{Records: s, Documents: s.list, From: monday.AddDate(0, 0, -7), To: monday.Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	if made.Runs != 6 || len(made.Collections) != 2 {
		t.Fatalf("made %+v", made)
	}
	docs := made.Collections[1]
	if len(docs.Gaps) != 1 || docs.Gaps[0].Count != 2 || len(docs.Contradictions) != 1 || len(docs.Stale) != 1 || docs.Stale[0].Title != "Old guide" || docs.Stale[0].Answers != 3 {
		t.Errorf("docs lack %+v", docs)
	}
	if gaps := made.Collections[0].Gaps; len(gaps) != 1 || gaps[0].Question != "who owns billing?" {
		t.Errorf("no collection lacks %+v", gaps)
	}
	text := digest.Render(made)
	for _, want := range []string{"2 × how do I renew the wildcard certificate?", "`page: new how do I renew the wildcard certificate`", "“it is 45s", "Old guide (old.md)"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}
