package survey

import (
	"embed"
	"fmt"
	"strings"
	"text/template"

	"cairn/internal/document/evidence"
	"cairn/internal/graph/flows/answer/prompts"
	"cairn/internal/llm"
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
var files embed.FS

var (
	readTemplate    = parse("read")
	combineTemplate = parse("combine")
	readSchema      = schema("read")
	combineSchema   = schema("combine")
)

func parse(name string) *template.Template {
	file := name + ".tmpl"
	return template.Must(template.New(file).Funcs(template.FuncMap{"data": prompts.Data}).ParseFS(files, file))
}

func schema(name string) llm.Schema {
	text, err := files.ReadFile(name + ".json")
	if err != nil {
		panic(fmt.Sprintf("schema %s: %v", name, err)) // an embedded file
	}
	return llm.Schema{Name: name, JSON: text}
}

func (p readPrompt) messages() ([]llm.Message, error)    { return messages(readTemplate, p) }
func (p combinePrompt) messages() ([]llm.Message, error) { return messages(combineTemplate, p) }

func messages[P readPrompt | combinePrompt](from *template.Template, prompt P) ([]llm.Message, error) {
	var made []llm.Message
	for _, part := range []struct {
		name string
		role llm.Role
	}{{"system", llm.System}, {"user", llm.User}} {
		var b strings.Builder
		if err := from.ExecuteTemplate(&b, part.name, prompt); err != nil {
			return nil, fmt.Errorf("prompt %s: %w", from.Name(), err)
		}
		made = append(made, llm.Message{Role: part.role, Text: b.String()})
	}
	return made, nil
}
