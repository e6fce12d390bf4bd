package answer

import (
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/knowledge/support"
)

func TestShareApart(t *testing.T) {
	profile := support.Profile{Passages: 10, Terms: []support.Term{{Text: "retent", IDF: 2}, {Text: "time", IDF: 1}, {Text: "heron", IDF: 3}}}
	for _, test := range []struct {
		name, question string
		texts          []string
		want           float64
	}{
		{"side by side", "retention time of heron", []string{"The retention time is a week."}, 0},
		{"in the other order, a few words apart", "retention time of heron", []string{"The time of a long retention."}, 0},
		{"in different places", "retention time of heron", []string{"Retention is a policy. The herons are counted each year at the same time."}, 1},
		{"in different passages", "retention time of heron", []string{"Retention is a policy.", "It takes time."}, 1},
		{"one of two compounds", "heron retention time", []string{"The retention time is a week. The heron rests."}, 5.0 / 8},
		{"no compound", "time of heron", []string{"Nothing."}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := State{Query: test.question, Profile: profile}
			for _, text := range test.texts {
				s.SearchResults = append(s.SearchResults, retrieve.Evidence{Document: knowledge.Document{Title: "Birds"}, Passage: knowledge.Passage{Text: text}})
			}
			if got := shareApart(s); got != test.want {
				t.Errorf("%.3f of the compounds stand apart, want %.3f", got, test.want)
			}
		})
	}
}
