package answer_test

import (
	"fmt"
	"testing"

	"github.com/cairn-bot/cairn/internal/graph/flows"
)

// TestTheSectionNamedWhatIsAskedForIsFound asks for a word that a hundred sections are full
// of: the one that has it for its name is read, however little it says.
func TestTheSectionNamedWhatIsAskedForIsFound(t *testing.T) {
	f := open(t)
	for i := range 100 {
		put(t, f.index, f.embedder, page{fmt.Sprintf("depots/%d.md", i), fmt.Sprintf("Depot %d", i), "", []section{
			{fmt.Sprintf("Depot gate %d", i), fmt.Sprintf("The depot opens its depot gate %d for what the depot takes in.", i)},
		}})
	}
	put(t, f.index, f.embedder, page{"terms.md", "Words that we use", "", []section{
		{"Depot (Goods yard)", "The place where goods rest between two journeys, with rails on one side and a road on the other, and a keeper who has the list of all that lies there."},
	}})
	for _, question := range []string{"what is a depot?", "whats a goods yard", "what are depots??"} {
		t.Run(question, func(t *testing.T) {
			outcome := f.ask(t, flows.Request{Text: question})
			for _, query := range outcome.Trace.Queries {
				if query.Text == "" {
					t.Errorf("a search for nothing: %+v", query)
				}
			}
			if got := sourcesOf(outcome); len(got) == 0 || got[0] != "terms.md" {
				t.Errorf("sources %v of %q", got, outcome.Text)
			}
		})
	}
}

// TestTheProductIsDefinedByItsIntroduction asks for what all pages speak of.
func TestTheProductIsDefinedByItsIntroduction(t *testing.T) {
	f := open(t)
	for i := range 30 {
		put(t, f.index, f.embedder, page{fmt.Sprintf("guides/%d.md", i), fmt.Sprintf("Quarry and its gate %d", i), "", []section{
			{fmt.Sprintf("Gate %d", i), fmt.Sprintf("Quarry opens gate %d, and Quarry is careful with gate %d, as Quarry always was.", i, i)},
		}})
	}
	put(t, f.index, f.embedder, page{"start.md", "Introduction", "", []section{
		{"Introduction", "Quarry is a tool that keeps the lists of what lies in a yard, for all who work there."},
	}})
	outcome := f.ask(t, flows.Request{Text: "what is quarry?"})
	if got := sourcesOf(outcome); len(got) == 0 || got[0] != "start.md" {
		t.Errorf("sources %v of %q", got, outcome.Text)
	}
}
