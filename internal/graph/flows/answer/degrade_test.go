package answer_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-bot/cairn/internal/agent"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/embed/local"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/index/embedded"
	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/llm"
)

// forgetful is an index that panics when it is asked what an abbreviation means.
type forgetful struct{ *embedded.Index }

func (forgetful) Definitions(context.Context, string, knowledge.Viewers) ([]knowledge.Definition, error) {
	panic("no definitions")
}

func TestWithoutQueryUnderstanderTheQuestionIsTakenAsWritten(t *testing.T) {
	f := open(t)
	flow := f.with(t, answer.Options{Retriever: &retrieve.Retriever{Index: forgetful{f.index}, Embedder: f.embedder, Fusion: retrieve.DefaultFusion}})
	got, err := flow.Start(t.Context(), flows.Request{Run: "r", Text: "what is the BRD of a project?"}, flows.Runtime{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Kind != flows.Answered || !strings.Contains(got.Text, "what a project must achieve") || !strings.Contains(got.Note, "as written") {
		t.Errorf("%s: %q (%s)", got.Kind, got.Text, got.Note)
	}
	checkUse(t, got, "QueryUnderstander")
}

// halfDead is an index that can't be searched for some word.
type halfDead struct {
	*embedded.Index
	word string
}

func (h halfDead) Search(ctx context.Context, q index.Query) (index.Candidates, error) {
	if len(q.Terms) < 4 && slices.ContainsFunc(q.Terms, func(term index.Term) bool { return term.Text == h.word }) {
		return index.Candidates{}, errors.New("shard is gone")
	}
	return h.Index.Search(ctx, q)
}

// dead is an index that can't be searched.
type dead struct{ *embedded.Index }

func (dead) Search(context.Context, index.Query) (index.Candidates, error) {
	return index.Candidates{}, errors.New("disk is gone")
}

// TestAFailedFirstSearchIsDealtWith has no search work: the run goes through error_handling, and
// nobody is asked back.
func TestAFailedFirstSearchIsDealtWith(t *testing.T) {
	f := open(t)
	flow := f.with(t, answer.Options{Retriever: &retrieve.Retriever{Index: dead{f.index}, Embedder: f.embedder, Fusion: retrieve.DefaultFusion}})
	for _, question := range []string{"how many days of leave do I get?", "redis vs kafka, how long do they keep messages?", "how long does it take?"} {
		got, err := flow.Start(t.Context(), flows.Request{Run: "r", Text: question}, flows.Runtime{})
		if err != nil {
			t.Fatal(err)
		}
		var nodes []string
		for _, step := range got.Trace.Steps {
			nodes = append(nodes, step.Node)
		}
		if want := "query_understanding clarify strategy_decision error_handling finalization"; strings.Join(nodes, " ") != want || got.Kind != flows.Abstained || got.Text == "" {
			t.Errorf("%s: %s: %q by %q", question, got.Kind, got.Text, nodes)
		}
	}
}

func TestAFailedSearchOfSeveralIsSaid(t *testing.T) {
	f := open(t)
	flow := f.with(t, answer.Options{Retriever: &retrieve.Retriever{Index: halfDead{f.index, lexical.Analyze("redis")[0]}, Embedder: f.embedder, Fusion: retrieve.DefaultFusion}})
	got, err := flow.Start(t.Context(), flows.Request{Run: "r", Text: "redis vs kafka, how long do they keep messages?"}, flows.Runtime{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Kind != flows.Answered || !strings.Contains(got.Note, "1 of 2 searches failed") {
		t.Errorf("%s: %q (%s)", got.Kind, got.Text, got.Note)
	}
	checkUse(t, got, "HybridSearch")
}

// TestCauseOfAFailedAgentIsLogged makes searches fail that an answer does without: the log has
// the run, the agent and the cause, and nothing of the question.
func TestCauseOfAFailedAgentIsLogged(t *testing.T) {
	f := open(t)
	var log bytes.Buffer
	flow := f.with(t, answer.Options{
		Retriever: &retrieve.Retriever{Index: halfDead{f.index, lexical.Analyze("redis")[0]}, Embedder: f.embedder, Fusion: retrieve.DefaultFusion},
		Log:       slog.New(slog.NewJSONHandler(&log, nil)),
	})
	for _, question := range []string{"how many days of leave do I get?", "redis vs kafka, how long do they keep messages?"} {
		if _, err := flow.Start(t.Context(), flows.Request{Run: "run-7", Text: question}, flows.Runtime{}); err != nil {
			t.Fatal(err)
		}
	}
	var line struct{ Level, Msg, Run, Node, Agent, Kind, Error string }
	if err := json.Unmarshal(log.Bytes(), &line); err != nil { // also where there are several
		t.Fatalf("the log is %q: %v", log.String(), err)
	}
	if line.Level != "WARN" || line.Msg != "agent failed" || line.Run != "run-7" || line.Node != "parallel_processing" ||
		line.Agent != "HybridSearch" || line.Kind != "failed" || !strings.Contains(line.Error, "shard is gone") {
		t.Errorf("the line is %+v", line)
	}
	for _, word := range []string{"redis", "kafka", "messages"} {
		if strings.Contains(log.String(), word) {
			t.Errorf("the log has %q, which stands in the question: %s", word, log.String())
		}
	}
}

// mute is an embedder that gives nothing.
type mute struct{ *local.Embedder }

func (mute) Embed(context.Context, []string) ([][]float32, error) {
	return nil, errors.New("connection refused")
}

// TestWhatAnAnswerLacksIsSaidInTheAskersLanguage asks in German of an embedder that gives nothing.
func TestWhatAnAnswerLacksIsSaidInTheAskersLanguage(t *testing.T) {
	f := open(t)
	flow := f.with(t, answer.Options{Retriever: &retrieve.Retriever{Index: f.index, Embedder: mute{f.embedder}, Fusion: retrieve.DefaultFusion}})
	got, err := flow.Start(t.Context(), flows.Request{Run: "r", Text: "Was steht in den Dokumenten über Redis?"}, flows.Runtime{})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(got.Note, "Gesucht wurde nur nach Wörtern") {
		t.Errorf("%s: %q (%s)", got.Kind, got.Text, got.Note)
	}
}

func TestWithoutTheEmbedderWordsAreSearchedBy(t *testing.T) {
	f := open(t)
	flow := f.with(t, answer.Options{Retriever: &retrieve.Retriever{Index: f.index, Embedder: mute{f.embedder}, Fusion: retrieve.DefaultFusion}})
	got, err := flow.Start(t.Context(), flows.Request{Run: "r", Text: "how many days of leave do I get?"}, flows.Runtime{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Kind != flows.Answered || !strings.Contains(got.Text, "28 days") || strings.Count(got.Note, "words alone") != 1 {
		t.Errorf("%s: %q (%s)", got.Kind, got.Text, got.Note)
	}
}

func checkUse(t *testing.T, got flows.Outcome, name string) {
	t.Helper()
	for _, use := range got.Trace.Agents {
		if use.Name == name && use.Failures == 0 {
			t.Errorf("%s did not fail: %+v", name, use)
		}
	}
}

// mad is a model that panics.
type mad struct{ llm.Model }

func (mad) Chat(context.Context, llm.Request, func(string)) (llm.Reply, error) { panic("mad") }
func (mad) Tokens(text string) int                                             { return len(text) / 4 }
func (mad) Limits() llm.Limits                                                 { return llm.Limits{Context: 8000, Reply: 1000} }

// deaf is a model that replies when it is released, and does not hear that nobody
// waits any more.
type deaf struct {
	mad
	release chan struct{}
}

func (d deaf) Chat(context.Context, llm.Request, func(string)) (llm.Reply, error) {
	<-d.release
	return llm.Reply{Text: "late"}, nil
}

func TestWithoutAnswerGenerationTheAnswerQuotes(t *testing.T) {
	f := open(t)
	check := func(t *testing.T, flow *answer.Flow) {
		t.Helper()
		got, err := flow.Start(t.Context(), flows.Request{Run: "r", Text: "how many days of leave do I get?"}, flows.Runtime{})
		if err != nil {
			t.Fatal(err)
		}
		if got.Kind != flows.Answered || !strings.Contains(got.Text, "28 days of leave") || !strings.Contains(got.Note, "nothing could write") {
			t.Errorf("%s: %q (%s)", got.Kind, got.Text, got.Note)
		}
		checkUse(t, got, "AnswerGeneration")
	}
	t.Run("it panics", func(t *testing.T) {
		check(t, f.with(t, answer.Options{Models: answer.Models{Answer: mad{}}}))
	})
	t.Run("it never returns", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			release := make(chan struct{})
			flow, err := answer.New(answer.Options{
				Retriever: &retrieve.Retriever{Index: f.index, Embedder: f.embedder, Fusion: retrieve.DefaultFusion},
				Models:    answer.Models{Answer: deaf{release: release}},
			})
			if err != nil {
				t.Fatal(err)
			}
			check(t, flow)
			time.Sleep(2 * time.Second) //nolint:forbidigo // the handler's time of grace, on the bubble's clock
			stuck := false
			for _, status := range flow.Agents() {
				stuck = stuck || status.Name == "AnswerGeneration" && status.State == agent.StateStuck
			}
			if !stuck {
				t.Errorf("nothing is stuck: %+v", flow.Agents())
			}
			close(release)
			if err := flow.Close(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		})
	})
}
