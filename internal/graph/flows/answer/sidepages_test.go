package answer

import (
	"testing"

	"cairn/internal/knowledge"
	"cairn/internal/knowledge/retrieve"
)

func TestPagesAreWeighedByWhatIsAsked(t *testing.T) {
	for _, test := range []struct{ name, question, first string }{
		{"release notes count less", "how do I rotate keys", "guides/keys.md"},
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

func page(path string, score float64) retrieve.Evidence {
	return retrieve.Evidence{Document: knowledge.Document{Path: path}, Score: score}
}
