// Package suggest finds what documents answer well: the questions that stand in their
// headings, the tasks that headings name, and the terms that documents define.
package suggest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/language"
)

// Suggestion is a question of the documents, or a term that they define.
type Suggestion struct {
	Question string
	Term     string // "" where there is a Question
}

const (
	// maxDocuments and maxPassages are how much of an index is looked at.
	maxDocuments = 400
	maxPassages  = 6 // of each document, from its beginning
	// maxKept is how many suggestions of a language are kept, and maxTried of how many it is
	// looked up whether the index answers them.
	maxKept  = 12
	maxTried = 40
	// keep is how long what was found is good.
	keep = 10 * time.Minute
)

// Suggester looks through an index now and then. Make one with New.
type Suggester struct {
	index index.Reader
	now   func() time.Time

	mu     sync.Mutex
	looked time.Time
	found  map[language.Tag][]Suggestion
}

// New makes a suggester.
func New(reader index.Reader) *Suggester { return &Suggester{index: reader, now: time.Now} }

// Suggest returns up to limit suggestions from documents in a language, or in English where
// there are none in it.
func (s *Suggester) Suggest(ctx context.Context, tongue string, limit int) ([]Suggestion, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.found == nil || s.now().Sub(s.looked) > keep {
		found, err := s.readBeginnings(ctx)
		if err != nil {
			return nil, err
		}
		s.found, s.looked = found, s.now()
	}
	found := s.found[language.Tag(tongue)]
	if len(found) == 0 {
		found = s.found[language.English]
	}
	return found[:min(len(found), limit)], nil
}

// readBeginnings goes through the beginnings of documents.
func (s *Suggester) readBeginnings(ctx context.Context) (map[language.Tag][]Suggestion, error) {
	var ids []knowledge.PassageID
	count := 0
	for document, err := range s.index.Documents(ctx, "") {
		if err != nil {
			return nil, fmt.Errorf("list documents for example questions: %w", err)
		}
		if document.Audience.OrPublic() != knowledge.PublicAudience {
			continue // examples are shown to everybody
		}
		for position := range maxPassages {
			ids = append(ids, knowledge.MakePassageID(document.ID, position))
		}
		if count++; count == maxDocuments {
			break
		}
	}
	passages, err := s.index.Passages(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read passages for example questions: %w", err)
	}
	candidates := make(map[language.Tag][]candidate)
	known := make(map[string]bool)
	for _, passage := range passages {
		made, ok := makeCandidate(passage)
		name := strings.ToLower(made.Question + made.Term)
		if !ok || known[name] {
			continue
		}
		known[name] = true
		tag := language.Detect(passage.Passage.Text).Or(language.English)
		candidates[tag] = append(candidates[tag], made)
	}
	found := make(map[language.Tag][]Suggestion)
	for tag, made := range candidates {
		if found[tag], err = s.chooseAnswered(ctx, takeTurns(made)); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// takeTurns puts the best candidate of each document first, then the second best of each, and
// so on; among them the better one.
func takeTurns(candidates []candidate) []candidate {
	slices.SortStableFunc(candidates, func(a, b candidate) int { return b.worth - a.worth })
	turn := make(map[knowledge.DocumentID]int)
	for i := range candidates {
		candidates[i].turn = turn[candidates[i].document]
		turn[candidates[i].document]++
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int { return a.turn - b.turn })
	return candidates
}

// chooseAnswered gives the suggestions of the first candidates whose documents the index finds
// first by their words.
func (s *Suggester) chooseAnswered(ctx context.Context, candidates []candidate) ([]Suggestion, error) {
	var chosen []Suggestion
	for _, c := range candidates[:min(len(candidates), maxTried)] {
		found, err := s.index.Search(ctx, index.Query{Terms: retrieve.Terms(c.Question + c.Term), Limit: 1})
		if err != nil {
			return nil, fmt.Errorf("look an example question up: %w", err)
		}
		if len(found.Lexical) == 0 {
			continue
		}
		if document, _, ok := found.Lexical[0].Passage.Split(); ok && document == c.document {
			chosen = append(chosen, c.Suggestion)
		}
		if len(chosen) == maxKept {
			break
		}
	}
	return chosen, nil
}
