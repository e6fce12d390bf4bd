package answer_test

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer"
	"github.com/cairn-bot/cairn/internal/knowledge"
)

// always is a judgement that does one thing about every question: decline or doubt.
func always(decline, doubt float64) *answer.Judgement {
	return &answer.Judgement{AskFrom: 2, DeclineFrom: decline, DoubtFrom: doubt}
}

// collectionsOf names collections.
func collectionsOf(names ...knowledge.SourceID) func(context.Context) ([]knowledge.SourceID, error) {
	return func(context.Context) ([]knowledge.SourceID, error) { return names, nil }
}

func TestDecliningNamesTheCollectionsAndTheClosestQuote(t *testing.T) {
	f := open(t)
	for _, test := range []struct {
		name, question string
		collections    []knowledge.SourceID
		filter         []knowledge.SourceID
		begins         string
		quotes         bool
	}{
		{"one collection", "how many days of leave do I get?", []knowledge.SourceID{"handbook"}, nil, "I couldn't find this in `handbook`.", true},
		{"several", "wie viele days of leave bekomme ich eigentlich?", []knowledge.SourceID{"handbook", "wiki"}, nil, "Dazu habe ich in `handbook`, `wiki` nichts gefunden.", false},
		{"too many to name", "how many days of leave do I get?", []knowledge.SourceID{"a", "b", "c", "d", "e"}, nil, "I couldn't find this in the documents.", true},
		{"those that were asked", "how many days of leave do I get?", []knowledge.SourceID{"a", "b"}, []knowledge.SourceID{"docs"}, "I couldn't find this in `docs`.", true},
		{"nothing comes near", "who won the world cup in 1954?", []knowledge.SourceID{"handbook"}, nil, "I couldn't find this in `handbook`.", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			flow := f.with(t, answer.Options{Judgement: always(0, 0), Collections: collectionsOf(test.collections...)})
			got, err := flow.Start(t.Context(), flows.Request{Run: "r", Text: test.question, Filter: flows.Scope{Sources: test.filter}}, flows.Runtime{})
			if err != nil {
				t.Fatal(err)
			}
			if got.Kind != flows.Abstained || !strings.HasPrefix(got.Text, test.begins) || strings.Contains(got.Text, "28 days of leave a year. [1]") != test.quotes {
				t.Errorf("%s: %s", got.Kind, got.Text)
			}
			cited, near := 0, 0
			for _, group := range got.Groups {
				for _, source := range group.Sources {
					if source.Sections[0].Number > 0 {
						cited++
					} else {
						near++
					}
				}
			}
			if near > 2 || (cited == 1) != test.quotes {
				t.Errorf("%d sources are cited, %d near", cited, near)
			}
		})
	}
}

// TestDecliningNamesNoWordsOfTheQuestion asks what nothing answers: words that people put
// around a question are not what is missing.
func TestDecliningNamesNoWordsOfTheQuestion(t *testing.T) {
	f := open(t)
	for _, question := range []string{
		"anyway, where on earth would somebody right now find the swimming pool nite schedule?",
		"could you please tell me whether there is a discount for zoo tickets whatsoever?",
	} {
		got := f.ask(t, flows.Request{Text: question})
		if got.Kind != flows.Abstained {
			t.Fatalf("%s: %s", got.Kind, got.Text)
		}
		if words := regexp.MustCompile(`anyway|nite|right now|please|whether|whatsoever|mentions`).FindString(got.Text + got.Note); words != "" {
			t.Errorf("it names %q: %s", words, got.Text)
		}
	}
}

func TestADoubtfulAnswerSaysSoInTheAskersLanguage(t *testing.T) {
	f := open(t)
	flow := f.with(t, answer.Options{Judgement: always(2, 0)})
	sure := f.with(t, answer.Options{Judgement: always(2, 2)})
	for question, line := range map[string]string{
		"how many days of leave do I get?":                  "This may not be it:\n\n",
		"combien de days of leave est-ce que j’ai par an ?": "Ce n’est peut-être pas ce que vous cherchez :\n\n",
	} {
		got, err := flow.Start(t.Context(), flows.Request{Run: "r", Text: question}, flows.Runtime{})
		if err != nil {
			t.Fatal(err)
		}
		rest, found := strings.CutPrefix(got.Text, line)
		if got.Kind != flows.Answered || !found || !strings.Contains(rest, "28 days of leave") {
			t.Errorf("%s: %s", got.Kind, got.Text)
		}
		plain, err := sure.Start(t.Context(), flows.Request{Run: "r", Text: question}, flows.Runtime{})
		if err != nil || strings.Contains(plain.Text, strings.TrimSpace(line)) {
			t.Errorf("a sure answer doubts: %v, %s", err, plain.Text)
		}
	}
}
