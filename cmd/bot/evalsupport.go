package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/eval"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer/logistic"
	"github.com/cairn-bot/cairn/internal/knowledge/support"
)

// labelledClaim is a claim of which people said how far its evidence supports it.
type labelledClaim struct {
	features support.Features
	label    support.Label
	fold     int // of those of its document
	ofReply  bool
	absent   bool // its sources lack a number, a name or code of it
}

// How the check by words is fitted.
const (
	fitSupportPenalty = 0.5
	// fitSteps are the steps in which the limits between labels are tried.
	fitSteps = 50
	// fitFolds is into how many parts claims are divided to fit on all but one, and measure on that.
	fitFolds = 10
)

// foldOf gives the fold of what a document says.
func foldOf(document string) int {
	sum := fnv.New32a()
	io.WriteString(sum, document) //nolint:errcheck,gosec // it never fails
	return int(sum.Sum32() % fitFolds)
}

// labelClaims collects the claims of a reply that words can say something of.
func labelClaims(reply eval.Reply, checked answer.CheckedReply) []labelledClaim {
	document := ""
	for _, unit := range reply.Units {
		if document == "" && len(unit.Cites) > 0 {
			document, _, _ = strings.Cut(unit.Cites[0], "#")
		}
	}
	var claims []labelledClaim
	for _, c := range checked.Claims {
		if !c.Asserts || c.Words.Features == nil {
			continue
		}
		label, known := labelOf(reply, c.Text)
		if known {
			claims = append(claims, labelledClaim{features: c.Words.Features, label: label, fold: foldOf(document), ofReply: true, absent: len(c.Absent) > 0})
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
	for _, c := range loaded {
		verdict := support.Check(c.Claim, c.Evidence)
		if verdict.Features == nil {
			continue
		}
		claims = append(claims, labelledClaim{features: verdict.Features, label: support.Label(c.Label), fold: foldOf(c.ID)})
	}
	return claims, nil
}

// fitSupport fits the check by words on the claims of all folds but one, or of all for -1. Whether a
// section states a claim as it is rather than turned around is told by replies alone, how much of a
// claim the evidence states by those of the grounding set.
func fitSupport(claims []labelledClaim, without int) support.Model {
	var supported, unsupported, faithful []logistic.Sample
	var grounding []labelledClaim
	for _, c := range claims {
		switch {
		case c.fold == without:
		case c.ofReply:
			faithful = append(faithful, sampleOf(c, support.FaithfulFeatures, support.Supported))
		default:
			grounding = append(grounding, c)
			supported = append(supported, sampleOf(c, support.SupportedFeatures, support.Supported))
			unsupported = append(unsupported, sampleOf(c, support.UnsupportedFeatures, support.Unsupported))
		}
	}
	model := support.Model{
		Supported: support.Weights(logistic.Fit(supported, fitSupportPenalty)), Unsupported: support.Weights(logistic.Fit(unsupported, fitSupportPenalty)),
		Faithful: support.Weights(logistic.Fit(faithful, fitSupportPenalty)),
	}
	return limitLabels(model, grounding)
}

// sampleOf gives some of the features of a claim, and whether it has a label.
func sampleOf(c labelledClaim, names []string, label support.Label) logistic.Sample {
	features := make(logistic.Features, len(names))
	for _, name := range names {
		features[name] = c.features[name]
	}
	return logistic.Sample{Features: features, Holds: logistic.Number(c.label == label), Weight: 1}
}

// limitLabels chooses the chances from which a model labels claims, for the best sum of accuracy and
// macro F1 that its own chances let expect: few claims have the rarest label, so that limits chosen
// by their labels follow chance.
func limitLabels(model support.Model, claims []labelledClaim) support.Model {
	best, chosen := -1.0, model
	for upper := range fitSteps {
		for lower := range fitSteps {
			model.SupportedFrom, model.UnsupportedFrom = float64(upper+1)/fitSteps, float64(lower+1)/fitSteps
			var expected labelCounts
			for _, c := range claims {
				_, label := model.Judge(c.features)
				given := slices.Index(groundingLabels, label)
				whole, nothing := model.SupportedChance(c.features), model.UnsupportedChance(c.features)
				for right, chance := range [...]float64{nothing, max(1-whole-nothing, 0), whole} {
					expected[right][given] += chance / max(whole+nothing, 1)
				}
			}
			if sum := expected.accuracy() + expected.macroF1(); sum > best {
				best, chosen = sum, model
			}
		}
	}
	return chosen
}

// groundingLabels are the labels of claims, in the order of rising support.
var groundingLabels = []support.Label{support.Unsupported, support.Partly, support.Supported}

// labelCounts counts claims, or chances of them, by the label that they have and the one that they
// are given.
type labelCounts [3][3]float64

func (c labelCounts) total() float64 {
	sum := 0.0
	for _, row := range c {
		for _, count := range row {
			sum += count
		}
	}
	return sum
}

func (c labelCounts) accuracy() float64 { return (c[0][0] + c[1][1] + c[2][2]) / max(c.total(), 1) }

func (c labelCounts) macroF1() float64 {
	f1 := 0.0
	for i := range c {
		both := 0.0
		for j := range c {
			both += c[j][i] + c[i][j]
		}
		f1 += 2 * c[i][i] / max(both, 1) / float64(len(c))
	}
	return f1
}

// judgedClaims are what a fitted check says of claims.
type judgedClaims struct {
	counts       labelCounts // of the grounding set
	right, wrong []float64   // chances of replies' claims
}

// judge adds what a model says of the claims of a fold, or of all for -1.
func (j *judgedClaims) judge(model support.Model, claims []labelledClaim, fold int) {
	for _, c := range claims {
		switch {
		case fold >= 0 && c.fold != fold:
			continue
		case !c.ofReply:
			_, label := model.Judge(c.features)
			j.counts[slices.Index(groundingLabels, c.label)][slices.Index(groundingLabels, label)]++
			continue
		}
		chance := model.FaithfulChance(c.features)
		if c.absent {
			chance = 0
		}
		if c.label == support.Supported {
			j.right = append(j.right, chance)
		} else {
			j.wrong = append(j.wrong, chance)
		}
	}
}

// report prints how a check does.
func (j *judgedClaims) report(out io.Writer, name string) {
	fmt.Fprintf(out, "%s: grounding accuracy %.3f, macro F1 %.3f of %.0f;", name, j.counts.accuracy(), j.counts.macroF1(), j.counts.total())
	slices.Sort(j.right)
	limits := []float64{support.FaithfulFrom}
	for _, keep := range []float64{.9, .85, .8, .75} {
		limits = append(limits, j.right[int((1-keep)*float64(len(j.right)))])
	}
	for _, limit := range limits {
		fmt.Fprintf(out, " from %.2f %.3f of %d right and %.3f of %d wrong ones shown;",
			limit, partFrom(j.right, limit), len(j.right), partFrom(j.wrong, limit), len(j.wrong))
	}
	fmt.Fprintln(out)
}

// partFrom is the part of chances that reach a limit.
func partFrom(chances []float64, limit float64) float64 {
	reached := 0
	for _, chance := range chances {
		if chance >= limit {
			reached++
		}
	}
	return float64(reached) / float64(max(len(chances), 1))
}

// fitSupportCheck fits the check by words, prints how it does on each fold where it was fitted on the
// others, and writes what was fitted on all.
func (c *evalCommand) fitSupportCheck(out io.Writer, claims []labelledClaim) error {
	grounding, err := labelGrounding(c.Claims)
	if err != nil {
		return err
	}
	claims = append(claims, grounding...)
	var held, own judgedClaims
	for fold := range fitFolds {
		held.judge(fitSupport(claims, fold), claims, fold)
	}
	held.report(out, fmt.Sprintf("fitted on %d parts of %d, measured on the other", fitFolds-1, fitFolds))
	model := fitSupport(claims, -1)
	own.judge(model, claims, -1)
	own.report(out, "written, measured on what it was fitted on")
	content, err := json.MarshalIndent(model, "", "  ")
	if err != nil {
		return fmt.Errorf("write the weights of the support check: %w", err)
	}
	if err := os.WriteFile(c.FitSupport, append(content, '\n'), 0o644); err != nil { //nolint:gosec // part of the program, for all to read
		return fmt.Errorf("write the weights of the support check: %w", err)
	}
	return nil
}
