package support

import "slices"

// Label is how far evidence supports a claim.
type Label string

// The labels, from everything that the claim states to nothing of it.
const (
	Supported   Label = "supported"
	Partly      Label = "partially_supported"
	Unsupported Label = "not_supported"
)

// Verdict is what Check finds.
type Verdict struct {
	Score   float64  `json:"score"`   // 0 to 1
	Label   Label    `json:"label"`   // by Score
	Missing []string `json:"missing"` // words, names and numbers of the claim, as written, that no sentence holds
}

// Check says how far the sentences of evidence support a claim of one sentence, by the
// words they share: the part of the claim's weight that its few best sentences hold,
// times the part of its names, identifiers and numbers that they do. Those count only
// as they are, "5" for "5 minutes" or "five". A sentence that says nearly the same but
// for a "not" supports nothing. What the sentences leave to their page, such as its
// title and headings, belongs among them. A claim that asserts nothing ("Yes.") is
// supported by anything. The same claim and evidence always give the same verdict.
func Check(claim string, evidence []string) Verdict {
	asserted, whole := read(claim)
	if len(asserted) == 0 {
		return Verdict{Score: 1, Label: Supported}
	}
	statements := make([]statement, len(evidence))
	for i, sentence := range evidence {
		_, statements[i] = read(sentence)
	}
	verdict := Verdict{Score: score(asserted, whole, statements)}
	verdict.Label = labelOf(verdict.Score)
	for _, a := range asserted {
		if !slices.ContainsFunc(statements, a.in) {
			verdict.Missing = append(verdict.Missing, a.written)
		}
	}
	return verdict
}

// From these scores on a claim counts as supported, and as partly so. They were chosen
// for the best sum of accuracy and macro F1 on claims of an encyclopedia and the pages
// that they cite.
const (
	supportedFrom = 0.7
	partlyFrom    = 0.2
)

func labelOf(score float64) Label {
	switch {
	case score >= supportedFrom:
		return Supported
	case score >= partlyFrom:
		return Partly
	}
	return Unsupported
}

const (
	// exactWeight is what a name or number counts against a plain word. Weighing words
	// by how rare they are was measured too, and is no better.
	exactWeight = 1.5
	// bestSentences is how many sentences of evidence support a claim together.
	bestSentences = 3
	// nearlyAll is the part of a claim that one sentence has to hold to contradict it
	// by a "not".
	nearlyAll = 0.75
)

func score(asserted []assertion, whole statement, statements []statement) float64 {
	left := make([]float64, len(asserted)) // weights of what no chosen sentence holds yet
	sum, exact := 0.0, 0.0
	for i, a := range asserted {
		left[i] = 1
		if a.exact {
			left[i] = exactWeight
			exact += exactWeight
		}
		sum += left[i]
	}
	held := 0.0
	for n := range bestSentences {
		best, gain := mostOf(asserted, left, statements)
		if gain == 0 {
			break
		}
		if n == 0 && gain >= nearlyAll*sum && best.negated != whole.negated {
			return 0
		}
		held += gain
		for i, a := range asserted {
			if a.in(best) {
				left[i] = 0
			}
		}
	}
	if exact == 0 {
		return held / sum
	}
	missing := 0.0
	for i, a := range asserted {
		if a.exact {
			missing += left[i]
		}
	}
	return held / sum * (1 - missing/exact)
}

// mostOf gives the first statement that holds the most of what is left.
func mostOf(asserted []assertion, left []float64, statements []statement) (best statement, most float64) {
	for _, s := range statements {
		sum := 0.0
		for i, a := range asserted {
			if left[i] > 0 && a.in(s) {
				sum += left[i]
			}
		}
		if sum > most {
			best, most = s, sum
		}
	}
	return best, most
}
