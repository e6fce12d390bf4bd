package indextest

import (
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge/index"
)

// CheckHistory fails the test if an index that started empty does not hold exactly
// the documents, passages and terms that a history of batches leaves. Vectors are
// not looked at.
func CheckHistory(t *testing.T, x index.Index, history []index.Batch) {
	t.Helper()
	s := &subject{Index: x, model: newModel()}
	for _, batch := range history {
		s.model.applyBatch(batch)
	}
	s.checkDocuments(t)
	s.checkTerms(t)
	stats, err := x.Stats(t.Context())
	if err != nil {
		t.Fatalf("stats: %v", err)
	}
	want := s.model.stats()
	if stats.Documents != want.Documents || stats.Passages != want.Passages {
		t.Errorf("stats %+v, want %+v but for vectors", stats, want)
	}
	for id, p := range s.model.passages() {
		if found := s.findPassages(t, id); len(found) != 1 || found[0].Passage.Text != p.Text || found[0].Passage.Hash != p.Hash {
			t.Errorf("passage %s: found %+v, want %+v", id, found, p)
		}
	}
	query := Words("w0 w1 w2 w250")
	s.checkSearch(t, query)
}
