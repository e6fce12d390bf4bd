package eval

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// talkRows are the lines of a talk set's table: a line is the mean of a measure, a
// percentage of the items, or a percentile.
var talkRows = []struct {
	name, measure string
	percent       bool
	percentile    int
}{
	{name: "outcome accuracy", measure: rightOutcome},
	{name: "needless asks %", measure: needlessAsk, percent: true},
	{name: "false abstentions %", measure: falseAbstention, percent: true},
	{name: "talked, silent, dropped, missing %", measure: otherMiss, percent: true},
	{name: "answered the unanswerable %", measure: answeredUnknown, percent: true},
	{name: "answered the ambiguous %", measure: answeredAmbiguous, percent: true},
	{name: "readings named", measure: readingsNamed},
	{name: "page hit@1", measure: pageHit1},
	{name: "page hit@3", measure: pageHit3},
	{name: "section hit@3", measure: sectionHit3},
	{name: "fact recall", measure: factRecall},
	{name: fmt.Sprintf("lead fact in %d characters", leadLength), measure: leadFact},
	{name: "said what it must not %", measure: saidMustNot, percent: true},
	{name: "sources on a social reply %", measure: talkSources, percent: true},
	{name: "forbidden fragments %", measure: forbiddenShown, percent: true},
	{name: fmt.Sprintf("more than %d choices %%", maxChoices), measure: tooManyChoices, percent: true},
	{name: "answer length median", measure: answerLength, percentile: 50},
	{name: "answer length p90", measure: answerLength, percentile: 90},
	{name: "talk length median", measure: talkLength, percentile: 50},
	{name: latencyP50, measure: talkLatency, percentile: 50},
	{name: latencyP95, measure: talkLatency, percentile: 95},
}

// TalkTable gives the lines of the table over some scores; a line without items is left out.
func TalkTable(scores []TalkScore) []Row {
	var rows []Row
	for _, line := range talkRows {
		var values []float64
		for _, score := range scores {
			if value, ok := score.Measures[line.measure]; ok {
				values = append(values, value)
			}
		}
		if len(values) == 0 {
			continue
		}
		row := Row{Name: line.name, Count: len(values)}
		switch {
		case line.percentile > 0:
			row.Value = percentile(values, line.percentile)
		case line.percent:
			row.Value = 100 * mean(values)
		default:
			row.Value = mean(values)
		}
		rows = append(rows, row)
	}
	return rows
}

// TalkOptions say what a talk set's report holds beside the whole set.
type TalkOptions struct {
	ByKind bool // each kind, and each language but English, as a group
	Split  bool // each half, see Halves, as a group
}

// ReportTalk sums scores up.
func ReportTalk(scores []TalkScore, stray []string, options TalkOptions) Report {
	report := Report{Form: FormTalk, Groups: []Group{{Name: "all", Rows: TalkTable(scores)}}, Stray: stray, Reactions: countReactions(scores)}
	group := func(name string, in func(TalkScore) bool) {
		chosen := slices.DeleteFunc(slices.Clone(scores), func(s TalkScore) bool { return !in(s) })
		report.Groups = append(report.Groups, Group{Name: name, Rows: TalkTable(chosen)})
	}
	var items []TalkItem
	var kinds, languages []string
	for _, score := range scores {
		items = append(items, score.Item)
		if _, known := score.Measures[rightOutcome]; known && score.Answer.ID == "" {
			report.Missing = append(report.Missing, score.Item.ID)
		}
		if !slices.Contains(kinds, score.Item.Kind) {
			kinds = append(kinds, score.Item.Kind)
		}
		if score.Item.Lang != "" && !slices.Contains(languages, score.Item.Lang) {
			languages = append(languages, score.Item.Lang)
		}
	}
	if options.Split {
		halves := Halves(items)
		for half := range 2 {
			group(fmt.Sprintf("half %d", half+1), func(s TalkScore) bool { return halves[s.Item.ID] == half })
		}
	}
	if !options.ByKind {
		return report
	}
	for _, kind := range kinds {
		group(kind, func(s TalkScore) bool { return s.Item.Kind == kind })
	}
	for _, language := range languages {
		group("language "+language, func(s TalkScore) bool { return s.Item.Lang == language })
	}
	return report
}

// Reactions counts what was done with messages, by what they call for: both are positions
// in the lists.
type Reactions struct {
	Expected []Reaction `json:"expected"`
	Outcomes []Outcome  `json:"outcomes"`
	Counts   [][]int    `json:"counts"`
	// Fragments counts the shown texts with each of the marks that nobody should see.
	Fragments map[string]int `json:"fragments"`
}

func countReactions(scores []TalkScore) *Reactions {
	counted := &Reactions{Expected: reactions, Outcomes: append(slices.Clone(outcomes), outcomeMissing), Fragments: make(map[string]int)}
	for _, expected := range counted.Expected {
		row := make([]int, len(counted.Outcomes))
		for _, score := range scores {
			if score.Item.Expect == expected {
				row[slices.Index(counted.Outcomes, score.Outcome)]++
			}
		}
		counted.Counts = append(counted.Counts, row)
	}
	for _, score := range scores {
		var found []string
		for _, text := range append([]string{score.Answer.Answer}, score.Answer.Choices...) {
			found = append(found, fragments(text)...)
		}
		slices.Sort(found)
		for _, mark := range slices.Compact(found) {
			counted.Fragments[mark]++
		}
	}
	return counted
}

func (r *Reactions) table(b *strings.Builder) {
	fmt.Fprintf(b, "%-16s", "expected")
	for _, outcome := range r.Outcomes {
		fmt.Fprintf(b, " %9s", outcome)
	}
	b.WriteByte('\n')
	for at, expected := range r.Expected {
		fmt.Fprintf(b, "  %-14s", expected)
		for _, count := range r.Counts[at] {
			fmt.Fprintf(b, " %9d", count)
		}
		b.WriteByte('\n')
	}
	for _, mark := range slices.Sorted(maps.Keys(r.Fragments)) {
		fmt.Fprintf(b, "shown texts with %s: %d\n", mark, r.Fragments[mark])
	}
}
