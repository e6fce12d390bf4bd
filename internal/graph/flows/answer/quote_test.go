package answer

import (
	"slices"
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/knowledge/support"
	"github.com/cairn-bot/cairn/internal/language"
)

func inLanguage(tag, id string, score float64) retrieve.Evidence {
	return retrieve.Evidence{
		Document: knowledge.Document{ID: knowledge.DocumentID(id), Language: tag}, Passage: knowledge.Passage{Text: "Text."}, Score: score,
	}
}

// TestHeadingsWithoutTextAreNotQuoted has evidence that is a heading, or a title, alone: it is
// quoted only where it is the best there is.
func TestHeadingsWithoutTextAreNotQuoted(t *testing.T) {
	text, heading, title := inLanguage("en", "a", 1), inLanguage("en", "b", 0.9), inLanguage("en", "c", 0.8)
	heading.Passage.Headings, heading.Passage.Text = []string{"Guide", "Rollback"}, "Rollback"
	title.Document.Title, title.Passage.Text = "Zanzibar", "Zanzibar"
	for _, test := range []struct {
		evidence []retrieve.Evidence
		want     []int
	}{
		{[]retrieve.Evidence{text, heading, title}, []int{0}},
		{[]retrieve.Evidence{heading, text, title}, []int{0, 1}},
		{[]retrieve.Evidence{title, heading}, []int{0}},
	} {
		if _, positions := quotable(State{SearchResults: test.evidence}, 10, language.English); !slices.Equal(positions, test.want) {
			t.Errorf("quoted from %v, want %v", positions, test.want)
		}
	}
}

// TestPagesOfHowThingsWereAreNotQuotedBesideOthers has a changelog, which is quoted where the
// question asks for changes, and where it is the best there is.
func TestPagesOfHowThingsWereAreNotQuotedBesideOthers(t *testing.T) {
	page, log := inLanguage("en", "a", 1), inLanguage("en", "b", 0.9)
	page.Document.Path, log.Document.Path = "docs/keys.md", "docs/changes.md"
	for _, test := range []struct {
		question string
		evidence []retrieve.Evidence
		want     []int
	}{
		{"which key signs", []retrieve.Evidence{page, log}, []int{0}},
		{"which key signs", []retrieve.Evidence{log, page}, []int{0, 1}},
		{"what changed in keys", []retrieve.Evidence{page, log}, []int{0, 1}},
	} {
		state := State{OriginalQuery: test.question, SearchResults: test.evidence}
		if _, positions := quotable(state, 10, language.English); !slices.Equal(positions, test.want) {
			t.Errorf("%s: quoted from %v, want %v", test.question, positions, test.want)
		}
	}
}

// TestFollowUpsAreQuotedByTheirThread checks that the words that a follow-up leans on count.
func TestFollowUpsAreQuotedByTheirThread(t *testing.T) {
	state := State{Profile: support.Profile{Terms: []support.Term{{Text: "roll", IDF: 2}}}, Around: []support.Term{{Text: "leav", IDF: 1}}}
	if got := questionOf(state).Profile.Weight(); got != 3 {
		t.Errorf("the question weighs %v", got)
	}
	if got := state.Profile.Weight(); got != 2 {
		t.Errorf("the question's own words weigh %v", got)
	}
}

func TestPagesInTheAskedLanguageAreQuoted(t *testing.T) {
	mixed := []retrieve.Evidence{inLanguage("zh", "a", 1), inLanguage("en", "b", 0.9), inLanguage("", "c", 0.5), inLanguage("en", "d", 0.4)}
	far := []retrieve.Evidence{inLanguage("de", "a", 1), inLanguage("en", "b", 0.1)}
	for _, test := range []struct {
		name     string
		evidence []retrieve.Evidence
		asked    language.Tag
		want     int
	}{
		{"those in it, and those in none", mixed, language.English, 3},
		{"any, where the language is not known", mixed, language.Unknown, 4},
		{"any, where none in it bears on the question", far, language.English, 2},
	} {
		if passages, positions := quotable(State{SearchResults: test.evidence}, 10, test.asked); len(passages) != test.want || len(positions) != test.want {
			t.Errorf("%s: %d passages", test.name, len(passages))
		}
	}
}
