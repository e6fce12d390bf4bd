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
// the fields below are written under the session's mu.
type frame[S any] struct {
	scope
	graph *Compiled[S]

	state   S
	encoded []json.RawMessage // of the state's fields; nil where it changed since
	steps   int               // finished steps
	tasks   []task[S]         // the nodes of the step that runs now, in merge order
	visits  []int             // by node index
	arrived []arrivals        // by join index
	done    bool

	// What advance prepares for the next step, without mu.
	folded  S
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
	f.next = append(f.next, graph.start)
	f.activate()
	return f
}

func blankFrame[S any](graph *Compiled[S], in scope) *frame[S] {
	f := &frame[S]{
		scope: in, graph: graph, visits: make([]int, len(graph.nodes)),
		next: make([]*node[S], 0, graph.width), targets: make([][]*node[S], 0, graph.width),
	}
	if in.session.stored() {
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

// activate makes the tasks of the next nodes. They are new: a node that still holds one
// of an earlier step speaks for that one.
func (f *frame[S]) activate() {
	f.tasks = make([]task[S], len(f.next))
	for i, n := range f.next {
		f.visits[n.index]++
		f.begin(i, n, f.visits[n.index])
	}
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
	for i := range f.tasks {
		if !f.tasks[i].done {
			open++
		}
	}
	return open
}

// runnable tells whether run would run a node, or finish.
func (f *frame[S]) runnable() bool {
	first, _ := f.ready()
	return first != nil || f.open() == 0
}

// ready gives the first and the last task of this step that can be run; nil if none can.
func (f *frame[S]) ready() (first, last *task[S]) {
	for i := range f.tasks {
		if t := &f.tasks[i]; t.runnable() {
			if first == nil {
				first = t
			}
			last = t
		}
	}
	return first, last
}

// step runs every task of this step that can be.
func (f *frame[S]) step(ctx context.Context) (waiting bool, err error) {
	first, last := f.ready()
	if first == nil {
		return true, nil
	}
	if err := ctx.Err(); err != nil {
		return false, fmt.Errorf("run %s: stopped before node %q: %w", f.session.run, first.path(), err)
	}
	if f.steps >= f.session.options.MaxSteps {
		return false, f.overLimit()
	}
	if first == last {
		err = f.execute(ctx, first)
	} else {
		err = f.parallel(ctx, last)
	}
	if err != nil {
		return false, err
	}
	return f.open() > 0, nil
}

// siblings are the tasks of a step while they run at once.
type siblings struct {
	running sync.WaitGroup
	cancel  context.CancelFunc
	once    sync.Once
	failure error // the first
}

// parallel runs the tasks that can be run at once, the last of them on this goroutine.
// The first failure cancels the others; what they finish all the same is kept.
func (f *frame[S]) parallel(ctx context.Context, last *task[S]) error {
	ctx, cancel := context.WithCancel(ctx)
	all := &siblings{cancel: cancel}
	defer all.running.Wait()
	defer cancel()
	for i := range f.tasks {
		if t := &f.tasks[i]; t != last && t.runnable() {
			all.running.Go(func() { f.branch(ctx, t, all) })
		}
	}
	f.branch(ctx, last, all)
	all.running.Wait()
	if unsaved := f.session.failed(); unsaved != nil {
		return unsaved
	}
	return all.failure
}

// branch runs one of several tasks.
func (f *frame[S]) branch(ctx context.Context, t *task[S], all *siblings) {
	returned := false
	defer func() {
		if !returned {
			all.fail(&NodeError{Run: f.session.run, Node: t.path(), Attempt: t.attempt, Err: errExited})
		}
	}()
	err := f.execute(ctx, t)
	returned = true
	if err != nil {
		all.fail(err)
	}
}

func (s *siblings) fail(err error) {
	s.once.Do(func() { s.failure = err })
	s.cancel()
}

// advance folds the changes of the finished step into the state and finds the nodes
// of the next.
func (f *frame[S]) advance(ctx context.Context) error {
	f.folded = f.state
	for i := range f.tasks {
		for _, change := range f.tasks[i].result.patch {
			change.fold(&f.folded)
		}
	}
	err := f.decide()
	if err == nil {
		f.session.change(func() {
			f.follow()
			if err = f.stalled(); err == nil {
				f.commit()
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
func (f *frame[S]) decide() error {
	f.targets = f.targets[:0]
	for i := range f.tasks {
		t := &f.tasks[i]
		ways := f.node(t).ways
		for k := range ways {
			way := &ways[k]
			switch {
			case way.join != nil:
			case way.choose == nil:
				f.targets = append(f.targets, way.targets)
			default:
				targets, err := way.decide(f.folded)
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
	for i := range f.tasks {
		n := f.node(&f.tasks[i])
		for k := range n.ways {
			if j := n.ways[k].join; j != nil {
				if f.arrived[j.index].add(slices.Index(j.from, n)) {
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
func (f *frame[S]) commit() {
	f.state = f.folded
	if f.encoded != nil {
		for i := range f.tasks {
			for _, change := range f.tasks[i].result.patch {
				f.encoded[slices.Index(f.graph.fieldNames, change.Field())] = nil
			}
		}
	}
	f.steps++
	f.activate()
	f.done = len(f.tasks) == 0
}

// overLimit names the nodes of the loop that the run is in: those which have run more
// than once and lie on a way from a current node back to it.
func (f *frame[S]) overLimit() error {
	limit := &StepLimitError{Run: f.session.run, Graph: f.graph.name, Limit: f.session.options.MaxSteps}
	for _, n := range f.graph.nodes {
		for i := range f.tasks {
			current := f.node(&f.tasks[i])
			if f.visits[n.index] > 1 && f.graph.leads(n, current) && f.graph.leads(current, n) {
				limit.Loop = append(limit.Loop, f.prefix+n.name)
				break
			}
		}
	}
	return limit
}

// asking adds the tasks that wait for an answer, nested ones too, in order.
func (f *frame[S]) asking(found []*taskCore) []*taskCore {
	for i := range f.tasks {
		t := &f.tasks[i]
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
		prefix:  f.prefix + t.kind.name + "/",
		lineage: f.lineage + t.kind.name + "#" + strconv.Itoa(t.visit) + "/",
	}
}
