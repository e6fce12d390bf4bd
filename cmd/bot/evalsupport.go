package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"cairn/internal/eval"
	"cairn/internal/graph/flows/answer"
	"cairn/internal/graph/flows/answer/logistic"
	"cairn/internal/knowledge/support"
)

// labelledClaim is a claim of which people said how far its evidence supports it.
type labelledClaim struct {
	features support.Features
	label    support.Label
	half     int
	ofReply  bool
	absent   bool // its sources lack a number, a name or code of it
}

// How the check by words is fitted.
const (
	fitSupportPenalty = 0.5
	// fitSteps are the steps in which the limits between labels are tried.
	fitSteps = 50
)

// labelClaims collects the claims of a reply that words can say something of.
func labelClaims(reply eval.Reply, checked answer.CheckedReply, half int) []labelledClaim {
	var claims []labelledClaim
	for _, c := range checked.Claims {
		if !c.Asserts || c.Words.Features == nil {
			continue
		}
		label, known := labelOf(reply, c.Text)
		if known {
			claims = append(claims, labelledClaim{features: c.Words.Features, label: label, half: half, ofReply: true, absent: len(c.Absent) > 0})
		}
	}
	return claims
}

// labelOf gives the label of the units that a claim consists of or lies in.
func labelOf(reply eval.Reply, text string) (label support.Label, known bool) {
	squashed := eval.SquashUnit(text)
	for _, unit := range reply.Units {
		of := eval.SquashUnit(unit.Text)
		if squashed == "" || of == "" || !strings.Contains(squashed, of) && !strings.Contains(of, squashed) {
			continue
		}
		if unit.Wrong() {
			return support.Unsupported, true
		}
		known = true
	}
	return support.Supported, known
}

// labelGrounding collects the claims of a grounding set.
func labelGrounding(dir string) ([]labelledClaim, error) {
	loaded, err := eval.LoadClaims(dir)
	if err != nil {
		return nil, err
	}
	var claims []labelledClaim
	for i, c := range loaded {
		verdict := support.Check(c.Claim, c.Evidence)
		if verdict.Features == nil {
			continue
		}
		claims = append(claims, labelledClaim{features: verdict.Features, label: support.Label(c.Label), half: i % 2})
	}
	return claims, nil
}

// fitSupport fits the check by words on claims of a half, or of all for -1. Whether a section
// states a claim as it is rather than turned around is told by replies alone, how much of a claim
// the evidence states by those of the grounding set.
func fitSupport(claims []labelledClaim, half int) support.Model {
	var supported, unsupported, faithful []logistic.Sample
	for _, c := range claims {
		if half >= 0 && c.half != half {
			continue
		}
		if c.ofReply {
			faithful = append(faithful, sampleOf(c, support.FaithfulFeatures, support.Supported))
			continue
		}
		supported = append(supported, sampleOf(c, support.SupportedFeatures, support.Supported))
		unsupported = append(unsupported, sampleOf(c, support.UnsupportedFeatures, support.Unsupported))
	}
	model := support.Model{
		Supported: support.Weights(logistic.Fit(supported, fitSupportPenalty)), Unsupported: support.Weights(logistic.Fit(unsupported, fitSupportPenalty)),
		Faithful: support.Weights(logistic.Fit(faithful, fitSupportPenalty)),
	}
	return limitLabels(model, claims, half)
}

// sampleOf gives some of the features of a claim, and whether it has a label.
func sampleOf(c labelledClaim, names []string, label support.Label) logistic.Sample {
	features := make(logistic.Features, len(names))
	for _, name := range names {
		features[name] = c.features[name]
	}
	return logistic.Sample{Features: features, Holds: logistic.Number(c.label == label), Weight: 1}
}

// limitLabels chooses the chances from which a model labels claims of the grounding set, for the
// best sum of accuracy and macro F1.
func limitLabels(model support.Model, claims []labelledClaim, half int) support.Model {
	best, chosen := -1.0, model
	for upper := range fitSteps {
		for lower := range fitSteps {
			model.SupportedFrom, model.UnsupportedFrom = float64(upper)/fitSteps, float64(lower)/fitSteps
			counts := countLabels(model, claims, half)
			if sum := counts.accuracy() + counts.macroF1(); sum > best {
				best, chosen = sum, model
			}
		}
	}
	return chosen
}

// groundingLabels are the labels of claims, in the order of rising support.
var groundingLabels = []support.Label{support.Unsupported, support.Partly, support.Supported}

// labelCounts counts claims by the label that they have, and the one that they are given.
type labelCounts [3][3]int

// countLabels labels the claims of the grounding set of a half, or of all for -1.
func countLabels(model support.Model, claims []labelledClaim, half int) labelCounts {
	var counts labelCounts
	for _, c := range claims {
		if !c.ofReply && (half < 0 || c.half == half) {
			_, label := model.Judge(c.features)
			counts[slices.Index(groundingLabels, c.label)][slices.Index(groundingLabels, label)]++
		}
	}
	return counts
}

func (c labelCounts) total() int {
	sum := 0
	for _, row := range c {
		for _, count := range row {
			sum += count
		}
	}
	return sum
}

func (c labelCounts) accuracy() float64 {
	return float64(c[0][0]+c[1][1]+c[2][2]) / float64(max(c.total(), 1))
}

func (c labelCounts) macroF1() float64 {
	f1 := 0.0
	for i := range c {
		both := 0
		for j := range c {
			both += c[j][i] + c[i][j]
		}
		f1 += 2 * float64(c[i][i]) / float64(max(both, 1)) / float64(len(c))
	}
	return f1
}

// reportSupport prints how a fitted check does on the claims of a half, or of all for -1.
func reportSupport(out io.Writer, name string, model support.Model, claims []labelledClaim, half int) {
	var right, wrong []float64
	for _, c := range claims {
		if !c.ofReply || half >= 0 && c.half != half {
			continue
		}
		score := model.FaithfulChance(c.features)
		if c.absent {
			score = 0
		}
		if c.label == support.Supported {
			right = append(right, score)
		} else {
			wrong = append(wrong, score)
		}
	}
	counts := countLabels(model, claims, half)
	fmt.Fprintf(out, "%s: grounding accuracy %.3f, macro F1 %.3f of %d;", name, counts.accuracy(), counts.macroF1(), counts.total())
	slices.Sort(right)
	for _, keep := range []float64{.9, .85, .83, .8, .75, .7} {
		limit := right[int((1-keep)*float64(len(right)))]
		shown := 0
		for _, score := range wrong {
			if score >= limit {
				shown++
			}
		}
		fmt.Fprintf(out, " %.2f kept from %.2f: %.3f of %d wrong shown;", keep, limit, float64(shown)/float64(len(wrong)), len(wrong))
	}
	fmt.Fprintln(out)
}

// fitSupportCheck fits the check by words, prints how it does on the half that it was not fitted
// on, and writes what was fitted on all.
func (c *evalCommand) fitSupportCheck(out io.Writer, claims []labelledClaim) error {
	grounding, err := labelGrounding(c.Claims)
	if err != nil {
		return err
	}
	claims = append(claims, grounding...)
	reportSupport(out, "fitted on half 1, measured on half 2", fitSupport(claims, 0), claims, 1)
	reportSupport(out, "fitted on half 2, measured on half 1", fitSupport(claims, 1), claims, 0)
	model := fitSupport(claims, -1)
	reportSupport(out, "written, measured on what it was fitted on", model, claims, -1)
	content, err := json.MarshalIndent(model, "", "  ")
	if err != nil {
		return fmt.Errorf("write the weights of the support check: %w", err)
	}
	if err := os.WriteFile(c.FitSupport, append(content, '\n'), 0o644); err != nil { //nolint:gosec // part of the program, for all to read
		return fmt.Errorf("write the weights of the support check: %w", err)
	}
	return nil
}
