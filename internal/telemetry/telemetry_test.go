package telemetry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/bot"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/echo"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/runs/embedded"
	"github.com/cairn-bot/cairn/internal/sqlite/sqlitetest"
	"github.com/cairn-bot/cairn/internal/telemetry"
	"github.com/cairn-bot/cairn/internal/telemetry/telemetrytest"
)

// platform is one on which nobody sent a file.
type platform struct{ chattest.Platform }

func (p *platform) Files(context.Context, chat.ThreadID, bool) ([]chat.File, error) { return nil, nil }

// log is what was logged, for several goroutines.
type log struct {
	mu    sync.Mutex
	lines bytes.Buffer
}

// Before implements chat.ThreadReader.
func (*platform) Before(context.Context, chat.ThreadID, chat.MessageID) ([]chat.Said, error) {
	return nil, nil
}

func (l *log) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lines.Write(line)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lines.String()
}

// office is a bot in two processes that share their stores: the front takes messages in,
// the back works at them. Both are measured.
type office struct {
	t           testing.TB
	collector   *telemetrytest.Collector
	log         *log
	platform    *platform
	front, back *telemetry.Telemetry
	intake      chat.Handler
	leave       func()
}

func newOffice(t testing.TB) *office {
	t.Helper()
	o := &office{t: t, collector: telemetrytest.New(t, nil), log: &log{}, platform: &platform{}}
	logger := slog.New(telemetry.LogHandler(slog.NewJSONHandler(o.log, nil)))
	o.front, o.back = o.measure(logger, "front"), o.measure(logger, "back")
	kept := openStores(t)
	o.intake = o.front.Intake(kept.bot(t, o.front, o.platform, logger))
	o.leave = openWork(kept.bot(t, o.back, o.platform, logger))
	t.Cleanup(o.close)
	return o
}

func (o *office) measure(logger *slog.Logger, instance string) *telemetry.Telemetry {
	o.t.Helper()
	made, err := telemetry.New(o.t.Context(), telemetry.Options{
		Version: "1", Adapters: []string{"test"}, Logger: logger,
		Traces: &telemetry.Traces{URL: o.collector.URL + "/v1/traces", Instance: instance},
	})
	if err != nil {
		o.t.Fatal(err)
	}
	return made
}

// close ends the work, and has all spans sent.
func (o *office) close() {
	if o.leave == nil {
		return
	}
	o.leave()
	o.leave = nil
	o.front.Close(context.Background())
	o.back.Close(context.Background())
}

// stores are those of a bot, in one directory.
type stores struct{ queue *embedded.Store }

func openStores(t testing.TB) *stores {
	t.Helper()
	queue, err := embedded.Open(t.Context(), sqlitetest.Open(t, t.TempDir()), runs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &stores{queue}
}

// bot makes a bot that echoes; with a nil poster it is read from.
func (s *stores) bot(t testing.TB, by *telemetry.Telemetry, to *platform, logger *slog.Logger) *bot.Bot {
	t.Helper()
	echoes, err := echo.New()
	if err != nil {
		t.Fatal(err)
	}
	adapters := map[string]chat.Poster{"test": nil}
	if to != nil {
		adapters["test"] = by.Platform(to, "test")
	}
	made, err := bot.New(bot.Options{
		Store: by.Store(s.queue),
		Flows: by.Flows([]flows.Flow{echoes}, "answer"), Accompany: by.Accompany, Adapters: adapters, Logger: logger,
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// openWork has a bot work until leave is called.
func openWork(worker *bot.Bot) (leave func()) {
	ctx, stop := context.WithCancel(context.Background())
	var working sync.WaitGroup
	working.Go(func() { worker.Work(ctx) })
	return func() {
		stop()
		working.Wait()
	}
}

func (o *office) say(id, text string) error {
	return o.intake.Handle(o.t.Context(), chat.Message{ID: chat.MessageID(id), Thread: "test:1", Author: "ann", Text: text, At: time.Now()}, nil)
}

// posted waits until so many messages of the bot are there.
func (o *office) posted(count int) {
	o.t.Helper()
	deadline := time.NewTimer(20 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for len(o.platform.Posted("test:1")) < count {
		select {
		case <-deadline.C:
			o.t.Fatalf("%d messages are posted, want %d\n%s", len(o.platform.Posted("test:1")), count, o.log)
		case <-tick.C:
		}
	}
}

// shown is what a process shows at an address.
func shown(t testing.TB, by *telemetry.Telemetry, of telemetry.Served, paths ...string) []*httptest.ResponseRecorder {
	t.Helper()
	if of.Logger == nil {
		of.Logger = slog.New(slog.DiscardHandler)
	}
	handler, err := by.Handler(of)
	if err != nil {
		t.Fatal(err)
	}
	answers := make([]*httptest.ResponseRecorder, len(paths))
	for i, path := range paths {
		answers[i] = httptest.NewRecorder()
		handler.ServeHTTP(answers[i], httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	}
	return answers
}

// shows fails where the metrics lack a line.
func shows(t testing.TB, by *telemetry.Telemetry, lines ...string) {
	t.Helper()
	page := "\n" + shown(t, by, telemetry.Served{}, "/metrics")[0].Body.String()
	for _, line := range lines {
		if !strings.Contains(page, "\n"+line+"\n") {
			t.Errorf("%q is not in the metrics:%s", line, only(page, line))
		}
	}
}

// only are the lines of the same metric.
func only(page, line string) string {
	name, _, _ := strings.Cut(line, "{")
	var found strings.Builder
	for other := range strings.Lines(page) {
		if strings.HasPrefix(other, name) {
			found.WriteString("\n" + other)
		}
	}
	return found.String()
}

// trees are all traces, in the order in which they were sent.
func (o *office) trees() []string {
	var trees []string
	seen := make(map[string]bool)
	for _, span := range o.collector.Spans() {
		if !seen[span.Trace] {
			seen[span.Trace] = true
			trees = append(trees, o.collector.Tree(span.Trace))
		}
	}
	return trees
}

func TestAMessageIsOneTrace(t *testing.T) {
	o := newOffice(t)
	if err := o.say("m1", "echo hello"); err != nil {
		t.Fatal(err)
	}
	o.posted(1)
	o.close()
	const want = `intake
  enqueue
    queue
    work
      run echo
        node echo
      draft
      store.commit
      post
      store.finish
`
	trees := o.trees()
	if len(trees) != 1 || sorted(trees[0]) != sorted(want) {
		t.Errorf("got %d traces, the first:\n%s\nwant:\n%s", len(trees), strings.Join(trees, "\n"), want)
	}
	instances := make(map[string]int)
	for _, span := range o.collector.Spans() {
		instances[span.Service]++
		if strings.Contains(fmt.Sprint(span), "hello") {
			t.Errorf("a span tells what was said: %v", span)
		}
	}
	if instances["front"] != 2 || instances["back"] == 0 {
		t.Errorf("spans by process: %v", instances)
	}
	shows(t, o.front, `cairn_events_total{adapter="test",outcome="accepted"} 1`, `cairn_ack_seconds_count{adapter="test"} 1`)
	shows(t, o.back, `cairn_runs_total{flow="echo",outcome="answered"} 1`, `cairn_run_seconds_count{flow="echo",outcome="answered"} 1`,
		`cairn_node_seconds_count{flow="echo",node="echo"} 1`, `cairn_posts_total{adapter="test",outcome="posted"} 1`,
		`cairn_post_retries_total{adapter="test"} 0`, `cairn_lease_losses_total 0`, `cairn_answers_without_sources_total 0`)
}

// sorted is a tree without the order of siblings, which parallel work decides: a line with
// the depth that it stands at.
func sorted(tree string) string {
	counts := make(map[string]int)
	for line := range strings.Lines(tree) {
		counts[line]++
	}
	return fmt.Sprint(counts)
}

// TestWhatFollowsAMessageIsItsTrace has a message delivered twice, edited, and a command
// asked that is answered beside its thread.
func TestWhatFollowsAMessageIsItsTrace(t *testing.T) {
	o := newOffice(t)
	for _, step := range []func() error{
		func() error { return o.say("m1", "echo hello") },
		func() error { return o.say("m1", "echo hello") },
		func() error { return o.say("m2", "/help") },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	o.posted(2)
	changes, ok := o.intake.(chat.Changes)
	if !ok {
		t.Fatal("the bot that is measured hears of no changes")
	}
	if err := changes.Edited(t.Context(), chat.Message{ID: "m3", Thread: "test:1", Author: "ann", Text: "echo you", At: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if err := changes.Deleted(t.Context(), "test:1", "m3"); err != nil {
		t.Fatal(err)
	}
	o.close()
	trees := o.trees()
	if len(trees) != 3 {
		t.Fatalf("%d traces:\n%s", len(trees), strings.Join(trees, "\n"))
	}
	for _, tree := range trees {
		for line := range strings.Lines(tree) {
			if !strings.HasPrefix(line, " ") && line != "intake\n" {
				t.Errorf("%q has lost its parent:\n%s", line, tree)
			}
		}
	}
	shows(t, o.front, `cairn_events_total{adapter="test",outcome="accepted"} 4`, `cairn_events_total{adapter="test",outcome="duplicate"} 1`)
}

// TestAPostThatFailsIsTriedAgain has the platform break once.
func TestAPostThatFailsIsTriedAgain(t *testing.T) {
	o := newOffice(t)
	broken := false
	o.platform.Faults = func(call chattest.Call) chattest.Fault {
		switch {
		case call.Operation == chattest.DraftOperation:
			return chattest.Refused
		case call.Operation == chattest.PostOperation && !broken:
			broken = true
			return chattest.Broken
		}
		return chattest.NoFault
	}
	if err := o.say("m1", "echo hello"); err != nil {
		t.Fatal(err)
	}
	o.posted(1)
	o.close()
	shows(t, o.back, `cairn_posts_total{adapter="test",outcome="failed"} 1`, `cairn_post_retries_total{adapter="test"} 1`,
		`cairn_posts_total{adapter="test",outcome="posted"} 1`, `cairn_runs_total{flow="echo",outcome="answered"} 1`)
}

func TestWhatIsNotTakenIn(t *testing.T) {
	o := newOffice(t)
	if err := o.intake.Handle(t.Context(), chat.Message{Text: "echo hello"}, nil); err == nil {
		t.Error("a message without ids was taken in")
	}
	shows(t, o.front, `cairn_events_total{adapter="other",outcome="failed"} 1`, `cairn_events_total{adapter="test",outcome="accepted"} 0`)
}

// TestLogLinesHaveIDs looks at what is logged about a run.
func TestLogLinesHaveIDs(t *testing.T) {
	o := newOffice(t)
	if err := o.say("m1", "echo hello"); err != nil {
		t.Fatal(err)
	}
	o.posted(1)
	o.close()
	var line struct {
		Message string `json:"msg"`
		Thread  string `json:"thread"`
		Run     string `json:"run"`
		Trace   string `json:"trace_id"`
		Outcome string `json:"outcome"`
	}
	if err := json.Unmarshal([]byte(o.log.String()), &line); err != nil {
		t.Fatalf("%v: want one line:\n%s", err, o.log)
	}
	if line.Thread != "test:1" || line.Run == "" || line.Trace != o.collector.Spans()[0].Trace || line.Outcome != "answered" {
		t.Errorf("got %+v", line)
	}
}

// TestIDsAreNamedOnce has a line name its thread itself.
func TestIDsAreNamedOnce(t *testing.T) {
	var lines bytes.Buffer
	logger := slog.New(telemetry.LogHandler(slog.NewTextHandler(&lines, nil)))
	var nothing *telemetry.Telemetry
	ctx, over := nothing.Accompany(t.Context(), runs.Lease{Job: runs.Job{Message: chat.Message{Thread: "test:1"}}})
	defer over(false)
	logger.InfoContext(ctx, "one", "thread", "test:2")
	logger.With("thread", "test:3").InfoContext(ctx, "two")
	logger.InfoContext(ctx, "three")
	logger.Info("four")
	for line := range strings.Lines(lines.String()) {
		if strings.Count(line, "thread=") > 1 {
			t.Errorf("a thread is named twice: %s", line)
		}
	}
	if strings.Count(lines.String(), "test:1") != 1 {
		t.Errorf("want the thread of the work where no other is named:\n%s", lines.String())
	}
}

// TestForeignNamesAreRefused asks a listener on the loopback interface under names that a
// foreign site could have made to mean this machine, for metrics and for profiles.
func TestForeignNamesAreRefused(t *testing.T) {
	for what, handler := range map[string]http.Handler{"/debug/pprof/cmdline": telemetry.Profiles(), "/": http.NotFoundHandler()} {
		listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- telemetry.Serve(ctx, listener, handler, slog.New(slog.DiscardHandler)) }()
		port := strings.TrimPrefix(listener.Addr().String(), "127.0.0.1")
		for host, refused := range map[string]bool{
			"127.0.0.1" + port: false, "localhost" + port: false, "LOCALHOST": false, "[::1]" + port: false,
			"evil.example" + port: true, "localhost.evil.example": true, "127.0.0.1.evil.example" + port: true, "192.168.0.1" + port: true,
		} {
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+listener.Addr().String()+what, nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Host = host
			response, err := (&http.Client{Timeout: 10 * time.Second}).Do(request)
			if err != nil {
				t.Fatal(err)
			}
			if err := response.Body.Close(); err != nil {
				t.Error(err)
			}
			if got := response.StatusCode == http.StatusMisdirectedRequest; got != refused {
				t.Errorf("%s under the name %s: status %d", what, host, response.StatusCode)
			}
		}
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}
}
