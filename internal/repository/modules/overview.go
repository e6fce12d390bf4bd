package modules

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// How many boxes a picture has.
const (
	maxDrawn    = 28 // as many as can be looked at
	fewestDrawn = 6  // fewer tell nothing, where there are more
)

// group is a box of a picture: a module, or a folder with several.
type group struct {
	path    string
	modules int
	files   int
	cycle   bool // a cycle goes through it

	layer       int
	x, y, width float64
}

// arrow is who imports whom among groups.
type arrow struct {
	from, to *group
	count    int
	cycle    bool // it is part of a cycle of modules
}

// overview is a map that is small enough to be drawn.
type overview struct {
	groups []*group
	arrows []*arrow
	left   int // groups that found no room
}

// summarizeModules puts modules of the same folder together until few enough are left: the
// deepest first. If even the outermost folders are too many, those with the most files are
// kept.
func (m Map) summarizeModules() overview {
	depth := 0
	for _, module := range m.Modules {
		depth = max(depth, strings.Count(module.Path, "/")+1)
	}
	for ; depth > 1 && m.countGroups(depth) > maxDrawn; depth-- {
	}
	if m.countGroups(depth) < fewestDrawn && m.countGroups(depth+1) > maxDrawn {
		depth++ // the largest folders of the next level tell more
	}
	groups := make(map[string]*group)
	var view overview
	for _, module := range m.Modules {
		name := cutPath(module.Path, depth)
		if groups[name] == nil {
			groups[name] = &group{path: name}
			view.groups = append(view.groups, groups[name])
		}
		groups[name].modules++
		groups[name].files += module.Files
		groups[name].cycle = groups[name].cycle || module.Cycle > 0
	}
	if left := len(view.groups) - maxDrawn; left > 0 {
		view.left = left
		slices.SortStableFunc(view.groups, func(a, b *group) int { return cmp.Compare(b.files, a.files) })
		for _, small := range view.groups[maxDrawn:] {
			delete(groups, small.path)
		}
		view.groups = view.groups[:maxDrawn]
		slices.SortFunc(view.groups, func(a, b *group) int { return strings.Compare(a.path, b.path) })
	}
	view.arrows = m.groupArrows(groups, depth)
	return view
}

func (m Map) countGroups(depth int) int {
	names := make(map[string]bool)
	for _, module := range m.Modules {
		names[cutPath(module.Path, depth)] = true
	}
	return len(names)
}

// cutPath returns the first folders of a path.
func cutPath(folder string, depth int) string {
	all := strings.Split(folder, "/")
	return path.Join(all[:min(depth, len(all))]...)
}

func (m Map) groupArrows(groups map[string]*group, depth int) []*arrow {
	cycles := make(map[string]int)
	for _, module := range m.Modules {
		cycles[module.Path] = module.Cycle
	}
	known := make(map[[2]string]*arrow)
	var all []*arrow
	for _, edge := range m.Edges {
		from, to := groups[cutPath(edge.From, depth)], groups[cutPath(edge.To, depth)]
		if from == nil || to == nil || from == to {
			continue
		}
		key := [2]string{from.path, to.path}
		if known[key] == nil {
			known[key] = &arrow{from: from, to: to}
			all = append(all, known[key])
		}
		known[key].count += edge.Count
		if cycles[edge.From] > 0 && cycles[edge.From] == cycles[edge.To] {
			known[key].cycle = true
		}
	}
	return all
}

// rankGroups puts each group into a layer below those that import it. Those that import one
// another, if only by way of others, share a layer's beginning.
func (v overview) rankGroups() {
	at := make(map[*group]int)
	for i, g := range v.groups {
		at[g] = i
	}
	next := make([][]int, len(v.groups))
	for _, a := range v.arrows {
		next[at[a.from]] = append(next[at[a.from]], at[a.to])
	}
	together := make([]int, len(v.groups))
	found := stronglyConnected(next)
	// What is imported comes before what imports it: from the last on, layers are known.
	for number, members := range found {
		for _, i := range members {
			together[i] = number
		}
	}
	layers := make([]int, len(found))
	for number := len(found) - 1; number >= 0; number-- {
		for _, i := range found[number] {
			v.groups[i].layer = layers[number]
			for _, j := range next[i] {
				if together[j] != number {
					layers[together[j]] = max(layers[together[j]], layers[number]+1)
				}
			}
		}
	}
}
