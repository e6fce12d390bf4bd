package answer

import (
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer/logistic"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/knowledge/support"
)

func profileOf(terms ...string) support.Profile {
	p := support.Profile{Passages: 100}
	for _, term := range terms {
		p.Terms = append(p.Terms, support.Term{Text: term, Written: term, IDF: 2, Passages: 5})
	}
	return p
}

func evidenceOf(title, text string) retrieve.Evidence {
	return retrieve.Evidence{Document: knowledge.Document{Title: title, Language: "en"}, Passage: knowledge.Passage{Text: text}, Score: 1}
}

func TestShareCloseBy(t *testing.T) {
	far := strings.Repeat(" and so on", closeBy)
	for _, test := range []struct {
		name, title, text string
		want              float64
	}{
		{"side by side", "Guide", "The heron drains its queue.", 1},
		{"far apart", "Guide", "A heron." + far + " A drain." + far + " A queue.", 1.0 / 3},
		{"under a title", "Heron", "Words." + far + " Drain the queue.", 1},
		{"nothing of it", "Guide", "Lunch is served.", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := shareCloseBy(profileOf("heron", "drain", "queue"), evidenceOf(test.title, test.text)); got != test.want {
				t.Errorf("%v of the question stands close by, want %v", got, test.want)
			}
		})
	}
	if got := shareCloseBy(support.Profile{}, evidenceOf("Guide", "Text.")); got != 0 {
		t.Errorf("%v of no question", got)
	}
}

// TestPointsBackIsNotDeclined has a question without words of its own answered however little
// its words are held.
func TestPointsBackIsNotDeclined(t *testing.T) {
	certain := Judgement{Decline: logistic.Weights{logistic.Always: 9}, AskFrom: 0.9, DeclineFrom: 0.5}
	s := State{OriginalQuery: "and how do i undo that?", FollowUp: true, Profile: profileOf("undo"), History: []flows.Turn{{Role: flows.User, Text: "how do I drain the queue?"}}}
	if _, declines := certain.Decide(measureFeatures(s)); declines {
		t.Error("a question about what was just answered is declined")
	}
	s.Profile = profileOf("undo", "invoice", "tax")
	if _, declines := certain.Decide(measureFeatures(s)); !declines {
		t.Error("a question with words of its own is not declined")
	}
}

// TestLastTurns has a person who thanks for an answer before asking on.
func TestLastTurns(t *testing.T) {
	turns := []flows.Turn{
		{Role: flows.User, Text: "can the heron drain its queue by itself?"}, {Role: flows.Assistant, Text: "Yes, with `--drain`."}, {Role: flows.User, Text: "nice, trying"},
	}
	for count, want := range map[int]string{3: turns[0].Text + " nice, trying", 2: turns[0].Text, 1: turns[0].Text} {
		if person, _ := lastTurns(turns[:count]); person != want {
			t.Errorf("after %d turns a follow-up leans on %q", count, person)
		}
	}
	if person, bot := lastTurns(turns[1:]); person != "nice, trying" || bot != "Yes, with `--drain`." {
		t.Errorf("a follow-up leans on %q and %q", person, bot)
	}
}

// TestATitleIsPlain: of pages with a word of the question for a title, the one with no other word
// goes before the rest, and what is to be done with it does not count.
func TestATitleIsPlain(t *testing.T) {
	titled := func(titles ...string) State {
		s := State{Profile: profileOf("add", "secret")}
		for i, title := range titles {
			e := evidenceOf(title, "Text of "+title)
			e.Document.ID = knowledge.DocumentID(strings.Repeat("d", i+1))
			s.SearchResults = append(s.SearchResults, e)
		}
		return s
	}
	for _, test := range []struct {
		name   string
		titles []string
		want   bool
	}{
		{"one page", []string{"Cron", "Secrets"}, true},
		{"one page and one of a word more", []string{"Secrets", "Secret extension"}, true},
		{"one of a word more and one page", []string{"Secret extension", "Secrets"}, false},
		{"one of a word more alone", []string{"Secret extension"}, true},
		{"two pages of a word more", []string{"Secret extension", "Secret store"}, false},
		{"none", []string{"Cron", "Keys"}, false},
	} {
		if got := isTitle(titled(test.titles...)); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}
