package answer

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/agent"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/embed/local"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/index/embedded"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/knowledge/support"
)

// newRetriever opens a retriever over one page of billing and one of the cluster it runs on.
func newRetriever(t *testing.T) *retrieve.Retriever {
	t.Helper()
	embedder, err := local.Load()
	if err != nil {
		t.Fatal(err)
	}
	ix, err := embedded.Open(t.Context(), embedded.Options{Dir: t.TempDir(), Embedder: embedder.Name(), Dimension: embedder.Dimension()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ix.Close(); err != nil {
			t.Error(err)
		}
	})
	for path, text := range map[string]string{
		"billing.md": "The billing service runs on the Heron cluster. Its invoices are kept for ten years.",
		"heron.md":   "Restart the Heron cluster with heronctl. It takes four minutes.",
	} {
		document := knowledge.Document{
			ID: knowledge.DocumentID("docs:" + path), Source: "docs", Kind: knowledge.KindDocumentation, Path: path, Title: path,
			URL: "https://docs.example/" + path, Hash: path, State: knowledge.StateLive,
		}
		passage := knowledge.Passage{ID: knowledge.MakePassageID(document.ID, 0), Document: document.ID, Headings: []string{path}, Text: text, Hash: path}
		if err := ix.Write(t.Context(), index.Batch{Put: []index.Entry{{Document: document, Passages: []knowledge.Passage{passage}}}}); err != nil {
			t.Fatal(err)
		}
	}
	return &retrieve.Retriever{Index: ix, Embedder: embedder, Fusion: retrieve.DefaultFusion}
}

// find has HybridSearch search.
func find(t *testing.T, retriever *retrieve.Retriever, question string) []retrieve.Evidence {
	t.Helper()
	h := &hybridSearch{retriever: retriever, sidePages: DefaultSidePages}
	response, err := h.search(t.Context(), nil, searchRequest{Query: retrieve.Query{Text: question}})
	if err != nil {
		t.Fatal(err)
	}
	if response.Made.Text != question || response.Made.Lexical == 0 {
		t.Errorf("%q was searched for as %+v", question, response.Made)
	}
	return response.Evidence
}

func TestQueryUnderstanderReadsAndSaysWhatIsNext(t *testing.T) {
	retriever := newRetriever(t)
	q := &queryUnderstander{index: retriever.Index}
	const question = "how do I restart the cluster that billing runs on?"
	meant, err := q.handle(t.Context(), nil, analysisRequest{Question: question})
	if err != nil {
		t.Fatal(err)
	}
	if meant.Relation != Dependent || meant.Intent != HowTo || len(meant.Profile.Terms) == 0 {
		t.Errorf("%q means %+v", question, meant)
	}
	next, err := q.handle(t.Context(), nil, analysisRequest{Question: question, Found: find(t, retriever, question), Searched: []string{question}})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(next.Next, "Heron") {
		t.Errorf("after the first search comes %q", next.Next)
	}
}

func TestHybridSearchFindsByWords(t *testing.T) {
	found := find(t, newRetriever(t), "how long are invoices kept?")
	if len(found) == 0 || found[0].Document.Path != "billing.md" {
		t.Errorf("found %+v", found)
	}
}

func TestAnswerGenerationQuotesAndJudges(t *testing.T) {
	retriever := newRetriever(t)
	g := &answerGeneration{quotes: &quoter{documents: DefaultDocuments}, now: time.Now}
	evidence := find(t, retriever, "how long are invoices kept?")
	judged, err := g.handleClaims(t.Context(), nil, claimsRequest{Question: "how long are invoices kept?", Evidence: evidence, Claims: []claim{
		{Text: "Invoices are kept for ten years.", Cites: []int{0}, Next: -1}, {Text: "Invoices are kept for two weeks.", Cites: []int{0}, Next: -1},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if judged.Basis != judgedByWords || len(judged.Verdicts) != 2 || judged.Verdicts[0] != support.Supported || judged.Verdicts[1] == support.Supported {
		t.Errorf("judged %+v", judged)
	}
	q := &queryUnderstander{index: retriever.Index}
	meant, err := q.handle(t.Context(), nil, analysisRequest{Question: "how long are invoices kept?"})
	if err != nil {
		t.Fatal(err)
	}
	var shown strings.Builder
	o := startAgents(t, nil, g.agent(timeoutsFor(Models{})))
	generation := o.generation(graph.Step[State]{Run: "r"})
	generation.request.OnProgress = func(update agent.Payload) { shown.WriteString(update.(piece).Text) }
	made, err := generation.Request(t.Context(), draftRequest{State: State{
		OriginalQuery: meant.Query, Query: meant.Query, Profile: meant.Profile, Terms: meant.Terms, Depth: flows.Brief, SearchResults: evidence,
		AnalysisResults: analyze(meant.Profile, evidence),
	}})
	if err != nil {
		t.Fatal(err)
	}
	if len(made.Draft.Sentences) == 0 || !strings.Contains(shown.String(), "kept for ten years") {
		t.Errorf("drafted %+v, showed %q", made, shown.String())
	}
}

func TestSourceLinkingGroupsWhatIsCited(t *testing.T) {
	evidence := find(t, newRetriever(t), "how do I restart Heron?")
	linked, err := sourceLinking{}.link(t.Context(), nil, linkRequest{Evidence: evidence, Cited: []citation{{Evidence: 0, Number: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	if len(linked.Sources) != 1 || linked.Sources[0].Path != "heron.md" || len(linked.Groups) != 1 || linked.Groups[0].Kind != knowledge.KindDocumentation {
		t.Errorf("linked %+v", linked)
	}
}

// startAgents starts agents behind an orchestrator, and ends them with the test.
func startAgents(t *testing.T, log *bytes.Buffer, agents ...agent.Agent) *orchestrator {
	t.Helper()
	logger := slog.New(slog.DiscardHandler)
	if log != nil {
		logger = slog.New(slog.NewTextHandler(log, nil))
	}
	o, err := newOrchestrator(agent.Options{Log: logger}, time.Minute, agents...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := o.bus.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return o
}

// changed gives an empty state after changes.
func changed(t *testing.T, changes []graph.Change[State]) State {
	t.Helper()
	g := graph.New("changes", 1, fields...)
	g.Node("node", func(context.Context, graph.Step[State]) (graph.Result[State], error) {
		return graph.Update(changes...), nil
	}, graph.Policy{})
	g.Start("node")
	g.Edge("node", graph.End)
	compiled, err := g.Compile()
	if err != nil {
		t.Fatal(err)
	}
	outcome, err := compiled.Start(t.Context(), "r", State{}, graph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return outcome.State
}

// stubSearch is an agent that searches as handle does.
func stubSearch(handle func() (searchResponse, error)) agent.Agent {
	return agent.Agent{Name: nameSearch, Handlers: []agent.Handler{
		agent.On(func(context.Context, *agent.Task, searchRequest) (searchResponse, error) { return handle() }),
	}}
}

func TestOrchestratorRetriesCountsAndLogs(t *testing.T) {
	var log bytes.Buffer
	var asked atomic.Int64
	o := startAgents(t, &log, stubSearch(func() (searchResponse, error) {
		if asked.Add(1) == 2 {
			return searchResponse{ByWords: true}, nil
		}
		return searchResponse{}, errors.New("shard is gone")
	}))
	search := o.search(graph.Step[State]{Run: "run-7", Node: "node"})
	if got, err := search.Request(t.Context(), searchRequest{}); err != nil || !got.ByWords {
		t.Errorf("after a retry: %+v, %v", got, err)
	}
	if log.Len() > 0 {
		t.Errorf("a retry that helped is logged: %s", log.String())
	}
	if _, err := search.Request(t.Context(), searchRequest{}); !isFailure(err) || asked.Load() != 4 {
		t.Errorf("after %d attempts the error is %v", asked.Load(), err)
	}
	if use := search.used(); use.Name != "HybridSearch" || use.Requests != 2 || use.Failures != 1 || use.Took <= 0 {
		t.Errorf("used %+v", use)
	}
	state := changed(t, search.changes())
	if len(state.Agents) != 1 || len(state.Notes) != 1 || len(state.Degraded) != 1 {
		t.Errorf("the state has %+v, %q, %q", state.Agents, state.Notes, state.Degraded)
	}
	for _, attribute := range []string{"run=run-7", "node=node", "agent=HybridSearch", "kind=failed", `error="shard is gone"`} {
		if !strings.Contains(log.String(), attribute) {
			t.Errorf("the log lacks %s: %s", attribute, log.String())
		}
	}
}

func TestOrchestratorTellsTheEndOfARunFromAFailure(t *testing.T) {
	var log bytes.Buffer
	ctx, stop := context.WithCancel(t.Context())
	o := startAgents(t, &log, stubSearch(func() (searchResponse, error) {
		stop()
		return searchResponse{}, errors.New("interrupted")
	}))
	search := o.search(graph.Step[State]{Run: "r"})
	if _, err := search.Request(ctx, searchRequest{}); isFailure(err) || !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	if use := search.used(); use.Failures > 0 || log.Len() > 0 {
		t.Errorf("used %+v, logged %s", use, log.String())
	}
	names := make(map[agent.Name]agent.State)
	for _, status := range o.states() {
		names[status.Name] = status.State
	}
	if names[nameOrchestrator] != agent.StateIdle || names[nameSearch] == "" {
		t.Errorf("the states are %v", names)
	}
}
