// Package verification asks a language model whether sources support statements, for answers and
// for reports. The model is asked about a statement that no source has as well: one that takes it
// for supported is not believed.
package verification

import (
	"context"
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/knowledge/support"
	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/llm/prompt"
)

// Role is the model's role in traces.
const Role = "verify"

// Source is a text that statements cite.
type Source struct {
	Title, Section string // as it is shown, "" for none
	Text           string // Markdown; "" where it is gone: then nothing can cite it
}

// Statement is what a model judges.
type Statement struct {
	Text  string
	Under string // what it is read with: the header of its table, or the lead-in of its list; "" for none
	Cites []int  // positions of sources
}

// Request asks for verdicts.
type Request struct {
	Run        string // whose budget pays
	Question   string // that the statements answer
	Sources    []Source
	Statements []Statement
}

// Verdicts are a model's verdicts on statements.
type Verdicts struct {
	Labels    map[int]support.Label // by position; a statement that cites nothing has none
	Uses      []flows.ModelUse
	Failure   string // why there are none, "" where there are
	Credulous bool   // it takes for supported what no source has
}

// The remarks of a trace on a model that verifies and is not relied on.
const (
	CredulousRemark = "judged by words alone, for the model took a statement for supported that no source has"
	failedRemark    = "judged by words alone, for the model failed: "
)

// Remark says, for the trace, why the verdicts are not relied on, "" where they are.
func (v Verdicts) Remark() string {
	switch {
	case v.Failure != "":
		return failedRemark + v.Failure
	case v.Credulous:
		return CredulousRemark
	}
	return ""
}

// Bounds of one request.
const (
	maxTokens     = 8000 // of the sources
	maxStatements = 40
	sourceTokens  = 24 // about what the tags and the title of a source take
)

// controlStatement is put between the statements that are judged. No source states it.
const controlStatement = "On 31 February 1893 the town of Quellmar sold its lighthouse to a travelling circus for 4187 silver buttons."

// Ask asks a model about all statements, several in a request. The error is that of a prompt or
// the end of ctx; a model's failure is said in the verdicts.
func Ask(ctx context.Context, model llm.Model, request Request) (Verdicts, error) {
	verdicts := Verdicts{Labels: make(map[int]support.Label)}
	for _, batch := range groupStatements(model, request) {
		if err := verdicts.askBatch(ctx, model, request, batch); err != nil || verdicts.Failure != "" {
			return verdicts, err
		}
	}
	return verdicts, nil
}

// groupStatements groups the positions of statements so that what they cite fits a request.
func groupStatements(model llm.Model, request Request) [][]int {
	var batches [][]int
	var batch, cited []int
	tokens := 0
	for i, s := range request.Statements {
		cites := request.presentCites(s)
		if len(cites) == 0 {
			continue
		}
		added := 0
		for _, position := range cites {
			if !slices.Contains(cited, position) {
				added += model.Tokens(request.Sources[position].Text) + sourceTokens
			}
		}
		if len(batch) > 0 && (tokens+added > maxTokens || len(batch) == maxStatements) {
			batches = append(batches, batch)
			batch, cited, tokens = nil, nil, 0
		}
		batch, tokens = append(batch, i), tokens+added
		cited = appendDistinct(cited, cites)
	}
	if len(batch) > 0 {
		batches = append(batches, batch)
	}
	return batches
}

// presentCites gives the sources that a statement cites and that have a text.
func (r Request) presentCites(s Statement) []int {
	var present []int
	for _, position := range s.Cites {
		if r.Sources[position].Text != "" {
			present = append(present, position)
		}
	}
	return present
}

func appendDistinct(known, more []int) []int {
	for _, one := range more {
		if !slices.Contains(known, one) {
			known = append(known, one)
		}
	}
	return known
}

var labels = map[string]support.Label{"full": support.Supported, "partial": support.Partly, "none": support.Unsupported}

// askBatch asks the model about some of the statements, and about one that no source has.
func (v *Verdicts) askBatch(ctx context.Context, model llm.Model, request Request, batch []int) error {
	shown, control := makePrompt(model, request, batch)
	messages, err := prompt.Messages(verifyTemplate, shown)
	if err != nil {
		return err
	}
	type answered struct {
		Verdicts []struct {
			Statement int    `json:"statement"`
			Support   string `json:"support"`
		} `json:"verdicts"`
	}
	told, use := flows.ConsultFor[answered](ctx, Role, model, llm.Request{Run: request.Run, Messages: messages, Schema: &verifySchema})
	if ctx.Err() != nil {
		return fmt.Errorf("verify statements: %w", ctx.Err())
	}
	v.Uses = append(v.Uses, use)
	if v.Failure = use.Failure; use.Failure != "" {
		return nil
	}
	for _, verdict := range told.Verdicts {
		label, ok := labels[verdict.Support]
		at := verdict.Statement - 1
		switch {
		case !ok || at < 0 || at > len(batch):
			continue
		case at == control:
			v.Credulous = v.Credulous || label == support.Supported
			continue
		case at > control:
			at--
		}
		v.Labels[batch[at]] = label
	}
	return nil
}

// shownPrompt is what the template shows.
type shownPrompt struct {
	Question   string
	Sources    []shownSource
	Statements []shownStatement
}

type shownSource struct {
	Number int
	Source
}

type shownStatement struct {
	Number      int
	Cites       string // numbers of sources: "1, 3"
	Under, Text string
}

// makePrompt puts the statements of a batch to the model; control is the position of the one that
// no source has. Sources that don't fit are cut at the end of a sentence, or left out.
func makePrompt(model llm.Model, request Request, batch []int) (shown shownPrompt, control int) {
	var cited []int
	for _, i := range batch {
		cited = appendDistinct(cited, request.presentCites(request.Statements[i]))
	}
	shown.Question = request.Question
	left := max(maxTokens, model.Limits().Context/2)
	for n, position := range cited {
		source := request.Sources[position]
		left -= sourceTokens + model.Tokens(source.Title+source.Section)
		text, took, whole := prompt.FitSentences(model, source.Text, left)
		if text == "" {
			break
		}
		left, source.Text = left-took, text
		shown.Sources = append(shown.Sources, shownSource{n + 1, source})
		if !whole {
			break
		}
	}
	control = len(batch) / 2
	for n, i := range batch {
		if n == control {
			shown.Statements = append(shown.Statements, shownStatement{Number: n + 1, Cites: "1", Text: controlStatement})
		}
		s := request.Statements[i]
		var numbers []string
		for _, position := range request.presentCites(s) {
			if number := slices.Index(cited, position) + 1; number <= len(shown.Sources) {
				numbers = append(numbers, fmt.Sprint(number))
			}
		}
		shown.Statements = append(shown.Statements, shownStatement{
			Number: len(shown.Statements) + 1, Cites: strings.Join(numbers, ", "), Under: s.Under, Text: s.Text,
		})
	}
	return shown, control
}

//go:embed verify.tmpl verify.json
var files embed.FS

var (
	verifyTemplate = prompt.Template(files, "verify", nil)
	verifySchema   = prompt.Schema(files, "verify")
)
