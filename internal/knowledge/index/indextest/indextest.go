// Package indextest is the suite that every backend of package index passes. What
// a backend answers is compared with a plain model of the contract that scores
// everything, over hand-written cases and over random histories.
package indextest

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
)

// What a backend under test must be opened for.
const (
	Embedder  = "indextest"
	Dimension = 72 // not a multiple of 64
)

// Store opens one index that starts empty. A second call, after Close, opens what
// the first left.
type Store func() (index.Index, error)

// Run runs the suite. create makes a new empty store for a test, removed at its end.
func Run(t *testing.T, create func(t *testing.T) Store) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, s *subject)
	}{
		{"documents come back as written", testRoundTrip},
		{"a put replaces a document", testReplace},
		{"a delete takes everything along", testDelete},
		{"seen writes the time alone", testSeen},
		{"a batch is checked before it is written", testValidation},
		{"cursors move with their batch", testCursors},
		{"unchanged passages keep their vectors", testVectorsKept},
		{"a large document is written in parts", testRest},
		{"stale vectors are ignored", testStaleVectors},
		{"unembedded passages are listed until they have vectors", testUnembedded},
		{"what words find is marked while it has no vectors", testUnembeddedHits},
		{"vectors are checked", testVectorValidation},
		{"filters are part of the search", testFilters},
		{"audiences may be large", testLargeAudience},
		{"filtered searches find what is rare", testFilterBeforeRanking},
		{"ties are in order of id", testTies},
		{"queries are checked", testQueryValidation},
		{"nothing asked or known gives nothing", testEmptyQueries},
		{"operators and quotes are words or nothing", testOperators},
		{"all scripts are found", testScripts},
		{"ids may hold anything", testOddIDs},
		{"a long text is found by its last word", testLongText},
		{"weights of terms count", testWeights},
		{"the best window of a passage counts", testWindows},
		{"what is not public shows", testPublic},
		{"definitions are merged and counted", testDefinitions},
		{"similar terms are found", testSimilar},
		{"states of ingests are kept by source", testIngestStates},
		{"states of ingests are bounded", testIngestBounds},
		{"everything is there after a restart", testRestart},
		{"cancelled calls change nothing", testCancel},
		{"reads go on beside writes", testConcurrency},
		{"random histories agree with the model", testRandom},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &subject{Store: create(t), model: newModel()}
			s.openIndex(t)
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			})
			test.run(t, s)
		})
	}
}

// subject is an index under test beside the model of what it must hold.
type subject struct {
	index.Index
	Store Store
	model *model
	// viewers are whom definitions are read for.
	viewers knowledge.Viewers
}

func (s *subject) openIndex(t *testing.T) {
	t.Helper()
	opened, err := s.Store()
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	s.Index = opened
}

func (s *subject) writeBatch(t *testing.T, batch index.Batch) {
	t.Helper()
	if err := s.Write(t.Context(), batch); err != nil {
		t.Fatalf("write: %v", err)
	}
	s.model.applyBatch(batch)
}

func (s *subject) putEntries(t *testing.T, entries ...index.Entry) {
	t.Helper()
	s.writeBatch(t, index.Batch{Put: entries})
}

func (s *subject) writeVectors(t *testing.T, vectors ...index.Vectors) {
	t.Helper()
	if err := s.WriteVectors(t.Context(), vectors); err != nil {
		t.Fatalf("write vectors: %v", err)
	}
	s.model.writeVectors(vectors)
}

// checkSearch asks the index, compares the answer with the model's and gives it back.
func (s *subject) checkSearch(t *testing.T, query index.Query) index.Candidates {
	t.Helper()
	got, err := s.Search(t.Context(), query)
	if err != nil {
		t.Fatalf("search: %v", err)
	}
	compareHits(t, "lexical", got.Lexical, s.model.lexicalScores(query), query.Limit, 1e-6)
	compareHits(t, "dense", got.Dense, s.model.denseScores(query), query.Limit, 2e-3)
	passages := s.model.passages()
	for _, hit := range got.Lexical {
		if want := query.Vector != nil && !s.model.isEmbedded(passages[hit.Passage]); hit.Unembedded != want {
			t.Errorf("passage %q is found as unembedded: %v, want %v", hit.Passage, hit.Unembedded, want)
		}
	}
	for _, hit := range got.Dense {
		if hit.Unembedded {
			t.Errorf("passage %q was found by meaning and is said to have no vectors", hit.Passage)
		}
	}
	return got
}

// compareHits checks hits against the scores of all passages that match.
//
//nolint:revive // a check of two lists against each other takes what both were made with
func compareHits(t *testing.T, side string, got []index.Hit, want map[knowledge.PassageID]float64, limit int, tolerance float64) {
	t.Helper()
	if limit == 0 {
		limit = 100
	}
	if len(got) != min(limit, len(want)) {
		t.Fatalf("%s: %d hits, want %d", side, len(got), min(limit, len(want)))
	}
	scores := make([]float64, 0, len(want))
	for _, score := range want {
		scores = append(scores, score)
	}
	slices.SortFunc(scores, func(a, b float64) int { return -compareFloats(a, b) })
	for i, hit := range got {
		score, ok := want[hit.Passage]
		if !ok || math.Abs(score-hit.Score) > tolerance {
			t.Fatalf("%s hit %d: %q scores %v, want %v (matches: %v)", side, i, hit.Passage, hit.Score, score, ok)
		}
		if math.Abs(scores[i]-hit.Score) > tolerance {
			t.Fatalf("%s hit %d: %q scores %v, the passage of that rank %v", side, i, hit.Passage, hit.Score, scores[i])
		}
		if i > 0 && compareHitOrder(got[i-1], hit) >= 0 {
			t.Fatalf("%s hit %d: %v does not come before %v", side, i, got[i-1], hit)
		}
	}
}

func compareFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func compareHitOrder(a, b index.Hit) int {
	if order := compareFloats(b.Score, a.Score); order != 0 {
		return order
	}
	return strings.Compare(string(a.Passage), string(b.Passage))
}

// newEntry makes a document with a passage for each text.
func newEntry(id knowledge.DocumentID, title string, texts ...string) index.Entry {
	e := index.Entry{Document: knowledge.Document{
		ID: id, Source: "docs", Kind: knowledge.KindDocumentation, Path: "a/" + string(id), Title: title,
		URL: "https://example.org/" + title, Hash: fmt.Sprintf("%x", texts), State: knowledge.StateLive,
		Audience: knowledge.PublicAudience, Modified: dayOf(1), Indexed: dayOf(2), LastSeen: dayOf(3),
	}}
	for i, text := range texts {
		e.Passages = append(e.Passages, newPassage(e.Document, i, text))
	}
	return e
}

func newPassage(document knowledge.Document, position int, text string) knowledge.Passage {
	return knowledge.Passage{
		ID: knowledge.MakePassageID(document.ID, position), Document: document.ID, Position: position,
		Text: text, Tokens: len(text) / 4, Hash: document.Title + "\x1f" + text,
	}
}

func dayOf(n int) time.Time {
	return time.Date(2026, time.March, n, 12, 30, 15, 123456000, time.UTC)
}

func vectorsFor(p knowledge.Passage, seeds ...uint64) index.Vectors {
	v := index.Vectors{Passage: p.ID, Hash: p.Hash}
	for _, seed := range seeds {
		v.Windows = append(v.Windows, unitVector(seed))
	}
	return v
}

func hitIDs(hits []index.Hit) []string {
	ids := make([]string, len(hits))
	for i, hit := range hits {
		ids[i] = string(hit.Passage)
	}
	return ids
}

// wantIDs compares ids in order.
func wantIDs(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

// checkState compares everything that can be read with the model.
func (s *subject) checkState(t *testing.T) {
	t.Helper()
	s.checkStats(t)
	s.checkDocuments(t)
	s.checkTerms(t)
	found, err := s.Unembedded(t.Context(), math.MaxInt32)
	if err != nil {
		t.Fatalf("unembedded: %v", err)
	}
	got := make(map[knowledge.PassageID]bool, len(found))
	for _, f := range found {
		got[f.Passage.ID] = true
	}
	for id, p := range s.model.passages() {
		if got[id] == s.model.isEmbedded(p) {
			t.Errorf("passage %q: listed as unembedded %v, has vectors %v", id, got[id], s.model.isEmbedded(p))
		}
		delete(got, id)
	}
	if len(got) > 0 {
		t.Errorf("unembedded: %v are not there", got)
	}
}

func (s *subject) checkStats(t *testing.T) {
	t.Helper()
	stats, err := s.Stats(t.Context())
	if err != nil {
		t.Fatalf("stats: %v", err)
	}
	if stats.Bytes <= 0 {
		t.Errorf("index of %d bytes", stats.Bytes)
	}
	stats.Bytes = 0
	if want := s.model.stats(); stats != want {
		t.Errorf("stats %+v, want %+v", stats, want)
	}
}

func (s *subject) checkDocuments(t *testing.T) {
	t.Helper()
	s.checkCatalog(t)
	var ids []knowledge.DocumentID
	for document, err := range s.Documents(t.Context(), "") {
		if err != nil {
			t.Fatalf("documents: %v", err)
		}
		ids = append(ids, document.ID)
		if want := s.model.entries[document.ID].Document; document != want {
			t.Errorf("document %+v, want %+v", document, want)
		}
	}
	if !slices.IsSorted(ids) || len(ids) != len(s.model.entries) {
		t.Errorf("documents %q, want %d in order", ids, len(s.model.entries))
	}
}

func (s *subject) checkTerms(t *testing.T) {
	t.Helper()
	counts := s.model.termCounts()
	terms := []string{"neverwritten"}
	for term := range counts {
		terms = append(terms, term)
	}
	stats, err := s.Terms(t.Context(), terms)
	if err != nil {
		t.Fatalf("terms: %v", err)
	}
	for i, stat := range stats {
		if stat.Term != terms[i] || stat.Passages != counts[terms[i]] {
			t.Errorf("term %q: %+v, want %d passages", terms[i], stat, counts[terms[i]])
		}
	}
}

// findPassages reads passages by id.
func (s *subject) findPassages(t *testing.T, ids ...knowledge.PassageID) []index.Found {
	t.Helper()
	found, err := s.Passages(context.WithoutCancel(t.Context()), ids)
	if err != nil {
		t.Fatalf("passages: %v", err)
	}
	return found
}
