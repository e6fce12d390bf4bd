package flows

import "github.com/cairn-bot/cairn/internal/graph"

// Watch notes the steps that a run finishes, for its Trace, while passing its events on.
type Watch struct {
	Observe func(graph.Event) // may be nil
	Steps   []Step
}

// Event is for graph.Options.Observe.
func (w *Watch) Event(event graph.Event) {
	if event.Kind == graph.StepFinished {
		w.Steps = append(w.Steps, Step{Node: event.Node, Took: event.Duration})
	}
	if w.Observe != nil {
		w.Observe(event)
	}
}

// Markdown is the media type of a File that is a report.
const Markdown = "text/markdown; charset=utf-8"
