package quoting_test

import (
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/graph/flows/answer/quoting"
	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
	"github.com/cairn-bot/cairn/internal/knowledge/support"
	"github.com/cairn-bot/cairn/internal/language"
)

func TestWhatIsQuotedFirst(t *testing.T) {
	for _, test := range []struct {
		name, question, intent string
		passages               []quoting.Passage
		want                   string // the beginning
	}{
		{
			"the section whose heading is the question", "the seal is not trusted", "troubleshooting",
			[]quoting.Passage{
				{Document: "a", Title: "Seals", Headings: []string{"Setup"}, Text: "Wait until the house says that the seal is good, then put it on the box.", Score: 1},
				{Document: "a", Title: "Seals", Headings: []string{"“Seal not trusted” error"}, Text: "Clean the seal with a cloth.", Score: 0.9},
			},
			"Clean the seal",
		},
		{
			"what a thing is, before what it is not", "what is tally", "definition",
			[]quoting.Passage{{Document: "a", Title: "Tally", Text: "Tally is a different tool than Count.\n\nTally is an internal tool that counts hours.", Score: 1}},
			"Tally is an internal tool",
		},
		{
			"what is so in general", "how many hours of leave do we earn", "lookup",
			[]quoting.Passage{
				{Document: "a", Title: "Leave", Text: "Ask the house. For example: It is June. You earn 56 hours of leave.", Score: 1},
				{Document: "b", Title: "Earning", Text: "You earn 4 hours of leave.", Score: 0.9},
			},
			"You earn 4",
		},
		{
			"a number in words", "how many hours of leave do we earn", "lookup",
			[]quoting.Passage{{Document: "a", Title: "Leave", Text: "Hours of leave that we earn are listed.\n\nWe earn four hours of leave.", Score: 1}},
			"We earn four",
		},
	} {
		got := texts(quoting.Choose(asked(test.question, test.intent), test.passages, quoting.Size{Passages: 8, Characters: 80, Floor: 0.3}))
		if !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: quotes\n%s", test.name, got)
		}
	}
}

// TestListsThatOnlyLinkAreNotQuoted has a list of pages, one of which may be what is asked for.
func TestListsThatOnlyLinkAreNotQuoted(t *testing.T) {
	passage := quoting.Passage{Document: "a", Title: "Leave", Score: 1,
		Text: "Leave for a funeral is paid.\n\nFact sheets:\n\n- [Time off](https://a.example.com/off)\n- [Awards](https://a.example.com/awards)"}
	if got := texts(quoting.Choose(asked("is leave for a funeral paid", "lookup"), []quoting.Passage{passage}, wide)); got != "Leave for a funeral is paid." {
		t.Errorf("quotes\n%s", got)
	}
	if got := texts(quoting.Choose(asked("awards", "lookup"), []quoting.Passage{passage}, wide)); !strings.Contains(got, "Awards") {
		t.Errorf("quotes\n%s", got)
	}
}

// TestAListBringsWhatItsAnnouncementPointsTo has one that begins with "This".
func TestAListBringsWhatItsAnnouncementPointsTo(t *testing.T) {
	passage := quoting.Passage{Document: "a", Title: "Restoring", Score: 1,
		Text: "The key is in the house. This makes restoring slow:\n\n- if the house is lost\n- if the key of the restoring user is lost"}
	if got := texts(quoting.Choose(asked("restoring when key lost", "lookup"), []quoting.Passage{passage}, wide)); !strings.HasPrefix(got, "The key is in the house.\nThis makes") {
		t.Errorf("quotes\n%s", got)
	}
}

// TestListsInListsAreIndented checks that an entry below a numbered one stands below its text.
func TestListsInListsAreIndented(t *testing.T) {
	passage := quoting.Passage{Document: "a", Title: "Lost keys", Score: 1, Text: "For lost keys:\n\n1. Tell the house.\n  - At once.\n    - By phone.\n2. Wait."}
	if got := texts(quoting.Choose(asked("lost keys", "how-to"), []quoting.Passage{passage}, wide)); got != "For lost keys:\n1. Tell the house.\n    - At once.\n        - By phone.\n2. Wait." {
		t.Errorf("quotes\n%s", got)
	}
}

func TestEntriesOfAGlossaryDefine(t *testing.T) {
	profile := support.Profile{}
	for _, term := range lexical.Analyze("ATO") {
		profile.Terms = append(profile.Terms, support.Term{Text: term, IDF: 1})
	}
	for text, want := range map[string]bool{
		"- ASF - A fund.\n- ATO - Authority to Operate.":           true,
		"| Word | Meaning |\n| --- | --- |\n| ATO | A sign-off. |": true,
		"An ATO takes long.\n\n- The ATO team - two people":        false,
	} {
		if got := quoting.Defines(profile, language.English, text); got != want {
			t.Errorf("%q defines: %v", text, got)
		}
	}
}
