package repo

import (
	"context"
	"fmt"
	"slices"
	"strings"

	plain "github.com/cairn-bot/cairn/internal/document/report"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/phrases"
	"github.com/cairn-bot/cairn/internal/repository/reason"
	"github.com/cairn-bot/cairn/internal/repository/report"
)

// pictureEnding is how the name of the picture's file ends.
const pictureEnding = "architecture.svg"

// generator writes what was asked for. A model adds sections to a report, and is all there
// is to other tasks.
func (f *Flow) generator(ctx context.Context, step graph.Step[State]) (graph.Result[State], error) {
	s := step.State
	if s.Failure != "" {
		return graph.Result[State]{}, nil
	}
	var changes []graph.Change[State]
	if s.Wanted != nil {
		if s.Searched == nil {
			return graph.Update(failure.Set(s.unreadableText())), nil
		}
		return graph.Update(finalOutput.Set(s.truncateReport(report.WriteUsages(s.taskText(), *s.Wanted, s.Searched, s.language())))), nil
	}
	if f.options.Model != nil {
		written, err := reason.Write(ctx, reason.Models{Write: f.options.Model, Verify: f.options.Verifier}, reason.Task{
			Run: s.RequestID, Work: works[s.TaskType], Text: s.taskText(), Sources: s.modelSources(), Steps: s.ReasoningSteps,
		})
		if err != nil {
			return graph.Result[State]{}, fmt.Errorf("write about the repository: %w", err)
		}
		s.Sections, s.LeftOut, s.ByModel = written.Sections, written.LeftOut, written.ByModel
		changes = append(changes, modelUses.Set(written.Uses), sections.Set(written.Sections), leftOut.Set(written.LeftOut), byModel.Set(written.ByModel), notes.Set(written.Remarks))
		if len(written.Sections) == 0 && s.TaskType != AnalyzeRepo {
			why := llm.Failure(written.Uses[0].Failure)
			if why == "" && written.LeftOut > 0 {
				why = flows.Unsupported
			}
			said := s.speaker().Text(phrases.NotWrittenBecause, flows.ExplainFailure(s.speaker(), why))
			return graph.Update(append(changes, isComplete.Set(false), failure.Set(said))...), nil
		}
	}
	if s.TaskType == AnalyzeRepo && s.Name == "" {
		return graph.Update(append(changes, failure.Set(s.unreadableText()))...), nil
	}
	return graph.Update(append(changes, finalOutput.Set(s.renderOutput()))...), nil
}

// unreadableText says that no pass could read the repository.
func (s State) unreadableText() string {
	why := "no tool could be used"
	for _, use := range s.ToolUsage {
		if use.Error != "" {
			why = use.Error
		}
	}
	return s.speaker().Text(phrases.RepositoryUnreadable, s.IterationCount, plain.Clean(why))
}

// longest is the length of a report, in bytes: the evaluation has its place behind it.
const longest = flows.MaxFile - 8<<10

// renderOutput is the output as Markdown.
func (s State) renderOutput() string {
	facts := report.Facts{
		Name: s.Name, Commit: s.Commit, Web: s.Web, Structure: s.RepoStructure, Dependencies: s.Dependencies,
		Architecture: s.Architecture, Files: s.CodeFiles, Sections: s.Sections, Steps: s.ReasoningSteps, Partial: s.partialNote(), Language: s.language(),
	}
	if s.hasPicture() {
		facts.Picture = s.fileName(pictureEnding)
	}
	text := report.Write(facts)
	if s.TaskType != AnalyzeRepo {
		text = report.Answer(facts, s.taskText())
	}
	return s.truncateReport(text)
}

// truncateReport ends a report that is too long behind a line.
func (s State) truncateReport(text string) string {
	if len(text) <= longest {
		return text
	}
	return strings.ToValidUTF8(text[:strings.LastIndexByte(text[:longest], '\n')+1], "") + "\n*" + s.speaker().Text(phrases.ReportEndCut) + "*\n"
}

// partialNote says what is missing, "" where nothing is.
func (s State) partialNote() string {
	omitted := s.omissionNote()
	if s.IsComplete {
		return omitted
	}
	var said []string
	for _, use := range s.ToolUsage {
		if text := fmt.Sprintf("`%s`: %s", use.Tool, plain.Clean(use.Error)); use.Error != "" && slices.Contains(s.missingTools(), use.Tool) && !slices.Contains(said, text) {
			said = append(said, text)
		}
	}
	text := fmt.Sprintf("After %d of %d passes there is still missing: %s.", s.IterationCount, s.MaxIterations, plain.Clean(strings.Join(s.missingFacts(), ", ")))
	if len(said) > 0 {
		text += " The tools said: " + plain.ShortenMarkdown(strings.Join(said, "; "), 2*maxError) + "."
	}
	return strings.TrimSpace(text + " " + omitted)
}

// omissionNote says how many statements were left out, "" for none.
func (s State) omissionNote() string {
	if s.LeftOut == 0 {
		return ""
	}
	return s.speaker().Count(phrases.StatementsRemoved, s.LeftOut)
}

func (s State) hasPicture() bool {
	return s.TaskType == AnalyzeRepo && s.Architecture != nil && s.Architecture.Picture != "" && len(s.Architecture.Picture) <= flows.MaxFile
}

// fileName is that of a file that goes with the reply: "cairn_report.md".
func (s State) fileName(ending string) string {
	if s.Wanted != nil {
		return plain.FileName(lastOf(s.Wanted.Name), "dependency", "_usage.md")
	}
	about := s.Name[strings.LastIndexByte(s.Name, '/')+1:]
	return plain.FileName(about, "repository", "_"+ending)
}

// threadSummary is what is said in the thread.
func (s State) threadSummary() string {
	var b strings.Builder
	if s.Wanted != nil {
		return report.UsageSummary(*s.Wanted, s.Searched) + "\n\n" + s.speaker().Text(phrases.AllInFile, s.fileName("report.md"))
	}
	if s.TaskType != AnalyzeRepo {
		b.WriteString(s.speaker().Text(phrases.AnswerInFile, s.fileName("report.md")) + "\n")
		for _, section := range s.Sections {
			fmt.Fprintf(&b, "\n**%s**\n\n", plain.Clean(section.Title))
			for _, statement := range section.Statements[:min(len(section.Statements), 3)] {
				fmt.Fprintf(&b, "- %s%s\n", plain.Clean(statement.Text), s.partlyText(statement))
			}
		}
		return b.String()
	}
	b.WriteString(s.speaker().Text(phrases.ReportReady, plain.Code(s.Name, 120), s.fileName("report.md")) + "\n\n")
	if s.RepoStructure != nil && s.RepoStructure.Readme != nil && s.RepoStructure.Readme.Text != "" {
		fmt.Fprintf(&b, "> %s\n\n", plain.ShortenMarkdown(plain.Clean(s.RepoStructure.Readme.Text), 300))
	}
	for _, step := range s.ReasoningSteps {
		fmt.Fprintf(&b, "- %s\n", plain.ShortenMarkdown(plain.Clean(step), 300))
	}
	var risks []string
	if s.RepoStructure != nil && s.Dependencies != nil {
		for _, risk := range slices.Concat(s.RepoStructure.Risks, s.Dependencies.Risks) {
			if kind := string(risk.Kind); !slices.Contains(risks, kind) {
				risks = append(risks, kind)
			}
		}
	}
	if len(risks) > 0 {
		b.WriteString("\n" + s.speaker().Text(phrases.RisksSeen, strings.Join(risks, ", ")) + "\n")
	}
	return b.String()
}

// partlyText is the mark of a statement that its sources support in part.
func (s State) partlyText(statement report.Statement) string {
	if !statement.Partly {
		return ""
	}
	return " *(" + s.speaker().Text(phrases.PartlyInSource) + ")*"
}

// traceNote is how the output came about.
func (s State) traceNote() string {
	by := phrases.ReadByTools
	switch {
	case s.Wanted != nil:
		by = phrases.ReadInManifests
	case len(s.Sections) > 0:
		by = phrases.WrittenFromTools
	}
	said := []string{s.speaker().Text(by)}
	if !s.IsComplete {
		said = []string{s.speaker().Count(phrases.PartialAfter, s.IterationCount), said[0]}
	}
	if len(s.Sections) > 0 && !s.ByModel {
		said = append(said, s.speaker().Text(phrases.WordsCompared))
	}
	if s.LeftOut > 0 {
		said = append(said, s.omissionNote())
	}
	return strings.Join(said, " ")
}

// evaluator scores the run.
func (f *Flow) evaluator(_ context.Context, step graph.Step[State]) (graph.Result[State], error) {
	s := step.State
	process := Process{
		Output: s.FinalOutput, Complete: s.IsComplete, Iterations: s.IterationCount, MaxIterations: s.MaxIterations,
		Reasoning: len(s.ReasoningSteps), Reflections: len(s.ReflectionNotes),
	}
	for _, use := range s.ToolUsage {
		process.Tools = append(process.Tools, use.Tool)
		process.Results = process.Results || use.Result != ""
	}
	return graph.Update(evaluationScores.Set(Evaluate(process))), nil
}
