package main

import (
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/cairn-bot/cairn/internal/eval"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer/quoting"
)

// quoteExamples collects what the quotes of a set's answers were chosen from.
type quoteExamples struct {
	set    string
	halves map[string]int // of the set's questions

	mu       sync.Mutex
	asked    eval.Question // the question that is being answered
	examples []quoting.Example
}

// expect makes a question the one whose answer is observed next. Questions without facts
// show nothing and are left out.
func (q *quoteExamples) expect(question eval.Question) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.asked = question
	if hasFacts(question) {
		q.examples = append(q.examples, quoting.Example{Set: q.set, Half: q.halves[question.ID], Stated: question.Stated})
	}
}

func hasFacts(question eval.Question) bool {
	return question.Expect == eval.DecisionAnswer && len(question.Facts) > 0
}

// observe is answer.Options.Quoting.
func (q *quoteExamples) observe(quotable answer.Quotable) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !hasFacts(q.asked) {
		return
	}
	example := &q.examples[len(q.examples)-1]
	example.Question, example.Passages, example.Size = quotable.Question, quotable.Passages, quotable.Size
	example.Gold = make([]bool, len(quotable.Paths))
	for i, path := range quotable.Paths {
		example.Gold[i] = q.asked.AnsweredBy(path)
	}
}

func (q *quoteExamples) collected() []quoting.Example {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.examples
}

// fitQuotes measures each half of the questions by the weights that were fitted on the
// other, and writes those that were fitted on all.
func (c *evalCommand) fitQuotes(out io.Writer) error {
	estimates, err := quoting.EstimateHeldOut(c.examples)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%-12s %10s %12s %10s %12s\n", "quotes", "questions", "fact recall", "lead fact", "characters")
	for _, e := range estimates {
		fmt.Fprintf(out, "%-12s %10d %12.3f %10.3f %12d\n", e.Set, e.Questions, e.Facts, e.Lead, e.Median)
	}
	fmt.Fprint(out, "each half by what was fitted on the other\n\n")
	weights, err := quoting.Fit(c.examples)
	if err != nil {
		return err
	}
	if err := os.WriteFile(c.FitQuotes, weights, 0o644); err != nil { //nolint:gosec // part of the program, for all to read
		return fmt.Errorf("write the weights of quotes: %w", err)
	}
	return nil
}
