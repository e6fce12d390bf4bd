package words_test

import (
	"testing"

	"github.com/cairn-bot/cairn/internal/graph/flows/answer/words"
)

func TestFirstHop(t *testing.T) {
	cases := []struct {
		text string
		want words.Hop
		ok   bool
	}{
		{"Who leads the team that owns the checkout page?", words.Hop{Thing: "team", Clause: "owns the checkout page", Before: "Who leads ", After: "?"}, true},
		{"how do i restart the cluster that the billing service runs on", words.Hop{Thing: "cluster", Clause: "the billing service runs on", Before: "how do i restart "}, true},
		{"what port does the server which answers webhooks use?", words.Hop{Thing: "server", Clause: "answers webhooks use", Before: "what port does ", After: "?"}, true},
		{"is it true that tokens expire?", words.Hop{}, false},
		{"why does the fact that tokens expire matter?", words.Hop{}, false},
		{"how do i roll back?", words.Hop{}, false},
		{"", words.Hop{}, false},
	}
	for _, c := range cases {
		got, ok := words.FirstHop(c.text)
		if got != c.want || ok != c.ok {
			t.Errorf("%q: got %+v, %v; want %+v, %v", c.text, got, ok, c.want, c.ok)
		}
		if words.Dependent(c.text) != c.ok {
			t.Errorf("%q: Dependent is not %v", c.text, c.ok)
		}
	}
}
