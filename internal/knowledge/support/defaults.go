package support

import (
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
)

// defaultTerm is what "unless you change it" says as well.
var defaultTerm = lexical.Stem("default")

// configuring are the stems of words that say of a setting that it is made.
var configuring = stemWords(`change configure set specify choose override say enable disable otherwise tell pick define switch
	turn told said alter activate deactivate customize adjust`)

// clauseWords is how many words a clause behind "unless" has at most.
const clauseWords = 9

// readDefaults finds a clause that makes what stands beside it a default, such as "unless you change it", and
// empties the words of texts that say so. It gives the word that the clause begins with, "" for none.
func readDefaults(folded string, words []lexical.Word, texts []string) string {
	for i, text := range texts {
		lower := strings.ToLower(text)
		if lower != "unless" && lower != "until" {
			continue
		}
		end := i + 1
		configures := false
		for ; end < min(len(texts), i+1+clauseWords) && !strings.ContainsAny(folded[words[end-1].End:words[end].Start], ",;:."); end++ {
			configures = configures || slices.Contains(configuring, lexical.Stem(strings.ToLower(texts[end])))
		}
		if !configures {
			continue
		}
		written := texts[i]
		for j := i; j < end; j++ {
			if isNegation(texts[j]) || j == i || slices.Contains(configuring, lexical.Stem(strings.ToLower(texts[j]))) {
				texts[j] = ""
			}
		}
		return written
	}
	return ""
}
