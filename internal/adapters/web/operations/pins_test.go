package operations_test

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/adapters/web/operations"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/curated"
	"github.com/cairn-bot/cairn/internal/runs"
)

// pinboard pins into a store.
type pinboard struct{ curated.Store }

func (b pinboard) Pin(ctx context.Context, question, text, by string) error {
	_, err := curated.Pin(ctx, b.Store, curated.Answer{ID: curated.NewID(), Question: question, Text: text, Name: by, Pinned: day, Expires: day.AddDate(0, 6, 0)}, day)
	return err
}

func (b pinboard) DraftRun(_ context.Context, run chat.RunID, _ string) (chat.PinDraft, error) {
	if run == "run-FILES" {
		return chat.PinDraft{}, &chat.PinError{Text: "It rests on files."}
	}
	return chat.PinDraft{Question: "the question of " + string(run), Text: "its </textarea> answer"}, nil
}

func (b pinboard) PinRun(ctx context.Context, run chat.RunID, by string, draft chat.PinDraft) error {
	made, err := b.DraftRun(ctx, run, by)
	if err != nil {
		return err
	}
	return b.Pin(ctx, cmp.Or(draft.Question, made.Question), cmp.Or(draft.Text, made.Text), by)
}

func (b pinboard) Unpin(ctx context.Context, id curated.ID) error { return b.Delete(ctx, id) }

func TestAnswersArePinnedAndUnpinned(t *testing.T) {
	p := open(t, embeddedStores(t), nil)
	p.save(record("run-ANSWERED", runs.Done, "where?"))
	p.save(record("run-FILES", runs.Done, "where?"))
	for _, step := range []struct {
		path   string
		form   url.Values
		status int
		shows  string
	}{
		{"/pin", url.Values{"question": {"How do I <b>?"}, "text": {"So."}}, http.StatusSeeOther, ""},
		{"/pin", url.Values{"run": {"run-ANSWERED"}}, http.StatusSeeOther, ""},
		{"/pin", url.Values{"run": {"run-FILES"}}, http.StatusConflict, "It rests on files."},
		{"/pin", url.Values{"run": {"run-NOBODY"}}, http.StatusNotFound, "no such run"},
		{"/pin", url.Values{"question": {"Why?"}, "text": {" "}}, http.StatusBadRequest, "Nothing was pinned: the answer is empty."},
		{"/unpin", url.Values{"pin": {"pin-nobody"}}, http.StatusNotFound, "not pinned any more"},
	} {
		if got := p.post(operations.Root+step.path, step.form); got.status != step.status || !strings.Contains(got.body, step.shows) {
			t.Errorf("%s %v: %d, lacks %q:\n%s", step.path, step.form, got.status, step.shows, got.body)
		}
	}
	p.contains(p.sees(operations.Root+"/pins?run=run-ANSWERED"), `value="the question of run-ANSWERED"`, "its &lt;/textarea&gt; answer</textarea>", `name="run" value="run-ANSWERED"`)
	if got := p.post(operations.Root+"/pin", url.Values{"run": {"run-ANSWERED"}, "question": {"the question of run-ANSWERED"}, "text": {"Edited."}}); got.status != http.StatusSeeOther {
		t.Errorf("an edited answer: %d\n%s", got.status, got.body)
	}
	p.contains(p.sees(operations.Root+"/pins?did=pinned"), "It is pinned", "How do I &lt;b&gt;?", "the question of run-ANSWERED")
	all, err := p.options.Pins.List(t.Context())
	if err != nil || len(all) != 2 || !slices.ContainsFunc(all, func(a curated.Answer) bool { return a.Text == "Edited." }) {
		t.Fatalf("%+v, %v", all, err)
	}
	if got := p.post(operations.Root+"/unpin", url.Values{"pin": {string(all[0].ID)}}); got.status != http.StatusSeeOther {
		t.Errorf("unpin: %d\n%s", got.status, got.body)
	}
	if !strings.Contains(p.journal.text(), `"action":"answer.unpin"`) {
		t.Errorf("written down: %s", p.journal.text())
	}
}
