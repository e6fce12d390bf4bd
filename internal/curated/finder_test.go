package curated_test

import (
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/curated"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/echo"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/embed/local"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/index/embedded"
	"github.com/cairn-bot/cairn/internal/sqlite/sqlitetest"
)

func contains(text, part string) bool { return strings.Contains(text, part) }

// world is a finder over a store, with an index of a few documents.
type world struct {
	store  curated.Store
	index  *embedded.Index
	finder *curated.Finder
	now    time.Time
}

func newWorld(t *testing.T) *world {
	t.Helper()
	embedder, err := local.Load()
	if err != nil {
		t.Fatal(err)
	}
	opened, err := embedded.Open(t.Context(), embedded.Options{Dir: t.TempDir(), Embedder: embedder.Name(), Dimension: embedder.Dimension()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	})
	w := &world{store: curated.OpenSQLite(sqlitetest.Open(t, t.TempDir())), index: opened, now: monday}
	w.finder = curated.NewFinder(curated.Options{Store: w.store, Index: index.Guard(opened), Embedder: embedder, Now: func() time.Time { return w.now }})
	w.write(t, "docs:keys.md", "", "Keys", "Rotate the key.")
	return w
}

// write puts a document of two passages into the index.
func (w *world) write(t *testing.T, id knowledge.DocumentID, audience knowledge.Audience, title, text string) {
	t.Helper()
	document := knowledge.Document{ID: id, Source: "docs", Title: title, Path: string(id), Audience: audience, State: knowledge.StateLive, Modified: monday.Add(-time.Hour)}
	var passages []knowledge.Passage
	for i := range 2 {
		passages = append(passages, knowledge.Passage{ID: knowledge.MakePassageID(id, i), Document: id, Position: i, Text: text, Hash: "abc"})
	}
	if err := w.index.Write(t.Context(), index.Batch{Put: []index.Entry{{Document: document, Passages: passages}}}); err != nil {
		t.Fatal(err)
	}
}

func (w *world) put(t *testing.T, change func(*curated.Answer)) {
	t.Helper()
	answer := sample("pin-1", monday)
	answer.Audience = ""
	if change != nil {
		change(&answer)
	}
	if err := w.store.Put(t.Context(), answer); err != nil {
		t.Fatal(err)
	}
}

// finds reports whether a question is answered by a pin.
func (w *world) finds(t *testing.T, question curated.Question, viewers knowledge.Viewers) bool {
	t.Helper()
	_, ok, err := w.finder.Find(knowledge.WithViewers(t.Context(), viewers), question)
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

func TestPairsOfQuestionsThatMeanTheSame(t *testing.T) {
	w := newWorld(t)
	pairs, err := os.ReadFile("testdata/pairs.tsv")
	if err != nil {
		t.Fatal(err)
	}
	found, same := 0, 0
	for line := range strings.Lines(string(pairs)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		w.put(t, func(a *curated.Answer) { a.Question = fields[1] })
		got := w.finds(t, curated.Question{Text: fields[2]}, knowledge.Viewers{})
		if fields[0] == "same" {
			same++
			if got {
				found++
			}
		} else if got {
			t.Errorf("%q answers %q", fields[1], fields[2])
		}
	}
	t.Logf("found %d of %d", found, same)
	if found < 36 {
		t.Errorf("%d of %d paraphrases are found, 37 were", found, same)
	}
}

func TestWhoIsAnsweredByAPin(t *testing.T) {
	w := newWorld(t)
	asked := curated.Question{Text: "how to rotate the signing key"}
	legal := knowledge.NewViewers([]knowledge.Principal{"group:legal"})
	w.put(t, nil)
	if !w.finds(t, asked, knowledge.Viewers{}) {
		t.Fatal("a public pin is not found")
	}
	if w.finds(t, curated.Question{Text: asked.Text, Sources: []knowledge.SourceID{"wiki"}}, knowledge.Viewers{}) {
		t.Error("it is found though another collection was asked")
	}
	if w.finds(t, curated.Question{Text: "how to rotate it", FollowsUp: true}, knowledge.Viewers{}) {
		t.Error("it answers a follow-up that says less")
	}
	w.put(t, func(a *curated.Answer) { a.Audience = "group:legal" })
	if w.finds(t, asked, knowledge.Viewers{}) || !w.finds(t, asked, legal) {
		t.Error("its audience is not respected")
	}
	w.put(t, nil)
	w.write(t, "docs:keys.md", "group:legal", "Keys", "Rotate the key.")
	if w.finds(t, asked, knowledge.Viewers{}) || !w.finds(t, asked, legal) {
		t.Error("the audience of what it cites is not respected")
	}
	w.put(t, func(a *curated.Answer) { a.RestsOn = append(a.RestsOn, "docs:gone.md") })
	if w.finds(t, asked, legal) {
		t.Error("it is given though a document that it rests on is gone")
	}
	w.put(t, nil)
	w.now = monday.AddDate(0, 7, 0)
	if w.finds(t, asked, legal) {
		t.Error("it is given though it has expired")
	}
}

func TestAFlowAnswersByAPin(t *testing.T) {
	w := newWorld(t)
	echoes, err := echo.New()
	if err != nil {
		t.Fatal(err)
	}
	flow := curated.NewFlow(echoes, w.finder, slog.New(slog.DiscardHandler))
	w.put(t, nil)
	w.now = monday.AddDate(0, 0, 12)
	ask := func(request flows.Request) flows.Outcome {
		request.Run, request.Text = "run-2", "How to rotate the signing key"
		outcome, err := flow.Start(t.Context(), request, flows.Runtime{})
		if err != nil {
			t.Fatal(err)
		}
		return outcome
	}
	got := ask(flows.Request{})
	const note = "📌 Pinned by Ada, 1 week ago; expires 2027-05-02."
	if got.Kind != flows.Answered || got.Text != sample("", monday).Text || got.Note != note {
		t.Errorf("%s %q %q", got.Kind, got.Text, got.Note)
	}
	if len(got.Groups) != 1 || got.Groups[0].Sources[0].Document != "docs:keys.md" || len(got.Trace.Evidence) != 2 || !got.Trace.Evidence[1].Kept {
		t.Errorf("its sources: %+v, %+v", got.Groups, got.Trace.Evidence)
	}
	for name, request := range map[string]flows.Request{
		"files": {Attachments: []flows.Attachment{{Name: "a.txt", Text: "a"}}}, "all": {Depth: flows.Comprehensive}, "messages": {Before: []flows.Said{{Text: "hi"}}},
	} {
		if got := ask(request); got.Note != "" || !contains(got.Text, "rotate the signing key") {
			t.Errorf("with %s: %q", name, got.Text)
		}
	}
}
