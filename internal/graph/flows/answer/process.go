package answer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/knowledge/support"
	"github.com/cairn-bot/cairn/internal/language"
	"github.com/cairn-bot/cairn/internal/phrases"
)

const (
	// kept is how many passages of evidence a run works with.
	kept = 20
	// searched is how many are looked for: those in other languages may fall behind, and
	// some come forward when they are put in order.
	searched = 2 * kept
)

// partWeight is what a search for a part of a question counts against one for the
// whole of it.
const (
	partWeight    = 0.9
	messageWeight = 0.6 // a search for one message of a pasted text
	missingWeight = 0.5 // a search for what the first one left out
	contextWeight = 0.5 // of the whole question's words in a search for a part of it
)

// decideStrategy picks how the searches of a question depend on each other.
func decideStrategy(_ context.Context, step graph.Step[State]) (graph.Result[State], error) {
	chosen, reason := strategy(step.State)
	return graph.Update(
		processingStrategy.Set(chosen),
		strategyReason.Set(reason),
		notes.Set([]string{strings.TrimSpace("strategy "+string(chosen)) + ": " + reason}),
	), nil
}

func strategy(s State) (Strategy, string) {
	switch {
	case len(s.Errors) > 0:
		return "", "the first search failed"
	case s.Relation == Dependent:
		return Sequential, "what the question asks about has to be found first"
	case s.Relation == Pasted:
		return Parallel, "the messages of what was pasted are searched for one by one"
	case s.Relation == Independent && s.Intent == Comparison:
		return Parallel, "the things compared are searched for on their own as well"
	case s.Relation == Independent:
		return Parallel, "the question consists of several"
	case len(s.Parts) > 0 && understoodByModel(s):
		return Parallel, "the model searches in other words as well"
	case s.IsBroadSubject:
		return Hybrid, "the subject is broad: the first search found it in several documents"
	case len(s.AnalysisResults.Missing) > 0 && s.AnalysisResults.Coverage < enoughCoverage:
		return Sequential, "the first search left out: " + strings.Join(s.AnalysisResults.Missing, ", ")
	default:
		return Hybrid, "the first search bears on the whole question"
	}
}

// enoughCoverage of a question by one passage needs no search for the rest.
const enoughCoverage = 0.7

// foreignWeight is what a passage in another language than the question's counts, where
// there are some in that language.
const foreignWeight = 0.6

// alternative is the part of a foreign passage's score by words that a passage in the
// question's language must have for the two to be alternatives.
const alternative = 0.8

// preferLanguage lets passages in the language of a question go before others. A question
// in letters that every language has, and in words of none, is taken for English.
func preferLanguage(question string, evidence []retrieve.Evidence) []retrieve.Evidence {
	asked := language.Detect(question).Or(language.English)
	foreign := func(e retrieve.Evidence) bool {
		written := language.Parse(e.Document.Language)
		return written != language.Unknown && written != asked
	}
	own := 0.0
	for _, e := range evidence {
		if !foreign(e) {
			own = max(own, e.Lexical)
		}
	}
	weighed := slices.Clone(evidence)
	for i := range weighed {
		if foreign(weighed[i]) && own > 0 && own >= alternative*weighed[i].Lexical {
			weighed[i].Score *= foreignWeight
		}
	}
	slices.SortStableFunc(weighed, func(a, b retrieve.Evidence) int { return cmp.Compare(b.Score, a.Score) })
	return weighed
}

// searchAll makes searches at the same time. A failed one has no evidence and is noted
// in the changes; where all failed, that is the error.
func (f *Flow) searchAll(ctx context.Context, step graph.Step[State], searches ...retrieve.Query) ([][]retrieve.Evidence, []flows.Query, []graph.Change[State], error) {
	search := f.agents.search(step)
	found := make([]*searchResponse, len(searches)) // nil where a search failed
	var group errgroup.Group
	group.SetLimit(searchConcurrency)
	for i, q := range searches {
		group.Go(func() error {
			response, err := search.Request(ctx, searchRequest{Query: q})
			if err == nil {
				found[i] = &response
			}
			return err
		})
	}
	failed := group.Wait()
	if failed != nil && ctx.Err() != nil {
		return nil, nil, nil, fmt.Errorf("search: %w", ctx.Err())
	}
	use := search.used()
	if use.Failures == len(searches) {
		return nil, nil, nil, fmt.Errorf("search: %w", failed)
	}
	lists := make([][]retrieve.Evidence, len(searches))
	var made []flows.Query
	byWords := false
	for i, response := range found {
		if response != nil {
			lists[i] = response.Evidence
			made = append(made, response.Made)
			byWords = byWords || response.ByWords
		}
	}
	changes := []graph.Change[State]{agentUses.Set([]flows.AgentUse{use})}
	speaker := speakerFor(step.State)
	if wordsAlone := speaker.Text(phrases.WordsSearched); byWords && !slices.Contains(step.State.Degraded, wordsAlone) {
		changes = append(changes, degraded.Set([]string{wordsAlone}))
	}
	if use.Failures > 0 {
		changes = append(changes, degraded.Set([]string{speaker.Text(phrases.SearchesFailed, use.Failures, len(searches))}))
	}
	return lists, made, changes, nil
}

// whole is the search for the question as it stands.
func whole(s State) retrieve.Query {
	text := s.Query
	if s.Reading != "" {
		text += " " + s.Reading
	}
	return retrieve.Query{Text: text, Terms: withReading(s.Terms, s.Reading), Filter: s.Filter}
}

// withReading adds the words of what the person chose; they count as much as those
// of the question, for they tell what it meant.
func withReading(searched []index.Term, reading string) []index.Term {
	if reading == "" {
		return searched
	}
	w := newWeights()
	for _, term := range searched {
		w.raise(term.Text, term.Weight)
	}
	for _, term := range retrieve.Terms(reading) {
		w.raise(term.Text, 1)
	}
	return w.terms()
}

// parallelProcessing searches for the parts of a question beside the whole of it, and for the
// reading that a person chose.
func (f *Flow) parallelProcessing(ctx context.Context, step graph.Step[State]) (graph.Result[State], error) {
	s := step.State
	var beside []retrieve.Query
	if s.Reading != "" {
		beside = append(beside, whole(s))
	}
	lists, made, changes, err := f.searchParts(ctx, step, beside...)
	if err != nil {
		return graph.Result[State]{}, err
	}
	first := s.SearchResults
	if s.Reading != "" {
		first, lists[0] = lists[0], first
	}
	if s.Relation == Pasted {
		return processed(s, preferMending(profileOfPart(s.Profile, s.Parts[0]), merge(messageWeight, first, lists...)), made, changes), nil
	}
	return processed(s, merge(partWeight, first, lists...), made, changes), nil
}

// searchParts searches for the parts of the question, and for others beside them, which come
// first.
func (f *Flow) searchParts(ctx context.Context, step graph.Step[State], beside ...retrieve.Query) ([][]retrieve.Evidence, []flows.Query, []graph.Change[State], error) {
	for _, part := range step.State.Parts {
		beside = append(beside, partQuery(step.State, part))
	}
	return f.searchAll(ctx, step, beside...)
}

// partQuery is the search for a part of a question. One that stands beside others without being
// compared with them leans on the words of the whole, which may name what it is about: "how do I
// install the agent, and what does it need".
func partQuery(s State, part string) retrieve.Query {
	q := retrieve.Query{Text: part, Filter: s.Filter}
	if s.Relation != Independent || s.Intent == Comparison {
		return q
	}
	w := newWeights()
	for _, term := range retrieve.Terms(part) {
		w.raise(term.Text, term.Weight)
	}
	for _, term := range s.Terms {
		w.raise(term.Text, contextWeight*term.Weight)
	}
	q.Terms = w.terms()
	return q
}

// maxHops bounds how many searches follow the first one, each from what came before.
const maxHops = 3

// sequentialProcessing searches on from what was found: for what a question describes
// by the name that the evidence gives it, or for what the first search left out.
func (f *Flow) sequentialProcessing(ctx context.Context, step graph.Step[State]) (graph.Result[State], error) {
	s := step.State
	if s.Relation != Dependent {
		return f.searchMissing(ctx, step)
	}
	evidence := s.SearchResults
	searched := []string{s.Query}
	var made []flows.Query
	var changes []graph.Change[State]
	if len(s.Parts) > 0 && understoodByModel(s) {
		found, queried, noted, err := f.searchParts(ctx, step)
		if err != nil {
			return graph.Result[State]{}, err
		}
		evidence, made, changes = merge(partWeight, evidence, found...), queried, noted
		searched = append(searched, s.Parts...)
	}
	for range maxHops {
		understand := f.agents.understanding(step)
		told, err := understand.Request(ctx, analysisRequest{Run: s.RequestID, Question: s.Query, History: s.History, Found: evidence, Searched: searched})
		if err != nil && !isFailure(err) {
			return graph.Result[State]{}, err
		}
		changes = append(changes, understand.changes()...)
		changes = append(changes, modelUses.Set(told.Uses), notes.Set(told.Remarks))
		if told.Next == "" {
			break
		}
		step.Detail("Searching for: " + told.Next)
		lists, queried, noted, err := f.searchAll(ctx, step, retrieve.Query{Text: told.Next, Filter: s.Filter})
		if err != nil {
			return graph.Result[State]{}, err
		}
		searched = append(searched, told.Next)
		made = append(made, queried...)
		changes = append(changes, noted...)
		evidence = interleave(lists[0], evidence)
	}
	if len(made) == 0 && len(s.AnalysisResults.Missing) > 0 {
		return f.searchMissing(ctx, step)
	}
	return processed(s, evidence, made, changes), nil
}

// searchMissing searches for what the first search left out.
func (f *Flow) searchMissing(ctx context.Context, step graph.Step[State]) (graph.Result[State], error) {
	s := step.State
	lists, made, changes, err := f.searchAll(ctx, step, retrieve.Query{Text: strings.Join(s.AnalysisResults.Missing, " "), Filter: s.Filter})
	if err != nil {
		return graph.Result[State]{}, err
	}
	return processed(s, merge(missingWeight, s.SearchResults, lists[0]), made, changes), nil
}

// interleave joins the evidence of two searches that an answer needs both of: the best
// of one, the best of the other, and so on, each at least as good as what follows it.
func interleave(first, second []retrieve.Evidence) []retrieve.Evidence {
	var joined []retrieve.Evidence
	seen := make(map[knowledge.PassageID]bool)
	for i := range max(len(first), len(second)) {
		for _, list := range [][]retrieve.Evidence{first, second} {
			if i < len(list) && !seen[list[i].Passage.ID] {
				seen[list[i].Passage.ID] = true
				joined = append(joined, list[i])
			}
		}
	}
	joined = joined[:min(len(joined), kept)]
	for i := len(joined) - 2; i >= 0; i-- {
		joined[i].Score = max(joined[i].Score, joined[i+1].Score)
	}
	return joined
}

// hybridProcessing keeps the first pass where it bears on the question. It searches
// again for the reading that a person chose, and where the first pass was weak for
// what a model would search for.
func (f *Flow) hybridProcessing(ctx context.Context, step graph.Step[State]) (graph.Result[State], error) {
	s := step.State
	switch {
	case s.Reading != "":
		lists, made, changes, err := f.searchAll(ctx, step, whole(s))
		if err != nil {
			return graph.Result[State]{}, err
		}
		return processed(s, lists[0][:min(len(lists[0]), kept)], made, changes), nil
	case len(s.Parts) == 1 && s.AnalysisResults.Coverage < enoughCoverage:
		return f.parallelProcessing(ctx, step)
	}
	return processed(s, s.SearchResults, nil, nil), nil
}

// processed is what every way of processing leaves behind.
func processed(s State, evidence []retrieve.Evidence, made []flows.Query, changes []graph.Change[State]) graph.Result[State] {
	evidence = withAttached(s, evidence)
	return graph.Update(append(changes,
		searchResults.Set(evidence),
		analysisResults.Set(analyze(s.Profile, evidence)),
		queries.Set(made),
	)...)
}

// merge joins the evidence of several searches: a passage counts by its best place,
// the later searches' by weight.
func merge(weight float64, first []retrieve.Evidence, others ...[]retrieve.Evidence) []retrieve.Evidence {
	merged := slices.Clone(first)
	at := make(map[knowledge.PassageID]int, len(merged))
	for i, e := range merged {
		at[e.Passage.ID] = i
	}
	for _, list := range others {
		for _, e := range list {
			e.Score *= weight
			i, known := at[e.Passage.ID]
			if !known {
				at[e.Passage.ID] = len(merged)
				merged = append(merged, e)
				continue
			}
			merged[i].Score = max(merged[i].Score, e.Score)
		}
	}
	slices.SortStableFunc(merged, func(a, b retrieve.Evidence) int { return cmp.Compare(b.Score, a.Score) })
	return merged[:min(len(merged), kept)]
}

// looked is how many passages decide how well the evidence bears on a question.
const looked = 8

// analyze measures how well the evidence bears on the question.
func analyze(p support.Profile, evidence []retrieve.Evidence) Analysis {
	var a Analysis
	var sets []support.Set
	for _, e := range evidence[:min(len(evidence), looked)] {
		set := termsOf(e)
		sets = append(sets, set)
		a.Coverage = max(a.Coverage, p.Coverage(set))
		a.Dense = max(a.Dense, e.Dense)
	}
	a.Missing = p.Missing(sets...)
	a.Spread = spread(evidence)
	return a
}

// termsOf gives the terms of a passage and of where it stands. They are shared: don't change
// them.
func termsOf(e retrieve.Evidence) support.Set { return passageOf(e).Analyze().All() }

func passageOf(e retrieve.Evidence) support.Passage {
	return support.Passage{
		Language: language.Parse(e.Document.Language), Title: e.Document.Title, Headings: e.Passage.Headings, Text: e.Passage.Text,
	}
}
