// Package buildcontext is the flow "context": it builds an overview of a system from
// documents, as a Markdown file. The overview has the same sections for every system, and
// each statement has its source. A language model writes it where there is one; without,
// the sections are filled with sentences of the documents, found by rules.
//
// The graph makes content and name of the file alone; keeping it is the caller's.
package buildcontext

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/document"
	"github.com/cairn-bot/cairn/internal/document/evidence"
	"github.com/cairn-bot/cairn/internal/document/extract"
	"github.com/cairn-bot/cairn/internal/document/report"
	"github.com/cairn-bot/cairn/internal/document/survey"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/language"
	"github.com/cairn-bot/cairn/internal/phrases"
)

// Name is the flow's name in checkpoints, traces and commands.
const Name = "context"

// schemaVersion is the version of State in checkpoints.
const schemaVersion = 1

// The nodes, by the names of the flow's contract.
const (
	nodeRetrieve = "document_retrieval"
	nodeBuild    = "context_building"
)

// Options is what the flow works with.
type Options struct {
	Reader *document.Reader // required
	// Surveyor reads and writes with a language model; nil: there is none.
	Surveyor *survey.Surveyor
}

// Flow builds overviews. Make one with New.
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
	g := graph.New(Name, schemaVersion, fields...)
	g.Node(nodeRetrieve, f.retrieve, graph.Policy{Description: "Reading the documents", Timeout: 5 * time.Minute})
	g.Node(nodeBuild, f.build, graph.Policy{Description: "Building the overview", Timeout: time.Hour})
	g.Start(nodeRetrieve)
	g.Route(nodeRetrieve, afterRetrieval, nodeBuild, graph.End)
	g.Edge(nodeBuild, graph.End)
	g.Label(nodeRetrieve, graph.End, "nothing to read")
	compiled, err := g.Compile()
	if err != nil {
		return nil, fmt.Errorf("flow %s: %w", Name, err)
	}
	f.Runner = flows.Runner[State]{Graph: compiled, Conclude: f.outcome}
	return f, nil
}

func afterRetrieval(s State) string {
	if s.Failure != "" {
		return graph.End
	}
	return nodeBuild
}

// Name implements flows.Flow.
func (f *Flow) Name() string { return Name }

// Start implements flows.Flow. The text is the system's name; a request without a
// Location has it in front of the name.
func (f *Flow) Start(ctx context.Context, request flows.Request, runtime flows.Runtime) (flows.Outcome, error) {
	return f.Begin(ctx, request.Run, f.newState(request), runtime)
}

// newState is the state that a run of a request begins with.
func (f *Flow) newState(request flows.Request) State {
	location, text := request.Located()
	return State{
		RequestID: request.Run, UserInput: request.Text, SystemName: systemNameOf(text), InputLocation: location,
		Scope: request.Filter, Attachments: request.Attachments, CurrentFlow: Name, StartTime: f.now(),
	}
}

func (f *Flow) outcome(steps []flows.Step, run graph.Outcome[State]) flows.Outcome {
	s := run.State
	made := flows.Outcome{Kind: flows.Abstained, Text: s.Failure, Trace: flows.Trace{
		Steps: steps, Models: s.Models, Notes: s.Notes, Took: f.now().Sub(s.StartTime),
		Evidence: s.Evidence,
	}}
	if s.Failure != "" {
		return made
	}
	made.Kind, made.Note, made.Groups = flows.Answered, s.Note, s.Sources
	made.Text = s.Summary
	made.Files = []flows.File{{Name: s.ContextOutputFileName, MediaType: flows.Markdown, Content: []byte(s.ContextOutputContent)}}
	return made
}

// retrieve reads the documents. Where that is refused, the run ends with the reason.
func (f *Flow) retrieve(ctx context.Context, step graph.Step[State]) (graph.Result[State], error) {
	s := step.State
	if s.SystemName == "" {
		return graph.Update(failure.Set(s.speaker().Text(phrases.WhichSystem))), nil
	}
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

// sections are those of every overview, in their order.
var sections = []struct {
	title phrases.Key
	kind  extract.Kind
}{
	{phrases.PartPurpose, extract.Purpose},
	{phrases.PartParts, extract.Parts},
	{phrases.PartFlows, extract.Flows},
	{phrases.PartInterfaces, extract.Interfaces},
	{phrases.PartDecisions, extract.Decisions},
	{phrases.PartTerms, extract.Terms},
	{phrases.PartQuestions, extract.Questions},
}

const (
	// mostStatements is how many a section has that rules fill.
	mostStatements = 15
	maxNote        = 600 // characters
)

// build writes the overview.
func (f *Flow) build(ctx context.Context, step graph.Step[State]) (graph.Result[State], error) {
	s := step.State
	speaker := s.speaker()
	set := document.Set{Documents: s.Documents, Texts: s.Inputs, Skipped: s.Skipped}
	var result survey.Result
	if f.surveyor != nil {
		titles := make([]string, len(sections))
		for i, section := range sections {
			titles[i] = speaker.Text(section.title)
		}
		var err error
		result, err = f.surveyor.Survey(ctx, set, survey.Task{Run: s.RequestID, Goal: survey.Overview, Query: s.SystemName, Titles: titles, Language: s.language()}, step.Detail)
		if err != nil {
			return graph.Result[State]{}, fmt.Errorf("build the overview: %w", err)
		}
	}
	parts, said := result.Parts, result.Note
	if len(parts) == 0 {
		parts, said = fillSections(set, s.SystemName, speaker), strings.TrimSpace(said+" "+speaker.Text(phrases.DigestByRules))
	}
	read := speaker.Text(phrases.DocumentsIn, speaker.Count(phrases.Documents, len(set.Documents)), s.InputLocation.String())
	lines := []string{speaker.Text(phrases.MadeFrom, read) + " " + said}
	if skipped := set.Note(s.language()); skipped != "" {
		lines = append(lines, skipped)
	}
	written := report.Write(set.Documents, report.Report{
		Title: speaker.Text(phrases.OverviewOf, s.SystemName), Notes: lines, Parts: parts, Empty: speaker.Text(phrases.NothingFoundHere), Language: s.language(),
	})
	name := report.FileName(s.SystemName, "system", "_context.md")
	return graph.Update(
		contextOutputContent.Set(written.Markdown), contextOutputFileName.Set(name), sources.Set(written.Groups),
		summary.Set(s.summarize(name, written.Summary, parts)), note.Set(said), evidenceList.Set(report.Evidence(set.Documents, parts)), modelUses.Set(result.Uses), notes.Set(result.Remarks),
	), nil
}

// language is that of the request, as far as it is recognized.
func (s State) language() language.Tag { return language.Detect(s.UserInput) }

func (s State) speaker() phrases.Speaker { return phrases.In(s.language()) }

// summarize is what is said in the thread beside the file.
func (s State) summarize(file, digest string, parts []evidence.Part) string {
	speaker := s.speaker()
	var empty []string
	for _, part := range parts {
		if len(part.Statements) == 0 {
			empty = append(empty, part.Title)
		}
	}
	paragraphs := []string{speaker.Text(phrases.OverviewReady, file), digest}
	if len(empty) > 0 {
		paragraphs = append(paragraphs, speaker.Text(phrases.OverviewGaps, strings.Join(empty, ", ")))
	}
	if skipped := (document.Set{Skipped: s.Skipped}).Note(s.language()); skipped != "" {
		paragraphs = append(paragraphs, report.ShortenMarkdown(report.Clean(skipped), maxNote))
	}
	return strings.Join(paragraphs, "\n\n")
}

// fillSections takes the sections from the documents' own sentences, those first that name the
// system.
func fillSections(set document.Set, system string, speaker phrases.Speaker) []evidence.Part {
	corpus := extract.Read(set)
	focus := extract.Focus{Words: system, Limit: mostStatements}
	parts := make([]evidence.Part, len(sections))
	for i, section := range sections {
		find := func(focus extract.Focus) ([]evidence.Statement, int) { return corpus.Find(section.kind, focus) }
		if section.kind == extract.Terms {
			find = corpus.Glossary
		}
		statements, more := find(focus)
		parts[i] = evidence.Part{Title: speaker.Text(section.title), Statements: statements, More: more}
	}
	return parts
}
