// Package retrieve turns a question into ranked evidence: candidates by words and
// by meaning from the index, fused into one order, one entry a passage.
package retrieve

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/embed"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
	"github.com/cairn-bot/cairn/internal/language"
)

// candidates is how many of each side are fused, and maxQuestionTerms how many
// different words of a question are searched by: what is longer is a pasted text,
// whose first words stand for it.
const (
	candidates       = 100
	maxQuestionTerms = 64
)

// Retriever finds evidence in one index.
type Retriever struct {
	Index    index.Reader
	Embedder embed.Embedder // nil: words alone
	Fusion   Fusion
}

// Query is what to look for.
type Query struct {
	Text string // embedded, and analysed where Terms is nil
	// Terms replaces the analysed words of Text on the lexical side.
	Terms  []index.Term
	Filter index.Filter
	Limit  int // evidence returned; 0 means 20
}

// Evidence is a passage that may hold the answer.
type Evidence struct {
	Document knowledge.Document
	Passage  knowledge.Passage
	Score    float64 // fused, 0 to 1, comparable within one Result
	Lexical  float64 // BM25, 0 where words did not find it
	Dense    float64 // cosine of the best window, 0 where meaning did not find it
}

// Result is the evidence for a query, best first, and how it was found.
type Result struct {
	Evidence     []Evidence
	Used, Pruned []string // terms searched by, and terms that only scored
	Lexical      int      // candidates by words
	Dense        int      // candidates by meaning
	// Unembedded is why the question was searched for by words alone: the embedder gave
	// nothing. It is nil otherwise.
	Unembedded error
	Took       time.Duration
}

// Terms gives the words of a question as the lexical side searches them: analysed,
// each once, words that tell nothing left out unless there is nothing else.
//
// In another language than English a word's stem in that language counts like the word,
// and the exact word adds to it: English pages and names are found by that alone.
func Terms(text string) []index.Term {
	if tag := language.Detect(text); tag != language.English && tag != language.Unknown {
		if terms := termsIn(tag, text); len(terms) > 0 {
			return terms
		}
	}
	analyzed := lexical.Analyze(text)
	terms := distinct(analyzed, func(term string) bool { return !lexical.IsFiller(term) })
	if len(terms) == 0 {
		terms = distinct(analyzed, func(string) bool { return true })
	}
	return terms
}

// exactWeight is what the exact form of a word counts beside its stem.
const exactWeight = 0.5

func termsIn(tag language.Tag, text string) []index.Term {
	var terms []index.Term
	seen := make(map[string]bool)
	add := func(term string, weight float64) {
		if !seen[term] && len(terms) < maxQuestionTerms {
			seen[term] = true
			terms = append(terms, index.Term{Text: term, Weight: weight})
		}
	}
	for _, pair := range lexical.TellingPairs(tag, text) {
		weight := 1.0
		if pair.Native != "" {
			add(pair.Native, 1)
			add(pair.Stem, 1)
			weight = exactWeight
		}
		for _, term := range pair.Terms {
			add(term, weight)
		}
	}
	return terms
}

func distinct(analyzed []string, keep func(string) bool) []index.Term {
	var terms []index.Term
	seen := make(map[string]bool)
	for _, term := range analyzed {
		if !seen[term] && keep(term) && len(terms) < maxQuestionTerms {
			seen[term] = true
			terms = append(terms, index.Term{Text: term, Weight: 1})
		}
	}
	return terms
}

// embedTimeout is how long a question waits for its vector before it is searched for by
// words alone.
const embedTimeout = 5 * time.Second

// Search finds evidence. A question without words the index knows gets no evidence
// and no error. Without an embedder that works, words alone are searched by.
func (r *Retriever) Search(ctx context.Context, query Query) (Result, error) {
	started := time.Now()
	query.Terms = query.terms()
	limited, cancel := context.WithTimeout(ctx, embedTimeout)
	vector, unembedded := r.embed(limited, query.Text)
	cancel()
	if unembedded != nil && (ctx.Err() != nil || len(query.Terms) == 0) {
		return Result{}, unembedded
	}
	found, err := r.candidates(ctx, query, vector)
	if err != nil {
		return Result{}, err
	}
	result := Result{
		Used: found.Used, Pruned: found.Pruned,
		Lexical: len(found.Lexical), Dense: len(found.Dense), Unembedded: unembedded,
	}
	fused := r.fuse(query, found)
	if most := query.limit() + otherLanguages; len(fused) > most {
		fused = fused[:most]
	}
	result.Evidence, err = r.load(ctx, fused)
	preferLanguage(result.Evidence, language.Detect(query.Text).Or(language.English))
	result.Evidence = result.Evidence[:min(len(result.Evidence), query.limit())]
	result.Took = time.Since(started)
	return result, err
}

const (
	// otherLanguages is how many passages are read beyond the limit, for those that are in
	// another language than the question.
	otherLanguages = 10
	// otherLanguage is the part of its score that such a passage keeps.
	otherLanguage = 0.9
)

// preferLanguage puts what is known to be in another language than the question behind
// what is about as good in that one: of a page and its translation the asker reads one.
func preferLanguage(evidence []Evidence, tag language.Tag) {
	for i := range evidence {
		if own := language.Parse(evidence[i].Document.Language); own != language.Unknown && own != tag {
			evidence[i].Score *= otherLanguage
		}
	}
	slices.SortStableFunc(evidence, func(a, b Evidence) int { return cmp.Compare(b.Score, a.Score) })
}

// Rank gives the fused order of all candidates without loading their texts.
func (r *Retriever) Rank(ctx context.Context, query Query) ([]Fused, error) {
	query.Terms = query.terms()
	vector, err := r.embed(ctx, query.Text)
	if err != nil {
		return nil, err
	}
	found, err := r.candidates(ctx, query, vector)
	if err != nil {
		return nil, err
	}
	return r.fuse(query, found), nil
}

// fuse counts the words that the person wrote; expansions don't tell more.
func (r *Retriever) fuse(query Query, found index.Candidates) []Fused {
	written := 0
	for _, term := range query.Terms {
		if term.Weight >= 1 {
			written++
		}
	}
	return r.Fusion.Fuse(found.Lexical, found.Dense, written)
}

func (q Query) terms() []index.Term {
	if q.Terms != nil {
		return q.Terms
	}
	return Terms(q.Text)
}

func (q Query) limit() int {
	if q.Limit > 0 {
		return q.Limit
	}
	return 20
}

func (r *Retriever) candidates(ctx context.Context, query Query, vector []float32) (index.Candidates, error) {
	found, err := r.Index.Search(ctx, index.Query{Terms: query.Terms, Vector: vector, Filter: query.Filter, Limit: candidates})
	if err != nil {
		return index.Candidates{}, fmt.Errorf("search: %w", err)
	}
	return found, nil
}

// embed gives nil for a text without tokens or in a language that the embedder does not
// know, and where there is no embedder.
func (r *Retriever) embed(ctx context.Context, text string) ([]float32, error) {
	if r.Embedder == nil || text == "" || !embed.Knows(r.Embedder, language.Detect(text)) {
		return nil, nil
	}
	vectors, err := r.Embedder.Embed(ctx, []string{text})
	if err != nil {
		return nil, fmt.Errorf("embed the question: %w", err)
	}
	return vectors[0], nil
}

// load reads the passages of a ranking. One that was deleted since it was ranked is
// left out.
func (r *Retriever) load(ctx context.Context, fused []Fused) ([]Evidence, error) {
	ids := make([]knowledge.PassageID, len(fused))
	scores := make(map[knowledge.PassageID]Fused, len(fused))
	for i, f := range fused {
		ids[i] = f.Passage
		scores[f.Passage] = f
	}
	found, err := r.Index.Passages(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("load %d passages: %w", len(ids), err)
	}
	evidence := make([]Evidence, len(found))
	for i, f := range found {
		score := scores[f.Passage.ID]
		evidence[i] = Evidence{
			Document: f.Document, Passage: f.Passage,
			Score: score.Score, Lexical: score.Lexical, Dense: score.Dense,
		}
	}
	return evidence, nil
}
