package curated

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/embed"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/language"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// What a pinned question must have in common with one that it answers, from pairs of questions that
// mean the same and pairs that don't: docs/benchmarks.md.
const (
	// allWords is the weight of the words that both have, of the weight of all words of both,
	// that is enough alone: they differ in words that tell nothing.
	allWords = 0.999
	// mostWords is enough where the cosine of the two is minMeaning or more.
	mostWords  = 0.9
	minMeaning = 0.85
)

// Finder finds the pinned answer to a question. Its methods may be called concurrently.
type Finder struct {
	store    Store
	index    index.Reader
	embedder embed.Embedder // nil: questions are compared by words alone
	now      func() time.Time

	mu       sync.Mutex
	revision int64
	known    []pinned
}

// Options are what a Finder is made of.
type Options struct {
	Store Store
	// Index tells how common words are, and whether the viewers of the context may read what an
	// answer rests on: a reader behind index.Guard.
	Index    index.Reader
	Embedder embed.Embedder // nil: questions are compared by words alone
	Now      func() time.Time
}

// NewFinder makes a finder.
func NewFinder(options Options) *Finder {
	return &Finder{store: options.Store, index: options.Index, embedder: options.Embedder, now: options.Now, revision: -1}
}

// Question is what somebody asks.
type Question struct {
	Text string
	// FollowsUp tells that something was said before in the thread: then the question has to say
	// all that the pinned one does.
	FollowsUp bool
	Sources   []knowledge.SourceID // that it may be answered from; none: all
}

// Match is a pinned answer that answers a question.
type Match struct {
	Answer   Answer
	Passages []index.Found // that it rests on, as the index has them now; one for each document at least
	// Words is how much of the weight of all words the two questions share, Meaning their cosine,
	// 0 where the embedder does not know the language.
	Words, Meaning float64
}

// pinned is an answer with what its question is compared by.
type pinned struct {
	answer  Answer
	profile profile
}

// profile is what questions are compared by.
type profile struct {
	plain  string
	terms  []string
	vector []float32 // nil where the embedder does not know the language
	form   form
}

// Find gives the answer that is pinned to a question, for the viewers of the context; ok is false
// where there is none.
func (f *Finder) Find(ctx context.Context, question Question) (found Match, ok bool, err error) {
	known, err := f.load(ctx)
	if err != nil || len(known) == 0 || shorten.Head(question.Text, MaxQuestion) != question.Text {
		return Match{}, false, err
	}
	asked, err := f.describe(ctx, question.Text)
	if err != nil {
		return Match{}, false, err
	}
	weights, err := f.weigh(ctx, asked, known)
	if err != nil {
		return Match{}, false, err
	}
	var matches []Match
	for _, candidate := range known {
		words, meaning := compare(asked, candidate.profile, weights)
		if !candidate.answer.IsExpired(f.now()) && isSame(asked, candidate.profile, words, meaning) && (!question.FollowsUp || coversAll(asked, candidate.profile)) {
			matches = append(matches, Match{Answer: candidate.answer, Words: words, Meaning: meaning})
		}
	}
	slices.SortStableFunc(matches, func(a, b Match) int { return cmp.Compare(b.Words+b.Meaning, a.Words+a.Meaning) })
	for _, match := range matches {
		if ok, err := f.mayGive(ctx, &match, question.Sources); ok || err != nil {
			return match, ok, err
		}
	}
	return Match{}, false, nil
}

// load gives the pinned answers, read again where they changed.
func (f *Finder) load(ctx context.Context) ([]pinned, error) {
	revision, err := f.store.Revision(ctx)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.revision == revision {
		return f.known, nil
	}
	all, err := f.store.List(ctx)
	if err != nil {
		return nil, err
	}
	before := make(map[string]profile)
	for _, p := range f.known {
		before[p.answer.Question] = p.profile
	}
	known := make([]pinned, 0, len(all))
	for _, answer := range all {
		described, ok := before[answer.Question]
		if !ok {
			if described, err = f.describe(ctx, answer.Question); err != nil {
				return nil, err
			}
		}
		known = append(known, pinned{answer, described})
	}
	f.known, f.revision = known, revision
	return known, nil
}

// describe gives what a question is compared by.
func (f *Finder) describe(ctx context.Context, text string) (profile, error) {
	described := profile{plain: plainText(text), form: readForm(text)}
	for _, term := range retrieve.Terms(text) {
		if term.Weight >= 1 && !slices.Contains(generic, term.Text) {
			described.terms = append(described.terms, term.Text)
		}
	}
	if f.embedder == nil || !embed.Knows(f.embedder, language.Detect(text)) {
		return described, nil
	}
	vectors, err := f.embedder.Embed(ctx, []string{text})
	if err != nil {
		return profile{}, fmt.Errorf("embed a question: %w", err)
	}
	described.vector = vectors[0]
	return described, nil
}

// weigh gives the weights of the words of a question and of all pinned ones: the rarer a word is in
// the index, the more it tells.
func (f *Finder) weigh(ctx context.Context, asked profile, known []pinned) (map[string]float64, error) {
	terms := slices.Clone(asked.terms)
	for _, p := range known {
		if slices.ContainsFunc(p.profile.terms, func(term string) bool { return slices.Contains(asked.terms, term) }) {
			terms = append(terms, p.profile.terms...)
		}
	}
	slices.Sort(terms)
	terms = slices.Compact(terms)
	total, err := f.index.Stats(ctx)
	if err != nil {
		return nil, fmt.Errorf("weigh the words of a question: %w", err)
	}
	found, err := f.index.Terms(ctx, terms)
	if err != nil {
		return nil, fmt.Errorf("weigh the words of a question: %w", err)
	}
	weights := make(map[string]float64, len(found))
	for _, term := range found {
		weights[term.Term] = math.Log(2 + (float64(total.Passages)-float64(term.Passages)+0.5)/(float64(term.Passages)+0.5))
	}
	return weights, nil
}

// compare gives how much of the weight of all their words two questions share, and their cosine.
func compare(a, b profile, weights map[string]float64) (words, meaning float64) {
	common, all := 0.0, 0.0
	for _, term := range a.terms {
		all += weights[term]
		if slices.Contains(b.terms, term) {
			common += weights[term]
		}
	}
	for _, term := range b.terms {
		if !slices.Contains(a.terms, term) {
			all += weights[term]
		}
	}
	if all > 0 {
		words = common / all
	}
	if len(a.vector) == len(b.vector) {
		for i := range a.vector {
			meaning += float64(a.vector[i]) * float64(b.vector[i])
		}
	}
	return words, meaning
}

// isSame reports whether two questions ask the same.
func isSame(a, b profile, words, meaning float64) bool {
	switch {
	case a.plain == b.plain:
		return true
	case len(b.terms) == 0 || !a.form.fits(b.form):
		return false
	}
	return words >= allWords || words >= mostWords && meaning >= minMeaning
}

// coversAll reports whether a question has all words of another.
func coversAll(a, b profile) bool {
	return !slices.ContainsFunc(b.terms, func(term string) bool { return !slices.Contains(a.terms, term) })
}

// mayGive reports whether the viewers of the context may have an answer, and finds what it rests on.
// All of its documents have to be there, and of the sources that may be asked.
func (f *Finder) mayGive(ctx context.Context, match *Match, sources []knowledge.SourceID) (bool, error) {
	if !knowledge.ViewersFrom(ctx).MaySee(match.Answer.Audience) {
		return false, nil
	}
	documents := match.Answer.Documents()
	ids := passagesOf(match.Answer)
	found, err := f.index.Passages(ctx, ids)
	if err != nil {
		return false, fmt.Errorf("look up what pinned answer %s rests on: %w", match.Answer.ID, err)
	}
	there := make(map[knowledge.DocumentID]bool)
	for _, f := range found {
		if len(sources) == 0 || slices.Contains(sources, f.Document.Source) {
			there[f.Document.ID] = f.Document.State != knowledge.StateGone
		}
	}
	match.Passages = found
	return !slices.ContainsFunc(documents, func(id knowledge.DocumentID) bool { return !there[id] }), nil
}

// passagesOf gives the passages that an answer cites, and the first one of each of its documents.
func passagesOf(a Answer) []knowledge.PassageID {
	var ids []knowledge.PassageID
	for _, document := range a.Documents() {
		ids = append(ids, knowledge.MakePassageID(document, 0))
	}
	for _, group := range a.Groups {
		for _, source := range group.Sources {
			for _, section := range source.Sections {
				if position, _, ok := knowledge.ParseReference(section.Passage); ok && source.Document != "" {
					ids = append(ids, knowledge.MakePassageID(source.Document, position))
				}
			}
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
