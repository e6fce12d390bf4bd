package engine

import (
	"runtime"
	"sync"

	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
	"github.com/cairn-bot/cairn/internal/language"
)

// termCounts says how often a term stands in which field of a passage.
type termCounts struct {
	term string
	counts
}

// analysedPassage is the indexed form of a passage's words.
type analysedPassage struct {
	terms   []termCounts
	lengths lexical.Counts // how many terms each field has
}

// passageText is what is analysed of a passage.
type passageText struct {
	language language.Tag
	title    string
	headings []string
	body     string
}

// analyzer analyses passages one after the other.
type analyzer struct {
	at map[string]int // of each term of the passage at hand in its list
}

func (a *analyzer) analyzePassage(text passageText) analysedPassage {
	clear(a.at)
	words := analysedPassage{terms: make([]termCounts, 0, len(text.body)/8)}
	inHeadings := func(c *counts) *uint8 { return &c.headings }
	words.lengths.Title = a.countTerms(&words, lexical.AnalyzeIn(text.language, text.title), func(c *counts) *uint8 { return &c.title })
	for _, heading := range text.headings {
		words.lengths.Headings += a.countTerms(&words, lexical.AnalyzeIn(text.language, heading), inHeadings)
	}
	a.countTerms(&words, lexical.Names(text.title, text.headings, text.body), inHeadings) // adds nothing to the length
	words.lengths.Body = a.countTerms(&words, lexical.AnalyzeIn(text.language, text.body), func(c *counts) *uint8 { return &c.body })
	return words
}

// countTerms adds terms to those of a field, and gives their number.
func (a *analyzer) countTerms(words *analysedPassage, terms []string, field func(*counts) *uint8) int {
	for _, term := range terms {
		at, ok := a.at[term]
		if !ok {
			at = len(words.terms)
			a.at[term] = at
			words.terms = append(words.terms, termCounts{term: term})
		}
		increment(field(&words.terms[at].counts))
	}
	return len(terms)
}

// analyzeAll analyses n passages on all cores.
func analyzeAll(n int, text func(i int) passageText) []analysedPassage {
	words := make([]analysedPassage, n)
	var workers sync.WaitGroup
	parts := min(n, runtime.GOMAXPROCS(0))
	for part := range parts {
		workers.Go(func() {
			a := &analyzer{at: make(map[string]int)}
			for i := part; i < n; i += parts {
				words[i] = a.analyzePassage(text(i))
			}
		})
	}
	workers.Wait()
	return words
}
