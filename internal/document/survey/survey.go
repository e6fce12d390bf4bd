// Package survey lets a language model read documents and write a report on them. What
// fits into one request is read at once. What does not is read in parts at the same time,
// each giving notes (map), and the report is written from the notes (reduce), which are
// condensed again until they fit.
//
// Each statement keeps the places that it is from: the model cites what it was shown by
// number, and a note carries the places of what it cites. A statement that cites nothing,
// or that its places do not support, is left out; one that they support in part is marked.
package survey

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/document"
	"github.com/cairn-bot/cairn/internal/document/evidence"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/language"
	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/phrases"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// Goal is what is written, as models are told.
type Goal string

// The goals.
const (
	Analysis Goal = "an analysis of documents"
	Overview Goal = "an overview of a system"
)

// Task is what a report is to be about.
type Task struct {
	Run      string // whose budget pays
	Goal     Goal
	Query    string
	Feedback []string        // what the person said to earlier drafts, in order
	Draft    []evidence.Part // the last draft
	Titles   []string        // of the parts that the report has; none: the model chooses
	Language language.Tag    // of those who read the report; language.Unknown is English
}

// Result is a report, or why there is none.
type Result struct {
	Parts   []evidence.Part // none: the model failed, and Note says so
	Note    string          // how the report came about, in the readers' language
	Uses    []flows.ModelUse
	Remarks []string // for the trace
}

// Bounds of what a model writes, and of what it is asked at once.
const (
	maxParts      = 12
	maxStatements = 30 // in a part
	maxNotes      = 20 // of one request
	maxPlaces     = 3  // of a statement
	maxTitle      = 80 // characters
	maxQuery      = 2000
	// shownFeedback is how much of what the person said is shown, the last of it.
	shownFeedback = 6
	maxParallel   = 4   // requests at the same time
	maxRequests   = 500 // to read the documents with
	maxLevels     = 4   // of notes on notes
)

// Surveyor reads and writes with a model. Its methods may be called concurrently.
type Surveyor struct{ model, verifier llm.Model }

// New returns a surveyor that writes with a model; verifier checks what it wrote, and may be nil:
// then words alone are compared.
func New(model, verifier llm.Model) *Surveyor { return &Surveyor{model: model, verifier: verifier} }

// Survey writes a report on documents. say is told how far it came, one call at a time.
// An error is the end of ctx; what a model fails in is said in the result.
func (s *Surveyor) Survey(ctx context.Context, set document.Set, task Task, say func(string)) (Result, error) {
	w := &survey{surveyor: s, set: set, task: boundTask(task), say: say, speaker: phrases.In(task.Language)}
	made, err := w.writeReport(ctx)
	if ctx.Err() != nil {
		return Result{}, fmt.Errorf("survey: %w", ctx.Err())
	}
	return made, err
}

func boundTask(task Task) Task {
	task.Query = shorten.Text(task.Query, maxQuery)
	task.Feedback = task.Feedback[max(0, len(task.Feedback)-shownFeedback):]
	return task
}

// survey is one survey.
type survey struct {
	surveyor *Surveyor
	set      document.Set
	task     Task
	say      func(string)
	speaker  phrases.Speaker
	made     Result
}

func (w *survey) writeReport(ctx context.Context) (Result, error) {
	items := w.documentSections()
	room, enough := w.sourceBudget()
	if !enough && len(w.task.Draft) > 0 {
		w.task.Draft = nil
		room, enough = w.sourceBudget()
	}
	if !enough {
		return w.failedResult(llm.TooLong, "its context is too small for the question"), nil
	}
	windows := packWindows(w.surveyor.model, items, room)
	if len(windows) > maxRequests {
		return w.failedResult(llm.TooLong, fmt.Sprintf("the documents would take %d requests, more than %d", len(windows), maxRequests)), nil
	}
	for level := 0; len(windows) > 1; level++ {
		if level == maxLevels {
			return w.failedResult(llm.TooLong, "its notes do not get shorter"), nil
		}
		notes, err := w.readWindows(ctx, windows)
		if err != nil {
			return Result{}, err
		}
		if len(notes) == 0 {
			return w.failedResult(w.firstFailure(), "it noted nothing"), nil
		}
		windows = packWindows(w.surveyor.model, notes, room)
	}
	if len(windows) == 0 {
		return w.failedResult("", "there is no text"), nil
	}
	return w.combineItems(ctx, windows[0])
}

// perStatement is about what a statement takes of a reply, in tokens.
const perStatement = 60

// maxStatements returns how many statements fit into a reply, up to a bound.
func (w *survey) maxStatements(bound int) int {
	return max(1, min(bound, w.surveyor.model.Limits().Reply/perStatement))
}

// firstFailure returns the first failure of the model, "" for none.
func (w *survey) firstFailure() llm.Failure {
	for _, use := range w.made.Uses {
		if use.Failure != "" {
			return llm.Failure(use.Failure)
		}
	}
	return ""
}

// failedResult returns the result where the model wrote nothing: what failed in words for people,
// and the reason for the trace.
func (w *survey) failedResult(failure llm.Failure, reason string) Result {
	w.made.Parts = nil
	w.made.Note = w.speaker.Text(phrases.NotWrittenBecause, flows.ExplainFailure(w.speaker, failure))
	if failure != "" {
		reason = strings.TrimSuffix(string(failure)+": "+reason, ": ")
	}
	w.made.Remarks = append(w.made.Remarks, "no report by the model: "+reason)
	return w.made
}

// combineItems lets the model write the report from what fits into one request.
func (w *survey) combineItems(ctx context.Context, items []sourceItem) (Result, error) {
	w.say("Writing it down")
	messages, err := combinePrompt{
		Goal: w.task.Goal, Sources: sourcesOf(items), Query: w.task.Query, Feedback: w.task.Feedback,
		Draft: w.task.Draft, Titles: w.task.Titles, Most: w.maxStatements(maxParts * maxStatements),
	}.toMessages()
	if err != nil {
		return Result{}, err
	}
	type reply struct {
		Parts []struct {
			Title      string      `json:"title"`
			Statements []modelNote `json:"statements"`
		} `json:"parts"`
	}
	told, use := flows.ConsultFor[reply](ctx, "combine", w.surveyor.model, llm.Request{Run: w.task.Run, Messages: messages, Schema: &combineSchema})
	w.made.Uses = append(w.made.Uses, use)
	if use.Failure != "" {
		return w.failedResult(llm.Failure(use.Failure), ""), nil
	}
	checked := &checker{question: w.task.Query, run: w.task.Run, verifier: w.surveyor.verifier}
	var titles []string
	for _, part := range told.Parts {
		title := shorten.Line(part.Title, maxTitle)
		if !slices.Contains(titles, title) {
			titles = append(titles, title)
		}
		checked.add(slices.Index(titles, title), items, part.Statements)
	}
	err = checked.verify(ctx)
	w.made.Uses, w.made.Remarks = append(w.made.Uses, checked.uses...), append(w.made.Remarks, checked.remarks...)
	if err != nil {
		return Result{}, err
	}
	parts := make(map[string][]evidence.Statement)
	for i, title := range titles {
		parts[title] = checked.keepStatements(i)
	}
	w.made.Parts = w.arrangeParts(titles, parts)
	if checked.kept == 0 {
		return w.failedResult(flows.Unsupported, "nothing that it wrote was told by the documents"), nil
	}
	w.made.Note = strings.TrimSpace(checked.note(w.speaker) + " " + w.missedNote())
	w.made.Remarks = append(w.made.Remarks, fmt.Sprintf("combined %d pieces; %d statements kept, %d left out", len(items), checked.kept, checked.dropped))
	return w.made, nil
}

// arrangeParts returns the parts of the report: those that were asked for, or else those that
// the model chose and that have something to say.
func (w *survey) arrangeParts(titles []string, parts map[string][]evidence.Statement) []evidence.Part {
	var arranged []evidence.Part
	for _, wanted := range w.task.Titles {
		part := evidence.Part{Title: wanted}
		for _, title := range titles {
			if strings.EqualFold(title, wanted) {
				part.Statements = append(part.Statements, parts[title]...)
			}
		}
		part.Statements = part.Statements[:min(len(part.Statements), maxStatements)]
		arranged = append(arranged, part)
	}
	if len(w.task.Titles) > 0 {
		return arranged
	}
	for _, title := range titles {
		if statements := parts[title]; len(statements) > 0 && title != "" && len(arranged) < maxParts {
			arranged = append(arranged, evidence.Part{Title: title, Statements: statements[:min(len(statements), maxStatements)]})
		}
	}
	return arranged
}

// missedNote says that the model could not read all.
func (w *survey) missedNote() string {
	failures := 0
	for _, use := range w.made.Uses {
		if use.Failure != "" && use.Role == roleRead {
			failures++
		}
	}
	if failures == 0 {
		return ""
	}
	return w.speaker.Count(phrases.PartsUnread, failures)
}
