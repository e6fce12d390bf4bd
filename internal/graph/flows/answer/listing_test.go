package answer_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/llm/llmtest"
)

// options makes a code block of a command's options.
func options(from, to int) string {
	lines := []string{"```"}
	for i := from; i < to; i++ {
		lines = append(lines, fmt.Sprintf("      --drain-%d   leaves queue %d of the harrier cluster", i, i))
	}
	return strings.Join(append(lines, "```"), "\n")
}

var harrier = page{"harrier.md", "Harrier", "", []section{
	{"Draining Harrier", "The harrier cluster is drained by a command.\n\n" + options(0, 3)},
	{"Draining Harrier", options(3, 6)},
	{"Draining Harrier", options(6, 9) + "\n\nThen this holds:\n\n| State | Queues |\n|--|--|\n| full | 1 |"},
	{"Draining Harrier", "| State | Queues |\n|--|--|\n| empty | 2 |\n\n1. wait"},
	{"Draining Harrier", "2. ask\n   the platform team\n3. go"},
	{"Draining Harrier", "All of that is done once."},
	{"Other options", options(9, 12)},
	{"Code", "```\nmake\n```"},
	{"Code", "```\nmake test\n```"},
}}

// TestListingsAreShownWhole has one passage found: what its list of options, table or list lacks is
// shown as well, within its section, in its order.
func TestListingsAreShownWhole(t *testing.T) {
	f := open(t)
	put(t, f.index, f.embedder, harrier)
	server := llmtest.New(t)
	flow := f.with(t, answer.Options{Models: answer.Models{Answer: modelOf(t, server, nil)}})
	for found, want := range [][]int{{0, 1, 2}, {0, 1, 2}, {0, 1, 2, 3}, {2, 3, 4}, {3, 4}, {5}, {6}, {7}, {8}} {
		document := knowledge.Document{ID: "docs:harrier.md", Title: "Harrier"}
		passages, err := f.index.Passages(t.Context(), []knowledge.PassageID{knowledge.MakePassageID(document.ID, found)})
		if err != nil || len(passages) != 1 {
			t.Fatal(passages, err)
		}
		shown, err := flow.ShownWithListings(t.Context(), []retrieve.Evidence{{Document: document, Passage: passages[0].Passage, Score: 1}})
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, position := range want {
			texts = append(texts, harrier.sections[position].text)
		}
		if !slices.Equal(shown, []string{strings.Join(texts, "\n\n")}) {
			t.Errorf("of passage %d is shown\n%q\nwant %v", found, shown, want)
		}
	}
}

// TestAnAnswerCitesTheRestOfAListing that was not found itself.
func TestAnAnswerCitesTheRestOfAListing(t *testing.T) {
	f := open(t)
	put(t, f.index, f.embedder, harrier)
	server := llmtest.New(t)
	server.On(isAnswer, llmtest.By(func(r llmtest.Request) llmtest.Step {
		return llmtest.Text("`--drain-8` leaves queue 8 of the harrier cluster [" + numberOf(r, "Harrier › Draining Harrier") + "].")
	}))
	flow := f.with(t, answer.Options{Models: answer.Models{Answer: modelOf(t, server, nil)}})
	got, err := flow.Start(t.Context(), flows.Request{Run: "r", Text: "what does --drain-1 leave in the harrier cluster?", Depth: flows.Brief}, flows.Runtime{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Kind != flows.Answered || !strings.Contains(got.Text, "leaves queue 8 of the harrier cluster [1].") || len(sourcesOf(got)) == 0 {
		t.Errorf("%s: %q from %v (%s)", got.Kind, got.Text, sourcesOf(got), got.Note)
	}
}
