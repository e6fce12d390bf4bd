package answer

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"cairn/internal/graph"
	"cairn/internal/graph/flows"
	"cairn/internal/graph/flows/answer/support"
	"cairn/internal/knowledge"
	"cairn/internal/knowledge/index"
	"cairn/internal/knowledge/retrieve"
)

// kept is how many passages of evidence a run works with.
const kept = 20

// partWeight is what a search for a part of a question counts against one for the
// whole of it.
const (
	partWeight    = 0.9
	missingWeight = 0.5 // a search for what the first one left out
)

// decideStrategy picks how the searches of a question depend on each other.
func (f *Flow) decideStrategy(_ context.Context, step graph.Step[State]) (graph.Result[State], error) {
	chosen, reason := strategy(step.State)
	return graph.Update(
		processingStrategy.Set(chosen),
		strategyReason.Set(reason),
		notes.Set([]string{"strategy " + string(chosen) + ": " + reason}),
	), nil
}

func strategy(s State) (Strategy, string) {
	switch {
	case len(s.Parts) > 1 && s.Intent == Comparison:
		return Parallel, "the things compared are searched for on their own as well"
	case len(s.Parts) > 1:
		return Parallel, "the question consists of several"
	case len(s.AnalysisResults.Missing) > 0 && s.AnalysisResults.Coverage < 0.7:
		return Sequential, "the first search left out: " + strings.Join(s.AnalysisResults.Missing, ", ")
	default:
		return Hybrid, "the first search bears on the whole question"
	}
}

// search runs one query and says how it went.
func (f *Flow) search(ctx context.Context, q retrieve.Query) ([]retrieve.Evidence, flows.Query, error) {
	q.Limit = kept
	result, err := f.retriever.Search(ctx, q)
	return result.Evidence, flows.Query{
		Text: q.Text, Used: result.Used, Pruned: result.Pruned,
		Lexical: result.Lexical, Dense: result.Dense, Took: result.Took,
	}, err
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

// parallelProcessing searches for the parts of a question beside the whole of it.
func (f *Flow) parallelProcessing(ctx context.Context, step graph.Step[State]) (graph.Result[State], error) {
	s := step.State
	lists := make([][]retrieve.Evidence, len(s.Parts))
	made := make([]flows.Query, len(s.Parts))
	searches, ctx := errgroup.WithContext(ctx)
	for i, part := range s.Parts {
		searches.Go(func() error {
			var err error
			lists[i], made[i], err = f.search(ctx, retrieve.Query{Text: part, Filter: s.Filter})
			return err
		})
	}
	if err := searches.Wait(); err != nil {
		return graph.Result[State]{}, err
	}
	merged := merge(partWeight, s.SearchResults, lists...)
	return f.processed(s, merged, made), nil
}

// sequentialProcessing searches again for what the first search left out, inside the
// documents that it found and beyond them.
func (f *Flow) sequentialProcessing(ctx context.Context, step graph.Step[State]) (graph.Result[State], error) {
	s := step.State
	missing := strings.Join(s.AnalysisResults.Missing, " ")
	found, made, err := f.search(ctx, retrieve.Query{Text: missing, Filter: s.Filter})
	if err != nil {
		return graph.Result[State]{}, err
	}
	return f.processed(s, merge(missingWeight, s.SearchResults, found), []flows.Query{made}), nil
}

// hybridProcessing keeps the first pass; where a person chose a reading, it searches
// for that.
func (f *Flow) hybridProcessing(ctx context.Context, step graph.Step[State]) (graph.Result[State], error) {
	s := step.State
	if s.Reading == "" {
		return f.processed(s, s.SearchResults, nil), nil
	}
	found, made, err := f.search(ctx, whole(s))
	if err != nil {
		return graph.Result[State]{}, err
	}
	return f.processed(s, found, []flows.Query{made}), nil
}

// processed is what every way of processing leaves behind.
func (f *Flow) processed(s State, evidence []retrieve.Evidence, made []flows.Query) graph.Result[State] {
	return graph.Update(
		searchResults.Set(evidence),
		analysisResults.Set(analyze(s.Profile, evidence)),
		queries.Set(made),
		agentTimes.Set(map[string]float64{"HybridSearch": took(made)}),
	)
}

func took(made []flows.Query) float64 {
	var sum time.Duration
	for _, q := range made {
		sum += q.Took
	}
	return sum.Seconds()
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

// termsOf gives the terms of a passage and of where it stands.
func termsOf(e retrieve.Evidence) support.Set {
	return support.Of(e.Document.Title, strings.Join(e.Passage.Headings, " "), e.Passage.Text)
}
