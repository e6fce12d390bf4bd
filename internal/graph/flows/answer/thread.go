package answer

import (
	"strings"

	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer/words"
	"github.com/cairn-bot/cairn/internal/language/smalltalk"
)

// questionOfThread takes the question out of what others said, for a message that only
// points there: "any idea?". around is what else was said, as far as it is read. main is
// "" where nothing was said, or the message asks something of its own.
func questionOfThread(text string, before []flows.Said) (main, around string) {
	if len(before) == 0 || !smalltalk.Points(text) && words.Telling(text) > 0 {
		return "", ""
	}
	asked := mainMessage(before)
	var others []string
	for i, said := range before {
		if i != asked && !said.Self {
			others = append(others, said.Text)
		}
	}
	return bounded(before[asked].Text), bounded(strings.Join(others, "\n"))
}

// mainMessage is the position of the message that asks: one that is passed on, else the
// first person's message that has a question, else the first.
func mainMessage(before []flows.Said) int {
	best, most := 0, -1
	for i, said := range before {
		worth := 0
		switch {
		case said.Self || said.App && !said.Shared:
			continue
		case said.Shared:
			worth = 100
		case strings.Contains(said.Text, "?"), words.AsksWhich(said.Text):
			worth = 1
		}
		worth += min(words.Telling(said.Text), 6)
		if worth > most {
			best, most = i, worth
		}
	}
	return best
}
