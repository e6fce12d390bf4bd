package lexical_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
)

func TestSynonymsShareAGroup(t *testing.T) {
	for _, pair := range []struct {
		one, other string
		want       bool
	}{
		{"deleted", "removes", true}, {"choose", "selected", true}, {"folder", "directory", true}, {"enabled", "activates", true},
		{"enabled", "disabled", false}, {"folder", "server", false}, {"folder", "folder", true}, {"heron", "heron", false},
	} {
		one, other := lexical.Synonyms(lexical.Stem(pair.one)), lexical.Synonyms(lexical.Stem(pair.other))
		if got := slices.ContainsFunc(one, func(group string) bool { return slices.Contains(other, group) }); got != pair.want {
			t.Errorf("%s is in %q, %s in %q", pair.one, one, pair.other, other)
		}
	}
}

func TestJoinPhrases(t *testing.T) {
	for text, want := range map[string]string{
		"turn the cache off":         "disable the cache",
		"it is switched on for all":  "it is enable for all",
		"passed on to the server":    "forward to the server",
		"set it up to ten times":     "set it up to ten times",
		"log errors in the terminal": "log errors in the terminal",
		"off and on":                 "off and on",
		"":                           "",
	} {
		joined := slices.DeleteFunc(lexical.JoinPhrases(lexical.Words(text)), func(word string) bool { return word == "" })
		if got := strings.Join(joined, " "); got != want {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
	}
}
