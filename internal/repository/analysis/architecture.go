package analysis

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"cairn/internal/repository/manifest"
	"cairn/internal/repository/modules"
	"cairn/internal/repository/source"
)

// Architecture is a repository's modules and who imports whom.
type Architecture struct {
	Modules      []modules.Module `json:"modules"` // the most imported first
	ModulesTotal int              `json:"modules_total"`
	Edges        []modules.Edge   `json:"edges"` // the strongest first
	EdgesTotal   int              `json:"edges_total"`
	Cycles       []modules.Cycle  `json:"cycles,omitempty"`
	CyclesTotal  int              `json:"cycles_total,omitempty"`
	Imports      int              `json:"imports"`  // statements in files that are no tests
	External     int              `json:"external"` // of them lead out of the repository
	Entries      []Entry          `json:"entries,omitempty"`
	Picture      string           `json:"picture,omitempty"` // SVG
}

// Entry is where a program begins.
type Entry struct {
	Place
	Language source.Language `json:"language"`
}

// Bounds of an Architecture.
const (
	maxModules = 100
	maxEdges   = 300
	maxCycles  = 20
	maxInCycle = 30
	maxEntries = 30
)

// Architecture maps the modules by the imports of their files, and draws them.
func (a *Analyst) Architecture(ctx context.Context) (Architecture, error) {
	read, err := a.readAll(ctx)
	if err != nil {
		return Architecture{}, fmt.Errorf("generate the architecture map: %w", err)
	}
	m := modules.Build(read.sourceFiles(), read.namedModules())
	made := Architecture{
		Modules: m.Modules, ModulesTotal: len(m.Modules), Edges: m.Edges, EdgesTotal: len(m.Edges),
		CyclesTotal: len(m.Cycles), Imports: m.Imports, External: m.External, Entries: read.listEntries(),
	}
	if len(m.Modules) > 1 {
		made.Picture = m.SVG("Who imports whom in " + a.checkout.Name)
	}
	for _, cycle := range m.Cycles[:min(len(m.Cycles), maxCycles)] {
		cycle.Modules, cycle.Proof = cycle.Modules[:min(len(cycle.Modules), maxInCycle)], cycle.Proof[:min(len(cycle.Proof), maxInCycle)]
		made.Cycles = append(made.Cycles, cycle)
	}
	slices.SortStableFunc(made.Modules, func(a, b modules.Module) int {
		return cmp.Or(cmp.Compare(b.Imported, a.Imported), cmp.Compare(b.Files, a.Files))
	})
	slices.SortStableFunc(made.Edges, func(a, b modules.Edge) int { return cmp.Compare(b.Count, a.Count) })
	made.Modules = made.Modules[:min(len(made.Modules), maxModules)]
	made.Edges = made.Edges[:min(len(made.Edges), maxEdges)]
	return made, nil
}

func (r *reading) sourceFiles() []modules.File {
	var all []modules.File
	roots := map[string]bool{".": true}
	for _, m := range r.manifests {
		if m.Ecosystem == manifest.Go {
			roots[path.Dir(m.Path)] = true
		}
	}
	for _, f := range r.files {
		if !f.language.Imports() || f.binary || f.unread || f.language == source.Go && isIgnoredByGo(path.Dir(f.Path), roots) {
			continue
		}
		all = append(all, modules.File{Path: f.Path, Language: f.language, Facts: f.facts, Test: f.test})
	}
	return all
}

// isIgnoredByGo tells whether the go command looks into no packages of a folder: below the
// root of its module, some names keep it out.
func isIgnoredByGo(folder string, roots map[string]bool) bool {
	for ; !roots[folder]; folder = path.Dir(folder) {
		if name := path.Base(folder); name == "testdata" || name[0] == '_' || name[0] == '.' {
			return true
		}
	}
	return false
}

// namedModules returns the folders of the modules that manifests name.
func (r *reading) namedModules() modules.Named {
	named := modules.Named{Go: make(map[string]string), JavaScript: make(map[string]string), Rust: make(map[string]string)}
	for _, m := range r.manifests {
		if m.Name == "" {
			continue
		}
		switch m.Ecosystem {
		case manifest.Go:
			named.Go[m.Name] = path.Dir(m.Path)
		case manifest.JavaScript:
			named.JavaScript[m.Name] = path.Dir(m.Path)
		case manifest.Rust:
			named.Rust[strings.ReplaceAll(m.Name, "-", "_")] = path.Dir(m.Path)
		}
	}
	return named
}

// programFile returns the file of a program that a manifest names, "" where there is none.
func programFile(m manifest.Manifest, program manifest.Program, files map[string]source.Language) string {
	for _, file := range program.Paths {
		at := path.Join(path.Dir(m.Path), file)
		if _, ok := files[at]; ok {
			return at
		}
	}
	return ""
}

// listEntries lists where programs begin: by their files, and as manifests name them.
func (r *reading) listEntries() []Entry {
	var all []Entry
	known := make(map[string]bool)
	files := make(map[string]source.Language)
	for _, f := range r.files {
		files[f.Path] = f.language
		if f.facts.Main > 0 && !f.test && !known[f.Path] {
			known[f.Path] = true
			all = append(all, Entry{Place{f.Path, f.facts.Main}, f.language})
		}
	}
	for _, m := range r.manifests {
		for _, program := range m.Programs {
			at := programFile(m, program, files)
			if language, ok := files[at]; ok && !known[at] {
				known[at] = true
				all = append(all, Entry{Place{Path: at}, language})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(strings.Count(a.Path, "/"), strings.Count(b.Path, "/")), strings.Compare(a.Path, b.Path))
	})
	return all[:min(len(all), maxEntries)]
}
