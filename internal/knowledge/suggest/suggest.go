// Package suggest finds what documents answer well: the questions that stand in their
// headings, and the terms that they define.
package suggest

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
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
	// maxTerm and maxQuestion are how long a suggestion is at most, in letters.
	maxTerm     = 30
	maxQuestion = 80
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
		if document.Audience != "" {
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
	found := make(map[language.Tag][]Suggestion)
	known := make(map[string]bool)
	for _, passage := range passages {
		suggestion, ok := suggestionOf(passage)
		name := strings.ToLower(suggestion.Question + suggestion.Term)
		if !ok || known[name] {
			continue
		}
		known[name] = true
		tag := language.Detect(passage.Passage.Text).Or(language.English)
		found[tag] = alternate(found[tag], suggestion)
	}
	return found, nil
}

// alternate adds a suggestion, so that definitions and questions take turns at the front.
func alternate(list []Suggestion, added Suggestion) []Suggestion {
	if len(list) >= 2 && (list[0].Term == "") == (list[1].Term == "") && (list[0].Term == "") != (added.Term == "") {
		list = append(list, list[1])
		list[1] = added
		return list
	}
	return append(list, added)
}

// defining finds the verb with which a definition begins, behind the term that it defines.
var defining = regexp.MustCompile(`(?i)^(?:(?:an?|the|une?|les?|la|ein|eine|der|die|das|una?|el|los|las|o|um|uma|un|il|lo|een|het|de)\s+)?(.+?)\s+(?:is|are|ist|sind|est|sont|es|son|é|são|è|sono|zijn)\s+(?:an?|the|ein|eine|une?|das|der|die|una?|uma?|el|la|le|um|een|het|de)\s`)

// suggestionOf makes a suggestion of a passage whose heading is a question, or whose text
// begins with a definition of what the heading names.
func suggestionOf(found index.Found) (Suggestion, bool) {
	section := strings.TrimSpace(found.Passage.Section())
	if strings.HasSuffix(section, "?") || strings.HasSuffix(section, "？") {
		return Suggestion{Question: section}, utf8.RuneCountInString(section) <= maxQuestion && strings.ContainsAny(section, " \u3000") || isWide(section)
	}
	begins := defining.FindStringSubmatch(strings.TrimSpace(found.Passage.Text))
	if begins == nil || utf8.RuneCountInString(begins[1]) > maxTerm || strings.ContainsAny(begins[1], "[]()<>{}|*#\n") {
		return Suggestion{}, false
	}
	term := strings.Trim(begins[1], "`\"_")
	for _, heading := range []string{section, found.Document.Title} {
		if strings.EqualFold(heading, term) || strings.EqualFold(strings.TrimSuffix(heading, "s"), term) {
			return Suggestion{Term: term}, true
		}
	}
	return Suggestion{}, false
}

// isWide tells texts in Chinese or Japanese letters, which have no spaces.
func isWide(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	return first >= 0x3040
}
