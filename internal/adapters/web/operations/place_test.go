package operations_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/web/operations"
	"github.com/cairn-bot/cairn/internal/agent/reports"
	"github.com/cairn-bot/cairn/internal/audit"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/curated"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/redis/conn/conntest"
	"github.com/cairn-bot/cairn/internal/runs"
	embeddedruns "github.com/cairn-bot/cairn/internal/runs/embedded"
	"github.com/cairn-bot/cairn/internal/runs/redis/redistest"
	"github.com/cairn-bot/cairn/internal/servertest"
	"github.com/cairn-bot/cairn/internal/session"
	"github.com/cairn-bot/cairn/internal/sqlite/sqlitetest"
)

// stores are where a test's runs and threads are kept.
type stores struct {
	records interface {
		runs.Records
		runs.Registry
	}
	queue interface {
		runs.Queue
		runs.Leases
		runs.Operator
	}
	sessions session.Store
	agents   reports.Store
}

func embeddedStores(t *testing.T) stores {
	t.Helper()
	db := sqlitetest.Open(t, t.TempDir())
	opened, err := embeddedruns.Open(t.Context(), db, runs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return stores{opened.Records(), opened, opened.Sessions(), reports.OpenSQLite(db)}
}

func redisStores(t *testing.T) stores {
	t.Helper()
	address := servertest.Redis(t)
	here := redistest.Place{Address: address, Prefix: "operations-" + strings.ReplaceAll(t.Name(), "/", "-")}
	opened := here.OpenStore(t, runs.Options{})
	return stores{opened.Records(), opened, opened.Sessions(), reports.OpenRedis(conntest.Connect(t, address))}
}

// eachStore runs a test over both backends.
func eachStore(t *testing.T, test func(t *testing.T, s stores)) {
	t.Run("embedded", func(t *testing.T) { test(t, embeddedStores(t)) })
	t.Run("redis", func(t *testing.T) { test(t, redisStores(t)) })
}

// control changes records as the bot does in the end.
type control struct {
	stores
	broken error // nil unless it fails
}

func (c control) move(ctx context.Context, run chat.RunID, to runs.Status) error {
	if c.broken != nil {
		return c.broken
	}
	record, err := c.records.Load(ctx, run)
	if err != nil {
		return err
	}
	record.Move(to, time.Now(), "an operator asked for it")
	return c.records.Save(ctx, record)
}

func (c control) Cancel(ctx context.Context, run chat.RunID) error {
	return c.move(ctx, run, runs.Cancelled)
}

func (c control) Replay(ctx context.Context, run chat.RunID) error {
	return c.move(ctx, run, runs.Queued)
}

// redactor shows a person what their address stands in, of questions and paths.
type redactor struct{}

func (redactor) RedactRecords(_ context.Context, person chat.Identity, records []runs.Record) ([]runs.Record, map[chat.RunID]bool, error) {
	shown, hidden := slices.Clone(records), map[chat.RunID]bool{}
	for i, r := range shown {
		if !strings.Contains(r.Request, strings.Join(append(person.Holds, person.Email), " ")) {
			hidden[r.ID] = true
			shown[i].Request, shown[i].Trace, shown[i].Ratings = "", chat.Trace{Flow: r.Trace.Flow}, nil
		}
	}
	return shown, hidden, nil
}

func (redactor) ReadableDocuments(_ context.Context, person chat.Identity, ids []string) (map[string]bool, error) {
	readable := map[string]bool{}
	for _, id := range ids {
		readable[id] = strings.Contains(id, person.Email)
	}
	return readable, nil
}

// graphs knows the flow "answer" alone.
type graphs struct{ svg string }

func (g graphs) Graph(flow string) (string, bool) { return g.svg, flow == "answer" }

// ingests are states that a test made up.
type ingests []index.IngestState

func (i ingests) IngestStates(context.Context) ([]index.IngestState, error) { return i, nil }

// journal is an audit log that a test reads.
type journal struct {
	mu    sync.Mutex
	lines bytes.Buffer
}

func (j *journal) Write(line []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.lines.Write(line)
}

func (j *journal) text() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.lines.String()
}

// place is a page that is served over HTTP.
type place struct {
	t       *testing.T
	stores  stores
	journal *journal
	logged  *journal
	now     time.Time // that the page has; changed between requests alone
	options operations.Options
	server  *httptest.Server
	client  *http.Client // keeps cookies, follows no redirect
}

// day is a time that records of tests are of.
var day = time.Date(2026, 3, 2, 9, 30, 0, 0, time.UTC)

// open serves the page over stores; change may be nil.
func open(t *testing.T, s stores, change func(*operations.Options)) *place {
	t.Helper()
	svg, err := os.ReadFile("../testdata/answer.svg")
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, stores: s, journal: &journal{}, logged: &journal{}, now: day.Add(2 * time.Hour)}
	log, err := audit.Open(p.journal, "")
	if err != nil {
		t.Fatal(err)
	}
	p.options = operations.Options{
		Records: s.records, Queues: s.queue, Sessions: s.sessions, Agents: s.agents, Control: control{stores: s}, Graphs: graphs{string(svg)}, Redactor: redactor{}, Pins: pinboard{curated.OpenSQLite(sqlitetest.Open(t, t.TempDir()))},
		Audit: log, Logger: slog.New(slog.NewTextHandler(p.logged, nil)), Flows: []string{"answer", "echo"},
		Adapters: []string{"slack", "web"}, Now: func() time.Time { return p.now }, Refresh: 10 * time.Millisecond,
	}
	if change != nil {
		change(&p.options)
	}
	page, err := operations.New(p.options)
	if err != nil {
		t.Fatal(err)
	}
	p.server = httptest.NewServer(page)
	t.Cleanup(p.server.Close)
	p.client = newClient(t)
	return p
}

func newClient(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar, Timeout: 20 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// answer is what came to a request.
type answer struct {
	status int
	header http.Header
	body   string
}

func (p *place) do(request *http.Request) answer {
	p.t.Helper()
	response, err := p.client.Do(request)
	if err != nil {
		p.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, string(body)}
}

func (p *place) request(method, path string, body io.Reader) *http.Request {
	p.t.Helper()
	request, err := http.NewRequestWithContext(p.t.Context(), method, p.server.URL+path, body)
	if err != nil {
		p.t.Fatal(err)
	}
	return request
}

func (p *place) get(path string) answer {
	p.t.Helper()
	return p.do(p.request(http.MethodGet, path, nil))
}

// sees gets a page that must be there.
func (p *place) sees(path string) string {
	p.t.Helper()
	got := p.get(path)
	if got.status != http.StatusOK {
		p.t.Fatalf("%s: status %d: %s", path, got.status, got.body)
	}
	return got.body
}

// post sends a form, as a page of the same server does.
func (p *place) post(path string, form url.Values) answer {
	p.t.Helper()
	request := p.request(http.MethodPost, path, strings.NewReader(form.Encode()))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Sec-Fetch-Site", "same-origin")
	return p.do(request)
}

func (p *place) save(record runs.Record) {
	p.t.Helper()
	if err := p.stores.records.Save(p.t.Context(), record); err != nil {
		p.t.Fatal(err)
	}
}

// record is a run of the flow answer that stands so.
func record(id string, status runs.Status, request string) runs.Record {
	r := runs.Record{
		ID: chat.RunID(id), Thread: chat.ThreadID("slack:T1:C1:" + id), Flow: "answer", Author: "U1", Message: "m1", Request: request,
		Transitions: []runs.Transition{{To: runs.Queued, At: day, Reason: "its message came"}},
	}
	r.Trace.Flow = "answer"
	if status == runs.Queued {
		return r
	}
	r.Move(runs.Running, day.Add(time.Second), "a worker took it")
	if status != runs.Running {
		reason := "it did"
		if status == runs.Done {
			reason = string(chat.Answered)
		}
		r.Move(status, day.Add(3*time.Second), reason)
	}
	return r
}

// explained adds a trace, as an answer has one.
func explained(r runs.Record) runs.Record {
	r.Trace = chat.Trace{
		Flow: "answer", Took: 2300 * time.Millisecond,
		Steps: []chat.TraceStep{
			{Node: "query_understanding", Status: chat.Completed, Took: 3 * time.Millisecond},
			{Node: "strategy_decision", Status: chat.Completed, Took: 40 * time.Millisecond},
			{Node: "response_generation", Status: chat.Completed, Took: 2 * time.Second},
		},
		Queries:  []chat.TraceQuery{{Text: r.Request, Used: []string{"leave"}, Lexical: 3, Dense: 2, Took: 9 * time.Millisecond}},
		Evidence: []chat.TraceEvidence{{Passage: "a#0", Title: "Leave policy", Section: "Days", Score: 0.9, Kept: true}},
		Models:   []chat.TraceModel{{Role: "answer", Model: "m-1", Prompt: 900, Completion: 100, Cost: 0.0125, Took: time.Second}},
	}
	return r
}

// abstained is a run that found no answer.
func abstained(id, request string) runs.Record {
	r := record(id, runs.Running, request)
	r.Move(runs.Done, day.Add(3*time.Second), string(chat.Abstained))
	return r
}

// putAside makes a job a dead letter.
func (p *place) putAside(run, reason string) {
	p.t.Helper()
	job := runs.Job{Event: runs.EventID("event-" + run), Run: chat.RunID(run), Message: chat.Message{
		ID: "m1", Thread: chat.ThreadID("slack:T1:C1:" + run), Author: "U1", Text: "hello",
	}}
	if accepted, err := p.stores.queue.Enqueue(p.t.Context(), job); err != nil || !accepted {
		p.t.Fatalf("enqueue: %v, %v", accepted, err)
	}
	lease, err := p.stores.queue.Claim(p.t.Context(), "worker-1")
	if err != nil {
		p.t.Fatal(err)
	}
	if err := p.stores.queue.Finish(p.t.Context(), lease, runs.Result{Next: runs.Dead, Reason: reason}); err != nil {
		p.t.Fatal(err)
	}
}

// contains fails unless a page holds all these texts.
func (p *place) contains(page string, texts ...string) {
	p.t.Helper()
	for _, text := range texts {
		if !strings.Contains(page, text) {
			p.t.Errorf("the page does not hold %q:\n%s", text, bodyOf(page))
		}
	}
}

func (p *place) lacks(page string, texts ...string) {
	p.t.Helper()
	for _, text := range texts {
		if strings.Contains(page, text) {
			p.t.Errorf("the page holds %q:\n%s", text, bodyOf(page))
		}
	}
}

// bodyOf is a page without its head.
func bodyOf(page string) string {
	_, body, found := strings.Cut(page, "<main")
	if !found {
		return page
	}
	return fmt.Sprintf("<main%s", body)
}
