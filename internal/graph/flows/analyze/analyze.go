// Package analyze is the flow that analyses documents with a person: it reads them,
// drafts an analysis, asks what the person thinks of it, and revises it until it is
// approved or given up. The approved analysis is a Markdown file with its sources. A
// language model drafts where there is one; without, the analysis is put together by
// rules from the documents' own sentences, and says so.
//
// Reading order: state.go, analyze.go (the graph), reply.go (what a reply means),
// draft.go, wishes.go (what rules can do about feedback).
package analyze

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cairn-bot/cairn/internal/document"
	"github.com/cairn-bot/cairn/internal/document/report"
	"github.com/cairn-bot/cairn/internal/document/survey"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/phrases"
)

// Name is the flow's name in checkpoints, traces and commands.
const Name = "analyze"

// schemaVersion is the version of State in checkpoints.
const schemaVersion = 2

// The nodes, by the names of the flow's contract.
const (
	nodeRetrieve  = "document_retrieval"
	nodePrepare   = "analysis_prepare"
	nodeInterrupt = "analysis_interrupt"
)

// questionKey names the one question of this flow, which is asked once a round.
const questionKey = "draft"

// maxRounds is how often a draft is revised.
const maxRounds = 20

// Options is what the flow works with.
type Options struct {
	Reader *document.Reader // required
	// Surveyor reads and writes with a language model; nil: there is none.
	Surveyor *survey.Surveyor
}

// Flow analyses documents. Make one with New.
type Flow struct {
	flows.Runner[State]

	reader   *document.Reader
	surveyor *survey.Surveyor
	now      func() time.Time
}

var _ flows.Flow = (*Flow)(nil)

// New makes the flow.
func New(options Options) (*Flow, error) {
	f := &Flow{reader: options.Reader, surveyor: options.Surveyor, now: time.Now}
	compiled, err := f.buildGraph().Compile()
	if err != nil {
		return nil, fmt.Errorf("flow %s: %w", Name, err)
	}
	f.Runner = flows.Runner[State]{Graph: compiled, Conclude: f.outcome}
	return f, nil
}

// buildGraph lays out the graph of the flow's contract.
func (f *Flow) buildGraph() *graph.Graph[State] {
	g := graph.New(Name, schemaVersion, fields...)
	g.Node(nodeRetrieve, f.retrieve, graph.Policy{Description: "Reading the documents", Timeout: 5 * time.Minute})
	g.Node(nodePrepare, f.prepare, graph.Policy{Description: "Preparing the analysis", Timeout: time.Hour})
	g.Node(nodeInterrupt, f.interrupt, graph.Policy{Description: "Asking what you think of it", Asks: true})
	g.Start(nodeRetrieve)
	g.Route(nodeRetrieve, afterRetrieval, nodePrepare, graph.End)
	g.Route(nodePrepare, afterPreparing, nodeInterrupt, graph.End)
	g.Edge(nodeInterrupt, nodePrepare)
	g.Label(nodeRetrieve, graph.End, "nothing to read")
	g.Label(nodePrepare, graph.End, "approved or stopped")
	return g
}

func afterRetrieval(s State) string {
	if s.Failure != "" {
		return graph.End
	}
	return nodePrepare
}

func afterPreparing(s State) string {
	if s.AnalysisOutput != "" || s.Stopped {
		return graph.End
	}
	return nodeInterrupt
}

// Name implements flows.Flow.
func (f *Flow) Name() string { return Name }

// Start implements flows.Flow. A request without a Location has it in front of its text.
func (f *Flow) Start(ctx context.Context, request flows.Request, runtime flows.Runtime) (flows.Outcome, error) {
	return f.Begin(ctx, request.Run, f.newState(request), runtime)
}

// newState is the state that a run of a request begins with.
func (f *Flow) newState(request flows.Request) State {
	location, text := request.Located()
	return State{
		RequestID: request.Run, UserInput: text, InputLocation: location,
		Scope: request.Filter, Attachments: request.Attachments, CurrentFlow: Name, StartTime: f.now(),
	}
}

func (f *Flow) outcome(steps []flows.Step, run graph.Outcome[State]) flows.Outcome {
	s := run.State
	made := flows.Outcome{Kind: flows.Abstained, Trace: flows.Trace{
		Steps: steps, Models: s.Models, Notes: s.Notes, Took: f.now().Sub(s.StartTime),
		Evidence: report.Evidence(s.Documents, s.Draft.Parts),
	}}
	switch {
	case run.Status == graph.Waiting:
		made.Kind, made.Question = flows.Asked, &run.Questions[0]
		made.Text = made.Question.Text
	case s.Failure != "":
		made.Text = s.Failure
	case s.Stopped:
		made.Text = s.speaker().Text(phrases.AnalysisStopped)
	default:
		made.Kind = flows.Answered
		made.Text = s.speaker().Text(phrases.AnalysisReady, describeSource(s), s.OutputFileName) + " " + s.Draft.Note + "\n\n" + s.Summary
		made.Groups = s.Sources
		made.Files = []flows.File{{Name: s.OutputFileName, MediaType: flows.Markdown, Content: []byte(s.AnalysisOutput)}}
	}
	return made
}

// retrieve reads the documents. Where that is refused, the run ends with the reason.
func (f *Flow) retrieve(ctx context.Context, step graph.Step[State]) (graph.Result[State], error) {
	s := step.State
	set, err := f.reader.Read(ctx, document.Read{Location: s.InputLocation, Attachments: s.Attachments, Scope: s.Scope})
	if reason, is := errors.AsType[*document.RefusedError](err); is {
		return graph.Update(failure.Set(reason.Text)), nil
	}
	if err != nil {
		return graph.Result[State]{}, err
	}
	return graph.Update(
		attachments.Set(nil), inputs.Set(set.Texts), documents.Set(set.Documents), skipped.Set(set.Skipped),
		notes.Set([]string{fmt.Sprintf("read %d documents from %s, skipped %d", len(set.Documents), s.InputLocation, len(set.Skipped))}),
	), nil
}

// interrupt shows the draft and waits for what the person says to it.
func (f *Flow) interrupt(_ context.Context, step graph.Step[State]) (graph.Result[State], error) {
	answer, answered := step.Answer(questionKey)
	if !answered {
		speaker := step.State.speaker()
		return graph.Ask[State](graph.Question{
			Key: questionKey, Text: step.State.CurrentAnalysisQuery, FreeText: true,
			Choices: []graph.Choice{
				{ID: choiceApprove, Label: speaker.Text(phrases.ChoiceApprove), Detail: speaker.Text(phrases.ChoiceApproveDetail)},
				{ID: choiceRevise, Label: speaker.Text(phrases.ChoiceRevise), Detail: speaker.Text(phrases.ChoiceReviseDetail)},
				{ID: choiceStop, Label: speaker.Text(phrases.ChoiceStop), Detail: speaker.Text(phrases.ChoiceStopDetail)},
			},
		}), nil
	}
	decision, text := parseDecision(answer)
	return graph.Update(analysisHistory.Set([]Turn{{Role: flows.User, Text: text, Decision: decision}})), nil
}
