package graph

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
)

var errExited = errors.New("called runtime.Goexit")

// scope is where a graph runs: in which session, and inside which nodes.
type scope struct {
	session *session
	prefix  string // of node names in events and errors: "outer/"
	lineage string // prefix with visits, for question ids: "outer#2/"
}

// frame is the position of one graph in a run. Its steps are run by one goroutine;
// the fields below mu of the session are written under it.
type frame[S any] struct {
	scope
	graph *Compiled[S]

	state   S
	encoded []json.RawMessage // of the state's fields; nil where it changed since
	steps   int               // finished steps
	tasks   []*task[S]        // the nodes of the step that runs now, in merge order
	visits  []int             // by node index
	arrived []arrivals        // by join index
	done    bool

	// Reused from step to step.
	ready   []*task[S]
	targets [][]*node[S] // of each way on, but for those to joins
	next    []*node[S]
}

// arrivals are the nodes that have come to a join.
type arrivals struct {
	here  []bool // by place in its from
	count int
}

// add notes that the node at a place has come, and tells whether that was the last. If
// so the join begins anew.
func (a *arrivals) add(place int) (complete bool) {
	if !a.here[place] {
		a.here[place] = true
		a.count++
	}
	if a.count < len(a.here) {
		return false
	}
	clear(a.here)
	a.count = 0
	return true
}

func newFrame[S any](graph *Compiled[S], in scope, state S) *frame[S] {
	f := blankFrame(graph, in)
	f.state = state
	f.activate(graph.start)
	return f
}

func blankFrame[S any](graph *Compiled[S], in scope) *frame[S] {
	f := &frame[S]{
		scope: in, graph: graph, visits: make([]int, len(graph.nodes)),
		tasks: make([]*task[S], 0, graph.width), ready: make([]*task[S], 0, graph.width), next: make([]*node[S], 0, graph.width),
		targets: make([][]*node[S], 0, graph.width),
	}
	if in.session.options.Store != nil {
		f.encoded = make([]json.RawMessage, len(graph.fields))
	}
	if len(graph.joins) > 0 {
		f.arrived = make([]arrivals, len(graph.joins))
		for i, j := range graph.joins {
			f.arrived[i].here = make([]bool, len(j.from))
		}
	}
	return f
}

func (f *frame[S]) activate(n *node[S]) {
	f.visits[n.index]++
	f.tasks = append(f.tasks, f.task(n, f.visits[n.index]))
}

// run runs steps until the graph is done, or waits for answers alone.
func (f *frame[S]) run(ctx context.Context) (waiting bool, err error) {
	for !f.done {
		if f.open() > 0 {
			if waiting, err := f.step(ctx); waiting || err != nil {
				return waiting, err
			}
		}
		if err := f.advance(ctx); err != nil {
			return false, err
		}
	}
	return false, nil
}

// open counts the tasks of this step that have not finished.
func (f *frame[S]) open() int {
	open := 0
	for _, t := range f.tasks {
		if !t.done {
			open++
		}
	}
	return open
}

// runnable tells whether run would run a node, or finish.
func (f *frame[S]) runnable() bool {
	return f.open() == 0 || slices.ContainsFunc(f.tasks, (*task[S]).runnable)
}

// step runs every task of this step that can be.
func (f *frame[S]) step(ctx context.Context) (waiting bool, err error) {
	f.ready = f.ready[:0]
	for _, t := range f.tasks {
		if t.runnable() {
			f.ready = append(f.ready, t)
		}
	}
	if len(f.ready) == 0 {
		return true, nil
	}
	if err := ctx.Err(); err != nil {
		return false, fmt.Errorf("run %s: stopped before node %q: %w", f.session.run, f.ready[0].path(), err)
	}
	if f.steps >= f.session.options.MaxSteps {
		return false, f.overLimit()
	}
	if len(f.ready) == 1 {
		err = f.execute(ctx, f.ready[0])
	} else {
		err = f.parallel(ctx)
	}
	if err != nil {
		return false, err
	}
	return f.open() > 0, nil
}

// parallel runs the ready tasks at once, the last of them on this goroutine. The first
// failure cancels the others; what they finish all the same is kept.
func (f *frame[S]) parallel(ctx context.Context) error {
	var (
		running sync.WaitGroup
		once    sync.Once
		first   error
	)
	ctx, cancel := context.WithCancel(ctx)
	defer running.Wait()
	defer cancel()
	run := func(t *task[S]) {
		err := errExited // where the node ends its goroutine instead of returning
		defer func() {
			if errors.Is(err, errExited) {
				err = &NodeError{Run: f.session.run, Node: t.path(), Attempt: 1, Err: err}
			}
			if err != nil {
				once.Do(func() { first = err })
				cancel()
			}
		}()
		err = f.execute(ctx, t)
	}
	last := len(f.ready) - 1
	for _, t := range f.ready[:last] {
		running.Go(func() { run(t) })
	}
	run(f.ready[last])
	running.Wait()
	if unsaved := f.session.failed(); unsaved != nil {
		return unsaved
	}
	return first
}

// advance folds the changes of the finished step into the state and finds the nodes
// of the next.
func (f *frame[S]) advance(ctx context.Context) error {
	state := f.state
	for _, t := range f.tasks {
		for _, change := range t.patch {
			change.fold(&state)
		}
	}
	err := f.decide(state)
	if err == nil {
		f.session.change(func() {
			f.follow()
			if err = f.stalled(); err == nil {
				f.commit(state)
			}
		})
	}
	unsaved := f.session.save(ctx)
	if unsaved != nil && err != nil {
		return errors.Join(unsaved, err)
	}
	if unsaved != nil {
		return unsaved
	}
	return err
}

// decide finds where the ways on lead, in the order of the finished tasks and then of
// their ways.
func (f *frame[S]) decide(state S) error {
	f.targets = f.targets[:0]
	for _, t := range f.tasks {
		for i := range t.node.ways {
			way := &t.node.ways[i]
			switch {
			case way.join != nil:
			case way.choose == nil:
				f.targets = append(f.targets, way.targets)
			default:
				targets, err := way.decide(state)
				if err != nil {
					err = fmt.Errorf("choose the way on: %w", err)
					return &NodeError{Run: f.session.run, Node: t.path(), Attempt: 1, Err: err}
				}
				f.targets = append(f.targets, targets)
			}
		}
	}
	return nil
}

func (r *route[S]) decide(state S) (targets []*node[S], err error) {
	err = guard(func() error {
		targets, err = r.pick(r.choose(state))
		return err
	})
	return targets, err
}

// follow collects the next nodes, in the order of decide. Coming to a join twice is
// no different from coming once, so follow may be repeated after a stalled step.
func (f *frame[S]) follow() {
	f.next = f.next[:0]
	decided := 0
	for _, t := range f.tasks {
		for i := range t.node.ways {
			if j := t.node.ways[i].join; j != nil {
				if f.arrived[j.index].add(slices.Index(j.from, t.node)) {
					f.lead(j.node)
				}
				continue
			}
			for _, target := range f.targets[decided] {
				f.lead(target)
			}
			decided++
		}
	}
}

// lead adds a node to the next step, once; nil is End.
func (f *frame[S]) lead(n *node[S]) {
	if n != nil && !slices.Contains(f.next, n) {
		f.next = append(f.next, n)
	}
}

// stalled is the error of a run that would end while a join waits.
func (f *frame[S]) stalled() error {
	if len(f.next) > 0 {
		return nil
	}
	for i, arrived := range f.arrived {
		if arrived.count == 0 {
			continue
		}
		j := f.graph.joins[i]
		stalled := &StalledError{Run: f.session.run, Node: f.prefix + j.node.name}
		for place, n := range j.from {
			if !arrived.here[place] {
				stalled.Missing = append(stalled.Missing, n.name)
			}
		}
		return stalled
	}
	return nil
}

// commit takes the position to the next step.
func (f *frame[S]) commit(state S) {
	f.state = state
	if f.encoded != nil {
		for _, t := range f.tasks {
			for _, change := range t.patch {
				f.encoded[f.graph.field[change.Field()]] = nil
			}
		}
	}
	f.steps++
	f.tasks = f.tasks[:0]
	for _, n := range f.next {
		f.activate(n)
	}
	f.done = len(f.tasks) == 0
}

// overLimit names the nodes of the loop that the run is in: those which have run more
// than once and lie on a way from a current node back to it.
func (f *frame[S]) overLimit() error {
	limit := &StepLimitError{Run: f.session.run, Graph: f.graph.name, Limit: f.session.options.MaxSteps}
	for _, n := range f.graph.nodes {
		for _, t := range f.tasks {
			if f.visits[n.index] > 1 && f.graph.leads(n, t.node) && f.graph.leads(t.node, n) {
				limit.Loop = append(limit.Loop, f.prefix+n.name)
				break
			}
		}
	}
	return limit
}

// asking adds the tasks that wait for an answer, nested ones too, in order.
func (f *frame[S]) asking(found []*taskCore) []*taskCore {
	for _, t := range f.tasks {
		if t.question != nil {
			found = append(found, &t.taskCore)
		}
		if t.sub != nil && !t.done {
			found = t.sub.asking(found)
		}
	}
	return found
}

// inside is the scope of a graph nested in the task.
func (f *frame[S]) inside(t *task[S]) scope {
	return scope{
		session: f.session,
		prefix:  f.prefix + t.node.name + "/",
		lineage: f.lineage + t.node.name + "#" + strconv.Itoa(t.visit) + "/",
	}
}
