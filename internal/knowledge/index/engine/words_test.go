package engine

import (
	"slices"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge/index"
)

func TestEditDistance(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want int
	}{
		{"word", "word", 0}, {"word", "ward", 1}, {"word", "words", 1}, {"word", "wod", 1}, {"word", "wrod", 1},
		{"word", "wards", 2}, {"rollback", "rolbakc", 2}, {"word", "sentence", 3}, {"回滚", "回退", 1}, {"", "ab", 2},
		{strings.Repeat("a", longest), strings.Repeat("a", longest-1) + "b", 1},
	} {
		for _, pair := range [][2]string{{test.a, test.b}, {test.b, test.a}} {
			if got := editDistance([]rune(pair[0]), []rune(pair[1]), 2); got != test.want {
				t.Errorf("%q to %q: %d edits, want %d", pair[0], pair[1], got, test.want)
			}
		}
	}
}

// TestNearFindsAll compares with the distances to all words.
func TestNearFindsAll(t *testing.T) {
	var all []string
	var known words
	for _, a := range []string{"", "a", "ab", "abc", "rollb"} {
		for _, b := range []string{"", "ack", "kca", "aac", "ackend"} {
			for _, c := range []string{"x", "xy", "yx", "é"} {
				all = append(all, a+b+c)
				known.add(a + b + c)
			}
		}
	}
	known.add(strings.Repeat("x", longest+1))
	for _, term := range append([]string{strings.Repeat("x", longest+1)}, all...) {
		edits := 1
		if len([]rune(term)) >= twoEdits {
			edits = 2
		}
		var want []string
		for _, other := range all {
			if other != term && len([]rune(term)) <= longest && editDistance([]rune(term), []rune(other), edits) <= edits {
				want = append(want, other)
			}
		}
		var got []string
		for _, n := range known.near(term) {
			got = append(got, n.term)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("near %q: %q, want %q", term, got, want)
		}
	}
}

func TestLikeliest(t *testing.T) {
	near := []neighbor{
		{term: "far", passages: 9, distance: 2}, {term: "b", passages: 2, distance: 1}, {term: "gone", distance: 1},
		{term: "common", passages: 5, distance: 1}, {term: "a", passages: 2, distance: 1},
	}
	want := []index.TermStats{{Term: "common", Passages: 5}, {Term: "a", Passages: 2}, {Term: "b", Passages: 2}, {Term: "far", Passages: 9}}
	for limit := range 6 {
		if got := likeliest(near, limit); !slices.Equal(got, want[:min(limit, len(want))]) {
			t.Errorf("likeliest %d: %v", limit, got)
		}
	}
}

func TestIsCorrectable(t *testing.T) {
	for term, want := range map[string]bool{"": false, "ab": false, "回滚": false, "abc": true, strings.Repeat("é", longest): true, strings.Repeat("x", longest+1): false} {
		if got := isCorrectable(term); got != want {
			t.Errorf("%q: %v", term, got)
		}
	}
}
