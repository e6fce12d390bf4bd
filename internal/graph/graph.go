package graph

import (
	"encoding/json"
	"fmt"
)

// End is the target of an edge that ends its branch. A run ends when no branch is left.
const End = "end"

// Graph collects the nodes and edges of a graph over the state S. It is a plan:
// Compile checks it and makes what runs. Mistakes are reported there, all at once.
type Graph[S any] struct {
	name       string
	version    int
	fields     []FieldSpec[S]
	nodes      []*node[S]
	ways       []declaredWay[S]
	joins      []join
	labels     []label
	start      []string
	aliases    []alias
	retired    []string
	migrations []migration
}

// node is one declared node; exactly one of fn and nested is set.
type node[S any] struct {
	nodeCore
	fn     Node[S]
	nested nestedGraph[S]
	ways   []route[S] // in order of declaration
}

// nodeCore is what a node is whatever the state.
type nodeCore struct {
	name   string
	index  int // in order of declaration
	policy Policy
	// Parts of a checkpoint.
	key, head []byte
}

// declaredWay is an edge or a route as declared: choose is nil for an edge.
type declaredWay[S any] struct {
	from    string
	targets []string
	choose  func(S) []string
	broken  string // what is wrong with the declaration itself
}

type join struct {
	node string
	from []string
}

type label struct{ from, to, text string }

type alias struct{ old, current string }

// Migration changes the checkpointed fields of one version into those of the next:
// field name → JSON value. It is called with the whole state, and with each change
// that a finished branch has waiting, alone. So it must act on the fields it finds and
// must not add others; a new field starts at the zero value.
type Migration func(fields map[string]json.RawMessage) error

type migration struct {
	from int
	fn   Migration
}

// New begins a graph. name and version (from 1) go into checkpoints; raise the version
// and add a Migrate when the meaning of a stored field changes. fields are all fields
// of S: what is not declared would be lost on a resume, so Compile refuses it.
func New[S any](name string, version int, fields ...FieldSpec[S]) *Graph[S] {
	return &Graph[S]{name: name, version: version, fields: fields}
}

// Node declares a node, with at most one Policy.
func (g *Graph[S]) Node(name string, fn Node[S], policy ...Policy) {
	g.addNode(&node[S]{nodeCore: newNodeCore(name), fn: fn}, policy)
}

// Sub declares a node that runs a nested graph, with at most one Policy, whose Timeout
// is for each time that the nested graph is entered or resumed.
func (g *Graph[S]) Sub(nested NestedGraph[S], policy ...Policy) {
	g.addNode(&node[S]{nodeCore: newNodeCore(nested.name), nested: nested.nester}, policy)
}

func newNodeCore(name string) nodeCore {
	return nodeCore{name: name, key: encodeKey(name), head: nodeHead(name)}
}

func (g *Graph[S]) addNode(n *node[S], policy []Policy) {
	n.index = len(g.nodes)
	if len(policy) > 0 {
		n.policy = policy[0]
	}
	if len(policy) > 1 {
		g.ways = append(g.ways, declaredWay[S]{broken: fmt.Sprintf("node %q has %d policies: give one", n.name, len(policy))})
	}
	g.nodes = append(g.nodes, n)
}

// Start names the node that a run begins with.
func (g *Graph[S]) Start(node string) { g.start = append(g.start, node) }

// Edge leads from one node to another, or to End. Several edges from one node run
// their targets in parallel; their changes are folded in the order in which the edges
// are declared. A node that several branches reach in the same step runs once.
func (g *Graph[S]) Edge(from, to string) {
	g.ways = append(g.ways, declaredWay[S]{from: from, targets: []string{to}})
}

// Route leads from one node to the one of targets that choose names, given the state
// with the node's changes. choose must be a pure function of the state.
func (g *Graph[S]) Route(from string, choose func(S) string, targets ...string) {
	w := declaredWay[S]{from: from, targets: targets}
	if choose == nil {
		w.broken = fmt.Sprintf("the route from %q has no choose function", from)
	} else {
		w.choose = func(state S) []string { return []string{choose(state)} }
	}
	g.ways = append(g.ways, w)
}

// RouteMany is a Route that chooses one or more of targets, which run in parallel in
// the order of targets.
func (g *Graph[S]) RouteMany(from string, choose func(S) []string, targets ...string) {
	w := declaredWay[S]{from: from, targets: targets, choose: choose}
	if choose == nil {
		w.broken = fmt.Sprintf("the route from %q has no choose function", from)
	}
	g.ways = append(g.ways, w)
}

// Join leads from several nodes to one that runs once when all of them have finished,
// however many steps each branch takes. No edges from them to node are needed.
func (g *Graph[S]) Join(node string, from ...string) {
	g.joins = append(g.joins, join{node: node, from: from})
}

// Label puts words for people on the drawn edge between two nodes.
func (g *Graph[S]) Label(from, to, text string) {
	g.labels = append(g.labels, label{from, to, text})
}

// Alias tells that node was called old in checkpoints of earlier programs.
func (g *Graph[S]) Alias(old, node string) {
	g.aliases = append(g.aliases, alias{old: old, current: node})
}

// Retired names fields of earlier checkpoints whose values are dropped.
func (g *Graph[S]) Retired(fields ...string) { g.retired = append(g.retired, fields...) }

// Migrate tells how the fields of a checkpoint of version from become those of
// version from+1. The steps from an old version to the graph's are applied in a row.
func (g *Graph[S]) Migrate(from int, fn Migration) {
	g.migrations = append(g.migrations, migration{from, fn})
}
