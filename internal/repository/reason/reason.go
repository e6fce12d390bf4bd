// Package reason lets a language model think about a repository: what follows from what
// was found, what else it needs to see, and what to write. It is shown numbered sources,
// and of what it says only statements with their numbers are kept.
package reason

import (
	"context"
	"embed"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/llm/prompt"
	"github.com/cairn-bot/cairn/internal/repository/report"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// Source is something that a model may use.
type Source struct {
	Label string // as it is cited: "internal/graph/run.go"
	URL   string // that the label links to, "" for none
	Text  string
}

// Task is what a model is to think about.
type Task struct {
	Run     string // whose budget pays
	Work    Work
	Text    string // what the person wrote
	Sources []Source
	Steps   []string // of the reasoning, for Write
}

// Work is what a model is to make. Each has a prompt of its own.
type Work string

// The works, by the names of their prompts' files.
const (
	Report  Work = "report"
	Content Work = "content" // a text that somebody asks for
	Answer  Work = "answer"
	General Work = "general"
)

// Thought is what a model makes of the sources.
type Thought struct {
	Steps   []string // 3 to 5, with those that were left out
	LeftOut int      // steps with a number, a name or code that no source has
	Missing []string // paths of files that it asks to see
}

// Bounds of what a model is shown and of what it says.
const (
	MinSteps     = 3
	MaxSteps     = 5
	maxMissing   = 10
	maxSections  = 6
	maxStatement = 500 // characters
	replyTokens  = 2500
	promptTokens = 900 // of what is around the sources
)

// The roles, as the trace names them.
const (
	roleReason = "reason"
	roleWrite  = "write"
)

//go:embed *.tmpl *.json
var promptFiles embed.FS

var (
	thinkTemplates = promptsFor("think")
	writeTemplates = promptsFor("write")
	thinkSchema    = prompt.Schema(promptFiles, "think")
	writeSchema    = prompt.Schema(promptFiles, "write")
)

// promptsFor puts what a request is for each work into its frame.
func promptsFor(name string) map[Work]*template.Template {
	made := make(map[Work]*template.Template)
	for _, work := range []Work{Report, Content, Answer, General} {
		made[work] = template.Must(prompt.Template(promptFiles, name, numbered).ParseFS(promptFiles, string(work)+".tmpl"))
	}
	return made
}

// numbered counts from 1, as sources are cited.
var numbered = template.FuncMap{"number": func(i int) int { return i + 1 }}

// fitSources leaves out the last sources until the rest has room in one request.
func (t Task) fitSources(model llm.Model) Task {
	limits := model.Limits()
	room := limits.Context - min(limits.Reply, replyTokens) - promptTokens - model.Tokens(t.Text) - model.Tokens(strings.Join(t.Steps, "\n"))
	kept := 0
	for _, source := range t.Sources {
		if room -= model.Tokens(source.Label) + model.Tokens(source.Text) + 20; room < 0 {
			break
		}
		kept++
	}
	t.Sources = t.Sources[:kept]
	return t
}

// Think asks for 3 to 5 steps of reasoning. Where the use says that the model failed there
// are none.
func Think(ctx context.Context, model llm.Model, task Task) (Thought, flows.ModelUse, error) {
	var told struct {
		Steps   []string `json:"steps"`
		Missing []string `json:"missing"`
	}
	task = task.fitSources(model)
	use, err := askModel(ctx, model, request{roleReason, thinkTemplates[task.Work], &thinkSchema, task}, &told)
	if err != nil || use.Failure != "" {
		return Thought{}, use, err
	}
	var thought Thought
	for _, step := range told.Steps[:min(len(told.Steps), MaxSteps)] {
		switch step = shorten.Line(step, maxStatement); {
		case step == "":
		case len(task.absentWords(step, task.Sources)) > 0:
			thought.LeftOut++
		default:
			thought.Steps = append(thought.Steps, step)
		}
	}
	for _, path := range told.Missing[:min(len(told.Missing), maxMissing)] {
		if path = shorten.Line(path, maxStatement); path != "" && !slices.Contains(thought.Missing, path) {
			thought.Missing = append(thought.Missing, path)
		}
	}
	return thought, use, nil
}

// Written is what a model wrote.
type Written struct {
	Sections []report.Section
	LeftOut  int // statements without a source, or that theirs don't bear out
	// ByModel says that a model judged the statements, and not their words alone.
	ByModel bool
	Uses    []flows.ModelUse // the first is that of the model that wrote
	Remarks []string         // for the trace
}

// Models are those that reports are written with.
type Models struct {
	Write  llm.Model
	Verify llm.Model // checks what was written; nil: words alone are compared
}

// Write asks for the sections of what is to be made, and checks them as answers are checked.
// Statements keep those numbers of sources that were given. One that cites none of them is left
// out, and so is one with a number, a name or code that the sources which it cites don't have, or
// that these don't support; one that they support in part is marked. Where the first use says that
// the model failed there are no sections.
func Write(ctx context.Context, models Models, task Task) (Written, error) {
	var told struct {
		Sections []struct {
			Title      string `json:"title"`
			Statements []struct {
				Text    string `json:"text"`
				Sources []int  `json:"sources"`
			} `json:"statements"`
		} `json:"sections"`
	}
	task = task.fitSources(models.Write)
	use, err := askModel(ctx, models.Write, request{roleWrite, writeTemplates[task.Work], &writeSchema, task}, &told)
	written := Written{Uses: []flows.ModelUse{use}}
	if err != nil || use.Failure != "" {
		return written, err
	}
	checked := &checker{task: task}
	for i, section := range told.Sections[:min(len(told.Sections), maxSections)] {
		for _, statement := range section.Statements {
			checked.add(i, shorten.Line(statement.Text, maxStatement), statement.Sources)
		}
	}
	if models.Verify != nil {
		if err := checked.verify(ctx, models.Verify, &written); err != nil {
			return written, err
		}
	}
	for i, section := range told.Sections[:min(len(told.Sections), maxSections)] {
		made := report.Section{Title: shorten.Line(section.Title, maxStatement), Statements: checked.keepStatements(i)}
		if made.Title != "" && len(made.Statements) > 0 {
			written.Sections = append(written.Sections, made)
		}
	}
	written.LeftOut = checked.leftOut
	return written, nil
}

// request is one question to a model.
type request struct {
	role   string
	prompt *template.Template
	schema *llm.Schema
	task   Task
}

// askModel asks for data. The error is that of a prompt or of the end of ctx; a model's failure
// is said in the use.
func askModel[T any](ctx context.Context, model llm.Model, r request, into *T) (flows.ModelUse, error) {
	messages, err := prompt.Messages(r.prompt, r.task)
	if err != nil {
		return flows.ModelUse{}, err
	}
	told, use := flows.ConsultFor[T](ctx, r.role, model, llm.Request{
		Run: r.task.Run, Messages: messages, Schema: r.schema, MaxReply: min(model.Limits().Reply, replyTokens),
	})
	if ctx.Err() != nil {
		return use, fmt.Errorf("ask a language model to %s: %w", r.role, ctx.Err())
	}
	*into = told
	return use, nil
}
