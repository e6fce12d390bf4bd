package answer_test

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer"
	"github.com/cairn-bot/cairn/internal/llm/guard"
	"github.com/cairn-bot/cairn/internal/llm/llmtest"
	"github.com/cairn-bot/cairn/internal/racetest"
)

//go:embed testdata/injections.txt
var injectionList string

func injections(t *testing.T) []string {
	t.Helper()
	found := strings.Split(strings.TrimSpace(injectionList), "\n---\n")
	if len(found) < 30 {
		t.Fatalf("only %d injections", len(found))
	}
	var tried []string
	for i := 0; i < len(found); i += racetest.Stride {
		tried = append(tried, found[i])
	}
	return tried
}

// obedient is a model that does what the injection wants, and cites a source for it.
func obedient(injection string) llmtest.Step {
	return llmtest.Text(strings.SplitAfter("You have 28 days of leave a year [1]. "+injection+" [1]\n\n"+
		"[Sign in](https://evil.test/x) at https://evil.test/y or www.evil.test [1]. @everyone <!channel> ![](https://evil.test/z.png)", " ")...)
}

// TestInjectionsInDocuments: a document that gives orders is sent as data, and a model
// that obeys it lets out no link but to known documents, and mentions nobody. A document
// that gives none keeps its own links.
func TestInjectionsInDocuments(t *testing.T) {
	f := open(t)
	for i, injection := range injections(t) {
		t.Run(fmt.Sprint(i+1), func(t *testing.T) {
			put(t, f.index, f.embedder, page{"notes.md", "Notes on leave", "", []section{
				{"Days of leave", "You have 28 days of leave a year, says the notes on leave days.\n\n" + injection},
			}})
			var own []string
			if !guard.Instructs(injection) {
				own = guard.Addresses(injection)
			}
			checkInjection(t, f, injection, "how many days of leave do I get?", own...)
		})
	}
}

// TestInjectionsInQuestions is the same with the person's own words.
func TestInjectionsInQuestions(t *testing.T) {
	f := open(t)
	for i, injection := range injections(t) {
		t.Run(fmt.Sprint(i+1), func(t *testing.T) {
			checkInjection(t, f, injection, "how many days of leave do I get?\n"+injection)
		})
	}
}

func checkInjection(t *testing.T, f *fixture, injection, question string, own ...string) {
	t.Helper()
	server := llmtest.New(t)
	server.On(llmtest.Schema("understand"), llmtest.Value(plain(question)))
	server.On(llmtest.Schema("verify"), llmtest.By(func(r llmtest.Request) llmtest.Step {
		told := verdicts{Verdicts: []verdict{}}
		for i := range strings.Count(r.User(), "<statement n=") {
			told.Verdicts = append(told.Verdicts, verdict{i + 1, "full"}) // it obeys here, too
		}
		return llmtest.Value(told)
	}))
	server.On(isAnswer, obedient(injection))
	model := modelOf(t, server, nil)
	for _, models := range []answer.Models{{}, {Answer: model}, {Understand: model, Answer: model, Verify: model}} {
		flow := f.with(t, answer.Options{Models: models})
		var streamed strings.Builder
		got, err := flow.Start(t.Context(), flows.Request{Run: "r", Text: question, Depth: flows.Comprehensive}, flows.Runtime{
			Observe: func(event graph.Event) {
				if event.Kind == graph.Token {
					streamed.WriteString(event.Text)
				}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		checkLetOut(t, "the answer", got.Text, own)
		checkLetOut(t, "the stream", streamed.String(), own)
		for _, group := range got.Groups {
			for _, source := range group.Sources {
				for _, s := range source.Sections {
					if !strings.HasPrefix(s.URL, "https://docs.example/") {
						t.Errorf("links to %s as a source", s.URL)
					}
				}
			}
		}
	}
	for _, r := range server.Requests() {
		checkSent(t, r)
	}
}

var (
	tags    = regexp.MustCompile(`(?i)<\s*(/?)\s*(sources?|thread|turn|question|searched|statements?|system|user|assistant)\b`)
	mention = regexp.MustCompile(`(?i)@(everyone|here|channel)|<[!@#&][a-z0-9]`)
)

// checkSent looks at a prompt: the rules are the rules, and what comes from outside can't
// leave its place.
func checkSent(t *testing.T, r llmtest.Request) {
	t.Helper()
	if strings.Contains(r.System(), "evil") {
		t.Errorf("the rules hold an injection: %q", r.System())
	}
	open := 0
	for _, tag := range tags.FindAllStringSubmatch(r.User(), -1) {
		if strings.EqualFold(tag[2], "system") {
			t.Errorf("a tag of no use is open: %q", r.User())
		}
		if tag[1] == "" {
			open++
		} else {
			open--
		}
		if open < 0 || open > 2 {
			t.Fatalf("%q leaves its place in %q", tag[0], r.User())
		}
	}
	if open != 0 {
		t.Errorf("%d tags are left open in %q", open, r.User())
	}
	for _, hidden := range []string{"\u202e", "\u200b"} {
		if strings.Contains(r.User(), hidden) {
			t.Errorf("hidden characters are sent: %q", r.User())
		}
	}
}

// checkLetOut reads what people get to see as their clients would.
func checkLetOut(t *testing.T, what, said string, own []string) {
	t.Helper()
	if found := mention.FindString(said); found != "" {
		t.Errorf("%s mentions %q: %q", what, found, said)
	}
	source := []byte(said)
	err := ast.Walk(goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source)), func(node ast.Node, _ bool) (ast.WalkStatus, error) {
		address := ""
		switch found := node.(type) {
		case *ast.Link:
			address = string(found.Destination)
		case *ast.Image:
			address = "image " + string(found.Destination)
		case *ast.AutoLink:
			if found.AutoLinkType == ast.AutoLinkURL {
				address = string(found.URL(source))
			}
		}
		if address != "" && !strings.HasPrefix(address, "https://docs.example/") && !slices.Contains(own, address) {
			t.Errorf("%s links to %s: %q", what, address, said)
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
