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
	arrived [][]bool          // by join index, then by place in its from; nil before the first
	done    bool

	// Reused from step to step.
	ready []*task[S]
	next  []*node[S]
}

func newFrame[S any](graph *Compiled[S], in scope, state S) *frame[S] {
	f := blankFrame(graph, in)
	f.state = state
	f.activate(graph.start)
	return f
}

func blankFrame[S any](graph *Compiled[S], in scope) *frame[S] {
	f := &frame[S]{scope: in, graph: graph, visits: make([]int, len(graph.nodes))}
	if in.session.options.Store != nil {
		f.encoded = make([]json.RawMessage, len(graph.fields))
	}
	if len(graph.joins) > 0 {
		f.arrived = make([][]bool, len(graph.joins))
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
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		running sync.WaitGroup
		once    sync.Once
		first   error
	)
	run := func(t *task[S]) {
		if err := f.execute(ctx, t); err != nil {
			once.Do(func() { first = err })
			cancel()
		}
	}
	last := len(f.ready) - 1
	for _, t := range f.ready[:last] {
		running.Go(func() { run(t) })
	}
	run(f.ready[last])
	running.Wait()

	f.session.saving.Lock()
	defer f.session.saving.Unlock()
	if f.session.failure != nil {
		return f.session.failure
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
	arrived, err := f.follow(state)
	if err != nil {
		// The step's last node is not in a checkpoint yet; it must not run again.
		if unsaved := f.session.save(ctx); unsaved != nil {
			return errors.Join(unsaved, err)
		}
		return err
	}
	f.session.change(func() { f.commit(state, arrived) })
	return f.session.save(ctx)
}

func (f *frame[S]) commit(state S, arrived [][]bool) {
	f.state, f.arrived = state, arrived
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

// follow finds the next nodes, in the order of the finished tasks and then of their
// ways on, and which joins have been reached by then.
func (f *frame[S]) follow(state S) (arrived [][]bool, err error) {
	f.next = f.next[:0]
	arrived = f.arrived
	for _, t := range f.tasks {
		for _, way := range t.node.ways {
			if way.join != nil {
				arrived = f.arrive(arrived, way.join, t.node)
				continue
			}
			targets := way.targets
			if way.choose != nil {
				if targets, err = f.chosen(t, way, state); err != nil {
					return nil, err
				}
			}
			for _, target := range targets {
				f.lead(target)
			}
		}
	}
	if len(f.next) == 0 {
		return arrived, f.stalled(arrived)
	}
	return arrived, nil
}

// lead adds a node to the next step, once; nil is End.
func (f *frame[S]) lead(n *node[S]) {
	if n != nil && !slices.Contains(f.next, n) {
		f.next = append(f.next, n)
	}
}

func (f *frame[S]) chosen(t *task[S], way route[S], state S) ([]*node[S], error) {
	var names []string
	err := guard(func() error {
		names = way.choose(state)
		return nil
	})
	if err == nil {
		var targets []*node[S]
		if targets, err = way.pick(names); err == nil {
			return targets, nil
		}
	}
	return nil, &NodeError{Run: f.session.run, Node: t.path(), Attempt: 1, Err: fmt.Errorf("choose the way on: %w", err)}
}

// arrive notes that n has reached a join, and leads to the join once it is complete.
// arrived is copied before it is written: the frame's own stays as it is until commit.
func (f *frame[S]) arrive(arrived [][]bool, j *joinNode[S], n *node[S]) [][]bool {
	arrived = slices.Clone(arrived)
	here := make([]bool, len(j.from))
	copy(here, arrived[j.index])
	here[slices.Index(j.from, n)] = true
	if slices.Contains(here, false) {
		arrived[j.index] = here
		return arrived
	}
	arrived[j.index] = nil
	f.lead(j.node)
	return arrived
}

// stalled is the error of a run that would end while a join waits.
func (f *frame[S]) stalled(arrived [][]bool) error {
	for i, here := range arrived {
		if here == nil {
			continue
		}
		j := f.graph.joins[i]
		stalled := &StalledError{Run: f.session.run, Node: f.prefix + j.node.name}
		for k, n := range j.from {
			if !here[k] {
				stalled.Missing = append(stalled.Missing, n.name)
			}
		}
		return stalled
	}
	return nil
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
