package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/eval"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer/logistic"
)

// judgedQuestion is a question of a set, with the numbers that a judgement weighs.
type judgedQuestion struct {
	set      string
	half     int // of its set, 0 or 1
	expect   eval.Reaction
	also     []eval.Reaction // as good
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

// fewQuestions are up to how many questions of a set it counts together with others as small.
const fewQuestions = 59

// weighQuestions gives the weight of each set's questions: a set weighs as the square root of its
// size, all small sets together as one.
func weighQuestions(questions []judgedQuestion) map[string]float64 {
	groups, sizes := groupSets(questions), make(map[string]int)
	for _, q := range questions {
		sizes[groups[q.set]]++
	}
	weights := make(map[string]float64, len(groups))
	for set, group := range groups {
		weights[set] = math.Sqrt(float64(len(questions)) / float64(len(sizes)*sizes[group]))
	}
	return weights
}

// groupSets gives each set the name of the group that it counts in: its own, or "" for small ones.
func groupSets(questions []judgedQuestion) map[string]string {
	sizes, groups := make(map[string]int), make(map[string]string)
	for _, q := range questions {
		sizes[q.set]++
	}
	for set, size := range sizes {
		if size > fewQuestions {
			groups[set] = set
		} else {
			groups[set] = ""
		}
	}
	return groups
}

// fitJudgement fits a judgement on questions, with the chances to act from that do best where
// parts of them are left out in turn.
func fitJudgement(questions []judgedQuestion) answer.Judgement {
	weights, groups := weighQuestions(questions), groupSets(questions)
	var held []heldOut
	for part := range fitParts {
		var fitted, left []judgedQuestion
		for at, q := range questions {
			if at%fitParts == part {
				left = append(left, q)
			} else {
				fitted = append(fitted, q)
			}
		}
		judgement := fitWeights(fitted)
		for _, q := range left {
			held = append(held, heldOut{q, judgement, weights[q.set], groups[q.set]})
		}
	}
	ask, decline := chooseChances(held)
	return fitWeights(questions).ActFrom(ask, decline)
}

// fitParts is how many parts of the questions are left out in turn.
const fitParts = 10

// heldOut is a question with the judgement of weights that were fitted without it.
type heldOut struct {
	judgedQuestion
	judgement answer.Judgement
	weight    float64
	group     string
}

// What a choice of chances is held to: the parts of the answerable questions of each group of sets
// that are asked back about and declined without need.
const (
	mostNeedlessAsks  = 0.03
	mostFalseDeclines = 0.06
)

// chooseChances gives the chances from which most questions that were held out are decided right,
// by the weights of their sets, with no more needless questions back and false declines than may
// be. Neighbouring choices count as well, so that none wins by one question.
func chooseChances(held []heldOut) (ask, decline float64) {
	const from, to, unit = 20, 61, 0.01
	rates := make(map[[2]int]float64)
	for a := from; a < to; a++ {
		for d := from; d < to; d++ {
			rates[[2]int{a, d}] = rateChances(held, float64(a)*unit, float64(d)*unit)
		}
	}
	best := math.Inf(-1)
	for a := from; a < to; a++ {
		for d := from; d < to; d++ {
			around, count := 0.0, 0.0
			for i := a - 2; i <= a+2; i++ {
				for k := d - 2; k <= d+2; k++ {
					if value, ok := rates[[2]int{i, k}]; ok {
						around, count = around+value, count+1
					}
				}
			}
			if around/count > best {
				best, ask, decline = around/count, float64(a)*unit, float64(d)*unit
			}
		}
	}
	return ask, decline
}

// rateChances is the weighed share of questions that are decided right from these chances, with
// something for unanswerable ones, less what is asked back about or declined beyond what may be.
func rateChances(held []heldOut, ask, decline float64) float64 {
	type done struct {
		group             string
		expected, decided eval.Reaction
	}
	var right, all, declined, unanswerable float64
	counts, groups := make(map[done]float64), make(map[string]bool)
	for _, q := range held {
		reaction := decided(q.judgement.ActFrom(ask, decline), q.judgedQuestion)
		if slices.Contains(q.also, reaction) {
			reaction = q.expect
		}
		groups[q.group] = true
		counts[done{q.group, q.expect, reaction}]++
		all += q.weight
		if reaction == q.expect {
			right += q.weight
		}
		if q.expect == eval.ReactAbstain {
			unanswerable += q.weight
			declined += q.weight * logistic.Number(reaction == q.expect)
		}
	}
	beyond := 0.0
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		answered := counts[done{group, eval.ReactAnswer, eval.ReactAnswer}]
		asked, missed := counts[done{group, eval.ReactAnswer, eval.ReactAsk}], counts[done{group, eval.ReactAnswer, eval.ReactAbstain}]
		answerable := math.Max(1, answered+asked+missed)
		beyond += math.Max(0, asked/answerable-mostNeedlessAsks) + math.Max(0, missed/answerable-mostFalseDeclines)
	}
	return right/all + unanswerableWorth*declined/math.Max(unanswerable, math.SmallestNonzeroFloat64) - beyondCost*beyond
}

// unanswerableWorth is what the share of unanswerable questions that are declined counts beside that
// of all questions that are decided right, of which they are few.
const unanswerableWorth = 0.2

// beyondCost is what a share beyond what may be costs, in shares of right decisions.
const beyondCost = 3

// fitWeights fits the weights of a judgement on questions. What no model decides about is left out.
func fitWeights(questions []judgedQuestion) answer.Judgement {
	weights := weighQuestions(questions)
	var asks, declines []logistic.Sample
	for _, q := range questions {
		weight := weights[q.set]
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
	var halves [2]answer.Judgement
	for half := range halves {
		halves[half] = fitJudgement(slices.DeleteFunc(slices.Clone(c.judged), func(q judgedQuestion) bool { return q.half == half }))
	}
	all := fitJudgement(c.judged)
	fmt.Fprintf(out, "asked back from %.2f, declined from %.2f; without the first half %.2f and %.2f, without the second %.2f and %.2f\n\n",
		all.AskFrom, all.DeclineFrom, halves[0].AskFrom, halves[0].DeclineFrom, halves[1].AskFrom, halves[1].DeclineFrom)
	reactions := []eval.Reaction{eval.ReactAnswer, eval.ReactAsk, eval.ReactAbstain}
	var sets []string
	counts := make(map[string]map[[2]eval.Reaction]int)
	for _, q := range c.judged {
		if counts[q.set] == nil {
			sets = append(sets, q.set)
			counts[q.set] = make(map[[2]eval.Reaction]int)
		}
		did := decided(halves[q.half], q)
		if slices.Contains(q.also, did) {
			did = q.expect
		}
		counts[q.set][[2]eval.Reaction{q.expect, did}]++
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
