package page_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/page"
	"github.com/cairn-bot/cairn/internal/graph/graphtest"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/pages"
	"github.com/cairn-bot/cairn/internal/pages/pagesource"
	"github.com/cairn-bot/cairn/internal/pages/tree"
	"github.com/cairn-bot/cairn/internal/sqlite/sqlitetest"
)

// shelf is the documents that an answer cites.
type shelf struct {
	found map[knowledge.PassageID]index.Found
	files map[knowledge.DocumentID]string
}

func (s *shelf) documents() page.Documents {
	return page.Documents{
		Passages: func(_ context.Context, ids []knowledge.PassageID) ([]index.Found, error) {
			var found []index.Found
			for _, id := range ids {
				if one, ok := s.found[id]; ok {
					found = append(found, one)
				}
			}
			return found, nil
		},
		ReadOriginal: func(_ context.Context, document knowledge.Document) ([]byte, error) {
			text, ok := s.files[document.ID]
			if !ok {
				return nil, page.ErrNoOriginal
			}
			return []byte(text), nil
		},
	}
}

func (s *shelf) add(document knowledge.Document, text string) knowledge.PassageID {
	id := knowledge.MakePassageID(document.ID, 0)
	s.found[id] = index.Found{Document: document, Passage: knowledge.Passage{ID: id, Document: document.ID, Text: text}}
	return id
}

func newCorrectingTalk(t *testing.T) (*talk, *shelf) {
	t.Helper()
	shelf := &shelf{found: make(map[knowledge.PassageID]index.Found), files: make(map[knowledge.DocumentID]string)}
	library := pages.NewLibrary(pages.OpenSQLite(sqlitetest.Open(t, t.TempDir())))
	flow, err := page.New(page.Options{Library: library, Documents: shelf.documents()})
	if err != nil {
		t.Fatal(err)
	}
	return &talk{
		t: t, flow: flow, library: library, store: graphtest.NewMemory(),
		room: flows.Room{Thread: "slack:C1/1", Channel: "slack:C1", Author: "U2", Audience: "channel:slack:C1"},
	}, shelf
}

// correct starts a run below an answer that cites passages.
func (k *talk) correct(reason string, cited ...knowledge.PassageID) flows.Outcome {
	k.t.Helper()
	k.runs++
	request := flows.Request{Run: k.run(), Text: "correct " + reason, Room: k.room, History: []flows.Turn{
		{Role: flows.User, Text: "how often are jobs retried?"}, {Role: flows.Assistant, Text: "After 30 seconds [1]", Cited: cited},
	}}
	may, err := k.flow.MayCorrect(k.t.Context(), request)
	if err != nil {
		k.t.Fatal(err)
	}
	made := k.took(k.flow.Start(k.t.Context(), request, k.runtime()))
	if (made.Kind == flows.Abstained) == may {
		k.t.Errorf("before the run: %v, then %s", may, made.Text)
	}
	return made
}

func TestACorrectionOfAPage(t *testing.T) {
	k, shelf := newCorrectingTalk(t)
	k.room.Author = "U1"
	k.want(k.ask("new Jobs\n# Retries\n\nJobs are retried after **30** seconds by default.\n\nAsk `deployctl`."), flows.Answered)
	made := k.active()
	before := tree.Encode(made.Root)
	cited := shelf.add(knowledge.Document{ID: pagesource.DocumentID(made.ID), Source: pagesource.ID, Title: "Jobs"}, made.Root.PlainText())
	k.room.Author = "U2"
	k.want(k.correct("wrong, jobs are retried after 45 seconds by default", cited), flows.Asked,
		"For `U1`", "− Jobs are retried after **30** seconds", "+ Jobs are retried after **45** seconds", "> wrong, jobs are retried after 45 seconds by default (`U2`)")
	if who := k.waiting.Who; who != "thread" {
		t.Errorf("the question is for %q: the owner could not answer", who)
	}
	k.want(k.choose("apply"), flows.Answered, "version 2")
	if got := tree.Markdown(k.active().Root); !strings.Contains(got, "**45** seconds") || !strings.Contains(got, "`deployctl`") {
		t.Errorf("the page is %s", got)
	}
	k.want(k.ask("undo"), flows.Answered, "as in version 1")
	if after := tree.Encode(k.active().Root); string(after) != string(before) {
		t.Errorf("taken back it is %s, want %s", after, before)
	}
	k.want(k.correct("wrong, jobs are retried after 45 seconds by default", cited), flows.Asked)
	k.want(k.choose("discard"), flows.Answered, "as it was")
}

func TestACorrectionOfAFileIsAPatch(t *testing.T) {
	k, shelf := newCorrectingTalk(t)
	text := "# Jobs\n\nJobs are retried after 30 seconds by default.\n"
	document := knowledge.Document{ID: "docs:guide/jobs.md", Source: "docs", Path: "guide/jobs.md", Title: "Jobs", Owner: "@platform"}
	shelf.files[document.ID] = text
	cited := shelf.add(document, text)
	made := k.correct("retries: 45 seconds by default, not 30", cited)
	k.want(made, flows.Answered, "git apply corrections.patch", "for its owner `@platform`", "+ Jobs are retried after 45 seconds")
	want := "diff --git a/guide/jobs.md b/guide/jobs.md\n--- a/guide/jobs.md\n+++ b/guide/jobs.md\n@@ -1,3 +1,3 @@\n # Jobs\n \n-Jobs are retried after 30 seconds by default.\n+Jobs are retried after 45 seconds by default.\n"
	if len(made.Files) != 1 || string(made.Files[0].Content) != want {
		t.Errorf("the patch is %+v, want %s", made.Files, want)
	}
	k.want(k.correct("thanks, that helped", cited), flows.Abstained, "nothing in the 1 cited documents")
	k.want(k.correct("it is 45 seconds, not 30"), flows.Abstained, "no answer with sources")
}

// merges are the merge requests that were opened.
type merges struct {
	opened []page.MergeRequest
	err    error
}

func (m *merges) FindRepository(document knowledge.Document) (string, bool) {
	name, _, ok := strings.Cut(string(document.ID), "//")
	return name, ok
}

func (m *merges) Open(_ context.Context, request page.MergeRequest) (string, error) {
	m.opened = append(m.opened, request)
	return "https://git.example.com/acme/app/pulls/1", m.err
}

func TestACorrectionOfAFileIsAMergeRequest(t *testing.T) {
	k, shelf := newCorrectingTalk(t)
	opened := &merges{}
	documents := shelf.documents()
	documents.Merges = opened
	var err error
	if k.flow, err = page.New(page.Options{Library: k.library, Documents: documents}); err != nil {
		t.Fatal(err)
	}
	text := "# Jobs\n\nJobs are retried after 30 seconds by default.\n"
	document := knowledge.Document{ID: "code:acme/app//files/guide/jobs.md", Source: "code", Path: "acme/app/guide/jobs.md", Title: "Jobs"}
	shelf.files[document.ID] = text
	cited := shelf.add(document, text)
	said := "retries: 45 seconds by default, not 30"
	k.want(k.correct(said, cited), flows.Asked, "Open a merge request of the change?", "+ Jobs are retried after 45 seconds", "> "+said)
	if who := k.waiting.Who; who != "thread" || len(opened.opened) != 0 {
		t.Errorf("before anybody approved, for %q: %+v", who, opened.opened)
	}
	k.want(k.choose("discard"), flows.Answered, "as it was")
	k.want(k.correct(said, cited), flows.Asked)
	made := k.choose("apply")
	k.want(made, flows.Answered, "https://git.example.com/acme/app/pulls/1")
	if len(made.Files) != 1 || !strings.HasPrefix(string(made.Files[0].Content), "diff --git a/guide/jobs.md b/guide/jobs.md\n") {
		t.Errorf("with it comes %+v", made.Files)
	}
	if len(opened.opened) != 1 {
		t.Fatalf("opened %+v", opened.opened)
	}
	request := opened.opened[0]
	if request.Title != "Correct Jobs" || !strings.Contains(request.Body, "> "+said) || strings.Contains(request.Body, "U2") ||
		len(request.Files) != 1 || string(request.Files[0].Before) != text || string(request.Files[0].After) != strings.Replace(text, "30", "45", 1) {
		t.Errorf("opened %+v", request)
	}

	k.want(k.correct(said, cited), flows.Asked)
	shelf.files[document.ID] = strings.Replace(text, "Jobs are", "All jobs are", 1)
	k.want(k.choose("apply"), flows.Abstained, "changed meanwhile")
	shelf.files[document.ID] = text
	opened.err = page.ErrOutdated
	k.want(k.correct(said, cited), flows.Asked)
	k.want(k.choose("apply"), flows.Abstained, "changed meanwhile")

	opened.err = &page.RefusedError{Reason: "the token may not write there", Err: errors.New("status 403")}
	k.want(k.correct(said, cited), flows.Asked)
	refused := k.choose("apply")
	k.want(refused, flows.Abstained, "No merge request was opened: the token may not write there.")
	if len(refused.Files) != 1 || !strings.Contains(string(refused.Files[0].Content), "+Jobs are retried after 45 seconds") {
		t.Errorf("with the refusal comes %+v", refused.Files)
	}
}

func TestADocumentWithoutAFileIsLeftOut(t *testing.T) {
	k, shelf := newCorrectingTalk(t)
	cited := shelf.add(knowledge.Document{ID: "web:a", Source: "web"}, "x is 30 by default")
	k.want(k.took(k.flow.Start(t.Context(), flows.Request{Run: "r", Text: "correct x is 45, not 30", Room: k.room, History: []flows.Turn{{Role: flows.Assistant, Text: "30 [1]", Cited: []knowledge.PassageID{cited}}}}, k.runtime())), flows.Abstained, "0 cited documents")
}

// What a run made is kept as a page, and a button takes back the change of its own run alone.
func TestKeepAndUndoOfARun(t *testing.T) {
	k, _ := newCorrectingTalk(t)
	start := func(text string, made ...flows.Made) flows.Outcome {
		k.runs++
		return k.took(k.flow.Start(t.Context(), flows.Request{Run: k.run(), Text: text, Room: k.room, Made: made}, k.runtime()))
	}
	overview := flows.Made{Run: "run-A", File: flows.File{Name: "billing_context.md", MediaType: flows.Markdown, Content: []byte("# Billing\n\nIt sends invoices.\n")}}
	report := flows.Made{Run: "run-B", File: flows.File{Name: "report.md", MediaType: flows.Markdown, Content: []byte("Two modules.\n")}}
	k.want(start("keep"), flows.Abstained, "no analysis, overview or report")
	k.want(start("keep run-B", overview, report), flows.Answered, "**report** is a page now", "Two modules.")
	k.want(start("keep", overview, report), flows.Answered, "**Billing** is a page now", "It sends invoices.")
	k.want(start("append More."), flows.Asked)
	changed := k.run()
	if made := k.choose("apply"); !made.Undoable {
		t.Errorf("an applied change can't be undone: %+v", made)
	}
	k.want(start("undo run-other"), flows.Abstained, "changed since")
	k.want(start("undo "+changed), flows.Answered, "as in version 1")
}
