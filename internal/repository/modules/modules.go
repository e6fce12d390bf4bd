// Package modules puts the imports of files together to a map of a repository: its
// modules, which are its folders with source code, and who imports whom. What is imported
// from elsewhere is no module; imports of tests do not count.
package modules

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/repository/source"
)

// File is a file of source code.
type File struct {
	Path     string
	Language source.Language
	Facts    source.Facts
	Test     bool
	Role     source.Role
}

// Named are the folders of a repository by the names that its manifests give them.
type Named struct {
	Go         map[string]string // module path → folder
	JavaScript map[string]string // package → folder
	Rust       map[string]string // crate, with "_" for "-" → folder
}

// Module is a folder with source code.
type Module struct {
	Path     string          `json:"path"`           // "." for the root
	Name     string          `json:"name,omitempty"` // of the root, as its manifest gives it
	Files    int             `json:"files"`
	Language source.Language `json:"language"`        // of most of its files
	Imported int             `json:"imported"`        // modules that import it
	Cycle    int             `json:"cycle,omitempty"` // 1-based number of the cycle that it is part of
}

// Edge says that one module imports another.
type Edge struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Count int    `json:"count"` // imports
	File  string `json:"file"`  // that has the first of them
	Line  int    `json:"line"`

	// loads are the imports that loading From needs, see source.Import.Deferred: the first one
	// of each build.
	loads []load
}

// load is an import and the builds that it is the first one in.
type load struct {
	Link
	builds source.Builds
}

// builds returns those in which loading From needs To.
func (e *Edge) builds() source.Builds {
	var all source.Builds
	for _, one := range e.loads {
		all |= one.builds
	}
	return all
}

// Link is an import that is part of a cycle.
type Link struct {
	From string `json:"from"`
	To   string `json:"to"`
	File string `json:"file"`
	Line int    `json:"line"`
}

// Map is a repository's modules and who imports whom.
type Map struct {
	Modules  []Module // in the order of their paths
	Edges    []Edge   // in the order of From and To
	Cycles   []Cycle
	Imports  int // statements in all files that are no tests
	External int // of them lead out of the repository, or are not understood
	// Importers counts the shipped files that import a file, or the folder where the language
	// imports folders, from another folder or file: see source.Shipped.
	Importers map[string]int
	// Unbuilt counts the files that no build has without tags of the project's own, as
	// "//go:build ignore": they are part of no module.
	Unbuilt int
	// Targets are the files that each file imports, where its language imports files.
	Targets map[string][]string
}

// Cycle is modules that import one another in a circle, in one build at least.
type Cycle struct {
	Modules []string `json:"modules"` // in the order of their paths
	Proof   []Link   `json:"proof"`   // a shortest circle through the first of them
}

// Build makes the map.
func Build(files []File, named Named) Map {
	x := newIndex(files, named)
	made := Map{Importers: make(map[string]int), Targets: make(map[string][]string)}
	edges := make(map[[2]string]*Edge)
	for _, file := range files {
		if !file.Test && file.Facts.Builds == 0 {
			made.Unbuilt++
		}
		if file.Test || file.Facts.Builds == 0 {
			continue
		}
		from := path.Dir(file.Path)
		imported := make(map[string]bool)
		for _, found := range file.Facts.Imports {
			targets := x.resolveImport(file, found)
			if found.Named && len(targets) == 0 {
				continue
			}
			made.Imports++
			if len(targets) == 0 {
				made.External++
			}
			counted := make(map[string]bool)
			for _, target := range targets {
				to := target.folder
				if target.file != "" {
					made.Targets[file.Path] = append(made.Targets[file.Path], target.file)
				}
				if one := cmp.Or(target.file, to); one != file.Path && one != from && file.Role == source.Shipped && !imported[one] {
					imported[one] = true
					made.Importers[one]++
				}
				if to == from || counted[to] {
					continue
				}
				counted[to] = true
				key := [2]string{from, to}
				if edges[key] == nil {
					edges[key] = &Edge{From: from, To: to, File: file.Path, Line: found.Line}
				}
				edges[key].Count++
				if fresh := file.Facts.Builds &^ edges[key].builds(); !found.Deferred && fresh != 0 {
					edges[key].loads = append(edges[key].loads, load{Link{from, to, file.Path, found.Line}, fresh})
				}
			}
		}
	}
	for _, edge := range edges {
		made.Edges = append(made.Edges, *edge)
	}
	slices.SortFunc(made.Edges, func(a, b Edge) int { return cmp.Or(strings.Compare(a.From, b.From), strings.Compare(a.To, b.To)) })
	made.Modules = modulesOf(files)
	made.markImports()
	return made
}

// modulesOf lists the folders that have files that are no tests.
func modulesOf(files []File) []Module {
	counts := make(map[string]map[source.Language]int)
	for _, file := range files {
		if file.Test || file.Facts.Builds == 0 {
			continue
		}
		folder := path.Dir(file.Path)
		if counts[folder] == nil {
			counts[folder] = make(map[source.Language]int)
		}
		counts[folder][file.Language]++
	}
	var all []Module
	for folder, languages := range counts {
		module := Module{Path: folder}
		most := 0
		for language, count := range languages {
			module.Files += count
			if count > most || count == most && language < module.Language {
				most, module.Language = count, language
			}
		}
		all = append(all, module)
	}
	slices.SortFunc(all, func(a, b Module) int { return strings.Compare(a.Path, b.Path) })
	return all
}

// markImports counts who is imported, and finds the cycles.
func (m *Map) markImports() {
	at := make(map[string]int, len(m.Modules))
	for i, module := range m.Modules {
		at[module.Path] = i
	}
	for _, edge := range m.Edges {
		m.Modules[at[edge.To]].Imported++
	}
	m.findCycles(at)
	for number, cycle := range m.Cycles {
		for _, one := range cycle.Modules {
			if m.Modules[at[one]].Cycle == 0 {
				m.Modules[at[one]].Cycle = number + 1
			}
		}
	}
}

// findCycles finds the circles of each build: imports of several builds that make one
// together only are none.
func (m *Map) findCycles(at map[string]int) {
	constrained := slices.ContainsFunc(m.Edges, func(edge Edge) bool { return edge.builds() != 0 && edge.builds() != source.AllBuilds })
	known := make(map[string]bool)
	for build := source.Builds(1); build&source.AllBuilds != 0; build <<= 1 {
		next := make([][]int, len(m.Modules))
		for _, edge := range m.Edges {
			if edge.builds()&build != 0 {
				next[at[edge.From]] = append(next[at[edge.From]], at[edge.To])
			}
		}
		for _, group := range stronglyConnected(next) {
			if len(group) < 2 {
				continue
			}
			slices.Sort(group)
			var paths []string
			for _, i := range group {
				paths = append(paths, m.Modules[i].Path)
			}
			if key := strings.Join(paths, "\n"); !known[key] {
				known[key] = true
				m.Cycles = append(m.Cycles, Cycle{paths, m.proveCycle(paths, build)})
			}
		}
		if !constrained {
			break
		}
	}
	slices.SortFunc(m.Cycles, func(a, b Cycle) int { return slices.Compare(a.Modules, b.Modules) })
}

// proveCycle returns a shortest circle from the first module of a cycle back to it.
func (m *Map) proveCycle(paths []string, build source.Builds) []Link {
	next := make(map[string][]Link)
	for _, edge := range m.Edges {
		for _, one := range edge.loads {
			if one.builds&build != 0 {
				next[edge.From] = append(next[edge.From], one.Link)
			}
		}
	}
	came := make(map[string]Link)
	for queue := []string{paths[0]}; len(queue) > 0; queue = queue[1:] {
		for _, link := range next[queue[0]] {
			if _, ok := came[link.To]; ok {
				continue
			}
			came[link.To] = link
			if link.To != paths[0] {
				queue = append(queue, link.To)
				continue
			}
			proof := []Link{link}
			for proof[0].From != paths[0] {
				proof = slices.Insert(proof, 0, came[proof[0].From])
			}
			return proof
		}
	}
	return nil
}

// stronglyConnected returns the strongly connected groups of a graph (Tarjan 1972), without recursion:
// a chain of imports can be as long as a repository has folders.
func stronglyConnected(next [][]int) [][]int {
	type visit struct{ node, child int }
	order := make([]int, len(next)) // 1-based, 0 for what was not visited
	low := make([]int, len(next))
	held := make([]bool, len(next))
	var stack []int
	var groups [][]int
	count := 0
	for root := range next {
		if order[root] != 0 {
			continue
		}
		visits := []visit{{root, 0}}
		for len(visits) > 0 {
			v := &visits[len(visits)-1]
			if v.child == 0 && order[v.node] == 0 {
				count++
				order[v.node], low[v.node] = count, count
				stack, held[v.node] = append(stack, v.node), true
			}
			if v.child < len(next[v.node]) {
				child := next[v.node][v.child]
				v.child++
				if order[child] == 0 {
					visits = append(visits, visit{child, 0})
				} else if held[child] {
					low[v.node] = min(low[v.node], order[child])
				}
				continue
			}
			node := v.node
			visits = visits[:len(visits)-1]
			if len(visits) > 0 {
				parent := visits[len(visits)-1].node
				low[parent] = min(low[parent], low[node])
			}
			if low[node] == order[node] {
				begin := len(stack) - 1
				for stack[begin] != node {
					begin--
				}
				group := slices.Clone(stack[begin:])
				for _, member := range group {
					held[member] = false
				}
				stack = stack[:begin]
				groups = append(groups, group)
			}
		}
	}
	return groups
}
