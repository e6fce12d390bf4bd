package indextest

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
)

// inParts gives an entry whose passages come so many at a time, most of them as its rest.
func inParts(whole index.Entry, size int) index.Entry {
	parts := slices.Collect(slices.Chunk(whole.Passages, size))
	entry := index.Entry{Document: whole.Document, Passages: parts[0]}
	entry.Rest = func(yield func([]knowledge.Passage, error) bool) {
		for _, part := range parts[1:] {
			if !yield(part, nil) {
				return
			}
		}
	}
	return entry
}

// putInParts writes entries in parts. The model gets them whole.
func (s *subject) putInParts(t *testing.T, size int, entries ...index.Entry) {
	t.Helper()
	var batch index.Batch
	for _, entry := range entries {
		batch.Put = append(batch.Put, inParts(entry, size))
	}
	if err := s.Write(t.Context(), batch); err != nil {
		t.Fatalf("write: %v", err)
	}
	s.model.applyBatch(index.Batch{Put: entries})
}

// testRest writes documents of more passages than are written together, among small ones.
func testRest(t *testing.T, s *subject) {
	texts := make([]string, 2500)
	for i := range texts {
		texts[i] = fmt.Sprintf("alpha number%d group%d", i, i%7)
	}
	first := newEntry("large", "Large", texts...)
	s.putInParts(t, 300, newEntry("a", "Small", "alpha"), first, newEntry("b", "Small", "number7"))
	s.checkState(t)
	s.checkSearch(t, Words("number2499 group3"))
	var vectors []index.Vectors
	for _, at := range []int{0, 1, 1200, 2499} {
		vectors = append(vectors, vectorsFor(first.Passages[at], uint64(at+1)))
	}
	s.writeVectors(t, vectors...)

	// Some passages stay, all of them move, the same text comes often, and vectors go along.
	changed := append([]string{"omega", "omega", "omega"}, texts[600:]...)
	changed[1000] = "omega"
	s.putInParts(t, 700, newEntry("large", "Large", changed...))
	s.checkState(t)
	for _, words := range []string{"omega", "number1200 number2499", "number1"} {
		query := Words(words)
		query.Vector = unitVector(1201)
		s.checkSearch(t, query)
	}

	// What fails half-way, or breaks the rules, changes nothing.
	trouble := errors.New("the document can't be read any further")
	broken := inParts(newEntry("large", "Large", texts...), 1500)
	broken.Rest = func(yield func([]knowledge.Passage, error) bool) { yield(nil, trouble) }
	if err := s.Write(t.Context(), index.Batch{Put: []index.Entry{broken}}); !errors.Is(err, trouble) {
		t.Errorf("a rest that fails: %v, want its error", err)
	}
	repeated := inParts(first, 1250)
	repeated.Rest = func(yield func([]knowledge.Passage, error) bool) { yield(first.Passages[:1], nil) }
	if err := s.Write(t.Context(), index.Batch{Put: []index.Entry{repeated}}); err == nil {
		t.Error("passages that are not in order were written")
	}
	s.checkState(t)

	s.putEntries(t, newEntry("large", "Large", "alpha"))
	s.checkState(t)
	s.putInParts(t, 1100, newEntry("large", "Larger", texts...))
	s.writeBatch(t, index.Batch{Delete: []knowledge.DocumentID{"large", "a"}})
	s.checkState(t)
	s.checkSearch(t, Words("alpha number7"))
}
