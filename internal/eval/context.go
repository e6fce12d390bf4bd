package eval

import "slices"

// ContextScore is what a model is shown for a question.
type ContextScore struct {
	ID      string
	Tokens  float64 // of the prompt
	Sources float64 // shown
	Facts   float64 // the part of the question's facts that stand in the sources
	Read    bool    // a model was to read the question before
	// Took is from the question to the request for its answer, in milliseconds: what comes before
	// the model's own time.
	Took float64
	// BaseTokens and BaseFacts are the same for a plain choice of sources: the twelve best
	// passages as they stand.
	BaseTokens, BaseFacts float64
}

// ShareOfFacts is the part of a question's facts that a text states, 0 to 1; 0 without facts.
func ShareOfFacts(facts []string, text string) float64 {
	if len(facts) == 0 {
		return 0
	}
	return shareHeld(facts, norm(text))
}

// ReportContexts sums up what a model is shown, over all questions and over each half.
func ReportContexts(scores []ContextScore, halves map[string]int) Report {
	report := Report{Form: FormTalk, Groups: []Group{contextGroup("all", scores)}}
	for half, name := range []string{"one half", "the other half"} {
		report.Groups = append(report.Groups, contextGroup(name, slices.DeleteFunc(slices.Clone(scores), func(s ContextScore) bool { return halves[s.ID] != half })))
	}
	return report
}

func contextGroup(name string, scores []ContextScore) Group {
	mean := func(name string, value func(ContextScore) float64) Row {
		sum := 0.0
		for _, score := range scores {
			sum += value(score)
		}
		return Row{Name: name, Value: sum / float64(max(len(scores), 1)), Count: len(scores)}
	}
	rows := []Row{
		mean("prompt tokens", func(s ContextScore) float64 { return s.Tokens }),
		mean("sources", func(s ContextScore) float64 { return s.Sources }),
		mean("fact recall", func(s ContextScore) float64 { return s.Facts }),
		mean("read by a model first", func(s ContextScore) float64 { return share(s.Read) }),
		mean("plain: prompt tokens", func(s ContextScore) float64 { return s.BaseTokens }),
		mean("plain: fact recall", func(s ContextScore) float64 { return s.BaseFacts }),
	}
	var took []float64
	for _, score := range scores {
		took = append(took, score.Took)
	}
	return Group{Name: name, Rows: append(rows, latencyRows(took)...)}
}
