package bot_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/bot"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/page"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/pages"
	"github.com/cairn-bot/cairn/internal/sqlite/sqlitetest"
)

// citingFlow answers everything from one passage.
type citingFlow struct{}

func (citingFlow) Name() string       { return "answer" }
func (citingFlow) Shape() graph.Shape { return graph.Shape{} }
func (citingFlow) Start(context.Context, flows.Request, flows.Runtime) (flows.Outcome, error) {
	return flows.Outcome{Kind: flows.Answered, Text: "After 30 seconds [1]", Groups: []flows.SourceGroup{{Sources: []flows.Source{{
		Document: "docs:jobs.md", Title: "Jobs", Sections: []flows.Section{{Number: 1, Passage: "0-9f86d081884c"}},
	}}}}}, nil
}

func (citingFlow) Resume(context.Context, string, []graph.Answer, flows.Runtime) (flows.Outcome, error) {
	return flows.Outcome{}, graph.ErrNoCheckpoint
}

// indexOf is an index that has whatever is asked for.
type indexOf func(ids []knowledge.PassageID) []index.Found

func (f indexOf) Passages(_ context.Context, ids []knowledge.PassageID) ([]index.Found, error) {
	return f(ids), nil
}

func (indexOf) Search(context.Context, retrieve.Query) (retrieve.Result, error) {
	return retrieve.Result{}, nil
}

// What people say below an answer is a proposal where it corrects a source, once, and nothing else.
func TestWhatPeopleSayCorrectsSources(t *testing.T) {
	const text = "Jobs are retried after 30 seconds by default."
	document := knowledge.Document{ID: "docs:jobs.md", Source: "docs", Path: "jobs.md", Title: "Jobs", Owner: "@ops"}
	documents := indexOf(func(ids []knowledge.PassageID) []index.Found {
		return []index.Found{{Document: document, Passage: knowledge.Passage{ID: ids[0], Document: document.ID, Text: text}}}
	})
	flow, err := page.New(page.Options{
		Library: pages.NewLibrary(pages.OpenSQLite(sqlitetest.Open(t, t.TempDir()))),
		Documents: page.Documents{
			Passages:     documents.Passages,
			ReadOriginal: func(context.Context, knowledge.Document) ([]byte, error) { return []byte(text + "\n"), nil },
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	o := openWith(t, t.TempDir(), func(options *bot.Options) {
		options.Flows, options.Corrections, options.Library = []flows.Flow{citingFlow{}, flow}, flow, documents
	})
	o.say(o.next("how often are jobs retried?"))
	correct := func(id, said string, before ...chat.Said) {
		t.Helper()
		if err := o.bot.Correct(t.Context(), chat.Message{ID: chat.MessageID(id), Thread: "test:1", Author: "ben", Text: said, Before: before}); err != nil {
			t.Fatal(err)
		}
	}
	correct("1", "thanks, that took 45 seconds on my laptop")
	correct("2", "is it 45 seconds now?")
	correct("3", "jobs are retried after 45 seconds by default now")
	correct("3", "jobs are retried after 45 seconds by default now")
	proposals := func() (found []chat.Reply) {
		turns, err := o.bot.Transcript(t.Context(), "test:1")
		if err != nil {
			t.Fatal(err)
		}
		for _, turn := range turns {
			if turn.Reply != nil && strings.Contains(turn.Reply.Text, "git apply") {
				found = append(found, *turn.Reply)
			}
		}
		return found
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for len(proposals()) == 0 && ctx.Err() == nil {
		o.say(o.next("/cairn echo wait")) // it is worked at after what came before
	}
	made := proposals()
	if len(made) != 1 || !strings.Contains(made[0].Text, "+ Jobs are retried after 45 seconds") || !strings.Contains(made[0].Text, "`@ops`") || len(made[0].Documents) != 1 {
		t.Fatalf("proposed %+v", made)
	}
}
