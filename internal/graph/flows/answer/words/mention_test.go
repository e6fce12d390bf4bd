package words_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/graph/flows/answer/words"
)

func TestMentions(t *testing.T) {
	for _, test := range []struct {
		text string
		want []string
	}{
		{"how do I restart the worker", []string{"the worker"}},
		{"who runs this county's courts?", []string{"this county's courts"}},
		{"what is the purpose of that space-station mission?", []string{"the purpose", "that space-station mission"}},
		{"which release is the one that broke", nil},
		{"that sounds easy, what do we do this week", nil},
		{"the same as the other ones", nil},
		{"is this possible", nil},
		{"read the file, then stop", []string{"the file"}},
		{"the", nil},
		{"", nil},
	} {
		var got []string
		for _, mention := range words.Mentions(test.text) {
			got = append(got, mention.Text)
			if mention.Points == strings.HasPrefix(mention.Text, "the ") {
				t.Errorf("%q points: %v", mention.Text, mention.Points)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("Mentions(%q) = %q, want %q", test.text, got, test.want)
		}
	}
}

func TestMentionsOfDescribedThings(t *testing.T) {
	for text, points := range map[string]bool{
		"turn on that shell/terminal thing": false,
		"what are those hook things for":    false,
		"turn on that shell":                true,
		"turn on that thing":                true,
		"about this vendor and other stuff": true,
	} {
		for _, mention := range words.Mentions(text) {
			if mention.Points != points {
				t.Errorf("%q of %q points: %v, want %v", mention.Text, text, mention.Points, points)
			}
		}
	}
}

func FuzzMentions(f *testing.F) {
	f.Add("what is the purpose of that space-station mission?")
	f.Add("this/that the the \xff these-")
	f.Fuzz(func(t *testing.T, text string) {
		for _, mention := range words.Mentions(text) {
			if len(mention.Words) == 0 || len(mention.Words) > len(strings.Fields(mention.Text))+strings.Count(mention.Text, "-")+strings.Count(mention.Text, "/") {
				t.Errorf("%q has the words %q", mention.Text, mention.Words)
			}
		}
	})
}
