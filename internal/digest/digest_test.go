package digest_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/digest"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/runs"
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
	for _, want := range []string{"2 × how do I renew the wildcard certificate?", "`cairn page draft 'how do I renew the wildcard certificate'`", "“it is 45s \\`now\\`”", "Old guide (old.md)"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

func TestRenderPost(t *testing.T) {
	made := digest.Digest{From: monday.AddDate(0, 0, -7), To: monday, Collections: []digest.Collection{
		{Name: "", Gaps: []digest.Gap{{Question: "who owns billing?", Count: 9}}},
		{
			Name:           "docs",
			Contradictions: []digest.Contradiction{{Question: "how long?", Reason: "it is [45s](https://evil.example.com)\n# now"}},
			Stale:          []digest.Stale{{Title: "Old guide", Path: "old.md", Modified: monday.AddDate(-2, 0, 0), Answers: 3}},
		},
		{Name: "wiki", Gaps: []digest.Gap{{Question: "never here", Count: 1}}},
	}}
	for i := range 7 {
		made.Collections[1].Gaps = append(made.Collections[1].Gaps, digest.Gap{Question: fmt.Sprintf("question %d?", i), Count: 7 - i})
	}
	got := digest.RenderPost(made, made.Select("docs", ""))
	want := `What ` + "`docs`" + ` lacked from 16 November to 23 November 2026:

**Questions without an answer**

- **1** · 9 × who owns billing?
- **2** · 7 × question 0?
- **3** · 6 × question 1?
- **4** · 5 × question 2?
- **5** · 4 × question 3?

**Said against answers**

- **6** · how long?

**Read often, and not changed for a year**

- **7** · Old guide (old.md), of 2024-11-23, 3 answers

` + "`cairn digest`" + ` shows 3 more.`
	if got.Text != want {
		t.Errorf("posted:\n%s\nwant:\n%s", got.Text, want)
	}
	if len(got.Topics) != 7 || got.Topics[0] != "who owns billing?" || got.Topics[6] != "Old guide" {
		t.Errorf("the topics are %q", got.Topics)
	}
	if empty := digest.RenderPost(made, made.Select("empty")); empty.Text != "" {
		t.Errorf("nothing to say is said as %q", empty.Text)
	}
}

func TestMakeLeavesOutWhatMayNotBeShown(t *testing.T) {
	s := &shelf{}
	s.ask("who owns billing?", chat.Abstained, monday)
	s.ask("what does Ann earn?", chat.Abstained, monday)
	made, err := digest.Make(t.Context(), digest.Options{
		Records: s, Documents: s.list, From: monday.AddDate(0, 0, -7), To: monday.Add(time.Hour),
		Includes: func(_ context.Context, record runs.Record) bool { return record.ID == "a" },
	})
	if err != nil || len(made.Collections) != 1 || len(made.Collections[0].Gaps) != 1 || made.Collections[0].Gaps[0].Question != "who owns billing?" {
		t.Errorf("%v, made %+v", err, made)
	}
}
