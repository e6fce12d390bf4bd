package answer_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer/rerank"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/llm/llmtest"
	"github.com/cairn-bot/cairn/internal/llm/openai"
)

func TestAFollowUpIsRewrittenAgainstTheThread(t *testing.T) {
	f := open(t)
	server := llmtest.New(t)
	server.On(llmtest.Schema("understand"), llmtest.By(func(r llmtest.Request) llmtest.Step {
		if !strings.Contains(r.User(), "where do I get a laptop?") {
			t.Errorf("the model does not see the thread: %q", r.User())
		}
		return llmtest.Value(plain("When do I return a laptop?"))
	}))
	server.On(isAnswer, says("Return it on a Thursday {Returning a laptop}."))
	model := modelOf(t, server, nil)
	flow := f.with(t, answer.Options{Models: answer.Models{Understand: model, Answer: model}})
	got, err := flow.Start(t.Context(), flows.Request{Run: "r", Text: "and when must it go back?", History: []flows.Turn{
		{Role: flows.User, Text: "where do I get a laptop?"}, {Role: flows.Assistant, Text: "From the help desk in room 12 [1]."},
	}}, flows.Runtime{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Text != "Return it on a Thursday [1]." {
		t.Errorf("%s: %q", got.Kind, got.Text)
	}
}

// TestAnUnclearQuestionIsAskedAbout: a model puts the question back, with its choices, and what
// is chosen is searched for.
func TestAnUnclearQuestionIsAskedAbout(t *testing.T) {
	f := open(t)
	server := llmtest.New(t)
	unclear := plain("Which token does the thing in the pipeline and the chat workspace need?")
	unclear.Unclear = "Which system is the token for? See https://evil.example/x"
	unclear.Choices = []string{"the pipeline", "chat workspace", " chat  workspace", ""}
	server.On(llmtest.Schema("understand"), llmtest.Value(unclear))
	flow := f.with(t, answer.Options{Models: answer.Models{Understand: modelOf(t, server, nil)}})
	runtime := flows.Runtime{Store: &store{kept: make(map[string][]byte)}}
	got, err := flow.Start(t.Context(), flows.Request{Run: "r", Text: "how do I get the token?"}, runtime)
	if err != nil {
		t.Fatal(err)
	}
	if got.Kind != flows.Asked || !strings.HasPrefix(got.Text, "Which system is the token for?") || strings.Contains(got.Text, "evil") || len(got.Question.Choices) != 2 {
		t.Fatalf("%s: %q with %+v", got.Kind, got.Text, got.Question)
	}
	got, err = flow.Resume(t.Context(), "r", []graph.Answer{{QuestionID: got.Question.ID, Choice: got.Question.Choices[1].ID}}, runtime)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(got.Trace.Notes, "the person meant: chat workspace") {
		t.Errorf("%s: %q, notes %q", got.Kind, got.Text, got.Trace.Notes)
	}
}

// TestOnlyTheModelAsksBack: a question that rules would ask about is clear to the model.
func TestOnlyTheModelAsksBack(t *testing.T) {
	f := open(t)
	const question = "where do I get the token?"
	if got := f.ask(t, flows.Request{Text: question}); got.Kind != flows.Asked {
		t.Fatalf("the rules do not ask: %s %q", got.Kind, got.Text)
	}
	server := llmtest.New(t)
	server.On(llmtest.Schema("understand"), llmtest.Value(plain(question)))
	flow := f.with(t, answer.Options{Models: answer.Models{Understand: modelOf(t, server, nil)}})
	got, err := flow.Start(t.Context(), flows.Request{Run: "r", Text: question}, flows.Runtime{Store: &store{kept: make(map[string][]byte)}})
	if err != nil || got.Kind == flows.Asked {
		t.Errorf("%s: %q, %v", got.Kind, got.Text, err)
	}
}

// TestAllSearchesOfTheModelAreMade has searches beside a relation that needs one alone, and
// what the rules found besides.
func TestAllSearchesOfTheModelAreMade(t *testing.T) {
	f := open(t)
	for _, relation := range []string{"one", "independent", "dependent"} {
		server := llmtest.New(t)
		read := plain("How does the vacation thing for half-timers go?")
		read.Relation, read.Searches = relation, []string{"days of leave", "asking for leave"}
		server.On(llmtest.Schema("understand"), llmtest.Value(read))
		server.On(llmtest.Schema("next"), llmtest.Value(next{Enough: true}))
		flow := f.with(t, answer.Options{Models: answer.Models{Understand: modelOf(t, server, nil)}})
		got, err := flow.Start(t.Context(), flows.Request{Run: "r", Text: "how does the vacation thing for half-timers go?"}, flows.Runtime{Store: &store{kept: make(map[string][]byte)}})
		if err != nil {
			t.Fatal(err)
		}
		var made []string
		for _, query := range got.Trace.Queries {
			made = append(made, query.Text)
		}
		for _, search := range read.Searches {
			if !slices.Contains(made, search) {
				t.Errorf("%s: searched for %q, not for %q", relation, made, search)
			}
		}
	}
}

// TestThanksAreNotSearchedFor has a model that sees a message to ask nothing.
func TestThanksAreNotSearchedFor(t *testing.T) {
	f := open(t)
	server := llmtest.New(t)
	thanks := plain("That did the trick")
	thanks.Intent = "thanks"
	server.On(llmtest.Schema("understand"), llmtest.Value(thanks))
	model := modelOf(t, server, nil)
	flow := f.with(t, answer.Options{Models: answer.Models{Understand: model, Answer: model}})
	got, err := flow.Start(t.Context(), flows.Request{Run: "r", Text: "that laptop thing did the trick", History: []flows.Turn{
		{Role: flows.User, Text: "where do I get a laptop?"}, {Role: flows.Assistant, Text: "From the help desk in room 12 [1]."},
	}}, flows.Runtime{})
	if err != nil || got.Kind != flows.Answered || got.Text != "You're welcome!" || len(got.Groups) > 0 {
		t.Errorf("%s: %q from %v, %v", got.Kind, got.Text, got.Groups, err)
	}
}

// TestAFailedReadingIsNotTriedAgain: rules serve, and the models' settings say to retry.
func TestAFailedReadingIsNotTriedAgain(t *testing.T) {
	f := open(t)
	for name, step := range map[string]llmtest.Step{"down": llmtest.Fail(503, "", "oops"), "unreadable": llmtest.Text("no")} {
		server := llmtest.New(t)
		server.On(llmtest.Any, step)
		flow := f.with(t, answer.Options{Models: answer.Models{Understand: modelOf(t, server, func(o *openai.Options) { o.Gate.Retries = 3 })}})
		got, err := flow.Start(t.Context(), flows.Request{Run: "r", Text: "and when must it go back?", History: []flows.Turn{
			{Role: flows.User, Text: "where do I get a laptop?"}, {Role: flows.Assistant, Text: "From the help desk in room 12 [1]."},
		}}, flows.Runtime{Store: &store{kept: make(map[string][]byte)}})
		if err != nil || len(server.Requests()) != 1 || len(got.Trace.Models) != 1 || got.Trace.Models[0].Failure == "" {
			t.Errorf("%s: %d requests, %+v, %v", name, len(server.Requests()), got.Trace.Models, err)
		}
	}
}

// TestTheSearchDoesNotWaitForTheModel holds the model's reading of a follow-up back until the
// search by rules was made.
func TestTheSearchDoesNotWaitForTheModel(t *testing.T) {
	f := open(t)
	server := llmtest.New(t)
	searched := make(chan struct{})
	server.On(llmtest.Schema("understand"), llmtest.Value(plain("When do I return a laptop?")).WaitFor(0, searched))
	var once sync.Once
	flow := f.with(t, answer.Options{
		Models:   answer.Models{Understand: modelOf(t, server, nil)},
		Ordering: func(string, rerank.Question, []retrieve.Evidence) { once.Do(func() { close(searched) }) },
	})
	got, err := flow.Start(t.Context(), flows.Request{Run: "r", Text: "and when must it go back?", History: []flows.Turn{
		{Role: flows.User, Text: "where do I get a laptop?"}, {Role: flows.Assistant, Text: "From the help desk in room 12 [1]."},
	}}, flows.Runtime{})
	if err != nil || got.Trace.Models[0].Failure != "" || !strings.Contains(got.Text, "Thursday") {
		t.Errorf("%s: %q after %+v, %v", got.Kind, got.Text, got.Trace.Models, err)
	}
}

func TestQuestionsAreNormalized(t *testing.T) {
	for text, want := range map[string]string{
		"What is BRD?": "brd", "How do I roll back a Deployment?": "roll back deployment", "What is it?": "what is it", "": "",
	} {
		if got := answer.Normalize(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestABroadSubjectDecidesTheStrategy asks for what three pages are about, goes on once the reading
// is chosen, and asks for what one page is about.
func TestABroadSubjectDecidesTheStrategy(t *testing.T) {
	f := open(t)
	const broad = "strategy hybrid: the subject is broad"
	tells := func(outcome flows.Outcome) bool {
		return slices.ContainsFunc(outcome.Trace.Notes, func(note string) bool { return strings.HasPrefix(note, broad) })
	}
	for question, want := range map[string]bool{"token": true, "where do I get a laptop?": false} {
		got, err := f.flow.Start(t.Context(), flows.Request{Run: "r-" + question, Text: question}, flows.Runtime{})
		if err == nil && got.Kind == flows.Asked {
			got, err = f.flow.Resume(t.Context(), "r-"+question, []graph.Answer{{QuestionID: got.Question.ID, Choice: got.Question.Choices[0].ID}}, flows.Runtime{})
		}
		if err != nil {
			t.Fatal(err)
		}
		if tells(got) != want {
			t.Errorf("%s: %q", question, got.Trace.Notes)
		}
	}
}

// TestWordsOfTheSameMeaningCount: the handbook keeps messages and never preserves them.
func TestWordsOfTheSameMeaningCount(t *testing.T) {
	f := open(t)
	got := f.ask(t, flows.Request{Text: "how long does Redis preserve messages"})
	if got.Kind != flows.Answered || !strings.Contains(got.Text, "7 days") {
		t.Errorf("%s: %q", got.Kind, got.Text)
	}
	if !slices.ContainsFunc(got.Trace.Notes, func(note string) bool { return strings.Contains(note, "of the same meaning") }) {
		t.Errorf("notes %q", got.Trace.Notes)
	}
}
