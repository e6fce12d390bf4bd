package inspect

import (
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/inspect/project"
)

// Initial is the state that a run of a request begins with.
func (f *Flow) Initial(request flows.Request) State { return f.begin(request) }

// Analyze reads a question by rules.
func Analyze(text string, pages []project.Page, before Previous) QueryAnalysis {
	return analyze(text, pages, before)
}
