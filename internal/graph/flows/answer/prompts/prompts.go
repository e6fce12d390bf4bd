// Package prompts makes what the answer flow sends to language models: a template and,
// for structured replies, a schema for each kind of request. All that comes from people
// and documents stands between tags that it can't close.
package prompts

import (
	"embed"
	"text/template"

	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/llm/prompt"
)

// Sentinel is the whole reply of a model that finds no answer in the sources.
const Sentinel = "NOT_IN_SOURCES"

// Turn is an earlier message of the thread.
type Turn struct{ Role, Text string }

// Source is a passage that a model may use.
type Source struct {
	Number               int // cites it: [1]
	Title, Section, Text string
	Modified             string // a date, or ""
}

// Understand asks what a question means.
type Understand struct {
	History     []Turn // oldest first
	Question    string
	Attachments []Attachment
}

// Attachment is the beginning of a file that came with a question.
type Attachment struct{ Name, Text string }

// Next asks what to search for after what was found.
type Next struct {
	Sources  []Source
	Searched []string
	Question string
}

// Answer asks for the answer.
type Answer struct {
	Sources  []Source
	History  []Turn
	Question string
	Language string // of the reply, in English; "" is that of the question
	ReadIn   string // what shows the reply, as in "read in Slack", or ""
	Today    string // a date, or ""
	// SourceLanguages are those of the sources, in English, or "".
	SourceLanguages string
	Length          string // one sentence on how much to say
	Form            string // one sentence on the form, or ""
}

// Messages gives the conversation that asks for an understanding.
func (p Understand) Messages() ([]llm.Message, error) { return prompt.Messages(understandTemplate, p) }

// Messages gives the conversation that asks for the next search.
func (p Next) Messages() ([]llm.Message, error) { return prompt.Messages(nextTemplate, p) }

// Messages gives the conversation that asks for the answer.
func (p Answer) Messages() ([]llm.Message, error) { return prompt.Messages(answerTemplate, p) }

// The schemas of the structured replies.
var (
	UnderstandSchema = prompt.Schema(files, "understand")
	NextSchema       = prompt.Schema(files, "next")
)

//go:embed *.tmpl *.json
var files embed.FS

var (
	understandTemplate = prompt.Template(files, "understand", nil)
	nextTemplate       = prompt.Template(files, "next", nil)
	answerTemplate     = prompt.Template(files, "answer", template.FuncMap{"sentinel": func() string { return Sentinel }})
)
