package extract

import (
	"regexp"
	"strings"

	"github.com/cairn-bot/cairn/internal/document/evidence"
)

// countedPattern is a number before things in the plural, with the word before it.
var countedPattern = regexp.MustCompile(`(?:^|([\p{L}-]+)\W{1,3})\d{1,3}(?:,?\d{3})* (?:\p{Ll}[\p{L}-]+ ){0,1}\p{Ll}[\p{L}-]+s\b`)

// labelPattern is a word whose number counts nothing: "step 3", "port 8080".
var labelPattern = regexp.MustCompile(`(?i)^(?:step|version|v|release|chapter|appendix|figure|fig|table|ports?|section|page|line|rfc|iso|level|phase|part|error|code|status|option|item|no|number|id|type|tier|layer|issue|pr|rule|case|column|row|class|extension|http|exit|day|week|sprint|example|note)$`)

// beforeCounts are capitalized words that a number of things follows; after other ones a number is
// part of a name: "Python 3".
var beforeCounts = map[string]bool{
	"About": true, "Roughly": true, "Around": true, "Over": true, "Nearly": true, "Almost": true, "At": true, "Only": true, "Some": true, "All": true, "The": true,
	"These": true, "Our": true, "We": true, "With": true, "In": true, "After": true, "For": true, "Between": true, "From": true, "Another": true, "Every": true, "Each": true,
}

// isCounted tells whether a sentence says how many there are of something.
func isCounted(s evidence.Sentence) bool {
	for _, found := range countedPattern.FindAllStringSubmatch(s.Text, -1) {
		before := found[1]
		if before == "" || !labelPattern.MatchString(before) && (before == strings.ToLower(before) || beforeCounts[before]) {
			return true
		}
	}
	return false
}
