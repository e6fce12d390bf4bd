// Package prompts makes what the answer flow sends to language models: a template and,
// for structured replies, a schema for each kind of request. All that comes from people
// and documents stands between tags that it can't close.
package prompts

import (
	"embed"
	"fmt"
	"regexp"
	"strings"
	"text/template"
	"unicode"

	"cairn/internal/llm"
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

// Statement is a sentence of an answer that is to be checked.
type Statement struct {
	Number int
	Cites  string // numbers of sources: "1, 3"
	Text   string
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
	Length   string // one sentence on how much to say
}

// Sentinel is for the template.
func (Answer) Sentinel() string { return Sentinel }

// Verify asks whether sources support statements.
type Verify struct {
	Sources    []Source
	Statements []Statement
}

// Messages gives the conversation that asks for an understanding.
func (p Understand) Messages() ([]llm.Message, error) { return messages("understand", p) }

// Messages gives the conversation that asks for the next search.
func (p Next) Messages() ([]llm.Message, error) { return messages("next", p) }

// Messages gives the conversation that asks for the answer.
func (p Answer) Messages() ([]llm.Message, error) { return messages("answer", p) }

// Messages gives the conversation that asks for verdicts.
func (p Verify) Messages() ([]llm.Message, error) { return messages("verify", p) }

// The schemas of the structured replies.
var (
	UnderstandSchema = schema("understand")
	NextSchema       = schema("next")
	VerifySchema     = schema("verify")
)

//go:embed *.tmpl *.json
var files embed.FS

var templates = parse("understand", "next", "answer", "verify")

func parse(names ...string) map[string]*template.Template {
	parsed := make(map[string]*template.Template)
	for _, name := range names {
		file := name + ".tmpl"
		parsed[name] = template.Must(template.New(file).Funcs(template.FuncMap{"data": Data}).ParseFS(files, file))
	}
	return parsed
}

func schema(name string) llm.Schema {
	text, err := files.ReadFile(name + ".json")
	if err != nil {
		panic(fmt.Sprintf("prompt %s: %v", name, err)) // an embedded file
	}
	return llm.Schema{Name: name, JSON: text}
}

func messages[P Understand | Next | Answer | Verify](name string, prompt P) ([]llm.Message, error) {
	var made []llm.Message
	for _, part := range []struct {
		name string
		role llm.Role
	}{{"system", llm.System}, {"user", llm.User}} {
		var b strings.Builder
		if err := templates[name].ExecuteTemplate(&b, part.name, prompt); err != nil {
			return nil, fmt.Errorf("prompt %s: %w", name, err)
		}
		made = append(made, llm.Message{Role: part.role, Text: b.String()})
	}
	return made, nil
}

// tags are the marks between which data stands.
var tags = regexp.MustCompile(`(?i)<(\s*/?\s*(?:sources?|thread|turn|question|attachments?|searched|statements?|system|user|assistant)\b)`)

// Data makes text fit to stand between tags: it can neither close one nor open another,
// and holds no control characters or characters that only hide text.
func Data(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), isTag(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	return tags.ReplaceAllString(text, "‹$1")
}

// isTag tells the characters that spell invisible text.
func isTag(r rune) bool {
	return r >= 0xE0000 && r <= 0xE007F || r == '\u200B' || r == '\u2060' || r == '\uFEFF'
}
