package answer_test

import (
	"slices"
	"testing"

	"github.com/cairn-bot/cairn/internal/graph/flows/answer"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
)

// TestEntriesAreReadBySentence has entries of a list that say several things of what they name.
func TestEntriesAreReadBySentence(t *testing.T) {
	evidence := retrieve.Evidence{
		Document: knowledge.Document{Title: "Queues"},
		Passage: knowledge.Passage{Headings: []string{"Settings"}, Text: "Two settings. Both count.\n\n" +
			"- `ttl` is how long a job is kept. It is\n5 seconds by default.\n- **mode**, how jobs wait. The default is calm.\n- Jobs wait. Nobody is told.\n"},
	}
	want := []string{
		"Queues Settings", "Two settings.", "Both count.", "`ttl` is how long a job is kept.", "`ttl` It is 5 seconds by default.",
		"**mode**, how jobs wait.", "**mode** The default is calm.", "Jobs wait.", "Nobody is told.",
	}
	if got := answer.SentencesOf(evidence); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestCellsAreReadBySentence has a row of a table with a cell of several sentences.
func TestCellsAreReadBySentence(t *testing.T) {
	evidence := retrieve.Evidence{
		Document: knowledge.Document{Title: "Queues"},
		Passage:  knowledge.Passage{Text: "| Setting | Meaning | Default |\n|---|---|---|\n| `ttl` | How long a job is kept. At 0 none is. | 5s |\n| `mode` | how jobs wait | calm |\n"},
	}
	want := []string{
		"Queues ", "| Setting | Meaning | Default |\n|---|---|---|", "| `ttl` | How long a job is kept. At 0 none is. | 5s |", "| `ttl` | How long a job is kept. |", "| `ttl` | At 0 none is. |",
		"| `mode` | how jobs wait | calm |",
	}
	if got := answer.SentencesOf(evidence); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
