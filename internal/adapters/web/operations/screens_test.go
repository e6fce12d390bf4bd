package operations_test

import (
	"encoding/csv"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/web/operations"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/session"
)

func TestRunsAreListedAndFiltered(t *testing.T) {
	eachStore(t, func(t *testing.T, s stores) {
		p := open(t, s, nil)
		for _, status := range []runs.Status{runs.Queued, runs.Running, runs.Waiting, runs.Failed, runs.Cancelled, runs.Expired} {
			p.save(record("run-"+string(status), status, "question that is "+string(status)))
		}
		p.save(explained(record("run-done", runs.Done, "How many days of leave?")))
		other := record("run-echo", runs.Done, "say it")
		other.Flow, other.Thread, other.Author = "echo", "web:abc", "ann"
		p.save(other)

		page := p.sees("/operations")
		p.contains(page, "run-queued", "run-waiting", "question that is expired", "How many days of leave?", "2.3 s", ">1000<", "0.0125", "1 hour ago")
		for query, want := range map[string]string{
			"status=failed": "run-failed", "flow=echo": "run-echo", "adapter=web": "run-echo", "text=ann": "run-echo",
			"text=SAY+it": "run-echo", "outcome=answered&flow=answer": "run-done", "text=web:abc": "run-echo", "text=run-don": "run-done", "status=done&flow=answer": "run-done",
		} {
			page := p.sees("/operations?" + query)
			p.contains(page, want)
			if n := strings.Count(page, `<tr><td class="asked"`); n != 1 {
				t.Errorf("?%s lists %d runs", query, n)
			}
		}
		p.contains(p.sees("/operations?text=nothing"), "No runs that fit.")
		p.contains(p.sees("/operations/questions"), "run-waiting")
		p.lacks(p.sees("/operations/questions"), "run-done")
	})
}

func TestTheListIsDownloaded(t *testing.T) {
	p := open(t, embeddedStores(t), nil)
	p.save(explained(record("run-1", runs.Done, "How many days of leave?")))
	p.save(record("run-2", runs.Failed, "=HYPERLINK(\"https://evil.example\"),\"a\"\nb"))
	got := p.get("/operations/runs.csv?status=failed")
	rows, err := csv.NewReader(strings.NewReader(got.body)).ReadAll()
	if err != nil || len(rows) != 2 || len(rows[0]) != len(rows[1]) {
		t.Fatalf("%v: %q", err, got.body)
	}
	if rows[0][0] != "asked" || rows[1][0] != "'=HYPERLINK(\"https://evil.example\"),\"a\"\nb" || rows[1][1] != "failed" || rows[1][len(rows[1])-1] != "run-2" {
		t.Errorf("%q", rows)
	}
	p.contains(p.sees("/operations?status=failed"), `href="/operations/runs.csv?status=failed" download`)
	if got := p.get("/operations/runs.csv?status=lost"); got.status != http.StatusBadRequest {
		t.Errorf("a wrong filter: status %d", got.status)
	}
}

func TestAWrongFilterIsNamed(t *testing.T) {
	p := open(t, embeddedStores(t), nil)
	for query, want := range map[string]string{
		"page=0": "page is a number", "page=9999": "page is a number", "page=x": "page is a number",
		"status=lost": "status is one of", "outcome=good": "outcome is answered or none", "text=" + strings.Repeat("x", 201): "200 bytes",
	} {
		if got := p.get("/operations?" + query); got.status != http.StatusBadRequest || !strings.Contains(got.body, want) {
			t.Errorf("?%s: status %d: %s", query, got.status, bodyOf(got.body))
		}
	}
}

func TestTheListIsPaged(t *testing.T) {
	p := open(t, embeddedStores(t), nil)
	p.contains(p.sees("/operations"), "No runs.")
	for i := range 120 {
		p.save(record(fmt.Sprintf("run-%03d", i), runs.Done, "question"))
	}
	first := p.sees("/operations?status=done")
	p.contains(first, "run-119", "run-070", "/operations?page=2&amp;status=done")
	p.lacks(first, "run-069", ">Newer<")
	last := p.sees("/operations?status=done&page=3")
	p.contains(last, "run-019", "run-000", ">Newer<")
	p.lacks(last, "run-020", ">Older<")
}

func TestOneRunIsShownWithItsWay(t *testing.T) {
	eachStore(t, func(t *testing.T, s stores) {
		p := open(t, s, nil)
		r := explained(record("run-1", runs.Failed, "How many days\nof leave?"))
		r.Move(runs.Running, day.Add(time.Minute), "a retry")
		r.Move(runs.Done, day.Add(2*time.Minute), string(chat.Answered))
		p.save(r)
		if err := p.stores.records.Rate(t.Context(), "run-1", chat.Rating{By: "U2", Verdict: chat.Down, Reason: "It is 30.", At: day}); err != nil {
			t.Fatal(err)
		}
		page := p.sees("/operations/run?id=run-1")
		p.contains(page, "How many days\nof leave?", "a retry", "2026-03-02 09:31:00 UTC", "Thumbs down", "It is 30.", "<svg", `node taken completed"`,
			"Leave policy", "1 of 1 used", "m-1", "<dt>Retries</dt><dd>1</dd>")
		p.lacks(page, "Cancel this run", "Go on with it")
		if got := p.get("/operations/run?id=nothing"); got.status != http.StatusNotFound {
			t.Errorf("an unknown run: status %d", got.status)
		}
		if got := p.get("/operations/run"); got.status != http.StatusBadRequest {
			t.Errorf("no run: status %d", got.status)
		}
	})
}

func TestRunsAreCancelledAndGoneOnWith(t *testing.T) {
	eachStore(t, func(t *testing.T, s stores) {
		p := open(t, s, nil)
		p.save(record("run-1", runs.Running, "question"))
		p.contains(p.sees("/operations/run?id=run-1"), "Cancel this run")
		if got := p.post("/operations/replay", url.Values{"run": {"run-1"}}); got.status != http.StatusConflict {
			t.Errorf("a run that works was gone on with: status %d", got.status)
		}
		got := p.post("/operations/cancel", url.Values{"run": {"run-1"}})
		if got.status != http.StatusSeeOther || got.header.Get("Location") != "/operations/run?did=cancelled&id=run-1" {
			t.Errorf("cancel: status %d, to %q", got.status, got.header.Get("Location"))
		}
		p.contains(p.sees(got.header.Get("Location")), "The run is being cancelled.", "Go on with it")
		if got := p.post("/operations/cancel", url.Values{"run": {"run-1"}}); got.status != http.StatusConflict {
			t.Errorf("a cancelled run was cancelled: status %d", got.status)
		}
		p.post("/operations/replay", url.Values{"run": {"run-1"}})
		p.contains(p.sees("/operations?status=queued"), "run-1")
		p.contains(p.journal.text(), `"actor":"whoever sits at this machine","action":"run.cancel","target":"run-1","outcome":"done","from":"127.0.0.1"`,
			`"action":"run.replay","target":"run-1","outcome":"done"`)
	})
}

func TestAnActionThatBreaksIsWrittenDown(t *testing.T) {
	s := embeddedStores(t)
	p := open(t, s, func(o *operations.Options) { o.Control = control{s, errors.New("the store broke at 10.0.0.7")} })
	p.save(record("run-1", runs.Running, "question"))
	got := p.post("/operations/cancel", url.Values{"run": {"run-1"}})
	if got.status != http.StatusInternalServerError {
		t.Errorf("status %d", got.status)
	}
	p.lacks(got.body, "10.0.0.7")
	p.contains(p.logged.text(), "10.0.0.7")
	p.contains(p.journal.text(), `"action":"run.cancel","target":"run-1","outcome":"failed"`)
}

func TestARunThatHasJustEndedIsNoFailure(t *testing.T) {
	s := embeddedStores(t)
	for _, test := range []struct {
		path   string
		status runs.Status
		err    error
	}{
		{"/operations/cancel", runs.Queued, fmt.Errorf("cancel: %w", operations.ErrNotGoingOn)},
		{"/operations/replay", runs.Failed, fmt.Errorf("replay: %w", chat.ErrRunOver)},
	} {
		p := open(t, s, func(o *operations.Options) { o.Control = control{s, test.err} })
		p.save(record("run-1", test.status, "question"))
		if got := p.post(test.path, url.Values{"run": {"run-1"}}); got.status != http.StatusConflict {
			t.Errorf("%s: status %d", test.path, got.status)
		}
	}
}

func TestDeadLettersArePutBack(t *testing.T) {
	eachStore(t, func(t *testing.T, s stores) {
		p := open(t, s, nil)
		p.contains(p.sees("/operations/queue"), "Nothing was put aside.", "No thread has work.")
		p.putAside("run-1", "it was taken up 5 times and never came to an end")
		p.contains(p.sees("/operations/queue"), "run-1", "never came to an end", "event-run-1")
		form := url.Values{"thread": {"slack:T1:C1:run-1"}, "event": {"event-run-1"}}
		got := p.post("/operations/letters", form)
		if got.status != http.StatusSeeOther {
			t.Fatalf("status %d: %s", got.status, got.body)
		}
		page := p.sees(got.header.Get("Location"))
		p.contains(page, "Nothing was put aside.", "It is queued again", "slack:T1:C1:run-1")
		if got := p.post("/operations/letters", form); got.status != http.StatusNotFound {
			t.Errorf("put back twice: status %d", got.status)
		}
		p.contains(p.journal.text(), `"target":"slack:T1:C1:run-1 event-run-1","outcome":"done"`, `"outcome":"failed"`)
		p.contains(p.sees("/operations/thread?id=slack:T1:C1:run-1"), "1 queued")
	})
}

func TestDeadLettersAreDiscarded(t *testing.T) {
	eachStore(t, func(t *testing.T, s stores) {
		p := open(t, s, nil)
		p.putAside("run-1", "it was taken up 5 times and never came to an end")
		form := url.Values{"thread": {"slack:T1:C1:run-1"}, "event": {"event-run-1"}, "discard": {"1"}}
		got := p.post("/operations/letters", form)
		if got.status != http.StatusSeeOther {
			t.Fatalf("status %d: %s", got.status, got.body)
		}
		p.contains(p.sees(got.header.Get("Location")), "Nothing was put aside.", "It is forgotten", "No thread has work.")
		if got := p.post("/operations/letters", form); got.status != http.StatusNotFound {
			t.Errorf("discarded twice: status %d", got.status)
		}
		p.contains(p.journal.text(), `"action":"run.discard","target":"slack:T1:C1:run-1 event-run-1","outcome":"done"`, `"outcome":"failed"`)
	})
}

// configured gives sources that are read once an hour.
func configured(names ...string) func() ([]operations.Source, error) {
	return func() ([]operations.Source, error) {
		var sources []operations.Source
		for _, name := range names {
			sources = append(sources, operations.Source{Name: name, Every: time.Hour})
		}
		return sources, nil
	}
}

func TestSourcesTellWhenTheyAreReadNext(t *testing.T) {
	states := ingests{
		{Source: "docs", Began: day.Add(-10 * time.Minute), Ended: day, Complete: day, Held: 31},
		{Source: "paused", Began: day, Ended: day},
		{Source: "hand", Began: day, Ended: day},
		{Source: "late", Began: day.Add(-24 * time.Hour), Ended: day},
	}
	p := open(t, embeddedStores(t), func(o *operations.Options) {
		o.Ingests = states
		o.Sources = func() ([]operations.Source, error) {
			return []operations.Source{{Name: "docs", Every: time.Hour}, {Name: "paused", Every: time.Hour, Paused: true}, {Name: "hand"}, {Name: "late", Every: time.Hour}}, nil
		}
	})
	p.now = day
	page := p.sees("/operations/sources")
	p.contains(page, "read, but for what is gone", "31 documents are gone at the source", "Read next: in 50m0s", "Read next: paused", "Read next: now")
	if strings.Count(page, "Read next") != 3 {
		t.Errorf("a source that is read by hand has a next time: %s", page)
	}
}

func TestSourcesTellWhatCouldNotBeRead(t *testing.T) {
	states := ingests{
		{Source: "docs", Began: day, Ended: day.Add(90 * time.Second), Complete: day.Add(90 * time.Second), Seen: 40, Changed: 3, Deleted: 1,
			Passages: 77, Failed: 3, Failures: []index.IngestFailure{{Document: "a/plan.pdf", Reason: "it is encrypted"}}},
		{Source: "wiki", Began: day, Ended: day.Add(time.Second), Reason: "the folder is gone"},
		{Source: "notes", Began: day},
	}
	p := open(t, embeddedStores(t), func(o *operations.Options) { o.Ingests, o.Sources = states, configured("docs", "wiki", "new") })
	page := p.sees("/operations/sources")
	p.contains(page, "read, but for some documents", "40 looked at, 3 changed, 1 taken away", "77 written", "a/plan.pdf", "it is encrypted",
		"2 more are not listed.", "took 90.0 s", "broke off", "the folder is gone", "is being read, or was killed",
		"never read", "not among the configured sources")
	none := open(t, embeddedStores(t), nil)
	none.contains(none.sees("/operations/sources"), "This index does not keep how its sources were read.")
}

func TestGapsAreGrouped(t *testing.T) {
	eachStore(t, func(t *testing.T, s stores) {
		p := open(t, s, func(o *operations.Options) { o.Pages = "https://cairn.example.com/pages" })
		p.contains(p.sees("/operations/gaps"), "No question went without a good answer.")
		p.save(abstained("run-1", "What is the wifi password of the office?"))
		p.save(explained(record("run-2", runs.Done, "How many days of leave?")))
		unsourced := explained(record("run-3", runs.Done, "Who leads the zeppelin team?"))
		unsourced.Trace.Evidence[0].Kept = false
		p.save(unsourced)
		p.save(explained(record("run-4", runs.Done, "Where do I park?")))
		p.save(abstained("run-5", "the office wifi password, what is it"))
		if err := s.records.Rate(t.Context(), "run-4", chat.Rating{By: "U1", Verdict: chat.Down, At: day}); err != nil {
			t.Fatal(err)
		}
		page := p.sees("/operations/gaps")
		p.contains(page, `dir="auto">the office wifi password, what is it <a href="https://cairn.example.com/pages?draft=the%20office%20wifi%20password%2c%20what%20is%20it">Draft a page</a></td><td align="right">2</td><td align="right">2</td>`,
			"zeppelin", "Where do I park?", "thumbs down", `<a href="/operations?text=`, "no source", "/operations/run?id=run-1")
		p.lacks(page, "How many days of leave?", "What is the wifi password of the office?")
		if strings.Index(page, "wifi") > strings.Index(page, "park") {
			t.Error("the largest group is not the first")
		}
	})
}

func TestThreadsShowNoMessages(t *testing.T) {
	eachStore(t, func(t *testing.T, s stores) {
		p := open(t, s, nil)
		r := record("run-1", runs.Waiting, "question of the record")
		p.save(r)
		remembered := session.Session{Thread: r.Thread, Flow: "answer", Waiting: &session.Waiting{Run: "run-1", Question: chat.Question{Text: "Which of the two secrets?"}}}
		remembered.Add(chat.Turn{Role: chat.Person, Author: "U1", Message: "m1", Text: "a private word"})
		if err := s.sessions.Save(t.Context(), remembered); err != nil {
			t.Fatal(err)
		}
		p.contains(p.sees("/operations/threads"), "slack:T1:C1:run-1", "waiting")
		page := p.sees("/operations/thread?id=" + url.QueryEscape(string(r.Thread)))
		p.contains(page, "1 turns", "1 people", "run-1", "question of the record")
		p.lacks(page, "a private word", "Which of the two secrets?")
		if got := p.get("/operations/thread?id=slack:none"); got.status != http.StatusNotFound {
			t.Errorf("an unknown thread: status %d", got.status)
		}
	})
}

func TestTheConfigurationShowsNoSecret(t *testing.T) {
	p := open(t, embeddedStores(t), func(o *operations.Options) {
		o.Settings = []operations.Setting{
			{Key: "web.listen", Value: "127.0.0.1:0", Variable: "CAIRN_WEB_LISTEN"},
			{Key: "slack.bot_token", Variable: "CAIRN_SLACK_BOT_TOKEN", Secret: true, Set: true},
			{Key: "slack.app_token", Secret: true},
		}
	})
	p.contains(p.sees("/operations/configuration"), "127.0.0.1:0", "CAIRN_WEB_LISTEN", "set, and not shown", "not set")
}

func TestHostileTextStaysText(t *testing.T) {
	const hostile = `<script>alert(1)</script><img src=x onerror=alert(2)>"'` + "\u202e\x00"
	s := embeddedStores(t)
	p := open(t, s, func(o *operations.Options) {
		o.Ingests = ingests{{Source: hostile, Began: day, Ended: day, Failed: 1, Reason: hostile, Failures: []index.IngestFailure{{Document: hostile, Reason: hostile}}}}
		o.Sources = configured(hostile + "2")
	})
	r := explained(abstained("run-1", hostile))
	r.Thread, r.Author, r.Flow, r.Trace.Notes = chat.ThreadID("web:"+hostile), hostile, hostile, []string{hostile}
	r.Trace.Evidence[0].Title, r.Trace.Models[0].Failure, r.Trace.Steps[0].Node = hostile, hostile, hostile
	r.Transitions[0].Reason = hostile
	p.save(r)
	if err := s.records.Rate(t.Context(), "run-1", chat.Rating{By: "U1", Verdict: chat.Down, Reason: hostile, At: day}); err != nil {
		t.Fatal(err)
	}
	p.putAside("run-2", hostile)
	for _, path := range []string{
		"", "/run?id=run-1", "/questions", "/queue", "/agents", "/sources", "/gaps", "/answers", "/threads", "/thread?id=" + url.QueryEscape("web:"+hostile),
		"?text=" + url.QueryEscape(hostile), "?did=" + url.QueryEscape(hostile),
	} {
		got := p.get("/operations" + path)
		p.lacks(got.body, "<script>alert", "<img", "\u202e", "\x00")
		if got.status != http.StatusOK || !strings.Contains(got.header.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: status %d, policy %q", path, got.status, got.header.Get("Content-Security-Policy"))
		}
	}
}

func TestAnsweredQuestionsAreCountedByWeekChannelAndCollection(t *testing.T) {
	eachStore(t, func(t *testing.T, s stores) {
		p := open(t, s, nil)
		p.contains(p.sees("/operations/answers"), "Nothing was asked yet.")
		p.save(explained(record("run-1", runs.Done, "How many days of leave?")))
		p.save(abstained("run-2", "What is the wifi password?"))
		limited := abstained("run-3", "Who leads the zeppelin team?")
		limited.Collections = []string{"hr & law"}
		p.save(limited)
		p.save(record("run-4", runs.Failed, "Where do I park?"))
		old := explained(record("run-5", runs.Done, "Before all that?"))
		for i := range old.Transitions {
			old.Transitions[i].At = old.Transitions[i].At.AddDate(-1, 0, 0)
		}
		p.save(old)
		page := p.sees("/operations/answers")
		p.contains(page, `</td><td align="right">3</td><td align="right">1</td><td align="right">33 %</td>`,
			`<td dir="auto">hr &amp; law</td><td align="right">1</td><td align="right">0</td><td align="right">0 %</td>`, "By channel")
		p.lacks(page, "wifi", "leave")
	})
}
