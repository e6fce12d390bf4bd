package graph_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/graphtest"
	"github.com/cairn-bot/cairn/internal/racetest"
)

// trail is a state in which every order of events shows.
type trail struct {
	Log    []string
	Visits map[string]int
	Last   string
}

var (
	trailLog    = graph.Append("log", func(s *trail) *[]string { return &s.Log })
	trailVisits = graph.Merge("visits", func(s *trail) *map[string]int { return &s.Visits })
	trailLast   = graph.Replace("last", func(s *trail) *string { return &s.Last })
)

// plan describes a graph in plain data, for the engine and for the reference alike.
type plan struct {
	name  string
	nodes []*planNode
}

type planNode struct {
	name   string
	next   []string // edges, or the targets of a route if routed
	routed bool
	many   bool     // the route may choose several
	loop   int      // > 0: the route takes next[0] for so many visits, then next[1]
	join   []string // what the node waits for
	asks   int      // questions in a row
	nested *plan
}

// draft builds a random plan out of nested blocks.
type draft struct {
	random *rand.Rand
	plan   *plan
	depth  int
}

func randomPlan(random *rand.Rand, name string, depth int) *plan {
	d := &draft{random: random, plan: &plan{name: name}, depth: depth}
	_, last := d.sequence(0)
	last.next = []string{graph.End}
	return d.plan
}

func (d *draft) node() *planNode {
	n := &planNode{name: fmt.Sprintf("%s%d", d.plan.name, len(d.plan.nodes))}
	if d.random.IntN(6) == 0 {
		n.asks = 1 + d.random.IntN(2)
	}
	d.plan.nodes = append(d.plan.nodes, n)
	if n.asks == 0 && d.depth > 0 && d.random.IntN(8) == 0 {
		n.nested = randomPlan(d.random, n.name+"s", d.depth-1)
	}
	return n
}

func (d *draft) sequence(level int) (first, last *planNode) {
	first = d.node()
	last = first
	for range d.random.IntN(3) {
		next, end := d.block(level)
		last.next = []string{next.name}
		last = end
	}
	return first, last
}

func (d *draft) block(level int) (first, last *planNode) {
	kind := d.random.IntN(5)
	if level > 2 {
		kind = 0
	}
	switch kind {
	case 1:
		return d.fork(level)
	case 2, 3:
		return d.choice(kind == 3)
	case 4:
		return d.loop(level)
	}
	n := d.node()
	return n, n
}

// fork is parallel branches of any length and their join.
func (d *draft) fork(level int) (first, last *planNode) {
	first = d.node()
	var join []string
	for range 2 + d.random.IntN(2) {
		from, to := d.sequence(level + 1)
		first.next = append(first.next, from.name)
		join = append(join, to.name)
	}
	last = d.node()
	last.join = join
	return first, last
}

// choice is a route to single nodes that meet again by plain edges.
func (d *draft) choice(many bool) (first, last *planNode) {
	first = d.node()
	first.routed, first.many = true, many
	var branches []*planNode
	for range 2 + d.random.IntN(2) {
		branch := d.node()
		branches = append(branches, branch)
		first.next = append(first.next, branch.name)
	}
	last = d.node()
	for _, branch := range branches {
		branch.next = []string{last.name}
	}
	return first, last
}

func (d *draft) loop(level int) (first, last *planNode) {
	first, turn := d.sequence(level + 1)
	last = d.node()
	turn.loop = 2 + d.random.IntN(2)
	turn.routed = true
	turn.next = []string{first.name, last.name}
	return first, last
}

// choose is the decision of a routed node, a pure function of the state.
func (n *planNode) choose(s trail) []string {
	if n.loop > 0 {
		if s.Visits[n.name]%n.loop != 0 {
			return n.next[:1]
		}
		return n.next[1:]
	}
	at := (len(s.Log) + len(s.Last)) % len(n.next)
	if n.many && len(s.Log)%2 == 0 {
		return []string{n.next[(at+1)%len(n.next)], n.next[at]}
	}
	return []string{n.next[at]}
}

// entry is what a node writes to the log; it shows the state that the node saw.
func (n *planNode) entry(s trail, visit int, replies []string) string {
	return fmt.Sprintf("%s#%d saw %d, %s, %v", n.name, visit, len(s.Log), s.Last, replies)
}

func reply(question string) string { return "re " + question }

func (p *plan) compile(t testing.TB) *graph.Compiled[trail] {
	t.Helper()
	g := graph.New(p.name, 1, trailLog, trailVisits, trailLast)
	for _, n := range p.nodes {
		if n.nested != nil {
			g.Sub(graph.Nested(n.name, n.nested.compile(t), enter, n.leave))
		} else {
			g.Node(n.name, graphtest.ReadOnly(t, n.run), graph.Policy{Asks: n.asks > 0})
		}
		switch {
		case n.many:
			g.RouteMany(n.name, n.choose, n.next...)
		case n.routed:
			g.Route(n.name, func(s trail) string { return n.choose(s)[0] }, n.next...)
		default:
			for _, next := range n.next {
				g.Edge(n.name, next)
			}
		}
		if n.join != nil {
			g.Join(n.name, n.join...)
		}
	}
	g.Start(p.nodes[0].name)
	compiled, err := g.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

func enter(s trail) trail { return trail{Last: s.Last} }

func (n *planNode) leave(s trail) graph.Patch[trail] {
	return graph.Patch[trail]{trailLog.Set(s.Log), trailLast.Set(s.Last), trailVisits.Set(map[string]int{n.name + " inside": len(s.Log)})}
}

func (n *planNode) run(_ context.Context, step graph.Step[trail]) (graph.Result[trail], error) {
	step.Emit(n.name)
	var replies []string
	for i := range n.asks {
		key := fmt.Sprint("q", i)
		answer, ok := step.Answer(key)
		if !ok {
			return graph.Ask[trail](graph.Question{Key: key, Text: n.name + " " + key, FreeText: true}), nil
		}
		replies = append(replies, answer.Text)
	}
	return graph.Update(n.patch(step.State, step.Visit, replies)...), nil
}

func (n *planNode) patch(s trail, visit int, replies []string) graph.Patch[trail] {
	return graph.Patch[trail]{
		trailLog.Set([]string{n.entry(s, visit, replies)}),
		trailVisits.Set(map[string]int{n.name: visit}),
		trailLast.Set(n.name),
	}
}

// interpret is the reference: one step after the other, nothing parallel, nothing
// saved, every question answered on the spot.
func (p *plan) interpret(s trail) trail {
	visits, reached := map[string]int{}, map[string]map[string]bool{}
	for current := []*planNode{p.nodes[0]}; len(current) > 0; {
		before := s
		for _, n := range current {
			visits[n.name]++
			s = n.reference(s, before, visits[n.name])
		}
		var next []*planNode
		lead := func(name string) {
			at := slices.IndexFunc(p.nodes, func(n *planNode) bool { return n.name == name })
			if at >= 0 && !slices.Contains(next, p.nodes[at]) {
				next = append(next, p.nodes[at])
			}
		}
		for _, n := range current {
			for _, name := range n.next {
				if !n.routed || slices.Contains(n.choose(s), name) {
					lead(name)
				}
			}
			for _, j := range p.nodes {
				if !slices.Contains(j.join, n.name) {
					continue
				}
				if reached[j.name] == nil {
					reached[j.name] = map[string]bool{}
				}
				reached[j.name][n.name] = true
				if len(reached[j.name]) == len(j.join) {
					delete(reached, j.name)
					lead(j.name)
				}
			}
		}
		current = next
	}
	return s
}

// reference folds what n changes, having seen before, into s.
func (n *planNode) reference(s, before trail, visit int) trail {
	s.Visits = maps.Clone(s.Visits)
	if s.Visits == nil {
		s.Visits = map[string]int{}
	}
	if n.nested != nil {
		inner := n.nested.interpret(enter(before))
		s.Log = slices.Concat(s.Log, inner.Log)
		s.Last = inner.Last
		s.Visits[n.name+" inside"] = len(inner.Log)
		return s
	}
	var replies []string
	for i := range n.asks {
		replies = append(replies, reply(fmt.Sprintf("%s q%d", n.name, i)))
	}
	s.Log = slices.Concat(s.Log, []string{n.entry(before, visit, replies)})
	s.Visits[n.name] = visit
	s.Last = n.name
	return s
}

// TestRandomGraphs compares the engine with the reference on random graphs, each
// undisturbed and with a crash at every save point.
func TestRandomGraphs(t *testing.T) {
	// A crash at each of n saves means n runs of n steps: longer ones take too long.
	const graphs, longest = 120 / racetest.Stride, 30
	for seed, tested := uint64(1), 0; tested < graphs; seed++ {
		p := randomPlan(rand.New(rand.NewPCG(seed, 1)), "n", 2)
		if len(p.interpret(trail{}).Log) > longest {
			continue
		}
		tested++
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			outcome, _ := graphtest.Crashes(t, graphtest.Scenario[trail]{
				Graph:   p.compile(t),
				Initial: trail{},
				Answer:  func(q graph.Question) graph.Answer { return graph.Answer{Text: reply(q.Text)} },
			})
			want := p.interpret(trail{})
			if got, want := asJSON(t, outcome.State), asJSON(t, want); got != want {
				t.Errorf("seed %d: engine ended in\n%s\nreference in\n%s", seed, got, want)
			}
		})
	}
}

func asJSON[V any](t testing.TB, value V) string {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
