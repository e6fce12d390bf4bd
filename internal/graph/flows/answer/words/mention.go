package words

import (
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
)

// Mention is a thing that a text speaks of as known: "the actor", "this county".
type Mention struct {
	Text  string   // as written
	Words []string // without "the" or "this"
	// Points is set for "this", "that", "these" and "those", which point at something
	// said before; "the" may as well mean the only one there is, and "that terminal thing"
	// describes one.
	Points bool
}

// maxMention is how many words of a mention are read.
const maxMention = 4

// Mentions gives the things that a text speaks of as known, in order. A "that" that
// joins clauses, "this week" and "the same" mention nothing.
func Mentions(text string) []Mention {
	folded := lexical.Fold(withoutPasted(text))
	found := lexical.Words(folded)
	var mentions []Mention
	for i, word := range found {
		determiner := strings.ToLower(word.Text)
		if determiner != "the" && !pointing[determiner] || determiner == "that" && (i == 0 || !before[strings.ToLower(found[i-1].Text)]) {
			continue
		}
		end := i + 1
		for end < len(found) && end-i <= maxMention && joined(folded, found[end-1], found[end]) && names(found[end].Text) {
			end++
		}
		points := determiner != "the" && !isDescription(found[i+1:], end-i-1)
		if points && end > i+1 && end < len(found) && determiners[strings.ToLower(found[end].Text)] && joined(folded, found[end-1], found[end]) {
			end-- // "does that free the space": the last word is what "that" does
		}
		if end == i+1 {
			continue
		}
		m := Mention{Text: folded[word.Start:found[end-1].End], Points: points}
		for _, named := range found[i+1 : end] {
			m.Words = append(m.Words, strings.TrimSuffix(named.Text, "'s"))
		}
		mentions = append(mentions, m)
	}
	return mentions
}

// isDescription says whether the words behind a "that" describe a thing instead of pointing at
// one: "that terminal thing". The name is the first of them.
func isDescription(behind []lexical.Word, name int) bool {
	named := 0
	for i, word := range behind[:min(len(behind), name+1)] {
		switch {
		case vague[strings.ToLower(word.Text)]:
			return named > 0
		case i < name:
			named++
		}
	}
	return false
}

var vague = wordSet("thing things thingy stuff")

var pointing = wordSet("this that these those")

// determiners are the words in front of a thing.
var determiners = wordSet(`the a an my our your his her its their this that these those all any some every each`)

// before are the words that a "that" follows where it points: "in that case". After
// any other word it joins clauses, "the release that broke", and at the beginning it
// stands alone, "that sounds easy".
var before = wordSet(`of in for on at about with to from by into under after before is are was were does did do
	has have can will would should and or use`)

// unnamed are words, beside those that tell nothing anyway, that name no thing of
// which there could be several.
var unnamed = wordSet(`first second third last next previous following current time times way ways day week month
	year morning moment rest best worst whole internet world us usa`)

func wordSet(list string) map[string]bool {
	set := make(map[string]bool)
	for _, word := range strings.Fields(list) {
		set[word] = true
	}
	return set
}

// names says whether a word can be part of a thing's name.
func names(word string) bool {
	lower := strings.ToLower(word)
	return !lexical.IsFiller(lower) && !unnamed[lower]
}

// joined says whether nothing but a space, a hyphen or a slash is between two words.
func joined(text string, left, right lexical.Word) bool {
	return slices.Contains([]string{" ", "-", "/"}, text[left.End:right.Start])
}
