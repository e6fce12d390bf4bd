// Package extract finds by rules, without a language model, what documents say: their
// outline, the terms they explain, dates, people, numbers, risks, open questions and
// contradictions; and of a system its purpose, parts, flows of data, interfaces and
// decisions. All it says are sentences of the documents. The rules are for English.
package extract

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/cairn-bot/cairn/internal/document"
	"github.com/cairn-bot/cairn/internal/document/evidence"
	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
)

// Kind is what a sentence tells.
type Kind string

// The kinds that Find knows. Outline, Terms and Contradictions are about documents as a
// whole, the others are told by the form of a sentence and by the heading over it.
const (
	Outline        Kind = "outline"
	Terms          Kind = "terms"
	Dates          Kind = "dates"
	People         Kind = "people"
	Numbers        Kind = "numbers"
	Risks          Kind = "risks"
	Questions      Kind = "open questions"
	Contradictions Kind = "contradictions"

	Purpose    Kind = "purpose"
	Parts      Kind = "parts"
	Flows      Kind = "flows of data"
	Interfaces Kind = "interfaces"
	Decisions  Kind = "decisions"
)

// Corpus is documents cut into sentences. Its methods may be called concurrently.
type Corpus struct {
	set       document.Set
	sentences []evidence.Sentence
	holding   map[string]int // term → sentences that hold it
	senses    map[string]int // the same of what words for one thing have in common
}

// Read cuts documents into sentences.
func Read(set document.Set) *Corpus {
	c := &Corpus{set: set, sentences: evidence.Sentences(set), holding: make(map[string]int), senses: make(map[string]int)}
	for _, s := range c.sentences {
		seen := make(map[string]bool, len(s.Terms))
		for _, term := range s.Terms {
			if !seen[term] {
				seen[term] = true
				c.holding[term]++
				if sense := senseOf(term); !seen[sense] || sense == term {
					seen[sense] = true
					c.senses[sense]++
				}
			}
		}
	}
	return c
}

// Focus is what the reader cares for: what holds its words comes first.
type Focus struct {
	Words string
	Only  bool // what holds none of its words, and stands under none, is left out
	Limit int  // statements at most
}

// maxPlaces is how many places a statement names that several have.
const maxPlaces = 3

// Find returns the statements of a kind: those that hold words of the focus first, and
// among equals in the order of the documents. more is how many there are beyond the limit.
func (c *Corpus) Find(kind Kind, focus Focus) (statements []evidence.Statement, more int) {
	switch kind {
	case Outline:
		return limitStatements(c.outlineDocuments(), focus.Limit)
	case Terms:
		return limitStatements(c.findTerms(focus), focus.Limit)
	case Contradictions:
		return limitStatements(c.keepFocused(c.findContradictions(), focus), focus.Limit)
	}
	found := c.findSentences(finders[kind])
	if focus.Only {
		words := c.focusWeights(focus.Words)
		found = slices.DeleteFunc(found, func(s scoredSentence) bool {
			return !words.isHeld(s.Terms) && !words.isHeld(evidence.Telling(s.Heading))
		})
	}
	return limitStatements(c.rankStatements(found, focus.Words), focus.Limit)
}

// findSentences returns the sentences of a kind in their order. Each processor looks at a part of
// them: matching takes most of the time that an analysis takes.
func (c *Corpus) findSentences(f finder) []scoredSentence {
	parts := make([][]scoredSentence, runtime.GOMAXPROCS(0))
	var matching sync.WaitGroup
	for i := range parts {
		from, to := i*len(c.sentences)/len(parts), (i+1)*len(c.sentences)/len(parts)
		matching.Go(func() { parts[i] = f.findAmong(c.sentences[from:to]) })
	}
	matching.Wait()
	return slices.Concat(parts...)
}

// About returns the sentences that hold the words of a question, best first: by how rare
// the words are, and no sentence that has less than half as much of it as the best.
func (c *Corpus) About(focus Focus) []evidence.Statement {
	words := c.focusWeights(focus.Words)
	var found []scoredSentence
	best := 0.0
	for _, s := range c.sentences {
		if held := words.heldShare(s); held > 0 {
			found = append(found, scoredSentence{s, held})
			best = max(best, held)
		}
	}
	found = slices.DeleteFunc(found, func(s scoredSentence) bool { return s.score < best/2 })
	slices.SortStableFunc(found, func(a, b scoredSentence) int { return cmp.Compare(b.score, a.score) })
	statements, _ := limitStatements(statementsOf(found), focus.Limit)
	return statements
}

type scoredSentence struct {
	evidence.Sentence
	score float64
}

// focusWeight is what holding all words of the focus counts against the strength of a
// sentence, which is 1 to 3.
const focusWeight = 3

// rankStatements orders sentences by their score and the words of the focus that they hold.
func (c *Corpus) rankStatements(found []scoredSentence, focus string) []evidence.Statement {
	words := c.focusWeights(focus)
	for i := range found {
		found[i].score += focusWeight * words.heldShare(found[i].Sentence)
	}
	slices.SortStableFunc(found, func(a, b scoredSentence) int { return cmp.Compare(b.score, a.score) })
	return statementsOf(found)
}

func statementsOf(found []scoredSentence) []evidence.Statement {
	statements := make([]evidence.Statement, len(found))
	for i, s := range found {
		statements[i] = evidence.Statement{Text: s.Text, Places: []evidence.Place{s.Place}}
	}
	return evidence.Distinct(statements, maxPlaces)
}

func limitStatements(statements []evidence.Statement, limit int) (kept []evidence.Statement, more int) {
	kept = statements[:min(len(statements), limit)]
	return kept, len(statements) - len(kept)
}

// weights are the words of a focus that the documents hold, and how rare they are.
type weights struct {
	idf map[string]float64
	sum float64
}

func (c *Corpus) focusWeights(words string) weights {
	w := weights{idf: make(map[string]float64)}
	for _, term := range evidence.Telling(words) {
		if count := c.holding[term]; count > 0 && w.idf[term] == 0 {
			w.idf[term] = lexical.IDF(len(c.sentences), count)
			w.sum += w.idf[term]
		}
	}
	return w
}

// isHeld tells whether terms have one of the words.
func (w weights) isHeld(terms []string) bool {
	return slices.ContainsFunc(terms, func(term string) bool { return w.idf[term] > 0 })
}

// keepFocused leaves out what holds no word of a focus that asks for nothing else.
func (c *Corpus) keepFocused(statements []evidence.Statement, focus Focus) []evidence.Statement {
	if !focus.Only {
		return statements
	}
	words := c.focusWeights(focus.Words)
	return slices.DeleteFunc(statements, func(s evidence.Statement) bool { return !words.isHeld(evidence.Telling(s.Text)) })
}

// heldShare returns the part of the words that a sentence holds, 0 to 1; its heading counts for less.
func (w weights) heldShare(s evidence.Sentence) float64 {
	if w.sum == 0 {
		return 0
	}
	sum := 0.0
	seen := make(map[string]bool)
	for _, term := range s.Terms {
		if !seen[term] {
			seen[term] = true
			sum += w.idf[term]
		}
	}
	if sum == 0 {
		return 0
	}
	for _, term := range evidence.Telling(s.Heading) {
		if !seen[term] {
			seen[term] = true
			sum += w.idf[term] / 2
		}
	}
	return math.Min(1, sum/w.sum)
}

// Unknown returns the words of a text that no document holds.
func (c *Corpus) Unknown(words string) []string {
	var unknown []string
	for _, word := range lexical.Words(words) {
		for _, term := range evidence.Telling(word.Text) {
			if c.holding[term] == 0 && !slices.Contains(unknown, word.Text) {
				unknown = append(unknown, word.Text)
			}
		}
	}
	return unknown
}

// maxHeadings is how many headings of a document its outline names.
const maxHeadings = 12

// outlineDocuments says of each document what it deals with.
func (c *Corpus) outlineDocuments() []evidence.Statement {
	statements := make([]evidence.Statement, 0, len(c.set.Documents))
	for d, doc := range c.set.Documents {
		var headings []string
		for _, section := range doc.Sections {
			if heading := section.Heading(); heading != "" && heading != doc.Title {
				headings = append(headings, heading)
			}
		}
		text := fmt.Sprintf("**%s** (`%s`): %s", plainText(doc.Title), strings.ReplaceAll(doc.Name, "`", ""), countText(len(strings.Fields(c.set.Texts[doc.Name])), "word"))
		if len(headings) > 0 {
			text += "; " + strings.Join(headings[:min(len(headings), maxHeadings)], " · ")
		}
		if more := len(headings) - maxHeadings; more > 0 {
			text += fmt.Sprintf(" · and %d more", more)
		}
		statements = append(statements, evidence.Statement{Text: text, Places: []evidence.Place{{Document: d}}})
	}
	return statements
}

func countText(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// plainText leaves out what would end emphasis.
func plainText(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '*' || r == '\n' {
			return -1
		}
		return r
	}, text)
}
