// Package words holds what the answer flow knows about how people write: shorthand,
// synonyms, and the shapes of questions. Nothing in it is about any one subject.
package words

import (
	_ "embed" // the lists
	"strings"

	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
)

//go:embed shorthand.txt
var shorthandList string

//go:embed thesaurus.txt
var thesaurusList string

var (
	shorthand = parseShorthand(shorthandList)
	thesaurus = parseThesaurus(thesaurusList)
)

func parseShorthand(list string) map[string]string {
	long := make(map[string]string)
	for line := range lines(list) {
		short, full, _ := strings.Cut(line, " = ")
		long[short] = full
	}
	return long
}

func parseThesaurus(list string) map[string][]string {
	related := make(map[string][]string)
	for line := range lines(list) {
		group := lexical.Analyze(line)
		for i, term := range group {
			for j, other := range group {
				if i != j && term != other {
					related[term] = append(related[term], other)
				}
			}
		}
	}
	return related
}

func lines(list string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for line := range strings.Lines(list) {
			line = strings.TrimSpace(line)
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			if !yield(line) {
				return
			}
		}
	}
}

// Expand gives what a word of chat shorthand stands for, in lower case; ok is false
// for any other word.
func Expand(word string) (long string, ok bool) {
	long, ok = shorthand[strings.ToLower(word)]
	return long, ok
}

// Related gives the analysed terms that ask for the same thing as one.
func Related(term string) []string { return thesaurus[term] }
