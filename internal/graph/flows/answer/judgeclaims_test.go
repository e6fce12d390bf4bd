package answer_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/graph/flows/answer"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/llm/llmtest"
)

// TestAVerifierIsNotShownPassagesThatAreGone has a first source whose document was removed: the
// others keep the numbers under which their statements name them.
func TestAVerifierIsNotShownPassagesThatAreGone(t *testing.T) {
	evidence := []retrieve.Evidence{
		{Document: knowledge.Document{ID: "removed", Title: "Removed"}},
		{Document: knowledge.Document{ID: "leave", Title: "Leave"}, Passage: knowledge.Passage{Text: "You have 28 days of leave a year."}},
		{Document: knowledge.Document{ID: "desks", Title: "Desks"}, Passage: knowledge.Passage{Text: "Desks are booked in the calendar."}},
	}
	server := llmtest.New(t)
	var asked string
	server.On(llmtest.Schema("verify"), llmtest.By(func(r llmtest.Request) llmtest.Step {
		asked = r.User()
		return llmtest.Value(verdicts{Verdicts: []verdict{{1, "full"}, {2, "none"}, {3, "full"}}})
	}))
	written := answer.WrittenReply{
		Question: "What may I have?", Evidence: evidence,
		Text: "Cars are blue [1]. You get 28 days of leave [1][2]. Your desk is in the calendar [3].",
	}
	checked, err := answer.CheckReply(t.Context(), written, modelOf(t, server, nil))
	if err != nil {
		t.Fatal(err)
	}
	var cites []string
	for _, found := range regexp.MustCompile(`<statement n="\d+" cites="([^"]*)">\n(?:You get|Your desk)`).FindAllStringSubmatch(asked, -1) {
		cites = append(cites, found[1])
	}
	if strings.Count(asked, "<source n=") != 2 || strings.Contains(asked, "Removed") || strings.Contains(asked, "Cars") || !slices.Equal(cites, []string{"1", "2"}) {
		t.Errorf("statements cite %q in %s", cites, asked)
	}
	if want := "You get 28 days of leave [1][2]. Your desk is in the calendar [3]."; checked.Text != want {
		t.Errorf("shown: %q, want %q", checked.Text, want)
	}
}

// TestARemovalIsToldInItsPlace asks in two languages for two things, of which the sources tell one.
func TestARemovalIsToldInItsPlace(t *testing.T) {
	for _, test := range []struct{ question, source, text, want string }{
		{
			"How many days of leave do I get, and who pays for lunch?", "You have 28 days of leave a year.",
			"You have 28 days of leave a year [1]. Lunch is paid for by the mayor of Lisbon [1]. You have 28 days of leave a year [1].",
			"You have 28 days of leave a year [1]. *(something was left out here, for the documents don't support it)* You have 28 days of leave a year [1].",
		},
		{
			"Wie viele Tage Urlaub bekomme ich, und wer bezahlt das Mittagessen?", "Du hast 28 Tage Urlaub im Jahr.",
			"Du hast 28 Tage Urlaub im Jahr [1]. Das Mittagessen bezahlt 1999 der Bürgermeister [1].",
			"Du hast 28 Tage Urlaub im Jahr [1]. *(hier wurde etwas weggelassen, das die Dokumente nicht stützen)*",
		},
	} {
		evidence := []retrieve.Evidence{{Document: knowledge.Document{ID: "leave", Title: "Leave"}, Passage: knowledge.Passage{Text: test.source}}}
		checked, err := answer.CheckReply(t.Context(), answer.WrittenReply{Question: test.question, Evidence: evidence, Text: test.text}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if checked.Text != test.want {
			t.Errorf("shown: %q, want %q", checked.Text, test.want)
		}
	}
}

// TestOptionsKeepTheirLines: what is said of one option in a command's help is not said of another.
func TestOptionsKeepTheirLines(t *testing.T) {
	help := "```\n-parallelism NUM\n    How many files are fetched at the same time.\n    Defaults to 8\n\n-interval NUM\n    How many seconds it waits.\n    Defaults to 3\n```"
	evidence := []retrieve.Evidence{{Document: knowledge.Document{ID: "help", Title: "Fetching"}, Passage: knowledge.Passage{Text: help}}}
	for text, marked := range map[string]bool{"`-parallelism` NUM defaults to 8 files [1].": false, "`-interval` NUM defaults to 8 seconds [1].": true} {
		checked, err := answer.CheckReply(t.Context(), answer.WrittenReply{Question: "What are the defaults?", Evidence: evidence, Text: text}, nil)
		if err != nil || len(checked.Claims) != 1 {
			t.Fatal(checked.Claims, err)
		}
		if got := checked.Claims[0].Marked || checked.Claims[0].Removed; got != marked {
			t.Errorf("%s: marked %v, want %v (%.2f)", text, got, marked, checked.Claims[0].Words.Faithful)
		}
	}
}
