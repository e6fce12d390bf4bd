package postgres

import (
	"reflect"
	"testing"

	"cairn/internal/knowledge"
	"cairn/internal/knowledge/index"
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
		if got := (denseQuery{rows: test.rows, passages: test.passages, share: test.share}).searchEffort(); got != test.want {
			t.Errorf("%+v: effort %d", test, got)
		}
	}
}

// TestWalksKeepToTheirPart plans searches of an index with public and restricted passages.
func TestWalksKeepToTheirPart(t *testing.T) {
	snap := &snapshot{
		classes:    []index.Class{{}, {Audience: knowledge.PublicAudience}, {Audience: "group:a"}, {Audience: "group:b"}, {Audience: knowledge.PublicAudience, Source: "other"}},
		passagesOf: []int{0, 30_000, 10, 40_000, 10_000}, passages: 80_010, indexed: true,
	}
	member := func(groups ...knowledge.Principal) index.Filter {
		return index.Filter{Viewers: knowledge.NewViewers(groups)}
	}
	whole := index.Filter{Viewers: knowledge.Unrestricted()}
	for name, test := range map[string]struct {
		filter index.Filter
		want   []denseQuery
	}{
		"public": {index.Filter{}, []denseQuery{{part: publicPart, classes: []int32{0, 1, 4}, share: 1, passages: 40_000}}},
		"few":    {member("group:a"), []denseQuery{{part: publicPart, classes: []int32{0, 1, 4}, share: 1, passages: 40_000}, {part: restrictedPart, exact: true, filtered: true, classes: []int32{2}, share: 10. / 40_010, passages: 40_010}}},
		"many":   {member("group:b"), []denseQuery{{part: publicPart, classes: []int32{0, 1, 4}, share: 1, passages: 40_000}, {part: restrictedPart, filtered: true, classes: []int32{3}, share: 40_000. / 40_010, passages: 40_010}}},
		"all":    {whole, []denseQuery{{part: publicPart, classes: []int32{0, 1, 4}, share: 1, passages: 40_000}, {part: restrictedPart, classes: []int32{2, 3}, share: 1, passages: 40_010}}},
		"a source": {index.Filter{Sources: []knowledge.SourceID{""}, Viewers: knowledge.NewViewers([]knowledge.Principal{"group:b"})},
			[]denseQuery{{part: publicPart, filtered: true, classes: []int32{0, 1}, share: .75, passages: 40_000}, {part: restrictedPart, filtered: true, classes: []int32{3}, share: 40_000. / 40_010, passages: 40_010}}},
	} {
		asked := &search{exact: 20_000, rows: 150}
		got := asked.planWalks(snap, snap.passingClasses(test.filter))
		for i := range test.want {
			test.want[i].rows = 150
		}
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}
