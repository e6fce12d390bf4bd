package report

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/cairn-bot/cairn/internal/phrases"
	"github.com/cairn-bot/cairn/internal/repository/analysis"
	"github.com/cairn-bot/cairn/internal/repository/modules"
	"github.com/cairn-bot/cairn/internal/repository/source"
)

// How much of an architecture is written down.
const (
	maxModules = 25
	maxEdges   = 40
)

func (w *writer) writeArchitecture(f Facts) {
	w.writeHeading(phrases.ReportArchitecture)
	a := f.Architecture
	if a == nil {
		w.writeUnread()
		return
	}
	if a.ModulesTotal == 0 {
		w.writeLine("There is no source code in a language whose imports I read.\n")
		return
	}
	w.writeLine("%s (folders with source code other than tests), %s between them by imports; %s of %s lead out of the repository or could not be followed.",
		countNouns(a.ModulesTotal, "module"), countNouns(a.EdgesTotal, "link"), humanize.Comma(int64(a.External)), countNouns(a.Imports, "import statement"))
	if a.Unbuilt > 0 {
		w.writeLine("Left out: %s of Go that no build has without tags of the project's own.", countFiles(a.Unbuilt))
	}
	if f.Picture != "" {
		w.writeLine("The picture `%s` shows who imports whom.", f.Picture)
	}
	w.writeLine("")
	w.writeColumns(phrases.ReportModuleColumns, "|---|---|---:|---:|")
	for _, module := range a.Modules[:min(len(a.Modules), maxModules)] {
		name := moduleCell(module)
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
		w.writeLine("%s\n", w.text(phrases.ReportStrongestTies))
	}
	for _, edge := range a.Edges[:min(len(a.Edges), maxEdges)] {
		w.writeLine("- %s imports %s: %d, first in %s", moduleText(a, edge.From), moduleText(a, edge.To), edge.Count, w.placeText(analysis.Place{Path: edge.File, Line: edge.Line}))
	}
	w.writeLine("")
	if a.CyclesTotal == 0 {
		w.writeLine("%s\n", w.text(phrases.ReportNoCircle))
		return
	}
	w.writeLine("Modules whose files import one another in a circle (%d):\n", a.CyclesTotal)
	for i, cycle := range a.Cycles {
		w.writeLine("- Cycle %d: %s%s", i+1, codeList(cycle.Modules, maxModules), w.proofText(a, cycle.Proof))
	}
	w.writeLine("")
}

// writeEntryList lists what ships, and counts the rest by what it is for.
func (w *writer) writeEntryList(a *analysis.Architecture) {
	others := make(map[source.Role][]analysis.Place)
	shipped := 0
	for _, entry := range a.Entries {
		if entry.Role == source.Shipped {
			shipped++
			w.writeLine("- %s: %s (%s)%s", w.placeText(entry.Place), entryText(entry), entry.Language, w.namedText(entry))
		} else {
			others[entry.Role] = append(others[entry.Role], entry.Place)
		}
	}
	if shipped == 0 {
		w.writeLine("No program was found to begin in what it ships: it may be a library.")
	}
	for _, kind := range []struct {
		role source.Role
		text string
	}{{source.Tool, "Of tools and generators"}, {source.Example, "Of examples"}} {
		if places := others[kind.role]; len(places) > 0 {
			shown := places[:min(len(places), maxOthers)]
			w.writeLine("\n%s: %s.", kind.text, w.placesText(shown, len(places)-len(shown)))
		}
	}
	if more := a.EntriesTotal - len(a.Entries); more > 0 {
		w.writeLine("\n%d more are not listed.", more)
	}
	w.writeLine("")
}

// maxOthers is how many programs of tools and of examples are named.
const maxOthers = 5

// entryText says what begins in a file.
func entryText(entry analysis.Entry) string {
	name := ""
	if entry.Name != "" {
		name = " " + codeText(entry.Name)
	}
	switch entry.Kind {
	case analysis.LibraryEntry:
		if name == "" {
			name = " the package in this folder"
		}
		return "what those get who import" + name
	case analysis.ScriptEntry:
		return "a script that is run by its name"
	case analysis.ProgramEntry:
	}
	return "the program" + name
}

// namedText says which manifest names an entry.
func (w *writer) namedText(entry analysis.Entry) string {
	if entry.Named.Path == "" {
		return ""
	}
	return ", by " + w.placeText(entry.Named)
}

// moduleText names a module by its folder, the root by its name.
func moduleText(a *analysis.Architecture, folder string) string {
	for _, module := range a.Modules {
		if module.Path == folder && folder == "." && module.Name != "" {
			return codeText(module.Name)
		}
	}
	return codeText(folder)
}

// moduleCell names a module in a table.
func moduleCell(module modules.Module) string {
	if module.Path == "." {
		return "the root, " + codeCell(module.Name)
	}
	return codeCell(module.Path)
}

// maxProof is how many imports of a cycle are shown.
const maxProof = 8

// proofText shows the imports that make a circle.
func (w *writer) proofText(a *analysis.Architecture, proof []modules.Link) string {
	if len(proof) == 0 || len(proof) > maxProof {
		return ""
	}
	links := make([]string, len(proof))
	for i, link := range proof {
		links[i] = fmt.Sprintf("%s imports %s in %s", moduleText(a, link.From), moduleText(a, link.To), w.placeText(analysis.Place{Path: link.File, Line: link.Line}))
	}
	return ". " + strings.Join(links, ", ") + "."
}

func (w *writer) writeEntries(f Facts) {
	w.writeHeading(phrases.ReportEntries)
	if f.Architecture == nil {
		w.writeUnread()
		return
	}
	w.writeEntryList(f.Architecture)
	if len(f.Files) > 0 {
		w.writeHeading(phrases.ReportFirstFiles)
		for _, file := range f.Files {
			w.writeLine("- %s, %s: %s", w.placeText(analysis.Place{Path: file.Path}), countNouns(file.Lines, "line"), file.Why)
		}
		w.writeLine("")
	}
}

func (w *writer) writeTests(s *analysis.Structure) {
	w.writeHeading(phrases.ReportTests)
	if s == nil {
		w.writeUnread()
		return
	}
	if s.Tests == 0 {
		w.writeLine("%s", w.text(phrases.ReportNoTests))
	} else {
		w.writeLine("%s in folders of tests or named like tests, as %s.", countFiles(s.Tests), w.placesText(s.TestFiles[:min(len(s.TestFiles), 3)], 0))
	}
	if len(s.CI) > 0 {
		w.writeLine("Files that tell its CI what to run: %s.", w.placesText(s.CI, s.CITotal-len(s.CI)))
	} else {
		w.writeLine("%s", w.text(phrases.ReportNoCI))
	}
	w.writeLine("")
}

func (w *writer) writeRisks(f Facts) {
	w.writeHeading(phrases.ReportRisks)
	var all []analysis.Risk
	if f.Structure != nil {
		all = append(all, f.Structure.Risks...)
	}
	if f.Dependencies != nil {
		all = append(all, f.Dependencies.Risks...)
	}
	switch {
	case f.Structure == nil || f.Dependencies == nil:
		w.writeUnread()
	case len(all) == 0:
		w.writeLine("%s\n", w.text(phrases.ReportNoRisks))
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
	w.writeHeading(phrases.ReportSteps)
	for i, step := range steps {
		w.writeLine("%d. %s", i+1, cleanText(step))
	}
	w.writeLine("")
}

// Answer writes what a language model said to a task that is no analysis.
func Answer(f Facts, task string) string {
	w := &writer{web: f.Web, speaker: phrases.In(f.Language)}
	w.writeLine("# %s\n", cleanText(strings.TrimSpace(task)))
	if f.Partial != "" {
		w.writeLine("**%s** %s\n", w.text(phrases.ReportPartial), f.Partial)
	}
	w.writeSections(f.Sections)
	w.writeSteps(f.Steps)
	return w.String()
}
