package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/slack/slacktest"
	"github.com/cairn-bot/cairn/internal/llm/llmtest"
	"github.com/cairn-bot/cairn/internal/telemetry/telemetrytest"
)

const tracesSecret = "Bearer traces-very-secret"

// told is the line by which a process says where its metrics are.
var told = regexp.MustCompile(`Telemetry at (\S+)/metrics`)

// measured is an office whose processes are measured.
type measured struct {
	*office
	collector *telemetrytest.Collector
}

// newMeasured has a language model write answers.
func newMeasured(t *testing.T, answers llmtest.Step) *measured {
	t.Helper()
	model := llmtest.New(t)
	model.On(llmtest.Schema("understand"), llmtest.By(understood))
	model.On(llmtest.Schema("verify"), llmtest.By(judged))
	model.On(llmtest.Any, answers)
	m := &measured{newOffice(t, "http"), telemetrytest.New(t, http.Header{"Authorization": {tracesSecret}})}
	m.env = append(m.env, "CAIRN_TELEMETRY_LISTEN=127.0.0.1:0", "CAIRN_LOG_FORMAT=json",
		"CAIRN_TELEMETRY_TRACES="+m.collector.URL, "CAIRN_TELEMETRY_TRACES_HEADERS=Authorization="+strings.ReplaceAll(tracesSecret, " ", "%20"),
		"CAIRN_LLM_URL="+model.URL, "CAIRN_LLM_MODEL=gpt-test", "CAIRN_LLM_KEY="+llmtest.Key)
	return m
}

// gets asks a process about itself.
func (m *measured) gets(p *process, path string) (status int, body string) {
	m.t.Helper()
	address := told.FindStringSubmatch(p.String())
	if address == nil {
		m.t.Fatalf("it tells nothing about itself:\n%s", p)
	}
	request, err := http.NewRequestWithContext(m.t.Context(), http.MethodGet, address[1]+path, nil)
	if err != nil {
		m.t.Fatal(err)
	}
	response, err := (&http.Client{Timeout: 20 * time.Second}).Do(request)
	if err != nil {
		m.t.Fatal(err)
	}
	defer response.Body.Close()
	read, err := io.ReadAll(response.Body)
	if err != nil {
		m.t.Fatal(err)
	}
	return response.StatusCode, string(read)
}

// counts tells whether a process shows a metric, by how it begins, with a value other than 0.
func (m *measured) counts(p *process, metric string) bool {
	_, page := m.gets(p, "/metrics")
	for line := range strings.Lines(page) {
		if fields := strings.Fields(line); strings.HasPrefix(line, metric) && fields[len(fields)-1] != "0" {
			return true
		}
	}
	return false
}

// TestWhatIsMeasuredOfAnAnswer has one process take a question in and another answer it.
// Both tell of it, it is one trace, and nothing that people or documents say, and no secret,
// is told anywhere.
func TestWhatIsMeasuredOfAnAnswer(t *testing.T) {
	m := newMeasured(t, behaviours["answers"])
	worker := m.start(regexp.MustCompile(`Working at what is queued`), "--role", "worker")
	front := m.serve("--role", "slack")
	if strings.Contains(front.String(), "Ask at") {
		t.Errorf("role slack serves the page:\n%s", front)
	}
	root := m.ann.Says(m.general, "", mention+"how many days of leave do I get in Zanzibar?")
	m.shows(root, "28 days")
	m.ann.Presses(m.general, "Helpful")
	for p, metrics := range map[*process][]string{
		front: {
			`cairn_events_total{adapter="slack",outcome="accepted"}`, `cairn_ack_seconds_count{adapter="slack"}`,
			`cairn_ratings_total{rating="up"}`, `cairn_ready{dependency="redis"}`, `cairn_ready{dependency="slack"}`,
		},
		worker: {
			`cairn_runs_total{flow="answer",outcome="answered"}`, `cairn_run_seconds_count{flow="answer",outcome="answered"}`,
			`cairn_node_seconds_count{flow="answer",node="query_understanding"}`, `cairn_model_seconds_count{outcome="ok",role="answer"}`,
			`cairn_model_tokens_total{kind="prompt",role="answer"}`, `cairn_model_tokens_total{kind="completion",role="understand"}`,
			`cairn_posts_total{adapter="slack",outcome="posted"}`, `cairn_search_seconds_count{backend="postgres"}`,
			`cairn_ready{dependency="postgres"}`, `cairn_ingest_lag_seconds{source=`,
		},
	} {
		for _, metric := range metrics {
			m.until(metric, func() bool { return m.counts(p, metric) })
		}
	}
	pages := m.documented(worker, front)
	front.end(syscall.SIGTERM)
	worker.end(syscall.SIGTERM)
	m.isOneTree()
	m.logsHaveIDs(worker)
	secrets := []string{
		"very-secret", llmtest.Key, slacktest.BotToken, slacktest.SigningSecret, slacktest.AppToken, "Zanzibar", "28 days", "Ann",
	}
	m.isUnsaid([]*process{front, worker}, secrets...)
	for _, secret := range append(secrets, "laptop", "vendor") {
		if strings.Contains(pages, secret) {
			t.Errorf("%q is in the metrics", secret)
		}
		if strings.Contains(m.collector.Raw(), secret) {
			t.Errorf("%q is in the traces", secret)
		}
	}
}

// TestAProcessThatEndsIsNotReady asks one to end while it works at an answer.
func TestAProcessThatEndsIsNotReady(t *testing.T) {
	gate := make(chan struct{})
	m := newMeasured(t, llmtest.Text("You have 28 days of leave a year [1]. ", "That is 28 days [1].").WaitFor(1, gate))
	p := m.serve()
	if status, body := m.gets(p, "/readyz"); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	m.ann.Says(m.general, "", mention+"how many days of leave do I get?")
	m.until("the beginning of the answer", func() bool { return strings.Contains(m.Show(m.general), "28 days") })
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	m.until("it ends", func() bool { return strings.Contains(p.String(), "stopping") })
	if status, body := m.gets(p, "/readyz"); status != http.StatusServiceUnavailable || !strings.Contains(body, `"draining":true`) {
		t.Errorf("while it ends it says %d %s", status, body)
	}
	if status, body := m.gets(p, "/healthz"); status != http.StatusOK {
		t.Errorf("while it ends it lives: %d %s", status, body)
	}
	close(gate)
	p.read.Wait()
	if err := p.command.Wait(); err != nil {
		t.Errorf("asked to end: %v", err)
	}
}

// isOneTree looks at the trace of the question.
func (m *measured) isOneTree() {
	m.t.Helper()
	var of string
	instances := make(map[string]bool)
	for _, span := range m.collector.Spans() {
		if span.Name == "run answer" {
			of = span.Trace
		}
	}
	names := make(map[string]telemetrytest.Span)
	for _, span := range m.collector.Spans() {
		if span.Trace == of {
			instances[span.Service] = true
			names[span.Name] = span
		}
	}
	tree := m.collector.Tree(of)
	roots := 0
	for line := range strings.Lines(tree) {
		if !strings.HasPrefix(line, " ") {
			roots++
		}
	}
	if roots != 1 || !strings.HasPrefix(tree, "intake\n") || len(instances) != 2 {
		m.t.Errorf("%d roots, %d processes:\n%s", roots, len(instances), tree)
	}
	m.spansAreDocumented()
	for _, below := range []string{
		"  enqueue\n", "    queue\n", "    work\n", "      run answer\n", "        node query_understanding\n",
		"          invoke_agent QueryUnderstander\n", "            chat gpt-test\n",
		"            index.search\n", "      post\n", "      store.commit\n",
	} {
		if !strings.Contains(tree, "\n"+below) {
			m.t.Errorf("%q is not where it belongs:\n%s", below, tree)
		}
	}
	said := names["chat gpt-test"].Attributes
	if said["gen_ai.operation.name"] != "chat" || said["gen_ai.request.model"] != "gpt-test" || said["gen_ai.usage.output_tokens"] == "" {
		m.t.Errorf("the model's span tells %v", said)
	}
}

var (
	spanTable = regexp.MustCompile("(?ms)^\\| span \\|.*?\n\n")
	spanRow   = regexp.MustCompile("(?m)^\\| (`.*?`) \\|")
	spanName  = regexp.MustCompile("`([^`]+)`")
	// placeholders stand in the table for names of flows, nodes, agents and models.
	placeholders = strings.NewReplacer("FLOW", `\S+`, "NODE", `\S+`, "AGENT", `\S+`, "MODEL", `\S+`, ".", `\.`)
)

// spansAreDocumented looks for spans that docs/telemetry.md does not tell of.
func (m *measured) spansAreDocumented() {
	m.t.Helper()
	page, err := os.ReadFile("../../docs/telemetry.md")
	if err != nil {
		m.t.Fatal(err)
	}
	var told []string
	for _, row := range spanRow.FindAllStringSubmatch(spanTable.FindString(string(page)), -1) {
		for _, name := range spanName.FindAllStringSubmatch(row[1], -1) {
			told = append(told, placeholders.Replace(name[1]))
		}
	}
	documented := regexp.MustCompile("^(" + strings.Join(told, "|") + ")$")
	for _, span := range m.collector.Spans() {
		if !documented.MatchString(span.Name) {
			m.t.Errorf("docs/telemetry.md tells nothing of the span %q", span.Name)
		}
	}
	if len(told) < 20 {
		m.t.Errorf("docs/telemetry.md tells of the spans %q alone", told)
	}
}

// logsHaveIDs looks for a line of the work at the question.
func (m *measured) logsHaveIDs(p *process) {
	m.t.Helper()
	for line := range strings.Lines(p.String()) {
		var ids struct {
			Thread string `json:"thread"`
			Trace  string `json:"trace_id"`
		}
		if json.Unmarshal([]byte(line), &ids) == nil && ids.Thread != "" && ids.Trace != "" {
			return
		}
	}
	m.t.Errorf("no line has the ids of thread and trace:\n%s", p)
}

var (
	shownMetric      = regexp.MustCompile(`(?m)^# TYPE (cairn_\w+)`)
	documentedMetric = regexp.MustCompile("(?m)^\\| `(cairn_\\w+)`")
)

// documented compares what processes show with docs/telemetry.md, and gives what they show.
func (m *measured) documented(processes ...*process) (pages string) {
	m.t.Helper()
	page, err := os.ReadFile("../../docs/telemetry.md")
	if err != nil {
		m.t.Fatal(err)
	}
	shown := make(map[string]bool)
	for _, p := range processes {
		_, metrics := m.gets(p, "/metrics")
		pages += metrics
		for _, found := range shownMetric.FindAllStringSubmatch(metrics, -1) {
			shown[found[1]] = true
		}
	}
	var told []string
	for _, found := range documentedMetric.FindAllStringSubmatch(string(page), -1) {
		told = append(told, found[1])
		if !shown[found[1]] {
			m.t.Errorf("docs/telemetry.md tells of %s, which is not shown", found[1])
		}
	}
	for name := range shown {
		if !slices.Contains(told, name) {
			m.t.Errorf("docs/telemetry.md tells nothing of %s", name)
		}
	}
	return pages
}
