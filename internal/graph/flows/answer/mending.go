package answer

import (
	"cmp"
	"regexp"
	"slices"

	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/knowledge/support"
	"github.com/cairn-bot/cairn/internal/language"
)

// codeBlock is fenced code in a passage.
var codeBlock = regexp.MustCompile("(?ms)^\\s*(?:```|~~~).*?(?:^\\s*(?:```|~~~)\\s*$|\\z)")

const (
	// shownAlone is how much of a question a passage holds in code alone that only shows an error,
	// and shownWeight what it counts then.
	shownAlone  = 0.25
	shownWeight = 0.65
)

// preferMending lets passages whose prose speaks of an error go before those that only show it, such
// as the output of a command that went well otherwise.
func preferMending(profile support.Profile, evidence []retrieve.Evidence) []retrieve.Evidence {
	weighed := slices.Clone(evidence)
	for i, e := range weighed {
		prose := passageOf(e)
		prose.Text = codeBlock.ReplaceAllString(prose.Text, "")
		tag := language.Parse(e.Document.Language)
		said := support.OfIn(tag, append([]string{prose.Title, prose.Text}, prose.Headings...)...)
		if profile.Coverage(termsOf(e))-profile.Coverage(said) >= shownAlone {
			weighed[i].Score *= shownWeight
		}
	}
	slices.SortStableFunc(weighed, func(a, b retrieve.Evidence) int { return cmp.Compare(b.Score, a.Score) })
	return weighed
}
