package main

import (
	"fmt"
	"os"
	"sync"

	"cairn/internal/eval"
	"cairn/internal/graph/flows/answer/quoting"
)

// quoteExamples collects what the quotes of a set's answers were chosen from.
type quoteExamples struct {
	questions map[string]eval.Question // by run

	mu       sync.Mutex
	examples []quoting.Example
}

func newQuoteExamples(questions []eval.Question) *quoteExamples {
	q := &quoteExamples{questions: make(map[string]eval.Question)}
	for _, question := range questions {
		if len(question.Facts) > 0 && question.Expect == eval.DecisionAnswer {
			q.questions[evalRun(question)] = question
		}
	}
	return q
}

// observe is answer.Options.Quoting.
func (q *quoteExamples) observe(run string, question quoting.Question, passages []quoting.Passage, paths []string) {
	asked, known := q.questions[run]
	if !known {
		return
	}
	gold := make([]bool, len(paths))
	for i, path := range paths {
		gold[i] = asked.AnsweredBy(path)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.examples = append(q.examples, quoting.Example{Question: question, Passages: passages, Gold: gold, States: asked.States})
}

func (q *quoteExamples) collected() []quoting.Example {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.examples
}

// writeQuoteWeights fits the weights by which quotes are chosen and writes them.
func (c *evalCommand) writeQuoteWeights() error {
	weights, err := quoting.Fit(c.examples)
	if err != nil {
		return err
	}
	if err := os.WriteFile(c.FitQuotes, weights, 0o644); err != nil { //nolint:gosec // part of the program, for all to read
		return fmt.Errorf("write the weights of quotes: %w", err)
	}
	return nil
}
