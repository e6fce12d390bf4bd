package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/cairn-bot/cairn/internal/eval"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer/logistic"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer/rerank"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
)

// orderedQuestion is a question of a set with what its first search found.
type orderedQuestion struct {
	set     string
	half    int // of its set, 0 or 1
	example rerank.Example
	paths   []string // of the passages' pages
}

// foundEvidence is what the first search of a run found.
type foundEvidence struct {
	features []logistic.Features
	places   []eval.Place
}

// observedOrder collects what first searches found, by run.
type observedOrder struct {
	mu    sync.Mutex
	found map[string]foundEvidence
}

// observeOrder has the flows of an app tell what their first searches find.
func (c *evalCommand) observeOrder(a *measuredLibrary) *observedOrder {
	observed := &observedOrder{found: make(map[string]foundEvidence)}
	if c.FitOrder != "" {
		a.tuning.Ordering = observed.observe
	}
	return observed
}

// observe is answer.Options.Ordering.
func (o *observedOrder) observe(run string, question rerank.Question, evidence []retrieve.Evidence) {
	found := foundEvidence{features: rerank.Describe(question, evidence)}
	for _, e := range evidence {
		found.places = append(found.places, eval.Place{Path: e.Document.Path, Anchor: e.Passage.Anchor})
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.found[run] = found
}

func (o *observedOrder) of(run string) foundEvidence {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.found[run]
}

// keepOrdered keeps a question with the grades of what was found for it, if it has an
// answer.
func (c *evalCommand) keepOrdered(q orderedQuestion, found foundEvidence, golds []eval.Gold, pages *eval.Pages) error {
	if len(golds) == 0 || len(found.places) == 0 {
		return nil
	}
	q.example.Features = found.features
	for _, place := range found.places {
		grade, err := eval.Grade(golds, place, pages)
		if err != nil {
			return err
		}
		q.example.Grades = append(q.example.Grades, grade)
		q.paths = append(q.paths, place.Path)
	}
	c.ordered = append(c.ordered, q)
	return nil
}

// fitOrder measures each half of the questions by what was fitted on the other, and writes
// the weights that were fitted on all.
func (c *evalCommand) fitOrder(out io.Writer) error {
	var halves [2]logistic.Weights
	for half := range halves {
		fitted, err := rerank.FitWeights(c.orderExamples(half))
		if err != nil {
			return err
		}
		halves[half] = fitted
	}
	var sets []string
	before, after := make(map[string]*orderHits), make(map[string]*orderHits)
	for _, q := range c.ordered {
		if before[q.set] == nil {
			sets = append(sets, q.set)
			before[q.set], after[q.set] = &orderHits{}, &orderHits{}
		}
		before[q.set].add(q, q.example.Order(nil))
		after[q.set].add(q, q.example.Order(halves[q.half]))
	}
	for _, set := range sets {
		fmt.Fprintf(out, "%s, each half by what was fitted on the other\n%-14s %9s %9s %12s\n", set, "order", "page @1", "page @3", "section @3")
		fmt.Fprintf(out, "%-14s %s\n%-14s %s\n\n", "of the search", before[set], "fitted", after[set])
	}
	file, err := rerank.Fit(c.orderExamples(-1))
	if err != nil {
		return err
	}
	if err := os.WriteFile(c.FitOrder, file, 0o644); err != nil { //nolint:gosec // part of the program, for all to read
		return fmt.Errorf("write the weights of the order: %w", err)
	}
	return nil
}

// orderExamples gives the questions with a half other than without, -1 for all. Each set
// weighs the same.
func (c *evalCommand) orderExamples(without int) []rerank.Example {
	sizes := make(map[string]int)
	for _, q := range c.ordered {
		if q.half != without {
			sizes[q.set]++
		}
	}
	var examples []rerank.Example
	for _, q := range c.ordered {
		if q.half != without {
			q.example.Weight = float64(len(c.ordered)) / float64(len(sizes)*sizes[q.set])
			examples = append(examples, q.example)
		}
	}
	return examples
}

// orderHits counts questions by how early a page or section that answers comes.
type orderHits struct{ questions, first, third, section int }

func (h *orderHits) add(q orderedQuestion, order []int) {
	h.questions++
	var pages []string
	page, section := 0, 0
	for rank, at := range order {
		if !slices.Contains(pages, q.paths[at]) {
			pages = append(pages, q.paths[at])
		}
		if q.example.Grades[at] >= eval.AnsweringPage && page == 0 {
			page = len(pages)
		}
		if q.example.Grades[at] == eval.AnsweringSection && section == 0 {
			section = rank + 1
		}
	}
	if page == 1 {
		h.first++
	}
	if page >= 1 && page <= 3 {
		h.third++
	}
	if section >= 1 && section <= 3 {
		h.section++
	}
}

func (h *orderHits) String() string {
	share := func(count int) float64 { return float64(count) / float64(max(h.questions, 1)) }
	return fmt.Sprintf("%9.3f %9.3f %12.3f of %d", share(h.first), share(h.third), share(h.section), h.questions)
}
