package eval

import "fmt"

// Compared are classes that were predicted against those that were right. The counts
// are by right class, then by predicted one; both are positions in Classes.
type Compared struct {
	Classes []string `json:"classes"`
	Counts  [][]int  `json:"counts"`
}

func compare(classes ...string) *Compared {
	c := &Compared{Classes: classes, Counts: make([][]int, len(classes))}
	for i := range c.Counts {
		c.Counts[i] = make([]int, len(classes))
	}
	return c
}

// total is how many were compared.
func (c *Compared) total() int {
	sum := 0
	for _, row := range c.Counts {
		for _, count := range row {
			sum += count
		}
	}
	return sum
}

// accuracy is the share of right predictions.
func (c *Compared) accuracy() float64 {
	right := 0
	for i := range c.Counts {
		right += c.Counts[i][i]
	}
	return ratio(right, c.total())
}

// of gives precision and recall of one class and their harmonic mean; each is 0 where
// there is nothing to divide by.
func (c *Compared) of(class int) (precision, recall, f1 float64) {
	predicted, right := 0, 0
	for i := range c.Counts {
		predicted += c.Counts[i][class]
		right += c.Counts[class][i]
	}
	hits := c.Counts[class][class]
	return ratio(hits, predicted), ratio(hits, right), ratio(2*hits, predicted+right)
}

// macroF1 is the mean of the classes' F1: one that is never predicted counts 0.
func (c *Compared) macroF1() float64 {
	sum := 0.0
	for class := range c.Classes {
		_, _, f1 := c.of(class)
		sum += f1
	}
	return sum / float64(len(c.Classes))
}

// rows are accuracy and macro F1, with the given words in front of their names.
func (c *Compared) rows(prefix string) []Row {
	return []Row{
		{Name: prefix + "accuracy", Value: c.accuracy(), Count: c.total()},
		{Name: prefix + "macro F1", Value: c.macroF1(), Count: c.total()},
	}
}

// classRows are precision, recall and F1 of one class.
func (c *Compared) classRows(class int) []Row {
	precision, recall, f1 := c.of(class)
	name := c.Classes[class]
	return []Row{
		{Name: name + " precision", Value: precision, Count: c.total()},
		{Name: name + " recall", Value: recall, Count: c.total()},
		{Name: name + " F1", Value: f1, Count: c.total()},
	}
}

func ratio(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

var decisions = []Decision{DecisionAnswer, DecisionAsk, DecisionAbstain}

// ScoreDecisions measures what was done with the questions of a clarify set against
// what each calls for, beside a bot that answers everything. A question without an
// answer is an error: Collect leaves none out.
func (s *ClarifySet) ScoreDecisions(answers []Answer) (Report, error) {
	byID, err := indexAnswers(answers, func(a Answer) string { return a.ID })
	if err != nil {
		return Report{}, fmt.Errorf("score decisions: %w", err)
	}
	did, always := compareDecisions(), compareDecisions()
	partial := Row{Name: "partial answered"}
	found := Row{Name: fmt.Sprintf("context hit@%d", contextDepth)}
	var took []float64
	for _, question := range s.Questions {
		answer, ok := byID[question.ID]
		if !ok {
			return Report{}, fmt.Errorf("score decisions: question %q has no answer", question.ID)
		}
		right := positionOf(question.Expect)
		did.Counts[right][positionOf(answer.decision())]++
		always.Counts[right][positionOf(DecisionAnswer)]++
		if question.Kind == string(Partial) {
			partial.add(share(answer.decision() == DecisionAnswer))
		}
		if question.Expect == DecisionAnswer && len(question.Gold) > 0 {
			found.add(share(citesGold(question, answer)))
		}
		if answer.LatencyMS != nil {
			took = append(took, *answer.LatencyMS)
		}
	}
	rows := did.rows("")
	for class := range decisions {
		rows = append(rows, did.classRows(class)...)
	}
	rows = append(rows, partial, found)
	return Report{
		Form: FormClarify,
		Groups: []Group{
			{Name: "all", Rows: append(rows, latencyRows(took)...)},
			{Name: "always answering", Rows: always.rows("")},
		},
		Compared: did,
	}, nil
}

// contextDepth is how many sources are searched for a passage that answers.
const contextDepth = 5

// citesGold says whether one of the first sources is a passage that answers.
func citesGold(question Question, answer Answer) bool {
	for _, source := range answer.Sources {
		for _, gold := range question.Gold {
			if source.Rank <= contextDepth && source.Path == gold.Path {
				return true
			}
		}
	}
	return false
}

func compareDecisions() *Compared {
	names := make([]string, len(decisions))
	for i, decision := range decisions {
		names[i] = string(decision)
	}
	return compare(names...)
}

func positionOf(decision Decision) int {
	for i, d := range decisions {
		if d == decision {
			return i
		}
	}
	return 0
}

// add takes one more value into a row that is a mean.
func (r *Row) add(value float64) {
	r.Value = (r.Value*float64(r.Count) + value) / float64(r.Count+1)
	r.Count++
}
