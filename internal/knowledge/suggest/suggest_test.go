package suggest_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/files"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/index/embedded"
	"github.com/cairn-bot/cairn/internal/knowledge/ingest"
	"github.com/cairn-bot/cairn/internal/knowledge/suggest"
)

// readPages indexes pages by their names, for an audience.
func readPages(t *testing.T, x index.Index, source string, audience knowledge.Audience, pages map[string]string) {
	t.Helper()
	root := t.TempDir()
	for name, text := range pages {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	reading := ingest.Ingester{Index: x}
	if _, err := reading.Sync(t.Context(), files.New(files.Options{Root: root, Source: knowledge.SourceID(source), Audience: audience})); err != nil {
		t.Fatal(err)
	}
}

func openIndex(t *testing.T) index.Index {
	t.Helper()
	x, err := embedded.Open(t.Context(), embedded.Options{Dir: t.TempDir(), Embedder: "none", Dimension: 8})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

const filling = " It takes a few minutes, and nothing else has to be stopped for that long. Ask the night shift where it does not."

var pages = map[string]string{
	"barges.md": "# Barges\n\nA list of our barges." + filling + "\n\n## How large?\n\nAbout forty metres." + filling +
		"\n\n## How do I book a barge?\n\nFill in the form at the harbour office." + filling + "\n\n## Loading grain\n\nOpen the hatch, then lower the spout." + filling,
	"crew.md": "# Crew\n\nWho works here." + filling + "\n\n## Adding a deckhand to the roster\n\nWrite the name into the ledger." + filling +
		"\n\n## What does it cost?\n\nNothing at all." + filling,
	"winch.md":  "# Winch\n\nA winch is a drum that hauls a rope in." + filling + "\n\n## Safety\n\nStand clear of the rope." + filling,
	"secret.md": "# Notes\n\nNothing." + filling + "\n\n## Changes\n\nNone so far." + filling,
}

// TestSuggest checks that public documents give questions that can be asked as they stand.
func TestSuggest(t *testing.T) {
	x := openIndex(t)
	readPages(t, x, "harbour", "", pages)
	readPages(t, x, "board", "group:board", map[string]string{"plans.md": "# Plans\n\n## How do we sell the harbour?\n\nTo the town, next year." + filling})
	suggestions, err := suggest.New(x).Suggest(t.Context(), "en", 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []suggest.Suggestion{
		{Question: "How do I book a barge?"}, {Question: "How do I add a deckhand to the roster?"}, {Term: "winch"},
	} {
		if !slices.Contains(suggestions, want) {
			t.Errorf("%+v is not among %+v", want, suggestions)
		}
	}
	if len(suggestions) != 3 {
		t.Errorf("suggestions %+v, want three: no other heading can be asked as it stands, or is for everybody", suggestions)
	}
}

// TestSuggestFirstOfEachDocument checks that few suggestions come from different documents.
func TestSuggestFirstOfEachDocument(t *testing.T) {
	x := openIndex(t)
	readPages(t, x, "harbour", "", map[string]string{
		"a.md": "# Ropes\n\n## How do I splice a rope?\n\nUnlay the strands." + filling + "\n\n## How do I coil a rope?\n\nClockwise, on the deck." + filling,
		"b.md": "# Anchors\n\n## How do I drop the anchor?\n\nRelease the brake." + filling,
	})
	suggestions, err := suggest.New(x).Suggest(t.Context(), "en", 2)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(suggestions, suggest.Suggestion{Question: "How do I drop the anchor?"}) {
		t.Errorf("suggestions %+v, want one of each document", suggestions)
	}
}
