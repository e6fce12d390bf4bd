package embedded

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"cairn/internal/knowledge"
	"cairn/internal/knowledge/index"
)

// TestPruningChangesNothing compares short results, for which common words are left
// out of the search, with the head of full ones, for which nothing is.
func TestPruningChangesNothing(t *testing.T) {
	const passages, words = 2*blockSize + 100, 5
	x := mustOpen(t, suiteOptions(t.TempDir()))
	random := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(random, 1.3, 2, 3000)
	word := func() string { return fmt.Sprintf("w%d", zipf.Uint64()) }
	var e index.Entry
	for i := range passages {
		list := make([]string, 1+random.IntN(2*words))
		for j := range list {
			list[j] = word()
		}
		if len(e.Passages) == 0 {
			e = textEntry(knowledge.DocumentID(fmt.Sprintf("d%05d", i)))
		}
		p := textEntry(e.Document.ID, strings.Join(list, " ")).Passages[0]
		p.Position = len(e.Passages)
		p.ID = knowledge.MakePassageID(e.Document.ID, p.Position)
		e.Passages = append(e.Passages, p)
		if len(e.Passages) == 4000 || i == passages-1 {
			mustWrite(t, x, e)
			e = index.Entry{}
		}
	}
	pruned := 0
	for range 40 {
		query := index.Query{Limit: 10}
		for range 2 + random.IntN(6) {
			query.Terms = append(query.Terms, index.Term{Text: word(), Weight: 0.5 + random.Float64()})
		}
		short, err := x.Search(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		query.Limit = passages
		full, err := x.Search(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(short.Lexical, full.Lexical[:len(short.Lexical)]) {
			t.Fatalf("%v: %v, want %v", query.Terms, short.Lexical, full.Lexical[:len(short.Lexical)])
		}
		if len(full.Pruned) > 0 {
			t.Errorf("%v: a full result leaves out %v", query.Terms, full.Pruned)
		}
		pruned += len(short.Pruned)
	}
	if pruned == 0 {
		t.Error("no term was ever left out")
	}
}
