package postgres

import (
	"reflect"
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/index/engine"
)

func TestEffortGrowsWithTheIndexAndTheFilter(t *testing.T) {
	for _, test := range []struct {
		rows, passages int
		share          float64
		want           int
	}{
		{rows: 30, passages: 50_000, share: 1, want: 100},
		{rows: 150, passages: 100_000, share: 1, want: 150},
		{rows: 150, passages: 1_000_000, share: 1, want: 316},
		{rows: 600, passages: 1_000_000, share: 1, want: 600},
		{rows: 150, passages: 100_000, share: .5, want: 300},
		{rows: 150, passages: 1_000_000, share: .1, want: 1000},
		{rows: 150, passages: 100_000_000, share: 1, want: 1000},
	} {
		if got := (part{rows: test.rows, passages: test.passages, share: test.share}).searchEffort(); got != test.want {
			t.Errorf("%+v: effort %d", test, got)
		}
	}
}

// TestWalksKeepToTheirPart plans searches of an index with public and restricted passages.
func TestWalksKeepToTheirPart(t *testing.T) {
	var classes []engine.Class
	for number, class := range []index.Class{{}, {Audience: knowledge.PublicAudience}, {Audience: "group:a"}, {Audience: "group:b"}, {Audience: knowledge.PublicAudience, Source: "other"}} {
		classes = append(classes, engine.Class{Class: class, Passages: []int{0, 30_000, 10, 40_000, 10_000}[number]})
	}
	passing := func(filter index.Filter) (numbers []int32) {
		for number, class := range classes[1:] {
			if class.Passes(filter) {
				numbers = append(numbers, int32(number+1))
			}
		}
		return numbers
	}
	member := func(groups ...knowledge.Principal) index.Filter {
		return index.Filter{Viewers: knowledge.NewViewers(groups)}
	}
	whole := index.Filter{Viewers: knowledge.Unrestricted()}
	for name, test := range map[string]struct {
		filter index.Filter
		want   []part
	}{
		"public": {index.Filter{}, []part{{condition: publicOnly, classes: []int32{1, 4}, share: 1, passages: 40_000}}},
		"few":    {member("group:a"), []part{{condition: publicOnly, classes: []int32{1, 4}, share: 1, passages: 40_000}, {condition: restrictedOnly, exact: true, filtered: true, classes: []int32{2}, share: 10. / 40_010, passages: 40_010}}},
		"many":   {member("group:b"), []part{{condition: publicOnly, classes: []int32{1, 4}, share: 1, passages: 40_000}, {condition: restrictedOnly, filtered: true, classes: []int32{3}, share: 40_000. / 40_010, passages: 40_010}}},
		"all":    {whole, []part{{condition: publicOnly, classes: []int32{1, 4}, share: 1, passages: 40_000}, {condition: restrictedOnly, classes: []int32{2, 3}, share: 1, passages: 40_010}}},
		"a source": {index.Filter{Sources: []knowledge.SourceID{""}, Viewers: knowledge.NewViewers([]knowledge.Principal{"group:b"})},
			[]part{{condition: publicOnly, filtered: true, classes: []int32{1}, share: .75, passages: 40_000}, {condition: restrictedOnly, filtered: true, classes: []int32{3}, share: 40_000. / 40_010, passages: 40_010}}},
	} {
		asked := &plan{query: &engine.DenseQuery{Classes: classes, Passing: passing(test.filter)}, exact: 20_000, rows: 150}
		got := asked.walks()
		for i := range test.want {
			test.want[i].rows = 150
		}
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}
