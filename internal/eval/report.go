package eval

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Report is the outcome of an evaluation. Its JSON names are stable.
type Report struct {
	Form   Form    `json:"form"`
	Groups []Group `json:"groups"` // "all" first
	// Decisions is set for answer sets.
	Decisions *Decisions `json:"decisions,omitempty"`
	// Compared is set for clarify and grounding sets.
	Compared *Compared `json:"compared,omitempty"`
	// Reactions is set for talk sets.
	Reactions *Reactions `json:"reactions,omitempty"`
	// Missing are the questions without an answer, which count as wrong; Stray the
	// answers without a question, which do not count.
	Missing []string `json:"missing,omitempty"`
	Stray   []string `json:"stray,omitempty"`
}

// Group is the measures over some of the questions: all, or those of one kind.
type Group struct {
	Name string `json:"name"`
	Rows []Row  `json:"measures"`
}

// Row is one measure: a share from 0 to 1, or what its name says: milliseconds, a
// percentage, or a length in characters.
type Row struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Count int     `json:"n"` // questions that it is the mean over
}

// The rows in milliseconds.
const (
	latencyP50 = "latency p50 ms"
	latencyP95 = "latency p95 ms"
	latencyP99 = "latency p99 ms"
)

// latencyRows are the percentiles of times in milliseconds; none where nothing was
// measured.
func latencyRows(took []float64) []Row {
	if len(took) == 0 {
		return nil
	}
	return []Row{
		{Name: latencyP50, Value: percentile(took, 50), Count: len(took)},
		{Name: latencyP95, Value: percentile(took, 95), Count: len(took)},
		{Name: latencyP99, Value: percentile(took, 99), Count: len(took)},
	}
}

// Table renders the report as aligned text, one line a measure.
func (r Report) Table() string {
	var b strings.Builder
	for _, group := range r.Groups {
		fmt.Fprintf(&b, "%-28s %8s %5s\n", group.Name, "value", "n")
		for _, row := range group.Rows {
			fmt.Fprintf(&b, "  %-26s %8.*f %5d\n", row.Name, row.digits(), row.Value, row.Count)
		}
	}
	if r.Decisions != nil {
		r.Decisions.table(&b)
	}
	if r.Compared != nil {
		r.Compared.table(&b)
	}
	if r.Reactions != nil {
		r.Reactions.table(&b)
	}
	for _, list := range []struct {
		what string
		ids  []string
	}{{"no answer for", r.Missing}, {"no such question", r.Stray}} {
		if len(list.ids) > 0 {
			fmt.Fprintf(&b, "%s (%d): %s\n", list.what, len(list.ids), strings.Join(list.ids, " "))
		}
	}
	return b.String()
}

// digits is how many digits a row's value is shown with behind the point.
func (r Row) digits() int {
	switch {
	case strings.HasPrefix(r.Name, "latency"), strings.HasSuffix(r.Name, "%"):
		return 1
	case strings.Contains(r.Name, " length "), strings.HasSuffix(r.Name, "prompt tokens"):
		return 0
	}
	return 3
}

// Decisions counts what was done against what each question calls for.
type Decisions struct {
	// Rows hold one line each for answer, ask and abstain, in this order.
	Rows []DecisionRow `json:"rows"`
	// The two errors that a person feels most: no answer although there is one.
	AskedThoughAnswerable     int `json:"asked_though_answerable"`
	AbstainedThoughAnswerable int `json:"abstained_though_answerable"`
}

// DecisionRow counts what was done with the questions that call for one decision.
type DecisionRow struct {
	Expected  Decision `json:"expected"`
	Answered  int      `json:"answered"`
	Asked     int      `json:"asked"`
	Abstained int      `json:"abstained"`
	Missing   int      `json:"missing"` // no answer line at all
}

func (d *Decisions) table(b *strings.Builder) {
	fmt.Fprintf(b, "%-16s %8s %8s %9s %8s\n", "expected", "answered", "asked", "abstained", "missing")
	for _, row := range d.Rows {
		fmt.Fprintf(b, "  %-14s %8d %8d %9d %8d\n", row.Expected, row.Answered, row.Asked, row.Abstained, row.Missing)
	}
	fmt.Fprintf(b, "answerable, but asked back %d, abstained %d\n", d.AskedThoughAnswerable, d.AbstainedThoughAnswerable)
}

func (c *Compared) table(b *strings.Builder) {
	fmt.Fprintf(b, "%-28s", "right, in lines")
	for _, class := range c.Classes {
		fmt.Fprintf(b, " %20s", class)
	}
	b.WriteByte('\n')
	for right, class := range c.Classes {
		fmt.Fprintf(b, "  %-26s", class)
		for _, count := range c.Counts[right] {
			fmt.Fprintf(b, " %20d", count)
		}
		b.WriteByte('\n')
	}
}

func mean(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// percentile is the least value that p per cent of the values do not exceed; values
// must not be empty.
func percentile(values []float64, p int) float64 {
	sorted := slices.Sorted(slices.Values(values))
	rank := int(math.Ceil(float64(len(sorted)*p) / 100))
	return sorted[max(0, min(len(sorted), rank)-1)]
}
