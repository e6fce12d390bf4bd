package report

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"cairn/internal/repository/analysis"
	"cairn/internal/repository/modules"
)

// How much of an architecture is written down.
const (
	maxModules = 25
	maxEdges   = 40
)

func (w *writer) writeArchitecture(f Facts) {
	w.writeLine("## Architecture\n")
	a := f.Architecture
	if a == nil {
		w.writeLine("*It could not be read.*\n")
		return
	}
	if a.ModulesTotal == 0 {
		w.writeLine("There is no source code in a language whose imports I read.\n")
		return
	}
	w.writeLine("%s modules (folders with source code), %s imports between two of them; %s of %s import statements lead elsewhere.",
		humanize.Comma(int64(a.ModulesTotal)), humanize.Comma(int64(a.EdgesTotal)), humanize.Comma(int64(a.External)), humanize.Comma(int64(a.Imports)))
	if f.Picture != "" {
		w.writeLine("The picture `%s` shows who imports whom.", f.Picture)
	}
	w.writeLine("\n| Module | Language | Files | Imported by |\n|---|---|---:|---:|")
	for _, module := range a.Modules[:min(len(a.Modules), maxModules)] {
		name := codeCell(module.Path)
		if module.Cycle > 0 {
			name += fmt.Sprintf(" (cycle %d)", module.Cycle)
		}
		w.writeLine("| %s | %s | %d | %d |", name, module.Language, module.Files, module.Imported)
	}
	if more := a.ModulesTotal - min(len(a.Modules), maxModules); more > 0 {
		w.writeLine("\n%d more modules are not listed.", more)
	}
	w.writeLine("")
	if len(a.Edges) > 0 {
		w.writeLine("The strongest ties:\n")
	}
	for _, edge := range a.Edges[:min(len(a.Edges), maxEdges)] {
		w.writeLine("- %s imports %s: %d, first in %s", codeText(edge.From), codeText(edge.To), edge.Count, w.placeText(analysis.Place{Path: edge.File, Line: edge.Line}))
	}
	w.writeLine("")
	if a.CyclesTotal == 0 {
		w.writeLine("No modules import one another in a circle.\n")
		return
	}
	w.writeLine("Modules whose files import one another in a circle (%d):\n", a.CyclesTotal)
	for i, cycle := range a.Cycles {
		w.writeLine("- Cycle %d: %s%s", i+1, codeList(cycle.Modules, maxModules), w.proofText(cycle.Proof))
	}
	w.writeLine("")
}

// maxProof is how many imports of a cycle are shown.
const maxProof = 8

// proofText shows the imports that make a circle.
func (w *writer) proofText(proof []modules.Link) string {
	if len(proof) == 0 || len(proof) > maxProof {
		return ""
	}
	links := make([]string, len(proof))
	for i, link := range proof {
		links[i] = fmt.Sprintf("%s imports %s in %s", codeText(link.From), codeText(link.To), w.placeText(analysis.Place{Path: link.File, Line: link.Line}))
	}
	return ". " + strings.Join(links, ", ") + "."
}

func (w *writer) writeEntries(f Facts) {
	w.writeLine("## Entry points\n")
	if f.Architecture == nil {
		w.writeLine("*They could not be read.*\n")
		return
	}
	if len(f.Architecture.Entries) == 0 {
		w.writeLine("None was found: it may be a library.\n")
	}
	for _, entry := range f.Architecture.Entries {
		w.writeLine("- %s (%s)", w.placeText(entry.Place), entry.Language)
	}
	w.writeLine("")
	if len(f.Files) > 0 {
		w.writeLine("## Files to begin with\n")
		for _, file := range f.Files {
			w.writeLine("- %s, %s lines: %s", w.placeText(analysis.Place{Path: file.Path}), humanize.Comma(int64(file.Lines)), file.Why)
		}
		w.writeLine("")
	}
}

func (w *writer) writeTests(s *analysis.Structure) {
	w.writeLine("## Tests\n")
	if s == nil {
		w.writeLine("*They could not be counted.*\n")
		return
	}
	if s.Tests == 0 {
		w.writeLine("No tests were found.")
	} else {
		w.writeLine("%s of tests, as in %s.", countFiles(s.Tests), w.placesText(s.TestFiles[:min(len(s.TestFiles), 3)], 0))
	}
	if len(s.CI) > 0 {
		w.writeLine("What runs on changes: %s.", w.placesText(s.CI, 0))
	} else {
		w.writeLine("Nothing was found that says what runs on changes.")
	}
	w.writeLine("")
}

func (w *writer) writeRisks(f Facts) {
	w.writeLine("## Risks seen\n")
	var all []analysis.Risk
	if f.Structure != nil {
		all = append(all, f.Structure.Risks...)
	}
	if f.Dependencies != nil {
		all = append(all, f.Dependencies.Risks...)
	}
	switch {
	case f.Structure == nil || f.Dependencies == nil:
		w.writeLine("*Not all could be looked for.*\n")
	case len(all) == 0:
		w.writeLine("None of those that are looked for: a missing lock file, license or tests, huge files, secrets by their look, images without a version.\n")
	}
	for _, risk := range all {
		where := ""
		if len(risk.Places) > 0 {
			where = " " + w.placesText(risk.Places, risk.More)
		}
		w.writeLine("- **%s**: %s%s", risk.Kind, risk.Text, where)
	}
	w.writeLine("")
}

func (w *writer) writeSteps(steps []string) {
	if len(steps) == 0 {
		return
	}
	w.writeLine("## How this was reasoned\n")
	for i, step := range steps {
		w.writeLine("%d. %s", i+1, cleanText(step))
	}
	w.writeLine("")
}

// Answer writes what a language model said to a task that is no analysis.
func Answer(f Facts, task string) string {
	w := &writer{web: f.Web}
	w.writeLine("# %s\n", cleanText(strings.TrimSpace(task)))
	if f.Partial != "" {
		w.writeLine("**This is partial.** %s\n", f.Partial)
	}
	w.writeSections(f.Sections)
	w.writeSteps(f.Steps)
	return w.String()
}
