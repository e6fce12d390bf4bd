package eval

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"
)

// Claim is a sentence with the sentences of the page that it cites.
type Claim struct {
	ID       string   `json:"id"`
	Claim    string   `json:"claim"`
	Evidence []string `json:"evidence"`
	Label    string   `json:"label"` // one of the supports
}

// supports are the labels of claims, in the order of rising support.
var supports = []string{"not_supported", "partially_supported", "supported"}

// fullSupport is the position of "supported".
const fullSupport = 2

// LoadClaims reads the claims of a grounding set, the file claims.jsonl of dir.
func LoadClaims(dir string) ([]Claim, error) {
	return loadFile(filepath.Join(dir, claimsFile), readClaims)
}

func readClaims(name string, r io.Reader) ([]Claim, error) {
	var claims []Claim
	seen := make(map[string]bool)
	for rec, err := range readRecords[Claim](name, r) {
		if err != nil {
			return nil, err
		}
		err := newID(seen, rec.value.ID, "id")
		if err == nil && !slices.Contains(supports, rec.value.Label) {
			err = fmt.Errorf("claim %q: label %q, want one of %q", rec.value.ID, rec.value.Label, supports)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, rec.line, err)
		}
		claims = append(claims, rec.value)
	}
	if len(claims) == 0 {
		return nil, fmt.Errorf("%s holds no claim", name)
	}
	return claims, nil
}

// Check says how far evidence supports a claim: a score from 0 to 1 and one of the
// labels of a grounding set.
type Check func(claim string, evidence []string) (score float64, label string)

// ScoreClaims measures a check on claims, beside one that takes every claim for
// supported, and beside itself with the two thresholds on its score chosen on every
// second claim and measured on the others.
func ScoreClaims(claims []Claim, check Check) (Report, error) {
	three, always := compare(supports...), compare(supports...)
	checked := make([]judged, len(claims))
	var took []float64
	for i, claim := range claims {
		start := time.Now()
		score, label := check(claim.Claim, claim.Evidence)
		took = append(took, milliseconds(time.Since(start)))
		predicted := slices.Index(supports, label)
		if predicted < 0 {
			return Report{}, fmt.Errorf("check claim %q: label %q, want one of %q", claim.ID, label, supports)
		}
		checked[i].score, checked[i].right = score, slices.Index(supports, claim.Label)
		three.Counts[checked[i].right][predicted]++
		always.Counts[checked[i].right][fullSupport]++
	}
	held := heldOut(checked)
	return Report{
		Form: FormGrounding,
		Groups: []Group{
			{Name: "all", Rows: append(supportRows(three), latencyRows(took)...)},
			{Name: "thresholds held out", Rows: supportRows(held)},
			{Name: "always supported", Rows: supportRows(always)},
		},
		Compared: three,
	}, nil
}

// supportRows are the measures over three labels, and over two: supported or not fully.
func supportRows(three *Compared) []Row {
	two := compare("not fully supported", supports[fullSupport])
	for right, row := range three.Counts {
		for predicted, count := range row {
			two.Counts[right/fullSupport][predicted/fullSupport] += count
		}
	}
	rows := three.rows("3 labels ")
	rows = append(rows, two.rows("2 labels ")...)
	return append(rows, two.classRows(1)...)
}

// judged is a claim's score and right label, as a position in supports.
type judged struct {
	score float64
	right int
}

// thresholdFolds is into how many parts claims are divided to choose thresholds on all but one.
const thresholdFolds = 10

// heldOut predicts each tenth of the claims by the thresholds that are best on the others.
func heldOut(claims []judged) *Compared {
	c := compare(supports...)
	for fold := range thresholdFolds {
		var others []judged
		for i, claim := range claims {
			if i%thresholdFolds != fold {
				others = append(others, claim)
			}
		}
		lower, upper := bestThresholds(others)
		for i, claim := range claims {
			if i%thresholdFolds == fold {
				c.Counts[claim.right][label(claim.score, lower, upper)]++
			}
		}
	}
	return c
}

// nearlyBest is how much less than the best thresholds those may give that are averaged: with few
// claims the best ones follow chance.
const nearlyBest = 0.01

// bestThresholds gives the average of the two with the best sum of accuracy and macro F1, in steps.
func bestThresholds(claims []judged) (lower, upper float64) {
	const steps = 50
	type tried struct{ lower, upper, sum float64 }
	var all []tried
	best := -1.0
	for l := range steps {
		for u := l; u <= steps; u++ {
			c := compare(supports...)
			for _, claim := range claims {
				c.Counts[claim.right][label(claim.score, float64(l)/steps, float64(u)/steps)]++
			}
			sum := c.accuracy() + c.macroF1()
			all, best = append(all, tried{float64(l) / steps, float64(u) / steps, sum}), max(best, sum)
		}
	}
	count := 0.0
	for _, t := range all {
		if t.sum >= best-nearlyBest {
			lower, upper, count = lower+t.lower, upper+t.upper, count+1
		}
	}
	return lower / count, upper / count
}

func label(score, lower, upper float64) int {
	switch {
	case score >= upper:
		return fullSupport
	case score >= lower:
		return 1
	}
	return 0
}
