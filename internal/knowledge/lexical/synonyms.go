package lexical

import (
	_ "embed"
	"slices"
	"strings"
)

// synonymsList has a group of words a line that documentation uses for the same thing, so that one stands
// for the other in a statement in other words.
//
//go:embed synonyms.txt
var synonymsList string

// phrasesList has verbs with a particle, and the word that each stands for.
//
//go:embed phrases.txt
var phrasesList string

var (
	synonyms = parseSynonyms(synonymsList)
	phrasal  = parsePhrases(phrasesList)
	// particles are those of phrases.
	particles = func() map[string]bool {
		all := make(map[string]bool)
		for phrase := range phrasal {
			all[phrase[1]] = true
		}
		return all
	}()
)

// groupMark begins the name of a group of synonyms: no term does.
const groupMark = "="

// Synonyms gives the names of the groups of words for the same thing that a term of Analyze is in; nil for none.
// The names are no terms. The groups are of English words.
func Synonyms(term string) []string { return synonyms[term] }

// parseSynonyms gives the names of the groups that each stem is in.
func parseSynonyms(list string) map[string][]string {
	groups := make(map[string][]string)
	for line := range strings.Lines(list) {
		words := strings.Fields(line)
		for _, word := range words {
			stem := Stem(word)
			if name := groupMark + Stem(words[0]); !slices.Contains(groups[stem], name) {
				groups[stem] = append(groups[stem], name)
			}
		}
	}
	return groups
}

// parsePhrases gives by the stem of a verb and its particle the word that both stand for.
func parsePhrases(list string) map[[2]string]string {
	phrases := make(map[[2]string]string)
	for line := range strings.Lines(list) {
		if phrase, meaning, ok := strings.Cut(line, " = "); ok {
			verb, particle, _ := strings.Cut(phrase, " ")
			phrases[[2]string{Stem(verb), particle}] = strings.TrimSpace(meaning)
		}
	}
	return phrases
}

// phraseReach is how many words may stand between a verb and some particles: "turn the cache off".
const phraseReach = 2

// farParticles are the particles that may stand apart from their verb.
var farParticles = map[string]bool{"on": true, "off": true, "out": true, "away": true, "up": true}

// JoinPhrases gives the words of a text with one word for each verb with its particle; the particle is "".
func JoinPhrases(words []Word) []string {
	texts := make([]string, len(words))
	for i, word := range words {
		texts[i] = word.Text
		if i == 0 || !particles[word.Text] {
			continue
		}
		if state := stateOf(words, i); state != "" {
			texts[i] = state
			continue
		}
		reach := 1
		if farParticles[word.Text] && (word.Text != "up" || i+1 == len(words) || words[i+1].Text != "to") {
			reach += phraseReach
		}
		for verb := i - 1; verb >= max(0, i-reach); verb-- {
			if meaning, ok := phrasal[[2]string{Stem(strings.ToLower(texts[verb])), word.Text}]; ok {
				texts[verb], texts[i] = meaning, ""
				break
			}
		}
	}
	return texts
}

// forms are words in front of "on" and "off" where these are states, and stateEnds are words behind them.
var (
	forms     = map[string]bool{"is": true, "are": true, "be": true, "was": true, "were": true, "been": true, "stays": true, "remains": true, "stay": true, "remain": true}
	stateEnds = map[string]bool{"by": true, "until": true, "unless": true, "when": true, "while": true, "and": true, "or": true, "if": true, "as": true, "since": true, "at": true, "in": true, "for": true}
)

// stateOf gives the state that "on" or "off" is at a position, as in "it is off by default", "" for none.
func stateOf(words []Word, at int) string {
	before := words[at-1].Text
	if before == "always" || before == "already" || before == "still" {
		before = words[max(at-2, 0)].Text
	}
	if !forms[strings.ToLower(before)] || at+1 < len(words) && !stateEnds[words[at+1].Text] {
		return ""
	}
	switch words[at].Text {
	case "on":
		return "enabled"
	case "off":
		return "disabled"
	}
	return ""
}
