package indextest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
)

// testConcurrency searches while a writer replaces pairs of documents. The two of a
// pair are always written together with the same word, so whoever sees one must see
// the other.
func testConcurrency(t *testing.T, s *subject) {
	write := func(ctx context.Context, round int) error {
		pair := round % 5
		a := newEntry(knowledge.DocumentID(fmt.Sprintf("a%d", pair)), "Title", fmt.Sprintf("round%d pair%d", round, pair), "filler")
		b := newEntry(knowledge.DocumentID(fmt.Sprintf("b%d", pair)), "Title", fmt.Sprintf("round%d pair%d", round, pair))
		if err := s.Write(ctx, index.Batch{Put: []index.Entry{a, b}}); err != nil {
			return err
		}
		return s.WriteVectors(ctx, []index.Vectors{vectorsFor(a.Passages[0], uint64(pair)), vectorsFor(b.Passages[0], uint64(pair))})
	}
	for round := range 5 {
		if err := write(t.Context(), round); err != nil {
			t.Fatalf("write: %v", err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	for reader := range 4 {
		readers.Go(func() {
			random := rand.New(rand.NewPCG(uint64(reader), 1))
			for ctx.Err() == nil {
				//nolint:contextcheck // a search that was begun is to end, not to fail
				if err := readOnce(s, random.IntN(5)); err != nil {
					t.Errorf("beside a writer: %v", err)
					return
				}
			}
		})
	}
	for round := 5; round < 60; round++ {
		if err := write(t.Context(), round); err != nil {
			t.Errorf("write: %v", err)
			break
		}
	}
	stop()
	readers.Wait()
}

func readOnce(s *subject, pair int) error {
	query := Words(fmt.Sprintf("pair%d", pair))
	query.Vector = unitVector(uint64(pair))
	candidates, err := s.Search(context.Background(), query)
	if err != nil {
		return err
	}
	if len(candidates.Lexical) != 2 || candidates.Lexical[0].Score <= 0 {
		return fmt.Errorf("pair %d: found %v", pair, candidates.Lexical)
	}
	ids := []knowledge.PassageID{candidates.Lexical[0].Passage, candidates.Lexical[1].Passage}
	found, err := s.Passages(context.Background(), ids)
	if err != nil {
		return err
	}
	if len(found) != 2 || found[0].Passage.Text != found[1].Passage.Text {
		return fmt.Errorf("pair %d: the two were not written together: %v", pair, found)
	}
	if _, err := s.Terms(context.Background(), []string{"title"}); err != nil {
		return err
	}
	for document, err := range s.Documents(context.Background(), "docs") {
		if err != nil || document.Title != "Title" {
			return fmt.Errorf("document %+v: %w", document, err)
		}
	}
	_, err = s.Stats(context.Background())
	return err
}
