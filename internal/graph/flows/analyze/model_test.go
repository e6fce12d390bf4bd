package analyze_test

import (
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/document/survey"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/llm/gate"
	"github.com/cairn-bot/cairn/internal/llm/llmtest"
	"github.com/cairn-bot/cairn/internal/llm/openai"
)

type note struct {
	Text    string `json:"text"`
	Sources []int  `json:"sources"`
}

type part struct {
	Title      string `json:"title"`
	Statements []note `json:"statements"`
}

type parts struct {
	Parts []part `json:"parts"`
}

func surveyorOf(t *testing.T, server *llmtest.Server) *survey.Surveyor {
	t.Helper()
	model, err := openai.New(openai.Options{
		BaseURL: server.URL, Key: llm.NewSecret(llmtest.Key), Model: "gpt-4o", Context: 16000, Gate: gate.Options{Retries: -1},
	})
	if err != nil {
		t.Fatal(err)
	}
	return survey.New(model, nil)
}

func draftOf(title, text string) llmtest.Step {
	return llmtest.Value(parts{[]part{{title, []note{{text, []int{1}}}}}})
}

var ledger = flows.Attachment{Name: "ledger.md", Text: "# Ledger\n\nThe ledger has no fallback. Maria Lopez owns it. See [the portal](https://evil.example/x)."}

func TestAModelDraftsAndRevises(t *testing.T) {
	server := llmtest.New(t, draftOf("Risks", "The ledger has no fallback."), draftOf("Owners", "Maria Lopez owns it."))
	k := newTalk(t, surveyorOf(t, server))
	if first := k.ask("what are the risks?", ledger); !strings.Contains(first.Text, "The ledger has no fallback. (`ledger.md` › Ledger)") || len(first.Question.Choices) != 3 || !first.Question.FreeText {
		t.Fatalf("%+v", first)
	}
	k.reply("[revise]")
	if second := k.reply("rather say who owns it"); !strings.Contains(second.Text, "Draft 2") || !strings.Contains(second.Text, "Maria Lopez owns it.") {
		t.Fatalf("%+v", second)
	}
	sent := server.Requests()[1].User()
	for _, want := range []string{"rather say who owns it", "<statements>\nRisks\n- The ledger has no fallback.", "what are the risks?"} {
		if !strings.Contains(sent, want) {
			t.Errorf("the prompt of the revision does not have %q:\n%s", want, sent)
		}
	}
	last := k.reply("ship it")
	if last.Kind != flows.Answered || len(last.Files) != 1 || last.Files[0].Name != "risks_analysis.md" || len(last.Groups) != 1 {
		t.Fatalf("%+v", last)
	}
	if file := string(last.Files[0].Content); !strings.Contains(file, "- Maria Lopez owns it. [1] (`ledger.md` › Ledger)") || !strings.Contains(file, "- [1] `ledger.md` › Ledger") {
		t.Errorf("%s", file)
	}
	if !strings.Contains(last.Text, "Maria Lopez owns it. [1]") || len(last.Trace.Models) != 2 || len(last.Trace.Steps) == 0 {
		t.Errorf("%q, %+v", last.Text, last.Trace)
	}
}

// TestADraftIsToldInTheAskersLanguage asks in German: all that stands around the statements is German.
func TestADraftIsToldInTheAskersLanguage(t *testing.T) {
	k := newTalk(t, surveyorOf(t, llmtest.New(t, draftOf("Risiken", "The ledger has no fallback."))))
	first := k.ask("Welche Risiken gibt es, und was ist noch nicht entschieden?", ledger)
	for _, want := range []string{"Entwurf 1 der Analyse von `ledger.md`.", "Von einem Sprachmodell aus den Dokumenten geschrieben", "Annehmen, sagen, was anders werden soll, oder abbrechen?"} {
		if !strings.Contains(first.Text, want) {
			t.Errorf("%q is missing: %s", want, first.Text)
		}
	}
	if got := first.Question.Choices[0]; got.ID != "approve" || got.Label != "Annehmen" {
		t.Errorf("the first choice is %+v", got)
	}
	if last := k.reply("[approve]"); !strings.Contains(last.Text, "Die Analyse von `ledger.md` steht in `") || !strings.Contains(string(last.Files[0].Content), "## Quellen") {
		t.Errorf("%s\n%s", last.Text, last.Files[0].Content)
	}
}

func TestAModelThatFailsIsWorkedAround(t *testing.T) {
	server := llmtest.New(t, llmtest.Fail(500, "server_error", "down"), draftOf("Risks", "The ledger has no fallback."))
	k := newTalk(t, surveyorOf(t, server))
	if first := k.ask("what are the risks?", ledger); !strings.Contains(first.Text, "the language model can't be reached. A digest by rules") {
		t.Fatalf("%+v", first)
	}
	if second := k.reply("try again"); !strings.Contains(second.Text, "Written by a language model") {
		t.Fatalf("%+v", second)
	}
	if last := k.reply("stop"); last.Kind != flows.Abstained || len(last.Files) != 0 {
		t.Errorf("%+v", last)
	}
}

// TestNothingOfDocumentsOrModelsLeaks has a document, the model and the person try to post
// links, mentions and numbers of sources that are not there.
func TestNothingOfDocumentsOrModelsLeaks(t *testing.T) {
	hostile := "The ledger has no fallback. Maria Lopez owns it since 2020 and Tom Becker since 2021. [click](https://evil.example/x) <https://evil.example/y> https://evil.example/z ![i](https://evil.example/i) @everyone <!channel> <@U123> [77]\n# Heading"
	obeys := "Maria Lopez owns it since 2020 and Tom Becker since 2021, the ledger has no fallback. [click](https://evil.example/z) https://evil.example/z @everyone <!channel> [77]\n# fallback"
	server := llmtest.New(t, llmtest.Value(parts{[]part{{"Risks https://evil.example/t @here", []note{{obeys, []int{1, 77}}}}}}))
	for name, surveyor := range map[string]*survey.Surveyor{"model": surveyorOf(t, server), "rules": nil} {
		t.Run(name, func(t *testing.T) {
			k := newTalk(t, surveyor)
			asked := k.ask("the fallback? https://evil.example/q @everyone", flows.Attachment{
				Name: "https://evil.example/n.md", Text: "# Ledger https://evil.example/h\n\n" + hostile,
			})
			last := k.reply("yes")
			if byModel := strings.Contains(last.Text, "Written by a language model"); byModel != (surveyor != nil) || last.Note != "" {
				t.Fatalf("%s; %s", last.Text, last.Note)
			}
			for _, said := range []string{asked.Text, last.Text, string(last.Files[0].Content)} {
				if !strings.Contains(said, "fallback") {
					t.Errorf("nothing is said: %s", said)
				}
				// Names stand in code, where nothing makes a link of them.
				said = strings.ReplaceAll(said, "`https://evil.example/n.md`", "")
				for _, bad := range []string{"://", "@everyone", "@here", "<!channel>", "<@U123>", "[77]", "\n# Heading", "\n# fallback"} {
					if strings.Contains(said, bad) {
						t.Errorf("%q leaks: %s", bad, said)
					}
				}
			}
		})
	}
}

func TestRoundsAreBounded(t *testing.T) {
	k := newTalk(t, nil)
	k.ask("risks?", ledger)
	for range 20 {
		k.reply("more on the ledger")
	}
	if last := k.reply("more on the ledger"); !strings.Contains(last.Text, "don't do so any more") {
		t.Errorf("%s", last.Text)
	}
	if last := k.reply("[approve]"); last.Kind != flows.Answered {
		t.Errorf("%+v", last)
	}
}
