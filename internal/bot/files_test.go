package bot_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
)

// clerk is a flow that asks what it is told to ask, and keeps its requests.
type clerk struct {
	name  string
	graph *graph.Compiled[errand]
	files []flows.File // of its replies
	trace flows.Trace  // of its outcomes

	mu       sync.Mutex
	requests []flows.Request
}

type errand struct {
	Asks *graph.Question
	Text string
}

func newClerk(t *testing.T, name string) *clerk {
	t.Helper()
	g := graph.New(name, 1,
		graph.Replace("asks", func(s *errand) **graph.Question { return &s.Asks }), graph.Replace("text", func(s *errand) *string { return &s.Text }))
	g.Node("work", func(_ context.Context, step graph.Step[errand]) (graph.Result[errand], error) {
		if _, answered := step.Answer("it"); answered || step.State.Asks == nil {
			return graph.Result[errand]{}, nil
		}
		asked := *step.State.Asks
		asked.Key = "it"
		return graph.Ask[errand](asked), nil
	}, graph.Policy{Asks: true})
	g.Start("work")
	g.Edge("work", graph.End)
	compiled, err := g.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return &clerk{name: name, graph: compiled}
}

func (c *clerk) Name() string       { return c.name }
func (c *clerk) Shape() graph.Shape { return c.graph.Shape() }

func (c *clerk) Start(ctx context.Context, request flows.Request, runtime flows.Runtime) (flows.Outcome, error) {
	c.mu.Lock()
	c.requests = append(c.requests, request)
	c.mu.Unlock()
	return c.outcome(c.graph.Start(ctx, request.Run, errand{Asks: request.Asks, Text: strings.TrimSpace(string(request.Depth) + " " + request.Text)}, graph.Options{Store: runtime.Store}))
}

func (c *clerk) Resume(ctx context.Context, run string, answers []graph.Answer, runtime flows.Runtime) (flows.Outcome, error) {
	return c.outcome(c.graph.Resume(ctx, run, answers, graph.Options{Store: runtime.Store}))
}

func (c *clerk) outcome(run graph.Outcome[errand], err error) (flows.Outcome, error) {
	switch {
	case err != nil:
		return flows.Outcome{}, err
	case run.Status == graph.Waiting:
		return flows.Outcome{Kind: flows.Asked, Question: &run.Questions[0]}, nil
	}
	return flows.Outcome{Kind: flows.Answered, Text: c.name + ": " + run.State.Text, Files: c.files, Trace: c.trace}, nil
}

// attached are the names of the files of the last request.
func (c *clerk) attached() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var names []string
	for _, attachment := range c.requests[len(c.requests)-1].Attachments {
		names = append(names, attachment.Name)
	}
	return names
}

func TestAFileWithoutWordsIsAskedAbout(t *testing.T) {
	for _, test := range []struct {
		name   string
		reply  chat.Message
		posted string
		by     string // the flow that has the file in the end; "" for none
	}{
		{"summarized", chat.Message{Answers: &chat.Press{Choice: "file-summarize"}}, "analyze: Summarize it", "analyze"},
		{"by the place of the choice", chat.Message{Text: "the first one"}, "analyze: Summarize it", "analyze"},
		{"searched for", chat.Message{Answers: &chat.Press{Choice: "file-search"}}, "answer: ", "answer"},
		{"in words", chat.Message{Text: "what is the total?"}, "answer: what is the total?", "answer"},
		{"a question to come", chat.Message{Answers: &chat.Press{Choice: "file-question"}}, "What would you like to know about it?", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clerks := map[string]*clerk{"answer": newClerk(t, "answer"), "analyze": newClerk(t, "analyze")}
				s := newStreet(t, clerks["answer"], clerks["analyze"])
				f := s.front("platform", "1")
				defer s.works(newFate(0, false))()
				f.hand(chat.Message{ID: "m1", Files: []chat.File{s.platform.Upload("bill.txt", "", []byte("total 7"))}})
				question := s.platform.Posted(f.thread)[0].Post.Question
				if question == nil || len(question.Choices) != 3 || question.Text != "What should I do with it?" {
					t.Fatalf("posted is %s", f.posted())
				}
				test.reply.ID = "m2"
				if test.reply.Answers != nil {
					test.reply.Answers.Question = question.ID
				}
				f.hand(test.reply)
				if got := f.posted(); got != test.posted {
					t.Errorf("posted is %q, want %q", got, test.posted)
				}
				if test.by != "" && !slices.Equal(clerks[test.by].attached(), []string{"bill.txt"}) {
					t.Errorf("%s was given %v", test.by, clerks[test.by].attached())
				}
				f.hand(chat.Message{ID: "m3", Text: "who has to pay the bill?"})
				if got := clerks["answer"].attached(); !slices.Equal(got, []string{"bill.txt"}) {
					t.Errorf("the next question was given %v", got)
				}
			})
		})
	}
}

// TestAnAnsweredQuestionShowsWhatWasMeant answers what the flow of plain questions asked back.
func TestAnAnsweredQuestionShowsWhatWasMeant(t *testing.T) {
	for reply, want := range map[string]string{"the second one": "You meant: Blue", "Red": "You meant: Red", "never mind": ""} {
		synctest.Test(t, func(t *testing.T) {
			s := newStreet(t)
			f := s.front("platform", "1")
			defer s.works(newFate(0, false))()
			f.hand(chat.Message{ID: "m1", Text: "paint the wall"})
			f.hand(chat.Message{ID: "m2", Text: reply})
			post := s.platform.Posted(f.thread)[0].Post
			if post.Question == nil || post.Answer == "" || post.Question.Meant != want {
				t.Errorf("%q: shown is %+v, %+v", reply, post, post.Question)
			}
		})
	}
}

// TestAPlainQuestionAfterAnAnalysisIsAnsweredFromIt has a report made, and then asks.
func TestAPlainQuestionAfterAnAnalysisIsAnsweredFromIt(t *testing.T) {
	for _, adapter := range []string{"platform", "test"} {
		synctest.Test(t, func(t *testing.T) {
			answers, analyses := newClerk(t, "answer"), newClerk(t, "analyze")
			analyses.files = []flows.File{{Name: "risks_analysis.md", MediaType: "text/markdown; charset=utf-8", Content: []byte("# Risks\n\nTwo owners are missing.")}}
			s := newStreet(t, answers, analyses)
			f := s.front(adapter, "1")
			defer s.works(newFate(0, false))()
			f.hand(chat.Message{ID: "m1", Text: "analyze: what are the risks?"})
			f.hand(chat.Message{ID: "m2", Text: "which owners are missing?"})
			if got := len(answers.requests); got != 1 {
				t.Fatalf("%s: answered %d questions", adapter, got)
			}
			if got := answers.attached(); adapter == "test" && !slices.Equal(got, []string{"risks_analysis.md"}) {
				t.Errorf("%s: given are %v", adapter, got)
			}
			f.hand(chat.Message{ID: "m3", Text: "analyze: the owners"})
			if got := len(analyses.requests); got != 2 {
				t.Errorf("%s: analyzed %d times", adapter, got)
			}
		})
	}
}

// hand hands a message of Ann's over, and waits until it was dealt with.
func (f *front) hand(message chat.Message) {
	f.t.Helper()
	message.Thread, message.Author, message.At = f.thread, "ann", time.Now()
	if err := f.bot.Handle(f.t.Context(), message, nil); err != nil {
		f.t.Fatal(err)
	}
	f.quiet()
}
