package graph

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// Compiled is a checked graph. It does not change; any number of runs may share it.
type Compiled[S any] struct {
	name       string
	version    int
	head       []byte // of its part of a checkpoint
	fields     []FieldSpec[S]
	fieldNames []string       // of fields, today's
	fieldKeys  [][]byte       // the same, in a checkpoint
	field      map[string]int // by name and former name
	retired    map[string]bool
	nodes      []*node[S]
	node       map[string]*node[S] // by name and former name
	joins      []*joinNode[S]
	start      *node[S]
	labels     map[[2]string]string
	migrations map[int]Migration
	width      int // the most nodes that one node leads to
}

// route is one way on from a node: to all targets, to the chosen ones, or to a join.
type route[S any] struct {
	targets []*node[S] // nil is End
	names   []string   // of targets
	choose  func(S) []string
	join    *joinNode[S]
}

type joinNode[S any] struct {
	index int
	node  *node[S]
	from  []*node[S]
}

// selectTargets returns the targets of these names, in the order of declaration.
func (r *route[S]) selectTargets(chosen []string) ([]*node[S], error) {
	if len(chosen) == 0 {
		return nil, errors.New("no target was chosen: choose End to end the branch")
	}
	for _, name := range chosen {
		if !slices.Contains(r.names, name) {
			return nil, fmt.Errorf("choice %q is not one of the route's targets %s", name, strings.Join(r.names, ", "))
		}
	}
	targets := make([]*node[S], 0, len(chosen))
	for i, name := range r.names {
		if slices.Contains(chosen, name) {
			targets = append(targets, r.targets[i])
		}
	}
	return targets, nil
}

// Compile checks the graph and gives what can be run. The error lists every mistake.
// The Graph must not be changed afterwards.
func (g *Graph[S]) Compile() (*Compiled[S], error) {
	b := &builder[S]{
		plan: g,
		graph: &Compiled[S]{
			name: g.name, version: g.version, head: graphHead(g.name, g.version), fields: g.fields, nodes: g.nodes,
			field: map[string]int{}, retired: map[string]bool{}, node: map[string]*node[S]{},
			labels: map[[2]string]string{}, migrations: map[int]Migration{},
		},
	}
	b.checkHeader()
	b.addFields()
	b.addNodes()
	b.addEdges()
	b.addJoins()
	b.addLabels()
	b.addHistory()
	if len(b.mistakes) == 0 {
		b.checkReachable()
	}
	if len(b.mistakes) > 0 {
		return nil, fmt.Errorf("graph %q: %w", g.name, errors.Join(b.mistakes...))
	}
	return b.graph, nil
}

// builder collects the mistakes of a plan while it makes the compiled graph.
type builder[S any] struct {
	plan     *Graph[S]
	graph    *Compiled[S]
	mistakes []error
}

func (b *builder[S]) addMistake(format string, args ...any) {
	b.mistakes = append(b.mistakes, fmt.Errorf(format, args...))
}

func (b *builder[S]) checkHeader() {
	if b.plan.name == "" || !utf8.ValidString(b.plan.name) {
		b.addMistake("the graph has no name, or one that is not UTF-8: %q", b.plan.name)
	}
	if b.plan.version < 1 {
		b.addMistake("version is %d: versions count from 1", b.plan.version)
	}
}

func (b *builder[S]) addNodes() {
	for _, n := range b.plan.nodes {
		switch {
		case n.name == "" || n.name == End || strings.ContainsAny(n.name, "/#") || !utf8.ValidString(n.name):
			b.addMistake("node name %q: a name is UTF-8, not empty, not %q, and has no '/' or '#'", n.name, End)
		case b.graph.node[n.name] != nil:
			b.addMistake("node %q is declared twice", n.name)
		case n.nested == nil && n.fn == nil:
			b.addMistake("node %q has no function", n.name)
		}
		if n.nested != nil {
			if broken := n.nested.findMistake(); broken != "" {
				b.addMistake("nested graph %q %s", n.name, broken)
			}
			if n.policy.Retries != 0 {
				b.addMistake("nested graph %q has retries: they belong to the nodes inside", n.name)
			}
		}
		if p := n.policy; p.Timeout < 0 || p.Retries < 0 || p.Backoff < 0 {
			b.addMistake("node %q has a negative time-out, number of retries or back-off", n.name)
		}
		n.ways = nil
		b.graph.node[n.name] = n
	}
	switch len(b.plan.start) {
	case 1:
		b.graph.start = b.findNode("start", b.plan.start[0])
	case 0:
		b.addMistake("no start: name one node with Start")
	default:
		b.addMistake("several starts (%s): name one node", strings.Join(b.plan.start, ", "))
	}
}

// findNode returns the node of a name; where says who names it.
func (b *builder[S]) findNode(where, name string) *node[S] {
	n := b.graph.node[name]
	if n == nil {
		b.addMistake("%s names the unknown node %q", where, name)
	}
	return n
}

func (b *builder[S]) addEdges() {
	for _, w := range b.plan.ways {
		if w.broken != "" {
			b.addMistake("%s", w.broken)
			continue
		}
		where := fmt.Sprintf("edge from %q", w.from)
		if w.choose != nil {
			where = fmt.Sprintf("route from %q", w.from)
		}
		if len(w.targets) == 0 {
			b.addMistake("%s has no targets", where)
		}
		made := route[S]{names: w.targets, choose: w.choose}
		for i, name := range w.targets {
			if slices.Contains(w.targets[:i], name) {
				b.addMistake("%s names %q twice", where, name)
			}
			var target *node[S]
			if name != End {
				target = b.findNode(where, name)
			}
			made.targets = append(made.targets, target)
		}
		if from := b.findNode(where, w.from); from != nil {
			if w.choose == nil && slices.ContainsFunc(from.ways, func(o route[S]) bool {
				return o.choose == nil && slices.Equal(o.names, w.targets)
			}) {
				b.addMistake("the edge from %q to %q is declared twice", w.from, w.targets[0])
			}
			from.ways = append(from.ways, made)
		}
	}
}

func (b *builder[S]) addJoins() {
	for i, declared := range b.plan.joins {
		where := fmt.Sprintf("join %q", declared.node)
		if len(declared.from) < 2 {
			b.addMistake("%s needs two nodes to wait for, or more", where)
		}
		if slices.ContainsFunc(b.plan.joins[:i], func(o join) bool { return o.node == declared.node }) {
			b.addMistake("%s is declared twice", where)
		}
		made := &joinNode[S]{index: i, node: b.findNode(where, declared.node)}
		for k, name := range declared.from {
			if name == declared.node || slices.Contains(declared.from[:k], name) {
				b.addMistake("%s waits for %q twice, or for itself", where, name)
			}
			if from := b.findNode(where, name); from != nil {
				made.from = append(made.from, from)
				from.ways = append(from.ways, route[S]{join: made})
			}
		}
		b.graph.joins = append(b.graph.joins, made)
	}
}

func (b *builder[S]) addLabels() {
	for _, l := range b.plan.labels {
		n := b.findNode(fmt.Sprintf("label %q", l.text), l.from)
		if n != nil && !slices.Contains(n.successorNames(), l.to) {
			b.addMistake("label %q: there is no edge from %q to %q", l.text, l.from, l.to)
		}
		b.graph.labels[[2]string{l.from, l.to}] = l.text
	}
}

// addHistory checks what is declared for the sake of older checkpoints.
func (b *builder[S]) addHistory() {
	for _, a := range b.plan.aliases {
		if b.graph.node[a.old] != nil {
			b.addMistake("alias %q is the name of a node, or declared twice", a.old)
			continue
		}
		if n := b.findNode(fmt.Sprintf("alias %q", a.old), a.current); n != nil {
			b.graph.node[a.old] = n
		}
	}
	for _, name := range b.plan.retired {
		if _, ok := b.graph.field[name]; ok || b.graph.retired[name] {
			b.addMistake("retired field %q is a field of the graph, or declared twice", name)
		}
		b.graph.retired[name] = true
	}
	oldest := b.plan.version
	for _, m := range b.plan.migrations {
		switch {
		case m.from < 1 || m.from >= b.plan.version:
			b.addMistake("migration from version %d: the graph has version %d", m.from, b.plan.version)
		case m.fn == nil:
			b.addMistake("migration from version %d has no function", m.from)
		case b.graph.migrations[m.from] != nil:
			b.addMistake("migration from version %d is declared twice", m.from)
		}
		b.graph.migrations[m.from] = m.fn
		oldest = min(oldest, m.from)
	}
	for version := oldest; version < b.plan.version; version++ {
		if _, ok := b.graph.migrations[version]; !ok && version >= 1 {
			b.addMistake("migration from version %d is missing", version)
		}
	}
}

// checkReachable checks that every node can be reached, and that End can be from it.
func (b *builder[S]) checkReachable() {
	for _, n := range b.graph.nodes {
		b.graph.width = max(b.graph.width, len(n.successorNames()))
		if n != b.graph.start && !b.graph.hasPath(b.graph.start, n) {
			b.addMistake("node %q cannot be reached from %q", n.name, b.graph.start.name)
		}
		if !b.graph.hasPath(n, nil) {
			b.addMistake("node %q has no way to End", n.name)
		}
	}
}

// successorNames returns the names of the nodes that may follow, End among them.
func (n *node[S]) successorNames() []string {
	var names []string
	for _, way := range n.ways {
		if way.join != nil {
			names = append(names, way.join.node.name)
		}
		names = append(names, way.names...)
	}
	return names
}

// hasPath reports whether a way of one edge or more leads from one node to another; to is
// nil for End.
func (c *Compiled[S]) hasPath(from, to *node[S]) bool {
	goal := End
	if to != nil {
		goal = to.name
	}
	seen := map[string]bool{}
	for queue := from.successorNames(); len(queue) > 0; queue = queue[1:] {
		name := queue[0]
		if name == goal {
			return true
		}
		if name != End && !seen[name] {
			seen[name] = true
			queue = append(queue, c.node[name].successorNames()...)
		}
	}
	return false
}

// slot is where a field lies inside the state, in bytes from its beginning.
type slot struct {
	name     string
	from, to uintptr
}

// addFields checks names, and that the fields make up the whole state.
func (b *builder[S]) addFields() {
	var slots []slot
	whole := reflect.TypeFor[S]()
	for i, field := range b.plan.fields {
		if field == nil {
			b.addMistake("field %d is nil", i)
			continue
		}
		name := field.allNames()[0]
		b.graph.fieldNames, b.graph.fieldKeys = append(b.graph.fieldNames, name), append(b.graph.fieldKeys, encodeKey(name))
		for _, name := range field.allNames() {
			if _, ok := b.graph.field[name]; ok || name == "" || !utf8.ValidString(name) {
				b.addMistake("field name %q is empty or used twice, or not UTF-8", name)
			}
			b.graph.field[name] = i
		}
		state := new(S)
		var address, size uintptr
		if err := recoverPanic(func() error { address, size = field.slotAddress(state); return nil }); err != nil {
			b.addMistake("field %q: its address function %w", field.allNames()[0], err)
			continue
		}
		from := address - reflect.ValueOf(state).Pointer()
		if address == 0 || from+size > whole.Size() {
			b.addMistake("field %q: its address function does not point into the state", field.allNames()[0])
			continue
		}
		slots = append(slots, slot{field.allNames()[0], from, from + size})
	}
	for i, one := range slots {
		for _, other := range slots[:i] {
			if one.from < other.to && other.from < one.to {
				b.addMistake("fields %q and %q share the same place in the state", other.name, one.name)
			}
		}
	}
	b.checkCoverage(slots, whole, whole.Name(), 0)
}

// checkCoverage checks that each part of a type, which lies at an offset, is in a slot.
func (b *builder[S]) checkCoverage(slots []slot, t reflect.Type, path string, at uintptr) {
	inSlot := func(s slot) bool { return s.from <= at && at+t.Size() <= s.to }
	if t.Size() == 0 || slices.ContainsFunc(slots, inSlot) {
		return
	}
	if t.Kind() != reflect.Struct {
		b.addMistake("%s is in no declared field: it would be lost on a resume; declare a field for it in graph.New", path)
		return
	}
	for i := range t.NumField() {
		part := t.Field(i)
		if part.Name != "_" {
			b.checkCoverage(slots, part.Type, path+"."+part.Name, at+part.Offset)
		}
	}
}
