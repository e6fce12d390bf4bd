package support

import (
	_ "embed"
	"strings"

	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
)

// opposites are words that turn a statement around where one stands in place of the other: each
// line of opposites.txt has two lists of them.
//
//go:embed opposites.txt
var oppositesList string

var opposites = parseOpposites(oppositesList)

func parseOpposites(list string) map[string][]string {
	parsed := make(map[string][]string)
	for line := range strings.Lines(list) {
		left, right, ok := strings.Cut(line, "|")
		if !ok {
			continue
		}
		for _, one := range strings.Fields(left) {
			for _, other := range strings.Fields(right) {
				parsed[lexical.Stem(one)] = append(parsed[lexical.Stem(one)], lexical.Stem(other))
				parsed[lexical.Stem(other)] = append(parsed[lexical.Stem(other)], lexical.Stem(one))
			}
		}
	}
	return parsed
}
