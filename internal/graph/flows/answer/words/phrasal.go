package words

import (
	_ "embed" // the list
	"strings"

	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
)

//go:embed phrasal.txt
var phrasalList string

// phrasalVerbs gives the analysed meanings of verbs with their particles: "turn on".
var phrasalVerbs = func() map[string][]string {
	meanings := make(map[string][]string)
	for line := range lines(phrasalList) {
		verb, meaning, _ := strings.Cut(line, " = ")
		meanings[verb] = lexical.Analyze(meaning)
	}
	return meanings
}()

// particleWithin is how many words behind its verb a particle stands at most, as in "turn that
// old thing off".
const particleWithin = 4

// Phrasal is a verb with its particle, "turn on", as a text has it.
type Phrasal struct {
	Particle string
	Meaning  []string // analysed: "enabl"
}

// Phrasals gives, by the verb as written, each verb in a text that has a particle: "turn" in "turn
// it on".
func Phrasals(text string) map[string]Phrasal {
	found := make(map[string]Phrasal)
	listed := lexical.Words(lexical.Fold(text))
	for i, verb := range listed {
		for _, particle := range listed[i+1 : min(len(listed), i+1+particleWithin)] {
			if meaning, ok := phrasalVerbs[strings.ToLower(verb.Text+" "+particle.Text)]; ok {
				found[verb.Text] = Phrasal{particle.Text, meaning}
				break
			}
		}
	}
	return found
}
