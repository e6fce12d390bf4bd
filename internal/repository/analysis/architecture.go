package analysis

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/repository/manifest"
	"github.com/cairn-bot/cairn/internal/repository/modules"
	"github.com/cairn-bot/cairn/internal/repository/source"
)

// Architecture is a repository's modules and who imports whom.
type Architecture struct {
	Modules      []modules.Module `json:"modules"` // the most imported first
	ModulesTotal int              `json:"modules_total"`
	Edges        []modules.Edge   `json:"edges"` // the strongest first
	EdgesTotal   int              `json:"edges_total"`
	Cycles       []modules.Cycle  `json:"cycles,omitempty"`
	CyclesTotal  int              `json:"cycles_total,omitempty"`
	Imports      int              `json:"imports"`           // statements in files that are no tests
	External     int              `json:"external"`          // of them lead out of the repository
	Unbuilt      int              `json:"unbuilt,omitempty"` // files that are in no build, see modules.Map
	Entries      []Entry          `json:"entries,omitempty"` // those that ship first
	EntriesTotal int              `json:"entries_total,omitempty"`
	Picture      string           `json:"picture,omitempty"` // SVG
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
	m := read.modules
	made := Architecture{
		Modules: slices.Clone(m.Modules), ModulesTotal: len(m.Modules), Edges: slices.Clone(m.Edges), EdgesTotal: len(m.Edges),
		CyclesTotal: len(m.Cycles), Imports: m.Imports, External: m.External, Unbuilt: m.Unbuilt,
		Entries: read.entries[:min(len(read.entries), maxEntries)], EntriesTotal: len(read.entries),
	}
	for i := range made.Modules {
		if made.Modules[i].Path == "." {
			made.Modules[i].Name = read.rootName(a.checkout.Name)
		}
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

// rootName returns what the manifest of the root calls it, or else what is given.
func (r *reading) rootName(otherwise string) string {
	for _, m := range r.manifests {
		if path.Dir(m.Path) == "." && m.Name != "" && !m.Lock {
			return m.Name
		}
	}
	return otherwise
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
		all = append(all, modules.File{Path: f.Path, Language: f.language, Facts: f.facts, Test: f.test, Role: f.role})
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
