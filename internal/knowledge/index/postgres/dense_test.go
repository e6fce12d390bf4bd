package postgres

import "testing"

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
