package indextest

import (
	"fmt"
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
)

// Follow writes to an empty index and checks that another opening of it shows each write.
func Follow(t *testing.T, writer index.Writer, reader index.Reader) {
	t.Helper()
	for i := range 20 {
		round := fmt.Sprintf("round%d", i)
		batch := index.Batch{Put: []index.Entry{TextEntry(knowledge.DocumentID(fmt.Sprint(i)), "alpha", "beta"), TextEntry("always", round)}}
		if err := writer.Write(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		if got := CountHits(t, reader, "alpha"); got != i+1 {
			t.Errorf("the reader finds %d, want %d", got, i+1)
		}
		if got := CountHits(t, reader, round); got != 1 {
			t.Errorf("the reader finds %s %d times", round, got)
		}
	}
}

// CountHits returns how many passages are found by the words of a text.
func CountHits(t *testing.T, x index.Reader, text string) int {
	t.Helper()
	candidates, err := x.Search(t.Context(), Words(text))
	if err != nil {
		t.Fatal(err)
	}
	return len(candidates.Lexical)
}
