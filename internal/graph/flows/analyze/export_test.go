package analyze

import (
	"github.com/cairn-bot/cairn/internal/document/extract"
	"github.com/cairn-bot/cairn/internal/graph/flows"
)

// Initial is the state that a run of a request begins with.
func (f *Flow) Initial(request flows.Request) State { return f.newState(request) }

// Layout tells what an analysis by rules of a query consists of after feedback: its kinds
// in their order, and what is looked for.
func Layout(query string, feedback ...string) (kinds []extract.Kind, words []string, understood bool) {
	l := layoutOf(query)
	for _, said := range feedback {
		understood = l.applyFeedback(said)
	}
	return l.kinds, l.words, understood
}
