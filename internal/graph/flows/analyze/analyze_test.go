package analyze_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/document"
	"github.com/cairn-bot/cairn/internal/document/survey"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/analyze"
	"github.com/cairn-bot/cairn/internal/graph/graphtest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// documents is where the documents of the tests lie.
const documents = "../../../document/testdata"

// talk is a run in a thread.
type talk struct {
	t     *testing.T
	flow  *analyze.Flow
	store *graphtest.Memory
	last  flows.Outcome
	steps []string
}

func newTalk(t *testing.T, surveyor *survey.Surveyor) *talk {
	t.Helper()
	flow, err := analyze.New(analyze.Options{Reader: document.NewReader(document.Options{Roots: []string{documents}}), Surveyor: surveyor})
	if err != nil {
		t.Fatal(err)
	}
	return &talk{t: t, flow: flow, store: graphtest.NewMemory()}
}

func (k *talk) runtime() flows.Runtime {
	return flows.Runtime{Store: k.store, Observe: func(e graph.Event) {
		if e.Kind == graph.Detail {
			k.steps = append(k.steps, e.Text)
		}
	}}
}

// ask starts the run.
func (k *talk) ask(text string, attachments ...flows.Attachment) flows.Outcome {
	k.t.Helper()
	return k.took(k.flow.Start(k.t.Context(), flows.Request{Run: "run", Text: text, Attachments: attachments}, k.runtime()))
}

// reply answers the question in words, or by a choice: "[approve]".
func (k *talk) reply(text string) flows.Outcome {
	k.t.Helper()
	answer := graph.Answer{QuestionID: k.last.Question.ID, Text: text}
	if strings.HasPrefix(text, "[") {
		answer.Text, answer.Choice = "", strings.Trim(text, "[]")
	}
	return k.took(k.flow.Resume(context.WithoutCancel(k.t.Context()), "run", []graph.Answer{answer}, k.runtime()))
}

func (k *talk) took(outcome flows.Outcome, err error) flows.Outcome {
	k.t.Helper()
	if err != nil {
		k.t.Fatal(err)
	}
	k.last = outcome
	return outcome
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got:\n%s\nwant:\n%s", name, got, want)
	}
}

func TestConversationsByRules(t *testing.T) {
	for name, said := range map[string][]string{
		"risks":   {"./payments what are the risks?", "looks good"},
		"refunds": {"./payments", "only refunds and dates", "drop the dates, add people", "please rewrite it nicer", "[revise]", "ship it!"},
		"argo":    {"./argo-cd/docs how is the repo server scaled?", "lgmt"},
		"stopped": {"./payments", "[stop]"},
	} {
		t.Run(name, func(t *testing.T) {
			k := newTalk(t, nil)
			outcome := k.ask(said[0])
			var b strings.Builder
			write := func(said string) {
				b.WriteString("> " + said + "\n\n" + outcome.Text + "\n")
				if outcome.Note != "" {
					b.WriteString("(" + outcome.Note + ")\n")
				}
				b.WriteString("\n")
			}
			write(said[0])
			for _, reply := range said[1:] {
				if outcome.Kind != flows.Asked {
					t.Fatalf("%s before %q", outcome.Kind, reply)
				}
				outcome = k.reply(reply)
				write(reply)
			}
			for _, file := range outcome.Files {
				b.WriteString("=== " + file.Name + "\n" + string(file.Content))
			}
			golden(t, name+".golden", b.String())
		})
	}
}
