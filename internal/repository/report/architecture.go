package report

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"cairn/internal/repository/analysis"
)

// How much of an architecture is written down.
const (
	maxModules = 25
	maxEdges   = 40
)

func (w *writer) architecture(f Facts) {
	w.line("## Architecture\n")
	a := f.Architecture
	if a == nil {
		w.line("*It could not be read.*\n")
		return
	}
	if a.ModulesTotal == 0 {
		w.line("There is no source code in a language whose imports I read.\n")
		return
	}
	w.line("%s modules (folders with source code), %s imports between two of them; %s of %s import statements lead elsewhere.",
		humanize.Comma(int64(a.ModulesTotal)), humanize.Comma(int64(a.EdgesTotal)), humanize.Comma(int64(a.External)), humanize.Comma(int64(a.Imports)))
	if f.Picture != "" {
		w.line("The picture `%s` shows who imports whom.", f.Picture)
	}
	w.line("\n| Module | Language | Files | Imported by |\n|---|---|---:|---:|")
	for _, module := range a.Modules[:min(len(a.Modules), maxModules)] {
		name := cell(module.Path)
		if module.Cycle > 0 {
			name += fmt.Sprintf(" (cycle %d)", module.Cycle)
		}
		w.line("| %s | %s | %d | %d |", name, module.Language, module.Files, module.Imported)
	}
	if more := a.ModulesTotal - min(len(a.Modules), maxModules); more > 0 {
		w.line("\n%d more modules are not listed.", more)
	}
	w.line("")
	if len(a.Edges) > 0 {
		w.line("The strongest ties:\n")
	}
	for _, edge := range a.Edges[:min(len(a.Edges), maxEdges)] {
		w.line("- %s imports %s: %d, first in %s", code(edge.From), code(edge.To), edge.Count, w.at(analysis.Place{Path: edge.File, Line: edge.Line}))
	}
	w.line("")
	if a.CyclesTotal == 0 {
		w.line("No modules import one another in a circle.\n")
		return
	}
	w.line("Modules that import one another in a circle (%d):\n", a.CyclesTotal)
	for i, cycle := range a.Cycles {
		w.line("- Cycle %d: %s", i+1, codes(cycle, maxModules))
	}
	w.line("")
}

func (w *writer) entries(f Facts) {
	w.line("## Entry points\n")
	if f.Architecture == nil {
		w.line("*They could not be read.*\n")
		return
	}
	if len(f.Architecture.Entries) == 0 {
		w.line("None was found: it may be a library.\n")
	}
	for _, entry := range f.Architecture.Entries {
		w.line("- %s (%s)", w.at(entry.Place), entry.Language)
	}
	w.line("")
	if len(f.Files) > 0 {
		w.line("## Files to begin with\n")
		for _, file := range f.Files {
			w.line("- %s, %s lines: %s", w.at(analysis.Place{Path: file.Path}), humanize.Comma(int64(file.Lines)), file.Why)
		}
		w.line("")
	}
}

func (w *writer) tests(s *analysis.Structure) {
	w.line("## Tests\n")
	if s == nil {
		w.line("*They could not be counted.*\n")
		return
	}
	if s.Tests == 0 {
		w.line("No tests were found.")
	} else {
		w.line("%s of tests, as in %s.", files(s.Tests), w.places(s.TestFiles[:min(len(s.TestFiles), 3)], 0))
	}
	if len(s.CI) > 0 {
		w.line("What runs on changes: %s.", w.places(s.CI, 0))
	} else {
		w.line("Nothing was found that says what runs on changes.")
	}
	w.line("")
}

func (w *writer) risks(f Facts) {
	w.line("## Risks seen\n")
	var all []analysis.Risk
	if f.Structure != nil {
		all = append(all, f.Structure.Risks...)
	}
	if f.Dependencies != nil {
		all = append(all, f.Dependencies.Risks...)
	}
	switch {
	case f.Structure == nil || f.Dependencies == nil:
		w.line("*Not all could be looked for.*\n")
	case len(all) == 0:
		w.line("None of those that are looked for: a missing lock file, license or tests, huge files, secrets by their look, images without a version.\n")
	}
	for _, risk := range all {
		where := ""
		if len(risk.Places) > 0 {
			where = " " + w.places(risk.Places, risk.More)
		}
		w.line("- **%s**: %s%s", risk.Kind, risk.Text, where)
	}
	w.line("")
}

func (w *writer) steps(steps []string) {
	if len(steps) == 0 {
		return
	}
	w.line("## How this was reasoned\n")
	for i, step := range steps {
		w.line("%d. %s", i+1, clean(step))
	}
	w.line("")
}

// Answer writes what a language model said to a task that is no analysis.
func Answer(f Facts, task string) string {
	w := &writer{web: f.Web}
	w.line("# %s\n", clean(strings.TrimSpace(task)))
	if f.Partial != "" {
		w.line("**This is partial.** %s\n", f.Partial)
	}
	w.sections(f.Sections)
	w.steps(f.Steps)
	return w.String()
}
