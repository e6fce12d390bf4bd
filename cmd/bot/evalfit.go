package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"cairn/internal/chat"
	"cairn/internal/eval"
	"cairn/internal/graph/flows"
	"cairn/internal/graph/flows/answer"
	"cairn/internal/graph/flows/answer/logistic"
)

// judgedQuestion is a question of a set, with the numbers that a judgement weighs.
type judgedQuestion struct {
	set      string
	half     int // of its set, 0 or 1
	expect   eval.Reaction
	features logistic.Features
}

// inputsOf gives the inputs of a trace as a flow has them.
func inputsOf(inputs []chat.TraceInput) []flows.Input {
	var read []flows.Input
	for _, input := range inputs {
		read = append(read, flows.Input(input))
	}
	return read
}

// fitJudgement fits a judgement on questions: those with a half other than without, -1 for
// all. A set weighs as the square root of its size. What no model decides about is left out.
func fitJudgement(questions []judgedQuestion, without int) answer.Judgement {
	sizes := make(map[string]int)
	fitted := 0
	for _, q := range questions {
		if q.half != without {
			sizes[q.set]++
			fitted++
		}
	}
	var asks, declines []logistic.Sample
	for _, q := range questions {
		if q.half == without {
			continue
		}
		weight := math.Sqrt(float64(fitted) / float64(len(sizes)*sizes[q.set]))
		if !answer.IsPlain(q.features) {
			asks = append(asks, logistic.Sample{Features: q.features, Holds: logistic.Number(q.expect == eval.ReactAsk), Weight: weight})
		}
		if q.expect != eval.ReactAsk && !answer.PointsBack(q.features) {
			declines = append(declines, logistic.Sample{Features: q.features, Holds: logistic.Number(q.expect == eval.ReactAbstain), Weight: weight})
		}
	}
	return answer.FitJudgement(asks, declines)
}

// decided is what a judgement does with a question.
func decided(j answer.Judgement, q judgedQuestion) eval.Reaction {
	asks, declines := j.Decide(q.features)
	switch {
	case asks:
		return eval.ReactAsk
	case declines:
		return eval.ReactAbstain
	}
	return eval.ReactAnswer
}

// keepJudged keeps a question with the numbers that a judgement decided about it from,
// where one did.
func (c *evalCommand) keepJudged(q judgedQuestion, inputs []flows.Input) {
	if features, ok := answer.Features(inputs); ok {
		q.features = features
		c.judged = append(c.judged, q)
	}
}

// fit measures each half of the questions by what was fitted on the other, and writes the
// judgement that was fitted on all.
func (c *evalCommand) fit(out io.Writer) error {
	halves := [2]answer.Judgement{fitJudgement(c.judged, 0), fitJudgement(c.judged, 1)}
	all := fitJudgement(c.judged, -1)
	reactions := []eval.Reaction{eval.ReactAnswer, eval.ReactAsk, eval.ReactAbstain}
	var sets []string
	counts := make(map[string]map[[2]eval.Reaction]int)
	for _, q := range c.judged {
		if counts[q.set] == nil {
			sets = append(sets, q.set)
			counts[q.set] = make(map[[2]eval.Reaction]int)
		}
		counts[q.set][[2]eval.Reaction{q.expect, decided(halves[q.half], q)}]++
	}
	for _, set := range sets {
		right, total := 0, 0
		fmt.Fprintf(out, "%s, each half by what was fitted on the other\n%-10s %8s %8s %8s\n", set, "expected", "answer", "ask", "abstain")
		for _, expected := range reactions {
			fmt.Fprintf(out, "%-10s", expected)
			for _, did := range reactions {
				count := counts[set][[2]eval.Reaction{expected, did}]
				fmt.Fprintf(out, " %8d", count)
				total += count
				if did == expected {
					right += count
				}
			}
			fmt.Fprintln(out)
		}
		fmt.Fprintf(out, "accuracy %.3f of %d\n\n", float64(right)/float64(max(total, 1)), total)
	}
	for name, judgement := range map[string]answer.Judgement{"": all, "-1": halves[0], "-2": halves[1]} {
		if err := c.writeJudgement(name, judgement); err != nil {
			return err
		}
	}
	return nil
}

// writeJudgement writes a judgement into the file that was asked for; that which a half
// was left out of has the half's number behind its name.
func (c *evalCommand) writeJudgement(suffix string, judgement answer.Judgement) (err error) {
	if c.Fit == "" {
		return nil
	}
	ending := filepath.Ext(c.Fit)
	path := c.Fit[:len(c.Fit)-len(ending)] + suffix + ending
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write the judgement: %w", err)
	}
	err = answer.WriteJudgement(file, judgement)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	return err
}

// readJudgement reads the judgement that questions are to be decided by, nil for the one
// that is built in.
func (c *evalCommand) readJudgement() (*answer.Judgement, error) {
	if c.Judgement == "" {
		return nil, nil
	}
	file, err := os.Open(c.Judgement)
	if err != nil {
		return nil, fmt.Errorf("open the judgement: %w", err)
	}
	judgement, err := answer.ReadJudgement(file)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	return &judgement, err
}
