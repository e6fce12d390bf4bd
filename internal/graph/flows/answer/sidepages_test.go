package answer

import (
	"slices"
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/language"
)

func TestPagesAreWeighedByWhatIsAsked(t *testing.T) {
	for _, test := range []struct{ name, question, first string }{
		{"release notes count less", "how do I rotate keys", "guides/keys.md"},
		{"changing something asks for none", "how do I change keys", "guides/keys.md"},
		{"unless asked for", "what changed in key rotation in 2.4", "docs/release-notes.md"},
	} {
		t.Run(test.name, func(t *testing.T) {
			weighed := weighPages([]retrieve.Evidence{page("docs/release-notes.md", 1), page("guides/keys.md", 0.9)}, test.question, DefaultSidePages)
			if weighed[0].Document.Path != test.first {
				t.Errorf("%s is first", weighed[0].Document.Path)
			}
		})
	}
}

func TestTheNewerVersionOfAPageIsFirst(t *testing.T) {
	evidence := []retrieve.Evidence{page("docs/v1.9/keys.md", 1), page("docs/v1.10/keys.md", 0.9), page("docs/v1.9/other.md", 0.8)}
	for _, test := range []struct{ question, first string }{
		{"how do I rotate keys", "docs/v1.10/keys.md"},
		{"how do I rotate keys in 1.9", "docs/v1.9/keys.md"},
	} {
		weighed := weighPages(evidence, test.question, DefaultSidePages)
		if weighed[0].Document.Path != test.first {
			t.Errorf("%s: %s is first", test.question, weighed[0].Document.Path)
		}
		if last := weighed[len(weighed)-1]; last.Document.Path == "docs/v1.9/other.md" && last.Score != 0.8 {
			t.Errorf("a page without a newer version counts %v", last.Score)
		}
	}
}

// TestTheNewerOfTwoVersionsIsQuoted checks that of a section in two versions the newer is
// quoted, and the other named where it says something else.
func TestTheNewerOfTwoVersionsIsQuoted(t *testing.T) {
	section := func(path, text string) retrieve.Evidence {
		e := page(path, 1)
		e.Document.ID, e.Passage.Anchor, e.Passage.Text = knowledge.DocumentID(path), "limits", text
		return e
	}
	evidence := []retrieve.Evidence{
		section("docs/v1.9/keys.md", "Keys last 30 days."), section("docs/v1.10/keys.md", "Keys last 90 days."),
		section("docs/v1.8/keys.md", "Keys last 90 days."), section("docs/v1.9/other.md", "Locks last."),
	}
	s := State{OriginalQuery: "how long do keys last", SearchResults: evidence}
	_, positions := quotable(s, 10, language.English)
	if !slices.Equal(positions, []int{1, 3}) {
		t.Errorf("quoted are %v", positions)
	}
	if got := withVersions("", s, []citation{{Evidence: 1}}); got != "In an older version (1.9) this reads differently." {
		t.Errorf("the note is %q", got)
	}
	if got := withVersions("", s, []citation{{Evidence: 3}}); got != "" {
		t.Errorf("a page without a newer version is noted: %q", got)
	}
	s.OriginalQuery = "how long do keys last in 1.9"
	if _, positions := quotable(s, 10, language.English); !slices.Contains(positions, 0) {
		t.Errorf("the version asked for is not quoted: %v", positions)
	}
}

func page(path string, score float64) retrieve.Evidence {
	return retrieve.Evidence{Document: knowledge.Document{Path: path}, Score: score}
}

func TestPartialsCountLess(t *testing.T) {
	weighed := weighPages([]retrieve.Evidence{page("sdk/_install.mdx", 1), page("sdk/install.mdx", 0.9), page("sdk/_index.md", 0.8)}, "install", DefaultSidePages)
	if weighed[0].Document.Path != "sdk/install.mdx" || weighed[1].Document.Path != "sdk/_index.md" {
		t.Errorf("%s is first, then %s", weighed[0].Document.Path, weighed[1].Document.Path)
	}
}
