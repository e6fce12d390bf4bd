package repo

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/phrases"
	"github.com/cairn-bot/cairn/internal/repository"
	"github.com/cairn-bot/cairn/internal/repository/analysis"
	"github.com/cairn-bot/cairn/internal/repository/reason"
)

// works are what a model makes for each type of task.
var works = map[TaskType]reason.Work{
	AnalyzeRepo: reason.Report, GenerateContent: reason.Content, AnswerQuestion: reason.Answer, General: reason.General,
}

// reasoner says what follows from what was found: a language model does, or rules.
func (f *Flow) reasoner(ctx context.Context, step graph.Step[State]) (graph.Result[State], error) {
	s := step.State
	if s.Failure != "" {
		return graph.Result[State]{}, nil
	}
	if s.Wanted != nil {
		return graph.Update(reasoningSteps.Set(s.freshSteps(stepsOfSearch(s)))), nil
	}
	if f.options.Model == nil {
		return graph.Update(reasoningSteps.Set(s.freshSteps(stepsByRules(s)))), nil
	}
	thought, used, err := reason.Think(ctx, f.options.Model, reason.Task{
		Run: s.RequestID, Work: works[s.TaskType], Text: s.taskText(), Sources: s.modelSources(),
	})
	if err != nil {
		return graph.Result[State]{}, fmt.Errorf("reason about the repository: %w", err)
	}
	if used.Failure != "" { // asking again in each pass would cost as much and say no more
		thought.Steps = stepsByRules(s)
	}
	var fresh []string
	for _, path := range thought.Missing {
		if !slices.Contains(s.WantedFiles, path) && !slices.ContainsFunc(s.CodeFiles, func(f analysis.CodeFile) bool { return f.Path == path }) && len(s.WantedFiles)+len(fresh) < maxFiles {
			fresh = append(fresh, path)
		}
	}
	return graph.Update(reasoningSteps.Set(s.freshSteps(thought.Steps)), stepsLeftOut.Set(s.StepsLeftOut+thought.LeftOut), wantedFiles.Set(fresh), modelUses.Set([]flows.ModelUse{used})), nil
}

// freshSteps leaves out the steps that an earlier pass took as well.
func (s State) freshSteps(steps []string) []string {
	return slices.DeleteFunc(slices.Clone(steps), func(step string) bool { return slices.Contains(s.ReasoningSteps, step) })
}

// taskText is the task in words; an analysis may have none.
func (s State) taskText() string {
	if s.Task == "" {
		return "Report on the repository " + s.Name
	}
	return s.Task
}

// stepsByRules is the reasoning without a model: one step for each thing that is known.
func stepsByRules(s State) []string {
	var steps []string
	speaker := s.speaker()
	add := func(key phrases.Key, values ...any) { steps = append(steps, speaker.Text(key, values...)) }
	if r := s.RepoStructure; r != nil {
		if languages := mainLanguages(r.Languages); len(languages) > 0 {
			add(phrases.RepositoryFiles, r.Files, strings.Join(languages, ", "), r.Tests)
		} else {
			add(phrases.RepositoryFilesUnknown, r.Files, r.Tests)
		}
	}
	if d := s.Dependencies; d != nil {
		add(phrases.RepositoryManifests, len(d.Manifests)+d.Left, d.Total)
	}
	if a := s.Architecture; a != nil {
		add(phrases.RepositoryModules, a.ModulesTotal, a.EdgesTotal, a.CyclesTotal)
	}
	if s.CodeFiles != nil {
		add(phrases.RepositoryTellingFiles, len(s.CodeFiles))
	}
	if s.RepoStructure != nil && s.Dependencies != nil {
		add(phrases.RepositoryRisks, len(s.RepoStructure.Risks)+len(s.Dependencies.Risks))
	}
	return steps
}

// mainShare is the part of the lines of programs that a language has which counts as one of the
// main ones: 1 in so many.
const mainShare = 10

// mainLanguages names the languages that most of a repository is written in, at most three.
func mainLanguages(all []analysis.Language) []string {
	lines := 0
	for _, language := range all {
		if language.Name.Program() {
			lines += language.Lines
		}
	}
	var names []string
	for _, language := range all {
		if language.Name.Program() && language.Lines*mainShare >= lines && len(names) < 3 {
			names = append(names, string(language.Name))
		}
	}
	return names
}

// maxFacts is how much of one tool's result a model is shown, in bytes.
const maxFacts = 6000

// modelSources is what a model is shown: the results of the tools, passages, files.
func (s State) modelSources() []reason.Source {
	if s.TaskType == AnswerQuestion {
		return slices.Concat(s.fileSources(), s.passageSources(), s.factSources())
	}
	return slices.Concat(s.factSources(), s.passageSources(), s.fileSources())
}

// factSources are the results of the tools.
func (s State) factSources() []reason.Source {
	var all []reason.Source
	if s.RepoStructure != nil {
		all = append(all, toolFacts("structure of the repository", s.RepoStructure))
	}
	if s.Dependencies != nil {
		all = append(all, toolFacts("dependencies of the repository", s.Dependencies))
	}
	if s.Architecture != nil {
		shown := *s.Architecture
		shown.Picture = ""
		all = append(all, toolFacts("architecture of the repository", &shown))
	}
	return all
}

// passageSources are passages of the team's documents.
func (s State) passageSources() []reason.Source {
	all := make([]reason.Source, len(s.Evidence))
	for i, passage := range s.Evidence {
		all[i] = reason.Source{Label: passage.Label, URL: passage.URL, Text: passage.Text}
	}
	return all
}

// fileSources are the parts of files that were read, by their first lines.
func (s State) fileSources() []reason.Source {
	all := make([]reason.Source, len(s.CodeFiles))
	for i, file := range s.CodeFiles {
		label := file.Path
		if file.Line > 1 {
			label = fmt.Sprintf("%s:%d", file.Path, file.Line)
		}
		all[i] = reason.Source{Label: label, URL: repository.Link(s.Web, file.Path, file.Line), Text: file.Excerpt}
	}
	return all
}

// toolFacts shows a tool's result to a model, as far as there is room.
func toolFacts[T any](label string, result *T) reason.Source {
	text, err := json.Marshal(result)
	if err != nil {
		panic(fmt.Sprintf("%s: %v", label, err)) // it was in a checkpoint
	}
	return reason.Source{Label: label, Text: strings.ToValidUTF8(string(text[:min(len(text), maxFacts)]), "")}
}

// reflector decides whether what is known is enough.
func (f *Flow) reflector(_ context.Context, step graph.Step[State]) (graph.Result[State], error) {
	s := step.State
	decide := func(next Action, note string, changes ...graph.Change[State]) (graph.Result[State], error) {
		note = fmt.Sprintf("pass %d: %s", s.IterationCount, note)
		return graph.Update(append(changes, nextAction.Set(next), reflectionNotes.Set([]string{note}))...), nil
	}
	if s.Failure != "" {
		return decide(Generate, "it can't be done: "+s.Failure)
	}
	lacks := s.missingFacts()
	if len(lacks) == 0 {
		return decide(Generate, "there is enough data and reasoning", isComplete.Set(true))
	}
	missing := strings.Join(lacks, ", ")
	switch {
	case s.canRetry(lacks) && !s.Retried:
		return decide(Retry, "one thing is missing: "+missing, retried.Set(true))
	case s.IterationCount < s.MaxIterations:
		return decide(Continue, "more is needed: "+missing)
	}
	return decide(Generate, fmt.Sprintf("after %d passes there is still missing: %s", s.IterationCount, missing))
}

// The names of what is no tool's.
const (
	lackReasoning = "reasoning"
	lackEvidence  = "evidence"
	lackFile      = "the file "
)

// missingFacts names what is missing.
func (s State) missingFacts() []string {
	var lacks []string
	if s.Wanted != nil {
		if s.Searched == nil {
			lacks = append(lacks, string(DependencyTool))
		}
		return lacks
	}
	if s.TaskType == AnalyzeRepo || s.Name != "" {
		for _, tool := range s.missingTools() {
			lacks = append(lacks, string(tool))
		}
		if len(lacks) == 0 {
			for _, path := range s.unreadFiles() {
				lacks = append(lacks, lackFile+path)
			}
		}
	}
	if s.TaskType == AnswerQuestion && len(s.Evidence) == 0 && s.Name == "" {
		lacks = append(lacks, lackEvidence)
	}
	if len(lacks) == 0 && len(s.ReasoningSteps)+s.StepsLeftOut < reason.MinSteps {
		lacks = append(lacks, lackReasoning)
	}
	return lacks
}

// canRetry tells whether the repo_analyzer may have what is missing: one tool's data, the
// files that a model named, or evidence where a repository was named beside a question.
func (s State) canRetry(lacks []string) bool {
	if s.Repository == "" {
		return false
	}
	files := !slices.ContainsFunc(lacks, func(lack string) bool { return !strings.HasPrefix(lack, lackFile) })
	return files || len(lacks) == 1 && lacks[0] != lackReasoning
}
