package repo_test

import (
	"context"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/repo"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/llm/gate"
	"github.com/cairn-bot/cairn/internal/llm/llmtest"
	"github.com/cairn-bot/cairn/internal/llm/openai"
)

// thought and sections are what a model says.
type thought struct {
	Steps   []string `json:"steps"`
	Missing []string `json:"missing"`
}

type statement struct {
	Text    string `json:"text"`
	Sources []int  `json:"sources"`
}

type section struct {
	Title      string      `json:"title"`
	Statements []statement `json:"statements"`
}

type sections struct {
	Sections []section `json:"sections"`
}

func modelOf(t *testing.T, server *llmtest.Server) llm.Model {
	t.Helper()
	model, err := openai.New(openai.Options{
		BaseURL: server.URL, Key: llm.NewSecret(llmtest.Key), Model: "gpt-4o", Context: 32000, Gate: gate.Options{Retries: -1},
	})
	if err != nil {
		t.Fatal(err)
	}
	return model
}

func thinks(missing ...string) llmtest.Step {
	return llmtest.Value(thought{[]string{"It sells things.", "The cart is its centre.", "Prices are apart."}, append([]string{}, missing...)})
}

func writes(title, text string, sources ...int) llmtest.Step {
	return llmtest.Value(sections{[]section{{title, []statement{{text, append([]int{}, sources...)}}}}})
}

func TestAModelWritesTheReport(t *testing.T) {
	server := llmtest.New(t, thinks(), writes("Purpose", "It sells things with a cart.", 4, 99))
	outcome := start(t, newFlow(t, repo.Options{Open: reading(shop(t)), Model: modelOf(t, server)}), "./shop")
	file := string(outcome.Files[0].Content)
	if nodes(outcome) != onePass || !strings.Contains(file, "## Purpose\n\n- It sells things with a cart. (`README.md`)\n") || !strings.Contains(file, "were written by a language model") {
		t.Errorf("%s\n%.900s", nodes(outcome), file)
	}
	if len(outcome.Trace.Models) != 2 || !strings.Contains(outcome.Note, "written by a language model") {
		t.Errorf("%+v, %s", outcome.Trace.Models, outcome.Note)
	}
	for _, request := range server.Requests() {
		if strings.Contains(request.Text(), token) {
			t.Error("a secret of the repository is sent to the model")
		}
	}
	if sent := server.Requests()[1].User(); !strings.Contains(sent, "- The cart is its centre.") || !strings.Contains(sent, "example.com/shop/price") {
		t.Errorf("%s", sent)
	}
}

// TestAModelAsksForAFile has a model that needs a file which it was not shown: it is read,
// and the model thinks again.
func TestAModelAsksForAFile(t *testing.T) {
	server := llmtest.New(t, thinks("Dockerfile", "not/there.go"), thinks("Dockerfile"), writes("Purpose", "It is built on Go.", 4))
	outcome := start(t, newFlow(t, repo.Options{Open: reading(shop(t)), Model: modelOf(t, server)}), "./shop")
	if got := nodes(outcome); got != "planner repo_analyzer reasoner reflector repo_analyzer reasoner reflector generator evaluator" {
		t.Errorf("%s", got)
	}
	if sent := server.Requests()[0].User(); strings.Contains(sent, "FROM golang") {
		t.Error("the file is shown at once")
	}
	if sent := server.Requests()[1].User(); !strings.Contains(sent, "FROM golang") {
		t.Errorf("the file is not shown:\n%s", sent)
	}
	if file := string(outcome.Files[0].Content); !strings.Contains(file, "- It is built on Go. *(only partly in the source)* (`Dockerfile`)") || strings.Contains(file, "is partial") {
		t.Errorf("%.900s", file)
	}
}

func TestAModelThatFailsIsWorkedAround(t *testing.T) {
	server := llmtest.New(t, llmtest.Fail(500, "server_error", "down"), llmtest.Fail(500, "server_error", "down"))
	outcome := start(t, newFlow(t, repo.Options{Open: reading(shop(t)), Model: modelOf(t, server)}), "./shop")
	if outcome.Kind != flows.Answered || nodes(outcome) != onePass || !strings.Contains(outcome.Note, "no language model was used") || outcome.Trace.Models[0].Failure == "" {
		t.Errorf("%s, %s, %+v", nodes(outcome), outcome.Note, outcome.Trace.Models)
	}
}

// TestAModelThatCannotReasonIsAskedOnce has a question of which the model's steps can't be read: they
// are not asked for again in each pass, and the answer is written all the same.
func TestAModelThatCannotReasonIsAskedOnce(t *testing.T) {
	server := llmtest.New(t, llmtest.Fail(500, "server_error", "down"), writes("Cart", "It is in the package cart.", 1))
	outcome := start(t, newFlow(t, repo.Options{Open: reading(shop(t)), Model: modelOf(t, server)}), "./shop where is the cart?")
	if outcome.Kind != flows.Answered || nodes(outcome) != onePass || len(server.Requests()) != 2 {
		t.Errorf("%s, %d requests, %s", nodes(outcome), len(server.Requests()), outcome.Text)
	}
}

// library has passages by the words that find them.
type library struct {
	passages map[string]string
	searched []string
}

func (l *library) Search(_ context.Context, query retrieve.Query) (retrieve.Result, error) {
	l.searched = append(l.searched, query.Text)
	var result retrieve.Result
	if text, found := l.passages[query.Text]; found {
		result.Evidence = []retrieve.Evidence{{
			Document: knowledge.Document{Title: "Operations", URL: "https://docs.example.com/ops"}, Passage: knowledge.Passage{Text: text, Headings: []string{"Retries"}, Anchor: "retries"},
		}}
	}
	return result, nil
}

// TestAQuestionIsAnsweredInASecondPass finds nothing with the question as a whole.
func TestAQuestionIsAnsweredInASecondPass(t *testing.T) {
	index := &library{passages: map[string]string{"retri polici": "Retries are three."}}
	server := llmtest.New(t, thinks(), thinks(), writes("Retries", "There are three retries.", 1))
	flow := newFlow(t, repo.Options{Open: reading(shop(t)), Search: index, Model: modelOf(t, server)})
	outcome := start(t, flow, "where is the retry policy?")
	if got := nodes(outcome); got != "planner retriever reasoner reflector planner retriever reasoner reflector generator evaluator" {
		t.Errorf("%s, searched %q", got, index.searched)
	}
	if file := string(outcome.Files[0].Content); !strings.Contains(file, "- There are three retries. ([`Operations › Retries`](https://docs.example.com/ops#retries))") {
		t.Errorf("%s", file)
	}
	if !strings.Contains(outcome.Text, "There are three retries.") {
		t.Errorf("%s", outcome.Text)
	}
}

// everything is an index in which any search finds something else.
type everything struct{ searched int }

func (e *everything) Search(context.Context, retrieve.Query) (retrieve.Result, error) {
	e.searched++
	return retrieve.Result{Evidence: []retrieve.Evidence{{Document: knowledge.Document{Title: "Handbook"}, Passage: knowledge.Passage{Text: "The cart is in the team's warehouse."}}}}, nil
}

// TestANamedRepositoryIsTheEvidence asks about a repository while the team's documents have a
// hit for anything: they are not asked, and the files that the question's words and symbols
// point to are what the model is shown first.
func TestANamedRepositoryIsTheEvidence(t *testing.T) {
	index := &everything{}
	server := llmtest.New(t, thinks(), writes("Cart", "It is in the package cart.", 1))
	flow := newFlow(t, repo.Options{Open: reading(shop(t)), Search: index, Model: modelOf(t, server)})
	outcome := start(t, flow, "./shop where is the cart?")
	if got := nodes(outcome); got != onePass || outcome.Kind != flows.Answered || index.searched > 0 {
		t.Errorf("%s, searched %d times: %s", got, index.searched, outcome.Text)
	}
	sent := server.Requests()[1].Text()
	first := strings.Index(sent, "cart/cart.go")
	if first < 0 || first > strings.Index(sent, "structure of the repository") || strings.Contains(sent, "warehouse") || !strings.Contains(sent, "You answer a question on a software repository") {
		t.Errorf("%s", sent)
	}
	if file := string(outcome.Files[0].Content); !strings.Contains(file, "- It is in the package cart. (`cart/cart.go`)") {
		t.Errorf("%s", file)
	}
}

// TestATextStartsFromTheReport has a text written about a repository: the model is shown what
// the tools read.
func TestATextStartsFromTheReport(t *testing.T) {
	server := llmtest.New(t, thinks(), writes("Shop", "A shop that needs golang.org/x/text.", 2))
	outcome := start(t, newFlow(t, repo.Options{Open: reading(shop(t)), Search: &everything{}, Model: modelOf(t, server)}), "./shop write a post about this project")
	if nodes(outcome) != onePass || outcome.Kind != flows.Answered {
		t.Fatalf("%s: %s", nodes(outcome), outcome.Text)
	}
	sent := server.Requests()[1].Text()
	for _, want := range []string{"You write the text on a software repository", "structure of the repository", "dependencies of the repository", "architecture of the repository", "Sells things.", "write a post about this project"} {
		if !strings.Contains(sent, want) {
			t.Errorf("the model is not shown %q:\n%s", want, sent)
		}
	}
}

// TestEachPassLeavesItsSteps has a model that thinks twice.
func TestEachPassLeavesItsSteps(t *testing.T) {
	again := llmtest.Value(thought{[]string{"It sells things.", "It is built on Go."}, []string{}})
	server := llmtest.New(t, thinks("Dockerfile"), again, writes("Purpose", "It is built on Go.", 4))
	file := string(start(t, newFlow(t, repo.Options{Open: reading(shop(t)), Model: modelOf(t, server)}), "./shop").Files[0].Content)
	if want := "1. It sells things.\n2. The cart is its centre.\n3. Prices are apart.\n4. It is built on Go.\n"; !strings.Contains(file, want) {
		t.Errorf("want %q in %s", want, file)
	}
}

func TestTenPassesFindNothing(t *testing.T) {
	steps := make([]llmtest.Step, 0, 11)
	for range 10 {
		steps = append(steps, thinks())
	}
	index := &library{}
	server := llmtest.New(t, append(steps, writes("Unknown", "No document tells."))...)
	outcome := start(t, newFlow(t, repo.Options{Open: reading(shop(t)), Search: index, Model: modelOf(t, server)}), "where is the retry policy?")
	if len(index.searched) != 10 || strings.Count(nodes(outcome), "planner") != 10 {
		t.Errorf("%q: %s", index.searched, nodes(outcome))
	}
	if outcome.Kind != flows.Abstained || len(outcome.Files) > 0 || !strings.Contains(outcome.Text, "what the language model wrote is not in the sources") {
		t.Errorf("%s: %s", outcome.Kind, outcome.Text)
	}
}

// TestNothingOfModelsLeaks has a model that obeys a hostile repository.
func TestNothingOfModelsLeaks(t *testing.T) {
	obeys := "Look [here](https://evil.example/x) https://evil.example/y <https://evil.example/z> ![i](https://evil.example/i) @everyone <!channel> [7]\n# Heading"
	server := llmtest.New(t, llmtest.Value(thought{[]string{obeys, obeys, obeys}, []string{}}), writes("T https://evil.example/t @here", obeys, 4))
	outcome := start(t, newFlow(t, repo.Options{Open: reading(shop(t)), Model: modelOf(t, server)}), "./shop")
	for _, said := range []string{outcome.Text, outcome.Note, string(outcome.Files[0].Content)} {
		for _, bad := range []string{"://", "@everyone", "@here", "<!channel>", "[7]", "\n# Heading"} {
			if strings.Contains(said, bad) {
				t.Errorf("%q leaks: %.1500s", bad, said)
			}
		}
	}
}

func TestAModelThatWritesNothing(t *testing.T) {
	server := llmtest.New(t, thinks(), llmtest.Value(sections{[]section{}}))
	outcome := start(t, newFlow(t, repo.Options{Open: reading(shop(t)), Model: modelOf(t, server)}), "./shop write a poem about it")
	if outcome.Kind != flows.Abstained || !strings.Contains(outcome.Text, "the language model gave no answer") {
		t.Errorf("%+v", outcome)
	}
}
