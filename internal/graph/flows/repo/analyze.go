package repo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/repository"
	"github.com/cairn-bot/cairn/internal/repository/analysis"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// What the tools are asked for.
const (
	maxDepth = 3
	maxFiles = 20
)

// maxError is how much of an error is kept, in characters.
const maxError = 300

// analyzer lets the tools that have given nothing yet look at the repository. What a model
// asked for is read again. A tool that fails is recorded, and its data stay missing.
func (f *Flow) analyzer(ctx context.Context, step graph.Step[State]) (result graph.Result[State], err error) {
	s := step.State
	if s.Wanted != nil {
		return f.searchManifests(ctx, step)
	}
	opened, err := f.options.Open(ctx, s.Repository)
	if err != nil {
		return f.recordUnopened(ctx, s, err)
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	if s.Commit != opened.Commit && s.Name != "" {
		// It has moved on since the last pass: what was read then is of another commit.
		s.RepoStructure, s.Dependencies, s.Architecture, s.CodeFiles = nil, nil, nil, nil
	}
	run := toolRun{now: f.options.Now, say: step.Detail}
	if s.RepoStructure == nil {
		s.RepoStructure = callTool(&run, StructureTool, fmt.Sprintf("path, max_depth=%d", maxDepth), func() (analysis.Structure, string, error) {
			found, err := opened.Tools.Structure(ctx, maxDepth)
			return found, fmt.Sprintf("%d files, %d languages", found.Files, len(found.Languages)), err
		})
	}
	if s.CodeFiles == nil || s.unreadFiles() != nil {
		asked := s.unreadFiles()
		found := callTool(&run, SourcesTool, strings.Join(append([]string{fmt.Sprintf("path, max_files=%d", maxFiles)}, asked...), ", "), func() ([]analysis.CodeFile, string, error) {
			found, err := opened.Tools.Sources(ctx, s.fileSelection())
			return found, fmt.Sprintf("%d files", len(found)), err
		})
		if found != nil {
			s.CodeFiles = slices.Concat([]analysis.CodeFile{}, *found)
		}
	}
	if s.Dependencies == nil {
		s.Dependencies = callTool(&run, DependenciesTool, "path", func() (analysis.Dependencies, string, error) {
			found, err := opened.Tools.Dependencies(ctx)
			return found, fmt.Sprintf("%d dependencies in %d manifests", found.Total, len(found.Manifests)+found.Left), err
		})
	}
	if s.Architecture == nil {
		s.Architecture = callTool(&run, ArchitectureTool, "path", func() (analysis.Architecture, string, error) {
			found, err := opened.Tools.Architecture(ctx)
			return found, fmt.Sprintf("%d modules, %d imports between them, %d cycles", found.ModulesTotal, found.EdgesTotal, found.CyclesTotal), err
		})
	}
	if ctx.Err() != nil {
		return graph.Result[State]{}, fmt.Errorf("read repository %s: %w", opened.Name, ctx.Err())
	}
	return graph.Update(
		name.Set(opened.Name), commit.Set(opened.Commit), web.Set(opened.Web), repoStructure.Set(s.RepoStructure),
		codeFiles.Set(s.CodeFiles), dependencies.Set(s.Dependencies), architecture.Set(s.Architecture), toolUsage.Set(run.uses),
	), nil
}

// fileSelection says which files are read: for a question those that it points to.
func (s State) fileSelection() analysis.Selection {
	wanted := analysis.Selection{Most: maxFiles, Wanted: s.WantedFiles}
	if s.TaskType == AnswerQuestion {
		wanted.Question = s.Task
	}
	return wanted
}

// recordUnopened records that no tool had a repository to look at.
func (f *Flow) recordUnopened(ctx context.Context, s State, err error) (graph.Result[State], error) {
	if refused, is := errors.AsType[*repository.RefusedError](err); is {
		return graph.Update(failure.Set(refused.Text)), nil
	}
	if ctx.Err() != nil {
		return graph.Result[State]{}, fmt.Errorf("open the repository: %w", ctx.Err())
	}
	var uses []ToolUse
	for _, tool := range s.missingTools() {
		uses = append(uses, ToolUse{Tool: tool, Arguments: "path", Error: shorten.Line(err.Error(), maxError)})
	}
	return graph.Update(toolUsage.Set(uses)), nil
}

// missingTools names the tools that have given nothing yet.
func (s State) missingTools() []Tool {
	known := map[Tool]bool{
		StructureTool: s.RepoStructure != nil, SourcesTool: s.CodeFiles != nil,
		DependenciesTool: s.Dependencies != nil, ArchitectureTool: s.Architecture != nil,
	}
	var missing []Tool
	for _, tool := range tools {
		if !known[tool] {
			missing = append(missing, tool)
		}
	}
	return missing
}

// unreadFiles names the files that a model asked for last and that no call of the tool was for.
func (s State) unreadFiles() []string {
	var unread []string
	for _, path := range s.WantedFiles {
		asked := slices.ContainsFunc(s.ToolUsage, func(use ToolUse) bool {
			return use.Tool == SourcesTool && use.Error == "" && strings.Contains(use.Arguments+",", ", "+path+",")
		})
		if !asked {
			unread = append(unread, path)
		}
	}
	return unread
}

// doing says what a tool does, for people.
var doing = map[Tool]string{
	StructureTool: "Looking at how it is laid out…", SourcesTool: "Reading the files that tell most…",
	DependencyTool:   "Reading manifests…",
	DependenciesTool: "Reading what it depends on…", ArchitectureTool: "Mapping who imports whom…",
}

// toolRun records what tools do.
type toolRun struct {
	now  func() time.Time
	say  func(string)
	uses []ToolUse
}

// callTool calls a tool and records that. It gives nil where the tool failed.
func callTool[T any](run *toolRun, tool Tool, arguments string, call func() (T, string, error)) *T {
	run.say(doing[tool])
	started := run.now()
	found, result, err := call()
	used := ToolUse{Tool: tool, Arguments: arguments, Duration: run.now().Sub(started)}
	if err != nil {
		used.Error = shorten.Line(err.Error(), maxError)
		run.uses = append(run.uses, used)
		return nil
	}
	used.Result = result
	run.uses = append(run.uses, used)
	return &found
}

// retriever searches the team's documents for what the task asks: from the second pass on
// with its telling words, and then one of them after the other.
func (f *Flow) retriever(ctx context.Context, step graph.Step[State]) (graph.Result[State], error) {
	s := step.State
	query := searchOf(s.Task, s.IterationCount)
	used := ToolUse{Tool: SearchTool, Arguments: query}
	if f.options.Search == nil {
		used.Error = "there is no index"
		return graph.Update(toolUsage.Set([]ToolUse{used})), nil
	}
	started := f.options.Now()
	filter := index.Filter{Sources: s.Scope.Sources}
	found, err := f.options.Search.Search(ctx, retrieve.Query{Text: query, Filter: filter, Limit: maxPassages})
	used.Duration = f.options.Now().Sub(started)
	if ctx.Err() != nil {
		return graph.Result[State]{}, fmt.Errorf("search the documents: %w", ctx.Err())
	}
	if err != nil {
		used.Error = shorten.Line(err.Error(), maxError)
		return graph.Update(toolUsage.Set([]ToolUse{used})), nil
	}
	passages := slices.Clone(s.Evidence)
	for _, one := range found.Evidence {
		passage := Passage{Label: one.Document.Title, URL: webAddress(knowledge.URLWithAnchor(one.Document, one.Passage.Anchor)), Text: knowledge.WithoutAddresses(one.Passage.Text)}
		if len(one.Passage.Headings) > 0 {
			passage.Label += " › " + one.Passage.Headings[len(one.Passage.Headings)-1]
		}
		if !slices.Contains(passages, passage) && len(passages) < 2*maxPassages {
			passages = append(passages, passage)
		}
	}
	if len(found.Evidence) > 0 {
		used.Result = fmt.Sprintf("%d passages", len(found.Evidence))
	}
	return graph.Update(evidence.Set(passages), toolUsage.Set([]ToolUse{used})), nil
}

// maxPassages is how many passages a search gives.
const maxPassages = 12

// searchOf is what is searched for in a pass.
func searchOf(task string, pass int) string {
	terms := retrieve.Terms(task)
	if pass <= 1 || len(terms) == 0 {
		return task
	}
	if pass == 2 {
		words := make([]string, len(terms))
		for i, term := range terms {
			words[i] = term.Text
		}
		return strings.Join(words, " ")
	}
	return terms[(pass-3)%len(terms)].Text
}

// webAddress leaves out the addresses of files on the bot's own machine.
func webAddress(address string) string {
	if strings.HasPrefix(address, "https://") || strings.HasPrefix(address, "http://") {
		return address
	}
	return ""
}
