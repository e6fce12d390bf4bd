package repo

import (
	"github.com/cairn-bot/cairn/internal/graph/flows"
)

// Initial is the state that a run of a request begins with.
func (f *Flow) Initial(request flows.Request) State { return f.newState(request) }

// TypeOf tells what a request is.
func TypeOf(text string) (repository, task string, kind TaskType) {
	repository, task = parseRequest(flows.Request{Text: text})
	return repository, task, typeOf(repository, task)
}

// Folded shows scores.
func (s Scores) Folded() string { return s.renderFolded() }
