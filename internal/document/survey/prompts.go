package survey

import (
	"embed"

	"github.com/cairn-bot/cairn/internal/document/evidence"
	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/llm/prompt"
)

// source is a piece of a document, or a note, as a model is shown it.
type source struct {
	Number      int // cites it
	Label, Text string
}

// readPrompt asks for notes on a part of the documents.
type readPrompt struct {
	Goal     Goal
	Sources  []source
	Query    string
	Feedback []string
	Most     int // notes
}

// combinePrompt asks for the parts of a report.
type combinePrompt struct {
	Goal     Goal
	Sources  []source
	Query    string
	Feedback []string
	Draft    []evidence.Part // that the feedback is about
	Titles   []string        // of the parts; none: the model chooses
	Most     int             // statements in all parts
}

//go:embed *.tmpl *.json
var promptFiles embed.FS

var (
	readTemplate    = prompt.Template(promptFiles, "read", nil)
	combineTemplate = prompt.Template(promptFiles, "combine", nil)
	readSchema      = prompt.Schema(promptFiles, "read")
	combineSchema   = prompt.Schema(promptFiles, "combine")
)

func (p readPrompt) toMessages() ([]llm.Message, error) { return prompt.Messages(readTemplate, p) }
func (p combinePrompt) toMessages() ([]llm.Message, error) {
	return prompt.Messages(combineTemplate, p)
}
