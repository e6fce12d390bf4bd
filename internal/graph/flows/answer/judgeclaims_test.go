package answer_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"cairn/internal/graph/flows/answer"
	"cairn/internal/knowledge"
	"cairn/internal/knowledge/retrieve"
	"cairn/internal/llm/llmtest"
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
