package answer_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer"
	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/llm/gate"
	"github.com/cairn-bot/cairn/internal/llm/llmtest"
	"github.com/cairn-bot/cairn/internal/llm/openai"
)

// read is what the scripted model replies when it is asked what a question means.
type read struct {
	Question string   `json:"question"`
	Intent   string   `json:"intent"`
	Searches []string `json:"searches"`
	Relation string   `json:"relation"`
	Keywords []string `json:"keywords"`
	Unclear  string   `json:"unclear"`
	Choices  []string `json:"choices"`
}

// plain is the reply for a question that stands for itself.
func plain(question string) read {
	return read{Question: question, Intent: "lookup", Searches: []string{question}, Relation: "one", Keywords: []string{}, Choices: []string{}}
}

type next struct {
	Enough bool   `json:"enough"`
	Search string `json:"search"`
}

type verdicts struct {
	Verdicts []verdict `json:"verdicts"`
}

type verdict struct {
	Statement int    `json:"statement"`
	Support   string `json:"support"`
}

// modelOf speaks to the scripted server over the wire.
func modelOf(t testing.TB, server *llmtest.Server, change func(*openai.Options)) llm.Model {
	t.Helper()
	options := openai.Options{
		BaseURL: server.URL, Key: llm.NewSecret(llmtest.Key), Model: "gpt-4o", Context: 16000,
		Gate: gate.Options{Retries: -1},
	}
	if change != nil {
		change(&options)
	}
	model, err := openai.New(options)
	if err != nil {
		t.Fatal(err)
	}
	return model
}

var isAnswer = llmtest.System("You answer a team's questions")

// numberOf gives the number under which a prompt shows the source of a title.
func numberOf(r llmtest.Request, title string) string {
	before, _, found := strings.Cut(r.User(), "\n"+title)
	if !found {
		return "?"
	}
	at := strings.LastIndex(before, `n="`)
	return strings.TrimSuffix(before[at+3:], `">`)
}

// says answers with a text in which "{Title}" stands for the number of a source.
func says(text string) llmtest.Step {
	return llmtest.By(func(r llmtest.Request) llmtest.Step {
		said := text
		for _, p := range handbook {
			for _, s := range p.sections {
				said = strings.ReplaceAll(said, "{"+s.heading+"}", "["+numberOf(r, p.title+" › "+s.heading)+"]")
			}
		}
		return llmtest.Text(strings.SplitAfter(said, " ")...)
	})
}

// answerBy asks a question that a model answers.
func (f *fixture) answerBy(t *testing.T, step llmtest.Step, question string) flows.Outcome {
	t.Helper()
	server := llmtest.New(t)
	server.On(isAnswer, step)
	flow := f.with(t, answer.Options{Models: answer.Models{Answer: modelOf(t, server, nil)}})
	got, err := flow.Start(t.Context(), flows.Request{Run: "r", Text: question}, flows.Runtime{})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestAModelWritesTheAnswer(t *testing.T) {
	f := open(t)
	server := llmtest.New(t)
	server.On(llmtest.Schema("understand"), llmtest.Value(plain("How many days of leave do I get?")))
	server.On(isAnswer, says("You get **28 days** of leave a year{Days of leave}. Part-time work reduces it in proportion {Days of leave}.\n\n- Ask your lead two weeks ahead{Asking for leave}.\n"))
	model := modelOf(t, server, nil)
	flow := f.with(t, answer.Options{Models: answer.Models{Understand: model, Answer: model}})
	var streamed strings.Builder
	got, err := flow.Start(t.Context(), flows.Request{Run: "r", Text: "how many days of leave do I get?"}, flows.Runtime{Observe: func(event graph.Event) {
		if event.Kind == graph.Token {
			streamed.WriteString(event.Text)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := "You get **28 days** of leave a year [1]. Part-time work reduces it in proportion [1].\n\n- Ask your lead two weeks ahead [2]."
	if got.Kind != flows.Answered || got.Text != want {
		t.Errorf("%s: %q\nwant %q", got.Kind, got.Text, want)
	}
	if !strings.Contains(streamed.String(), "**28 days** of leave") {
		t.Errorf("streamed %q", streamed.String())
	}
	if got.Note != "Only words were compared with the sources: no model checked the statements." {
		t.Errorf("the note says %q", got.Note)
	}
	if whole := strings.TrimRight(streamed.String(), "\n"); whole != want {
		t.Errorf("streamed %q, and then showed %q", whole, want)
	}
	sections := got.Groups[0].Sources[0].Sections
	if len(sections) != 2 || sections[0].Anchor != "days-of-leave" || sections[0].Number != 1 || sections[1].Number != 2 {
		t.Errorf("cites %+v", sections)
	}
	var roles []string
	for _, use := range got.Trace.Models {
		roles = append(roles, use.Role)
		if use.Prompt == 0 || use.Completion == 0 || use.Failure != "" {
			t.Errorf("used %+v", use)
		}
	}
	if !slices.Equal(roles, []string{"answer"}) { // the best passage covers the question
		t.Errorf("asked models as %v", roles)
	}
	var agents []string
	for _, use := range got.Trace.Agents {
		agents = append(agents, use.Name)
	}
	if !slices.Equal(agents, []string{"QueryUnderstander", "HybridSearch", "AnswerGeneration", "SourceLinking"}) {
		t.Errorf("worked: %v", agents)
	}
}

func TestWhatNoSourceSaysIsTakenOutOrMarked(t *testing.T) {
	f := open(t)
	written := "Leave:\n\nYou have 28 days of leave a year {Days of leave}. You have 90 days of sick pay {Days of leave}. " +
		"Managers in Lisbon get a car. Your lead gets a message once the days are in the calendar {Asking for leave}.\n\nCars:\n\n- Cars are blue {Days of leave}.\n"
	t.Run("by words", func(t *testing.T) {
		server := llmtest.New(t)
		server.On(isAnswer, says(written))
		flow := f.with(t, answer.Options{Models: answer.Models{Answer: modelOf(t, server, nil)}})
		got, err := flow.Start(t.Context(), flows.Request{Run: "r", Text: "how many days of leave do I get?"}, flows.Runtime{})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(got.Text, "sick pay") || strings.Contains(got.Text, "Lisbon") || strings.Contains(got.Text, "ars") {
			t.Errorf("lets out %q", got.Text)
		}
		if !strings.Contains(got.Text, "Leave:\n\nYou have 28 days of leave a year [1].") {
			t.Errorf("says %q", got.Text)
		}
		if !strings.Contains(got.Note, "statements were left out") {
			t.Errorf("the note says %q", got.Note)
		}
	})
	t.Run("by a model", func(t *testing.T) {
		server := llmtest.New(t)
		server.On(isAnswer, says(written))
		server.On(llmtest.Schema("verify"), llmtest.By(func(r llmtest.Request) llmtest.Step {
			if !strings.Contains(r.User(), "90 days of sick pay") {
				t.Errorf("the model is asked %q", r.User())
			}
			told := verdicts{Verdicts: []verdict{}}
			for i := 1; strings.Contains(r.User(), fmt.Sprintf(`<statement n="%d"`, i)); i++ {
				_, after, _ := strings.Cut(r.User(), fmt.Sprintf(`<statement n="%d"`, i))
				statement, _, _ := strings.Cut(after, "</statement>")
				support := "none"
				if strings.Contains(statement, "message") {
					support = "partial"
				}
				told.Verdicts = append(told.Verdicts, verdict{i, support})
			}
			return llmtest.Value(told)
		}))
		model := modelOf(t, server, nil)
		flow := f.with(t, answer.Options{Models: answer.Models{Answer: model, Verify: model}})
		got, err := flow.Start(t.Context(), flows.Request{Run: "r", Text: "how many days of leave do I get?"}, flows.Runtime{})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(got.Text, "sick pay") || strings.Contains(got.Text, "Lisbon") {
			t.Errorf("lets out %q", got.Text)
		}
	})
	t.Run("nothing at all", func(t *testing.T) {
		server := llmtest.New(t)
		server.On(isAnswer, says("Cars are blue {Days of leave}. Everybody in Lisbon has one."))
		flow := f.with(t, answer.Options{Models: answer.Models{Answer: modelOf(t, server, nil)}})
		got, err := flow.Start(t.Context(), flows.Request{Run: "r", Text: "how many days of leave do I get?"}, flows.Runtime{})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(got.Text, "28 days of leave") || !strings.Contains(got.Note, "not in the sources") {
			t.Errorf("%q (%s)", got.Text, got.Note)
		}
	})
}

// TestAnAbstentionTellsThatTheModelFailed has a reply of which nothing is supported, to a question
// that no sentence answers: that is said, and the passages found are named.
func TestAnAbstentionTellsThatTheModelFailed(t *testing.T) {
	f := open(t)
	got := f.answerBy(t, says("Leave is painted blue by robots from Saturn {Days of leave}."), "which robot paints my leave blue?")
	if got.Kind != flows.Abstained || !strings.Contains(got.Text, "what the language model wrote is not in the sources") || len(sourcesOf(got)) == 0 {
		t.Errorf("%s: %q from %v", got.Kind, got.Text, sourcesOf(got))
	}
}

// TestWhatCitesNothingIsGivenItsSource has an uncited statement, and one about the sources.
func TestWhatCitesNothingIsGivenItsSource(t *testing.T) {
	f := open(t)
	got := f.answerBy(t, says("You have 28 days of leave a year. The documents don't say who pays for them."), "how many days of leave do I get?")
	if want := "You have 28 days of leave a year [1]. The documents don't say who pays for them."; got.Text != want {
		t.Errorf("%s: %q, want %q", got.Kind, got.Text, want)
	}
}

// TestAReplyThatOnlyRefusesAbstains has no statement but that the documents don't tell.
func TestAReplyThatOnlyRefusesAbstains(t *testing.T) {
	f := open(t)
	server := llmtest.New(t)
	server.On(isAnswer, llmtest.Text("<think>Nothing on cars. </think>", "The documents do not mention cars."))
	flow := f.with(t, answer.Options{Models: answer.Models{Answer: modelOf(t, server, nil)}})
	got, err := flow.Start(t.Context(), flows.Request{Run: "r", Text: "how many days of leave do I get?"}, flows.Runtime{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Kind != flows.Abstained || len(sourcesOf(got)) == 0 {
		t.Errorf("%s: %q from %v", got.Kind, got.Text, sourcesOf(got))
	}
}

// TestAVerifierThatSupportsAnythingIsNotBelieved says "full" to whatever it is asked.
func TestAVerifierThatSupportsAnythingIsNotBelieved(t *testing.T) {
	f := open(t)
	server := llmtest.New(t)
	server.On(isAnswer, says("You have 28 days of leave a year {Days of leave}. Everybody has a seat in the garden {Days of leave}."))
	server.On(llmtest.Schema("verify"), llmtest.By(func(r llmtest.Request) llmtest.Step {
		told := verdicts{}
		for i := range strings.Count(r.User(), "<statement n=") {
			told.Verdicts = append(told.Verdicts, verdict{i + 1, "full"})
		}
		return llmtest.Value(told)
	}))
	model := modelOf(t, server, nil)
	flow := f.with(t, answer.Options{Models: answer.Models{Answer: model, Verify: model}})
	got, err := flow.Start(t.Context(), flows.Request{Run: "r", Text: "how many days of leave do I get?"}, flows.Runtime{})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(got.Text, "garden [1]") || !strings.Contains(got.Text, "28 days of leave a year [1].") || !strings.Contains(got.Note, "Only words were compared") {
		t.Errorf("%q (%s)", got.Text, got.Note)
	}
}

func TestAModelThatFindsNothingAbstains(t *testing.T) {
	f := open(t)
	server := llmtest.New(t)
	server.On(isAnswer, llmtest.Text("NOT", "_IN", "_SOURCES"))
	flow := f.with(t, answer.Options{Models: answer.Models{Answer: modelOf(t, server, nil)}})
	got, err := flow.Start(t.Context(), flows.Request{Run: "r", Text: "do laptops have leave days?"}, flows.Runtime{Observe: func(event graph.Event) {
		if event.Kind == graph.Token {
			t.Errorf("streamed %q", event.Text)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if got.Kind != flows.Abstained || len(sourcesOf(got)) == 0 || strings.Contains(got.Text, "NOT_IN") {
		t.Errorf("%s: %q from %v", got.Kind, got.Text, sourcesOf(got))
	}
}

func TestWithoutItsModelTheAnswerQuotes(t *testing.T) {
	f := open(t)
	for _, test := range []struct {
		name   string
		step   llmtest.Step
		change func(*openai.Options)
		says   string
	}{
		{"down", llmtest.Fail(503, "", "overloaded"), nil, "can't be reached"},
		{"slow", llmtest.Hang(), func(o *openai.Options) { o.FirstToken = 20 * time.Millisecond }, "took too long"},
		{"stalls", llmtest.Text("You ", "have ", "28 days").CutAfter(2), nil, "can't be reached"},
		{"busy", llmtest.Busy(time.Hour), nil, "too many requests"},
		{"over budget", llmtest.Text("no"), func(o *openai.Options) {
			o.Gate.Budget = gate.NewBudget(gate.Allowance{RunTokens: 10})
		}, "budget"},
		{"refuses", llmtest.Refusal("I won't"), nil, "declined"},
		{"wrong key", llmtest.Text("no"), func(o *openai.Options) { o.Key = llm.NewSecret("sk-wrong") }, "settings"},
		{"too small", llmtest.Text("no"), func(o *openai.Options) { o.Context = 700; o.MaxReply = 100 }, "did not fit"},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := llmtest.New(t)
			server.Tolerate()
			server.On(llmtest.Any, test.step)
			flow := f.with(t, answer.Options{Models: answer.Models{Answer: modelOf(t, server, test.change)}})
			got, err := flow.Start(t.Context(), flows.Request{Run: "r", Text: "how many days of leave do I get?"}, flows.Runtime{})
			if err != nil {
				t.Fatal(err)
			}
			if got.Kind != flows.Answered || !strings.Contains(got.Text, "You have 28 days of leave a year. ") || !strings.Contains(got.Note, test.says) {
				t.Errorf("%s: %q (%s)", got.Kind, got.Text, got.Note)
			}
			if len(got.Trace.Models) != 1 || got.Trace.Models[0].Failure == "" {
				t.Errorf("the trace has %+v", got.Trace.Models)
			}
		})
	}
}

// TestAnAnswerThatNeedsAnother shows why there is a sequential strategy: no passage
// holds both the service and how its cluster is restarted.
func TestAnAnswerThatNeedsAnother(t *testing.T) {
	f := open(t)
	const question = "How do I restart the cluster that the billing service runs on?"
	t.Run("by rules", func(t *testing.T) {
		got := f.ask(t, flows.Request{Text: question})
		checkHops(t, got)
	})
	t.Run("by a model", func(t *testing.T) {
		server := llmtest.New(t)
		dependent := plain(question)
		dependent.Relation = "dependent"
		server.On(llmtest.Schema("understand"), llmtest.Value(dependent))
		server.On(llmtest.Schema("next"), llmtest.By(func(r llmtest.Request) llmtest.Step {
			if strings.Contains(r.User(), "restart Heron\n") {
				return llmtest.Value(next{Enough: true})
			}
			return llmtest.Value(next{Search: "restart Heron"})
		}))
		flow := f.with(t, answer.Options{Models: answer.Models{Understand: modelOf(t, server, nil)}})
		got, err := flow.Start(t.Context(), flows.Request{Run: "r", Text: question}, flows.Runtime{})
		if err != nil {
			t.Fatal(err)
		}
		checkHops(t, got)
	})
}

func checkHops(t *testing.T, got flows.Outcome) {
	t.Helper()
	if got.Kind != flows.Answered || !strings.Contains(got.Text, "heronctl restart --drain") || !strings.Contains(got.Text, "billing service runs on the Heron cluster") {
		t.Errorf("%s: %s", got.Kind, got.Text)
	}
	if strings.Index(got.Text, "heronctl") > strings.Index(got.Text, "Magpie") && strings.Contains(got.Text, "Magpie") {
		t.Errorf("another cluster comes first: %s", got.Text)
	}
	if !slices.ContainsFunc(got.Trace.Notes, func(note string) bool { return strings.HasPrefix(note, "strategy sequential") }) {
		t.Errorf("no sequential search: %q", got.Trace.Notes)
	}
	if len(got.Trace.Queries) < 2 {
		t.Errorf("searched %d times", len(got.Trace.Queries))
	}
}

func TestTheContextIsCutToTheBudget(t *testing.T) {
	f := open(t)
	server := llmtest.New(t)
	server.On(isAnswer, says("You have 28 days of leave a year {Days of leave}."))
	model := modelOf(t, server, func(o *openai.Options) { o.Context = 1500; o.MaxReply = 100 })
	flow := f.with(t, answer.Options{Models: answer.Models{Answer: model}})
	got, err := flow.Start(t.Context(), flows.Request{Run: "r", Text: "how many days of leave?", Depth: flows.Brief}, flows.Runtime{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Trace.Models[0].Failure != "" {
		t.Fatalf("failed: %+v", got.Trace.Models[0])
	}
	sent := server.Requests()[0].User()
	if !strings.Contains(sent, "You have 28 days of leave a year.") {
		t.Errorf("the best passage was not sent: %s", sent)
	}
	for _, p := range handbook {
		for _, s := range p.sections {
			if at := strings.Index(sent, s.text[:12]); at >= 0 && !strings.Contains(sent, s.text) && !strings.Contains(sent[at:], ".\n</source>") {
				t.Errorf("%q is cut within a sentence: %q", s.text, sent[at:])
			}
		}
	}
}
