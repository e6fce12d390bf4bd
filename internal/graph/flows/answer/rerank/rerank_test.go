package rerank_test

import (
	"testing"

	"github.com/cairn-bot/cairn/internal/graph/flows/answer/logistic"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer/rerank"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/knowledge/support"
)

func evidence(page, section, text string, score float64) retrieve.Evidence {
	return retrieve.Evidence{
		Document: knowledge.Document{ID: knowledge.DocumentID(page), Title: page, Language: "en"},
		Passage:  knowledge.Passage{Headings: []string{page, section}, Text: text}, Score: score,
	}
}

func question(text, intent string) rerank.Question {
	q := rerank.Question{Text: text, Intent: intent}
	for _, term := range lexical.Analyze(text) {
		if !lexical.IsFiller(term) {
			q.Profile.Terms = append(q.Profile.Terms, support.Term{Text: term, IDF: 3})
		}
	}
	return q
}

// filler makes texts as long as a passage usually is.
const filler = " It is kept beside the others, and whoever needs it later finds it there again, for as long as the team wants to have it, which may well be a year or two from now on."

func TestOrder(t *testing.T) {
	for _, test := range []struct {
		name     string
		question rerank.Question
		found    []retrieve.Evidence
		first    string // section
	}{
		{"the section that says what a term is", question("what is a library chart", "definition"), []retrieve.Evidence{
			evidence("Tips", "Sharing", "Put a chart beside the library."+filler, 1),
			evidence("Terms", "Library chart", "A library chart is a chart that others use."+filler, 0.9),
		}, "Library chart"},
		{"words side by side", question("storage backend permissions", "lookup"), []retrieve.Evidence{
			evidence("Roles", "Storage", "Storage for each of the many roles; a backend asks nobody else for permissions."+filler, 1),
			evidence("Setup", "Backends", "The storage backend permissions are these."+filler, 0.95),
		}, "Backends"},
		{"the flag as it is written", question("what does --wait-for do", "lookup"), []retrieve.Evidence{
			evidence("Run", "Waiting", "You wait for it."+filler, 1),
			evidence("Flags", "All", "`--wait-for` waits for jobs."+filler, 0.95),
		}, "All"},
		{"the whole question in a few words", question("rotate signing keys offline", "lookup"), []retrieve.Evidence{
			evidence("Desk", "Notes", "Rotate the desks. Signing is on Monday. Keys hang here. Some are offline."+filler, 1),
			evidence("Vault", "Upkeep", "Keys are rotated offline before any further signing."+filler, 0.95),
		}, "Upkeep"},
		{"code for who asks how", question("how to drain the queue", "how-to"), []retrieve.Evidence{
			evidence("Queue", "Facts", "Drain the queue."+filler, 1),
			evidence("Queue", "Work", "Drain the queue:\n\n```sh\nqueue drain\n```\n"+filler, 0.95),
		}, "Work"},
		{"the search's order, where nothing else tells", question("invoices", "lookup"), []retrieve.Evidence{
			evidence("Billing", "One", "Invoices."+filler, 1),
			evidence("Letters", "Two", "Invoices."+filler, 0.9),
		}, "One"},
	} {
		t.Run(test.name, func(t *testing.T) {
			ordered := rerank.Order(test.question, test.found)
			if got := ordered[0].Passage.Section(); got != test.first {
				t.Errorf("%q is first, want %q", got, test.first)
			}
			for i, e := range ordered {
				if e.Score <= 0 || e.Score > test.found[0].Score || i > 0 && e.Score > ordered[i-1].Score {
					t.Errorf("scores are not in order: %v", e.Score)
				}
			}
		})
	}
	if got := rerank.Order(question("x", "lookup"), nil); len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
}

func TestFitFindsWhatTells(t *testing.T) {
	example := rerank.Example{Weight: 1, Grades: []int{0, 2, 1, 0}, Features: []logistic.Features{
		{"search": 1}, {"search": 0.8, "side_by_side": 1}, {"search": 0.7, "side_by_side": 0.5}, {"search": 0.6},
	}}
	w, err := rerank.FitWeights([]rerank.Example{example, example, example})
	if err != nil {
		t.Fatal(err)
	}
	if order := example.Order(w); order[0] != 1 {
		t.Errorf("%v: the order is %v", w, order)
	}
	if _, err := rerank.FitWeights([]rerank.Example{{Weight: 1, Grades: []int{0}, Features: []logistic.Features{{"search": 1}}}}); err == nil {
		t.Error("nothing that answers, and no error")
	}
}
