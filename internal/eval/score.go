package eval

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
)

// The measures of an answer beside the ranks of pages and sections.
const (
	factRecall          = "fact recall"
	allFacts            = "all facts"
	saidMustNot         = "said what it must not"
	citationCorrectness = "citation correctness"
	citationsThatExist  = "citations that exist"
	decisionRight       = "decision"
	answeredRight       = "answered when it should"
	askedRight          = "asked when it should"
	readingsNamed       = "readings named"
	abstainedRight      = "abstained when it should"
)

// hitDepths are the k of hit@k.
var hitDepths = []int{1, 3, 5, 10}

// measureOrder is the order of a report's rows.
var measureOrder = slices.Concat(rankMeasures("page"), rankMeasures("section"), []string{
	factRecall, allFacts, saidMustNot, citationCorrectness, citationsThatExist,
	decisionRight, answeredRight, askedRight, readingsNamed, abstainedRight,
})

func rankMeasures(of string) []string {
	var names []string
	for _, k := range hitDepths {
		names = append(names, hitAt(of, k))
	}
	return append(names, of+" MRR", of+" recall@5")
}

func hitAt(of string, k int) string { return fmt.Sprintf("%s hit@%d", of, k) }

// Ask runs one question through a bot. What it sets of ID and LatencyMS is replaced.
type Ask func(ctx context.Context, question Question) (Answer, error)

// Collect asks every question, one at a time, and measures how long each takes. It
// stops at the first error.
func Collect(ctx context.Context, questions []Question, ask Ask) ([]Answer, error) {
	answers := make([]Answer, 0, len(questions))
	for _, question := range questions {
		start := time.Now()
		answer, err := ask(ctx, question)
		if err != nil {
			return nil, fmt.Errorf("ask question %q: %w", question.ID, err)
		}
		answer.ID = question.ID
		answer.LatencyMS = new(float64(time.Since(start)) / float64(time.Millisecond))
		answers = append(answers, answer)
	}
	return answers, nil
}

// QuestionScore is what was measured of one question.
type QuestionScore struct {
	Question Question
	Did      Decision // "" where there was no answer
	// Measures has the values from 0 to 1 by the names of a report's rows; one that
	// does not apply to the question is absent.
	Measures  map[string]float64
	LatencyMS *float64 // nil where it was not measured
}

// indexAnswers gives answers by the ids of their questions, which have one each.
func indexAnswers[A any](answers []A, idOf func(A) string) (map[string]A, error) {
	byID := make(map[string]A, len(answers))
	for _, answer := range answers {
		id := idOf(answer)
		if _, ok := byID[id]; ok {
			return nil, fmt.Errorf("question %q is answered twice", id)
		}
		byID[id] = answer
	}
	return byID, nil
}

// Scores are the measures of a whole answer set.
type Scores struct {
	Questions []QuestionScore // in the order of the set
	Missing   []string        // ids of questions without an answer, in the same order
	Stray     []string        // ids of answers without a question, sorted
}

// Score measures answers against their questions. Facts are matched as literals, see
// Question.Facts. pages resolve anchors and tell what a cited section holds; without
// them (nil) anchors are compared as they stand and citations are not measured.
func Score(questions []Question, answers []Answer, pages *Pages) (Scores, error) {
	byID, err := indexAnswers(answers, func(a Answer) string { return a.ID })
	if err != nil {
		return Scores{}, fmt.Errorf("score answers: %w", err)
	}
	var scores Scores
	scored := make(map[string]bool, len(questions))
	for _, question := range questions {
		if err := newID(scored, question.ID, "question id"); err != nil {
			return Scores{}, fmt.Errorf("score answers: %w", err)
		}
		answer, ok := byID[question.ID]
		delete(byID, question.ID)
		if err := loadPages(pages, question, answer); err != nil {
			return Scores{}, fmt.Errorf("score question %q: %w", question.ID, err)
		}
		score := QuestionScore{Question: question, Measures: measure(question, answer, pages)}
		if ok {
			score.Did, score.LatencyMS = answer.decision(), answer.LatencyMS
		} else {
			// No answer is wrong wherever an answer is measured, and says nothing wrong.
			scores.Missing = append(scores.Missing, question.ID)
			for name := range score.Measures {
				score.Measures[name] = 0
			}
			delete(score.Measures, saidMustNot)
		}
		scores.Questions = append(scores.Questions, score)
	}
	scores.Stray = slices.Sorted(maps.Keys(byID))
	return scores, nil
}

// loadPages reads every page that a question or its answer names.
func loadPages(pages *Pages, question Question, answer Answer) error {
	if pages == nil {
		return nil
	}
	var names []string
	for _, gold := range question.Gold {
		for _, place := range gold.places() {
			names = append(names, place.Path)
		}
	}
	for _, source := range answer.Sources {
		names = append(names, source.Path)
	}
	for _, name := range names {
		if err := pages.load(name); err != nil {
			return err
		}
	}
	return nil
}

// measure gives the measures of one answer.
func measure(question Question, answer Answer, pages *Pages) map[string]float64 {
	did := answer.decision()
	right := share(did == question.Expect)
	m := map[string]float64{decisionRight: right}
	switch question.Expect {
	case DecisionAsk:
		m[askedRight] = right
		if did == DecisionAsk && len(question.Readings) > 0 {
			m[readingsNamed] = shareHeld(question.Readings, norm(answer.Answer))
		}
	case DecisionAbstain:
		m[abstainedRight] = right
	case DecisionAnswer:
		m[answeredRight] = right
		measureAnswer(m, question, answer, pages)
	}
	return m
}

// measureAnswer sets the measures of an answer to a question that has one.
func measureAnswer(m map[string]float64, question Question, answer Answer, pages *Pages) {
	cited := citedPlaces(answer.Sources)
	measurePages(m, question.Gold, cited)
	measureSections(m, question.Gold, cited, pages)
	said := norm(answer.Answer)
	measureFacts(m, question, said)
	if pages != nil {
		measureCitations(m, told(question.Facts, said), cited, pages)
	}
}

// citedPlaces are the sources in the order of their ranks; a place named twice takes
// one rank.
func citedPlaces(sources []Source) []Place {
	ranked := slices.Clone(sources)
	rank := func(s Source) int {
		if s.Rank == 0 {
			return math.MaxInt
		}
		return s.Rank
	}
	slices.SortStableFunc(ranked, func(a, b Source) int { return cmp.Compare(rank(a), rank(b)) })
	have := make(map[Place]bool)
	var out []Place
	for _, source := range ranked {
		key := Place{Path: source.Path, Anchor: canon(source.Anchor)}
		if !have[key] {
			have[key] = true
			out = append(out, source.Place)
		}
	}
	return out
}

func measurePages(m map[string]float64, golds []Gold, cited []Place) {
	var paths []string
	for _, place := range cited {
		if !slices.Contains(paths, place.Path) {
			paths = append(paths, place.Path)
		}
	}
	ranks := make([]int, len(golds))
	for i, gold := range golds {
		ranks[i] = 1 + slices.IndexFunc(paths, func(path string) bool {
			return slices.ContainsFunc(gold.places(), func(g Place) bool { return g.Path == path })
		})
	}
	measureRanks(m, "page", ranks)
}

// The grades of a passage: of no page that answers, of one, and in a section that answers.
const (
	OtherPage = iota
	AnsweringPage
	AnsweringSection
)

// Grade says how good a place is for a question.
func Grade(golds []Gold, place Place, pages *Pages) (int, error) {
	grade := OtherPage
	for _, gold := range golds {
		for _, g := range gold.places() {
			if g.Path != place.Path {
				continue
			}
			if err := pages.load(g.Path); err != nil {
				return OtherPage, err
			}
			if isSame(place, g, pages) {
				return AnsweringSection, nil
			}
			grade = AnsweringPage
		}
	}
	return grade, nil
}

// isSame says whether a place is in a gold section.
func isSame(place, gold Place, pages *Pages) bool {
	if place.Path != gold.Path {
		return false
	}
	if pages == nil {
		return canon(place.Anchor) == canon(gold.Anchor)
	}
	return pages.within(place, gold)
}

func measureSections(m map[string]float64, golds []Gold, cited []Place, pages *Pages) {
	ranks := make([]int, len(golds))
	for i, gold := range golds {
		ranks[i] = 1 + slices.IndexFunc(cited, func(place Place) bool {
			return slices.ContainsFunc(gold.places(), func(g Place) bool { return isSame(place, g, pages) })
		})
	}
	measureRanks(m, "section", ranks)
}

// measureRanks sets the measures of one family from the rank (from 1, 0 for never) at
// which each gold entry was first found.
func measureRanks(m map[string]float64, of string, ranks []int) {
	first, inFive := 0, 0
	for _, rank := range ranks {
		if rank == 0 {
			continue
		}
		if first == 0 || rank < first {
			first = rank
		}
		if rank <= 5 {
			inFive++
		}
	}
	m[of+" MRR"] = 0
	if first > 0 {
		m[of+" MRR"] = 1 / float64(first)
	}
	for _, k := range hitDepths {
		m[hitAt(of, k)] = share(first > 0 && first <= k)
	}
	m[of+" recall@5"] = float64(inFive) / float64(len(ranks))
}

func measureFacts(m map[string]float64, question Question, said string) {
	m[factRecall] = shareHeld(question.Facts, said)
	m[allFacts] = share(len(told(question.Facts, said)) == len(question.Facts))
	if len(question.MustNot) > 0 {
		m[saidMustNot] = share(len(told(question.MustNot, said)) > 0)
	}
}

// measureCitations says how much of what was told the cited sections really hold, and
// how many of them there are at all.
func measureCitations(m map[string]float64, stated []string, cited []Place, pages *Pages) {
	var texts []string
	exist := 0
	for _, place := range cited {
		texts = append(texts, norm(pages.text(place)))
		if pages.find(place) != nil {
			exist++
		}
	}
	if len(stated) > 0 {
		backed := 0
		for _, fact := range stated {
			if slices.ContainsFunc(texts, func(text string) bool { return holds(fact, text) }) {
				backed++
			}
		}
		m[citationCorrectness] = float64(backed) / float64(len(stated))
	}
	if len(cited) > 0 {
		m[citationsThatExist] = float64(exist) / float64(len(cited))
	}
}

// told are the facts that a text states.
func told(facts []string, said string) []string {
	var out []string
	for _, fact := range facts {
		if holds(fact, said) {
			out = append(out, fact)
		}
	}
	return out
}

// shareHeld is the part of the facts that a text states; facts must not be empty.
func shareHeld(facts []string, said string) float64 {
	return float64(len(told(facts, said))) / float64(len(facts))
}

func share(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// Report sums the scores up, over all questions and, if byKind is set, over those of
// each kind as well.
func (s Scores) Report(byKind bool) Report {
	report := Report{
		Form:      FormAnswers,
		Groups:    []Group{{Name: "all", Rows: rows(s.Questions)}},
		Decisions: s.decisions(),
		Missing:   s.Missing,
		Stray:     s.Stray,
	}
	if !byKind {
		return report
	}
	kinds := make(map[string][]QuestionScore)
	for _, score := range s.Questions {
		kinds[score.Question.Kind] = append(kinds[score.Question.Kind], score)
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		report.Groups = append(report.Groups, Group{Name: kind, Rows: rows(kinds[kind])})
	}
	return report
}

func rows(scores []QuestionScore) []Row {
	var out []Row
	for _, name := range measureOrder {
		var values []float64
		for _, score := range scores {
			if value, ok := score.Measures[name]; ok {
				values = append(values, value)
			}
		}
		if len(values) > 0 {
			out = append(out, Row{Name: name, Value: mean(values), Count: len(values)})
		}
	}
	var took []float64
	for _, score := range scores {
		if score.LatencyMS != nil {
			took = append(took, *score.LatencyMS)
		}
	}
	return append(out, latencyRows(took)...)
}

func (s Scores) decisions() *Decisions {
	d := &Decisions{}
	for _, expected := range []Decision{DecisionAnswer, DecisionAsk, DecisionAbstain} {
		row := DecisionRow{Expected: expected}
		for _, score := range s.Questions {
			if score.Question.Expect != expected {
				continue
			}
			switch score.Did {
			case DecisionAnswer:
				row.Answered++
			case DecisionAsk:
				row.Asked++
			case DecisionAbstain:
				row.Abstained++
			default:
				row.Missing++
			}
		}
		d.Rows = append(d.Rows, row)
	}
	d.AskedThoughAnswerable = d.Rows[0].Asked
	d.AbstainedThoughAnswerable = d.Rows[0].Abstained
	return d
}
