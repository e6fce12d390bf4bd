package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/store"
	"github.com/cairn-bot/cairn/internal/telemetry/telemetrytest"
)

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func newTraced(t *testing.T) (*Telemetry, *telemetrytest.Collector) {
	t.Helper()
	collector := telemetrytest.New(t, http.Header{"X-Key": {"secret"}})
	made, err := New(t.Context(), Options{Logger: quiet(), Traces: &Traces{
		URL: collector.URL + "/v1/traces", Headers: http.Header{"X-Key": {"secret"}}, Instance: "one",
	}})
	if err != nil {
		t.Fatal(err)
	}
	return made, collector
}

// talker is a model that says, or fails with, what it was told to.
type talker struct {
	llm.Model
	reply llm.Reply
	err   error
}

func (m *talker) Chat(context.Context, llm.Request, func(string)) (llm.Reply, error) {
	return m.reply, m.err
}

func TestCallsOfModels(t *testing.T) {
	by, collector := newTraced(t)
	as := Called{Role: "answer", Name: "gpt-test", Provider: "openai"}
	request := llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "marker"}}, MaxReply: 100}
	says := llm.Reply{Text: "marker", Finish: llm.Calls, Usage: llm.Usage{Model: "gpt-test-1", Prompt: 10, Completion: 4, Cost: 0.5}}
	if reply, err := by.Model(&talker{reply: says}, as).Chat(t.Context(), request, nil); err != nil || reply.Text != "marker" {
		t.Errorf("got %v, %v", reply, err)
	}
	over := &llm.Error{Failure: llm.OverBudget, Usage: llm.Usage{Prompt: 3}, Cause: errors.New("marker")}
	if _, err := by.Model(&talker{err: over}, as).Chat(t.Context(), request, nil); !errors.Is(err, over) {
		t.Errorf("got %v", err)
	}
	by.Close(t.Context())
	m := by.metrics
	if testutil.CollectAndCount(m.model) != 2 || testutil.ToFloat64(m.tokens.WithLabelValues("answer", "prompt")) != 13 ||
		testutil.ToFloat64(m.tokens.WithLabelValues("answer", "completion")) != 4 || testutil.ToFloat64(m.cost.WithLabelValues("answer")) != 0.5 {
		t.Error("the model's use was counted wrongly")
	}
	spans := collector.Spans()
	if len(spans) != 2 || spans[0].Name != "chat gpt-test" || spans[0].Failed || !spans[1].Failed || strings.Contains(collector.Raw(), "marker") {
		t.Fatalf("spans %v", spans)
	}
	for key, want := range map[string]string{
		"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt-test", "gen_ai.request.max_tokens": "100",
		"gen_ai.response.model": "gpt-test-1", "gen_ai.usage.input_tokens": "10", "gen_ai.usage.output_tokens": "4",
		"gen_ai.output.type": "text", "cairn.outcome": "ok", "cairn.role": "answer",
	} {
		if spans[0].Attributes[key] != want {
			t.Errorf("%s is %q, want %q", key, spans[0].Attributes[key], want)
		}
	}
	if spans[1].Attributes["cairn.outcome"] != "over_budget" || !strings.Contains(spans[0].Attributes["gen_ai.response.finish_reasons"], "tool_calls") {
		t.Errorf("spans %v", spans)
	}
}

type vectors struct{ llm.Embedder }

func (vectors) Embed(context.Context, []string) ([][]float32, llm.Usage, error) {
	return [][]float32{{1}}, llm.Usage{Prompt: 5}, nil
}

func TestCallsOfEmbedders(t *testing.T) {
	by, collector := newTraced(t)
	if _, _, err := by.Embedder(vectors{}, Called{Role: "embed", Name: "e", Provider: "openai"}).Embed(t.Context(), []string{"marker"}); err != nil {
		t.Fatal(err)
	}
	by.Close(t.Context())
	if testutil.ToFloat64(by.metrics.tokens.WithLabelValues("embed", "prompt")) != 5 || collector.Spans()[0].Name != "embeddings e" {
		t.Errorf("spans %v", collector.Spans())
	}
}

// found is an index that finds nothing, or fails.
type found struct {
	index.Spelling
	err error
}

func (f found) Search(context.Context, index.Query) (index.Candidates, error) {
	return index.Candidates{Lexical: make([]index.Hit, 3)}, f.err
}

// nodes is a flow whose nodes search: one alone, two beside each other, one inside another.
type nodes struct {
	flows.Flow
	index index.Spelling
}

func (nodes) Name() string { return "nodes" }

func (n nodes) Start(ctx context.Context, _ flows.Request, runtime flows.Runtime) (flows.Outcome, error) {
	tell := func(kind graph.EventKind, node string) {
		runtime.Observe(graph.Event{Kind: kind, Node: node, Visit: 1, Attempt: 1})
	}
	search := func() error {
		_, err := n.index.Search(ctx, index.Query{})
		return err
	}
	tell(graph.StepStarted, "alone")
	first := search()
	tell(graph.StepRetried, "alone")
	tell(graph.StepStarted, "alone")
	tell(graph.StepFinished, "alone")
	tell(graph.StepStarted, "left")
	tell(graph.StepStarted, "right")
	second := search()
	tell(graph.StepFinished, "left")
	tell(graph.StepFinished, "right")
	tell(graph.StepStarted, "outer")
	tell(graph.StepStarted, "outer/inner")
	third := search()
	tell(graph.QuestionAsked, "outer/inner")
	return flows.Outcome{Kind: flows.Answered, Trace: flows.Trace{Agents: []flows.AgentUse{{Name: "HybridSearch", Requests: 3}}}}, errors.Join(first, second, third)
}

func TestWhatANodeDoesIsBelowIt(t *testing.T) {
	by, collector := newTraced(t)
	measured := by.Flows([]flows.Flow{nodes{index: by.Index(found{}, "embedded")}}, "nodes")
	if _, err := measured[0].Start(t.Context(), flows.Request{Run: "run-1"}, flows.Runtime{}); err != nil {
		t.Fatal(err)
	}
	by.Close(t.Context())
	spans := collector.Spans()
	want := []string{
		"index.search < node alone", "node alone < run nodes", "node alone < run nodes", "index.search < run nodes", "node left < run nodes",
		"node right < run nodes", "index.search < node outer/inner", "node outer/inner < node outer", "node outer < run nodes", "run nodes < ",
	}
	var got []string
	for _, span := range spans {
		parent := slices.IndexFunc(spans, func(other telemetrytest.Span) bool { return other.ID == span.Parent })
		line := span.Name + " < "
		if parent >= 0 {
			line += spans[parent].Name
		}
		got = append(got, line)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if testutil.ToFloat64(by.metrics.unsourced) != 1 {
		t.Error("an answer without sources was not counted")
	}
	if collected := testutil.CollectAndCount(by.metrics.node); collected != 4 { // alone, left, right, outer/inner
		t.Errorf("%d nodes are timed", collected)
	}
}

func TestFailedSearch(t *testing.T) {
	by, collector := newTraced(t)
	if _, err := by.Index(found{err: errors.New("marker")}, "postgres").Search(t.Context(), index.Query{}); err == nil {
		t.Error("the error is lost")
	}
	by.Close(t.Context())
	if spans := collector.Spans(); len(spans) != 1 || !spans[0].Failed || spans[0].Attributes["error.type"] != "failed" || strings.Contains(collector.Raw(), "marker") {
		t.Errorf("spans %v", spans)
	}
}

// kept takes every record and every commit, or gives an error.
type kept struct {
	store.Store
	err error
}

func (kept) Records() store.Records             { return keptRecords{} }
func (k kept) Journal(runs.Lease) store.Journal { return keptJournal{err: k.err} }

type keptRecords struct{ store.Records }

type keptJournal struct {
	store.Journal
	err error
}

func (k keptJournal) Commit(context.Context, store.Commit) (store.Committed, error) {
	return store.Committed{}, k.err
}

// TestRunsAreCountedOnceWritten has a commit fail once.
func TestRunsAreCountedOnceWritten(t *testing.T) {
	by, _ := newTraced(t)
	record := runs.Record{ID: "run-1", Flow: "echo"}
	at := time.Unix(0, 0)
	for i, to := range []runs.Status{runs.Queued, runs.Running, runs.Waiting, runs.Running, runs.Done} {
		record.Move(to, at.Add(time.Duration(i*i)*time.Second), string(flows.Answered))
	}
	if took := workDuration(record); took != 11*time.Second { // 0 to 4, and 9 to 16
		t.Errorf("it worked %s", took)
	}
	for i, err := range []error{errors.New("lost"), nil} {
		_, written := by.Store(kept{err: err}).Journal(runs.Lease{}).Commit(t.Context(), store.Commit{Records: []runs.Record{record}})
		if counted := testutil.ToFloat64(by.metrics.runs.WithLabelValues("echo", "answered")); !errors.Is(written, err) || counted != float64(i) {
			t.Errorf("after %v: %v, %v", err, written, counted)
		}
	}
}

func TestOutcomesOfRuns(t *testing.T) {
	for _, test := range []struct {
		to     runs.Status
		reason string
		want   string
	}{
		{runs.Queued, "", ""},
		{runs.Running, "", ""},
		{runs.Waiting, "", asked},
		{runs.Done, "answered", answered},
		{runs.Done, "abstained", abstained},
		{runs.Failed, "", failed},
		{runs.Cancelled, "", cancelled},
		{runs.Expired, "", expired},
	} {
		var record runs.Record
		record.Move(test.to, time.Unix(0, 0), test.reason)
		if got := outcomeOf(record); got != test.want {
			t.Errorf("%s (%s) is %q, want %q", test.to, test.reason, got, test.want)
		}
	}
}

func TestLostLeasesAreCounted(t *testing.T) {
	by, collector := newTraced(t)
	for _, lost := range []bool{true, false} {
		_, over := by.Accompany(t.Context(), runs.Lease{Job: runs.Job{Event: "said:m", Attempt: 2, Message: chat.Message{ID: "m", Thread: "test:1"}}})
		over(lost)
	}
	by.Close(t.Context())
	spans := collector.Spans()
	if testutil.ToFloat64(by.metrics.lost) != 1 || len(spans) != 2 || spans[0].Attributes["error.type"] != "lease_lost" || spans[1].Failed {
		t.Errorf("spans %v", spans)
	}
}

func TestRatingsAreCounted(t *testing.T) {
	by, _ := newTraced(t)
	for _, verdict := range []chat.Verdict{chat.Up, chat.Up, chat.Down, chat.Unrated} {
		if err := by.Store(kept{}).Records().Rate(t.Context(), "run-1", chat.Rating{Verdict: verdict}); err != nil {
			t.Fatal(err)
		}
	}
	for rating, want := range map[string]float64{"up": 2, "down": 1, "none": 1} {
		if got := testutil.ToFloat64(by.metrics.rated.WithLabelValues(rating)); got != want {
			t.Errorf("%s counts %v, want %v", rating, got, want)
		}
	}
}

func (keptRecords) Rate(context.Context, chat.RunID, chat.Rating) error { return nil }

// TestReadiness asks again and again, on a clock that stands still.
func TestReadiness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, broken, hanging := 0, true, false
		ending := make(chan struct{})
		by, err := New(t.Context(), Options{Logger: quiet()})
		if err != nil {
			t.Fatal(err)
		}
		handler, err := by.Handler(Served{Ending: ending, Logger: quiet(), Dependencies: []Dependency{
			{Name: "redis", Ask: func(ctx context.Context) error {
				asked++
				if hanging {
					<-ctx.Done()
					return ctx.Err()
				}
				if broken {
					return errors.New("marker")
				}
				return nil
			}},
			{Name: "index", Ask: func(context.Context) error { return nil }},
		}})
		if err != nil {
			t.Fatal(err)
		}
		gets := func(path string, status int, body string) {
			t.Helper()
			answer := httptest.NewRecorder()
			handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
			if answer.Code != status || strings.TrimSpace(answer.Body.String()) != body {
				t.Errorf("%s gave %d %s, want %d %s", path, answer.Code, answer.Body, status, body)
			}
		}
		const failing = `{"ready":false,"failing":["redis"]}`
		gets("/readyz", 503, failing)
		broken = false
		gets("/readyz", 503, failing) // it was asked a moment ago
		time.Sleep(readyFor)          //nolint:forbidigo // on the clock of the bubble
		gets("/readyz", 200, `{"ready":true}`)
		hanging = true
		time.Sleep(readyFor) //nolint:forbidigo // on the clock of the bubble
		began := time.Now()
		gets("/readyz", 503, failing)
		if took := time.Since(began); took != readyTime {
			t.Errorf("what hangs was waited for for %s", took)
		}
		gets("/healthz", 200, `{"ready":true}`)
		before := asked
		close(ending)
		gets("/readyz", 503, `{"ready":false,"draining":true}`)
		gets("/healthz", 200, `{"ready":false,"draining":true}`)
		if asked != before {
			t.Error("a process that ends asks its dependencies")
		}
	})
}

// shelf is a store whose queue, questions and sources stand as they are.
type shelf struct {
	runs.Operator
	runs.Registry
	threads []runs.ThreadState
	states  []index.IngestState
	looks   int
	err     error
}

func (s *shelf) Threads(context.Context, int) ([]runs.ThreadState, error) {
	s.looks++
	return s.threads, s.err
}

func (s *shelf) DeadLetters(context.Context, int) ([]runs.DeadLetter, error) {
	return make([]runs.DeadLetter, 2), nil
}

func (s *shelf) List(context.Context, runs.Filter, int) ([]runs.Record, error) {
	return make([]runs.Record, 3), nil
}

func TestHowStoresStand(t *testing.T) {
	now := time.Unix(10_000, 0)
	ago := func(seconds int) time.Time { return now.Add(-time.Duration(seconds) * time.Second) }
	s := &shelf{
		threads: []runs.ThreadState{
			{Queued: 3, Worker: "w", Head: runs.Job{Enqueued: ago(500)}},
			{Queued: 2, Head: runs.Job{Enqueued: ago(40)}},
			{Queued: 1, NotBefore: now.Add(time.Minute), Head: runs.Job{Enqueued: ago(900)}},
			{Queued: 1, Head: runs.Job{Kind: runs.Remind, Enqueued: ago(3600)}},
			{Delayed: 4},
		},
		states: []index.IngestState{
			{Source: "docs", Began: ago(30), Complete: ago(300), Failed: 2},
			{Source: "wiki", Began: ago(60)},
		},
	}
	by, err := New(t.Context(), Options{Logger: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	if err := by.Watch(Watched{Queue: s, Records: s, Ingests: ingests(func() []index.IngestState { return s.states }), Logger: quiet(), Now: func() time.Time { return now }}); err != nil {
		t.Fatal(err)
	}
	const want = `
# HELP cairn_ingest_failures Documents of a source that the last ingest could not read.
# TYPE cairn_ingest_failures gauge
cairn_ingest_failures{source="docs"} 2
cairn_ingest_failures{source="wiki"} 0
# HELP cairn_ingest_lag_seconds Since a source was last read to its end.
# TYPE cairn_ingest_lag_seconds gauge
cairn_ingest_lag_seconds{source="docs"} 300
cairn_ingest_lag_seconds{source="wiki"} 60
# HELP cairn_questions_open Questions that wait for a person.
# TYPE cairn_questions_open gauge
cairn_questions_open 3
# HELP cairn_queue_depth Jobs by how they stand.
# TYPE cairn_queue_depth gauge
cairn_queue_depth{state="asked"} 3
cairn_queue_depth{state="dead"} 2
cairn_queue_depth{state="delayed"} 5
cairn_queue_depth{state="running"} 1
cairn_queue_depth{state="waiting"} 5
# HELP cairn_queue_oldest_seconds How long the oldest job that may be worked at waits for a worker.
# TYPE cairn_queue_oldest_seconds gauge
cairn_queue_oldest_seconds 40
`
	names := []string{"cairn_ingest_failures", "cairn_ingest_lag_seconds", "cairn_questions_open", "cairn_queue_depth", "cairn_queue_oldest_seconds"}
	for range 2 {
		if err := testutil.GatherAndCompare(by.registry, strings.NewReader(want), names...); err != nil {
			t.Error(err)
		}
	}
	if s.looks != 1 {
		t.Errorf("the stores were asked %d times within a moment", s.looks)
	}
	now, s.err = now.Add(lookEvery), errors.New("gone")
	if err := testutil.GatherAndCompare(by.registry, strings.NewReader(""), names[2:]...); err != nil {
		t.Errorf("what can't be looked at is shown: %v", err)
	}
}

// ingests are states that are there.
type ingests func() []index.IngestState

func (i ingests) SaveIngest(context.Context, index.IngestState) error { return nil }

func (i ingests) IngestStates(context.Context) ([]index.IngestState, error) { return i(), nil }

// TestNothingIsMeasuredByNil looks that all stays as it is.
func TestNothingIsMeasuredByNil(t *testing.T) {
	var by *Telemetry
	model, reads := &talker{}, found{}
	if by.Model(model, Called{}) != llm.Model(model) || by.Index(reads, "") != index.Spelling(reads) ||
		by.Watch(Watched{}) != nil || by.Store(nil) != nil {
		t.Error("a nil Telemetry does something")
	}
}

// TestACollectorThatTakesNothing loses spans, and nothing else: neither the log nor another
// address gets the headers.
func TestACollectorThatTakesNothing(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		t.Errorf("spans went on to another address, with %v", request.Header)
	}))
	defer elsewhere.Close()
	for name, answer := range map[string]http.HandlerFunc{
		"forbids": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusForbidden) },
		"redirects": func(w http.ResponseWriter, request *http.Request) {
			http.Redirect(w, request, elsewhere.URL, http.StatusTemporaryRedirect)
		},
		"answers with nonsense": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/x-protobuf")
			if _, err := w.Write([]byte("<html>")); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			collector := httptest.NewServer(answer)
			defer collector.Close()
			var lines strings.Builder
			by, err := New(t.Context(), Options{
				Logger: slog.New(slog.NewTextHandler(&lines, nil)),
				Traces: &Traces{URL: collector.URL + "/v1/traces", Headers: http.Header{"X-Key": {"very-secret"}}},
			})
			if err != nil {
				t.Fatal(err)
			}
			_, span := by.beginSpan(t.Context(), "work")
			endSpan(span, nil)
			by.Close(t.Context())
			if !strings.Contains(lines.String(), "send traces") || strings.Contains(lines.String(), "very-secret") {
				t.Errorf("the log says:\n%s", &lines)
			}
		})
	}
}

// TestIDsOfAMessage must never change while processes of two versions share a queue.
func TestIDsOfAMessage(t *testing.T) {
	job := runs.Job{Event: "said:m1", Message: chat.Message{ID: "m1", Thread: "slack:T1:C1:1.2"}}
	const want = "0b3ee33ae1c852863245d4a93a0c4ff5 4edf7862024e29d8"
	got := fmt.Sprint(traceOfJob(job), " ", enqueuedSpan(job))
	command := job
	command.Event, command.Lane = "said:m2", runs.LaneCommands
	if traceOfJob(command) != traceOfJob(job) || enqueuedSpan(command) == enqueuedSpan(job) {
		t.Error("what is done in a lane is no other span of the same trace")
	}
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
