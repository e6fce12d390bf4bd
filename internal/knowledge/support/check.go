package support

import (
	"slices"
	"sync"

	"github.com/cairn-bot/cairn/internal/language"
)

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
	// Score is how much of the claim the evidence states, 0 to 1: a third for each label.
	Score float64 `json:"score"`
	Label Label   `json:"label"`
	// Faithful is how likely a section states the claim as it is rather than turned around, 0 to
	// 1. A page of many sentences does not tell.
	Faithful float64  `json:"faithful"`
	Missing  []string `json:"missing"` // words, names and numbers of the claim, as written, that no sentence holds
	// Features are what the numbers were made of; nil where they needed none.
	Features Features `json:"-"`
}

// Check says how far the sentences of evidence support a claim of one sentence, by the
// words they share and those that turn them around: logistic models whose weights were fitted
// on claims that people labelled. Names, identifiers and numbers count only as they are, "5"
// for "5 minutes" or "five". What the sentences leave to their page, such as its title and
// headings, belongs among them. A claim that asserts nothing ("Yes.") is supported by
// anything, and so is one that stands in the evidence word for word; where there is none, or
// no word is shared, nothing is. The same claim and evidence always give the same verdict.
func Check(claim string, evidence []string) Verdict { return ReadEvidence(evidence).Check(claim) }

// Evidence is sentences that several claims are checked against, read once.
type Evidence struct {
	sentences  []string
	statements []statement
	exact      func() exactEvidence
	languages  func() map[language.Tag]int // how many sentences are in each
}

// ReadEvidence reads sentences, in the order in which they stand.
func ReadEvidence(sentences []string) *Evidence {
	statements := make([]statement, len(sentences))
	for i, sentence := range sentences {
		_, statements[i] = readStatement(sentence)
	}
	return newEvidence(sentences, statements)
}

// JoinEvidence puts evidence behind one another.
func JoinEvidence(parts ...*Evidence) *Evidence {
	if len(parts) == 1 {
		return parts[0]
	}
	var sentences []string
	var statements []statement
	for _, part := range parts {
		sentences, statements = append(sentences, part.sentences...), append(statements, part.statements...)
	}
	return newEvidence(sentences, statements)
}

func newEvidence(sentences []string, statements []statement) *Evidence {
	return &Evidence{
		sentences: sentences, statements: statements,
		exact:     sync.OnceValue(func() exactEvidence { return readExact(sentences) }),
		languages: sync.OnceValue(func() map[language.Tag]int { return countLanguages(sentences) }),
	}
}

// Check is Check of this evidence.
func (e *Evidence) Check(claim string) Verdict {
	measured := measureClaim(claim, e.statements)
	if len(measured.asserted) == 0 {
		return Verdict{Score: 1, Faithful: 1, Label: Supported}
	}
	verdict := Verdict{Features: measured.computeFeatures(claim, e)}
	for _, a := range measured.asserted {
		if !slices.ContainsFunc(measured.statements, a.isIn) {
			verdict.Missing = append(verdict.Missing, a.written)
		}
	}
	switch {
	case slices.Contains(e.sentences, claim):
		verdict.Score, verdict.Faithful, verdict.Label = 1, 1, Supported
	case measured.held == 0:
		verdict.Label = Unsupported
	default:
		verdict.Score, verdict.Label = fitted.Judge(verdict.Features)
		verdict.Faithful = fitted.FaithfulChance(verdict.Features)
		if verdict.Label == Supported && len(e.sentences) <= wholePage && measured.differsInDetail() {
			verdict.Label, verdict.Score = Partly, min(verdict.Score, supportedScore)
		}
		if statesOtherDefault(claim, e.sentences) || measured.tellsOfOtherSubject(claim, e.sentences) {
			verdict.Faithful *= OtherSubject
		}
	}
	return verdict
}

// FaithfulFrom is the chance from which on a section is taken to state a claim as it is.
const FaithfulFrom = 0.61

// OtherSubject is what is left of the chance that a section states a claim where it says the same of
// something else, or another default of it.
const OtherSubject = 0.5

// differsInDetail says whether something exact is missing, or the sentence that holds nearly all of a claim
// has a "not" more or less.
func (m measured) differsInDetail() bool {
	if m.exactMissing(m.statements) > 0 {
		return true
	}
	return m.most >= nearlyAll && m.statements[m.best[0]].deniesOtherwise(m.whole)
}

const (
	// exactWeight is what a name or number counts against a plain word.
	exactWeight = 1.5
	// commonWeight is the same of a word that has synonyms: in other words for a source it is another.
	commonWeight = 0.5
	// bestSentences is how many sentences of evidence support a claim together.
	bestSentences = 3
	// nearlyAll is the part of a claim that one sentence has to hold to contradict it
	// by a "not".
	nearlyAll = 0.75
)

// mostOf gives the position of the first statement that holds the most of what is left.
func mostOf(asserted []assertion, left []float64, statements []statement) (best int, most float64) {
	for at, s := range statements {
		sum := 0.0
		for i, a := range asserted {
			if left[i] > 0 && a.isIn(s) {
				sum += left[i]
			}
		}
		if sum > most {
			best, most = at, sum
		}
	}
	return best, most
}
