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
	arrived []joinArrivals    // by join index
	done    bool

	// What advance prepares for the next step, without mu.
	folded  S
	targets [][]*node[S] // of each way on, but for those to joins
	next    []*node[S]
}

// joinArrivals are the nodes that have come to a join.
type joinArrivals struct {
	here  []bool // by place in its from
	count int
}

// markArrived notes that the node at a place has come, and reports whether that was the last. If
// so the join begins anew.
func (a *joinArrivals) markArrived(place int) (complete bool) {
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
	f.createTasks()
	return f
}

func blankFrame[S any](graph *Compiled[S], in scope) *frame[S] {
	f := &frame[S]{
		scope: in, graph: graph, visits: make([]int, len(graph.nodes)),
		next: make([]*node[S], 0, graph.width), targets: make([][]*node[S], 0, graph.width),
	}
	if in.session.options.Store != nil {
		f.encoded = make([]json.RawMessage, len(graph.fields))
	}
	if len(graph.joins) > 0 {
		f.arrived = make([]joinArrivals, len(graph.joins))
		for i, j := range graph.joins {
			f.arrived[i].here = make([]bool, len(j.from))
		}
	}
	return f
}

// createTasks makes the tasks of the next nodes. They are new: a node that still holds one
// of an earlier step speaks for that one.
func (f *frame[S]) createTasks() {
	f.tasks = make([]task[S], len(f.next))
	for i, n := range f.next {
		f.visits[n.index]++
		f.createTask(i, n, f.visits[n.index])
	}
}

// run runs steps until the graph is done, or waits for answers alone.
func (f *frame[S]) run(ctx context.Context) (waiting bool, err error) {
	for !f.done {
		if f.countOpenTasks() > 0 {
			if waiting, err := f.runStep(ctx); waiting || err != nil {
				return waiting, err
			}
		}
		if err := f.finishStep(ctx); err != nil {
			return false, err
		}
	}
	return false, nil
}

// countOpenTasks counts the tasks of this step that have not finished.
func (f *frame[S]) countOpenTasks() int {
	open := 0
	for i := range f.tasks {
		if !f.tasks[i].done {
			open++
		}
	}
	return open
}

// canRun reports whether run would run a node, or finish.
func (f *frame[S]) canRun() bool {
	first, _ := f.findRunnable()
	return first != nil || f.countOpenTasks() == 0
}

// findRunnable returns the first and the last task of this step that can be run; nil if none can.
func (f *frame[S]) findRunnable() (first, last *task[S]) {
	for i := range f.tasks {
		if t := &f.tasks[i]; t.canRun() {
			if first == nil {
				first = t
			}
			last = t
		}
	}
	return first, last
}

// runStep runs every task of this step that can be.
func (f *frame[S]) runStep(ctx context.Context) (waiting bool, err error) {
	first, last := f.findRunnable()
	if first == nil {
		return true, nil
	}
	if err := ctx.Err(); err != nil {
		return false, fmt.Errorf("run %s: stopped before node %q: %w", f.session.run, first.nodePath(), err)
	}
	if f.steps >= f.session.options.MaxSteps {
		return false, f.overLimit()
	}
	if first == last {
		err = f.executeTask(ctx, first)
	} else {
		err = f.runParallel(ctx, last)
	}
	if err != nil {
		return false, err
	}
	return f.countOpenTasks() > 0, nil
}

// siblings are the tasks of a step while they run at once.
type siblings struct {
	running sync.WaitGroup
	cancel  context.CancelFunc
	once    sync.Once
	failure error // the first
}

// runParallel runs the tasks that can be run at once, the last of them on this goroutine.
// The first failure cancels the others; what they finish all the same is kept.
func (f *frame[S]) runParallel(ctx context.Context, last *task[S]) error {
	ctx, cancel := context.WithCancel(ctx)
	all := &siblings{cancel: cancel}
	defer all.running.Wait()
	defer cancel()
	for i := range f.tasks {
		if t := &f.tasks[i]; t != last && t.canRun() {
			all.running.Go(func() { f.runBranch(ctx, t, all) })
		}
	}
	f.runBranch(ctx, last, all)
	all.running.Wait()
	if unsaved := f.session.saveError(); unsaved != nil {
		return unsaved
	}
	return all.failure
}

// runBranch runs one of several tasks.
func (f *frame[S]) runBranch(ctx context.Context, t *task[S], all *siblings) {
	returned := false
	defer func() {
		if !returned {
			all.fail(&NodeError{Run: f.session.run, Node: t.nodePath(), Attempt: t.attempt, Err: errExited})
		}
	}()
	err := f.executeTask(ctx, t)
	returned = true
	if err != nil {
		all.fail(err)
	}
}

func (s *siblings) fail(err error) {
	s.once.Do(func() { s.failure = err })
	s.cancel()
}

// finishStep folds the changes of the finished step into the state and finds the nodes
// of the next.
func (f *frame[S]) finishStep(ctx context.Context) error {
	f.folded = f.state
	for i := range f.tasks {
		for _, change := range f.tasks[i].result.patch {
			change.applyTo(&f.folded)
		}
	}
	err := f.chooseTargets()
	if err == nil {
		f.session.applyChange(func() {
			f.collectNextNodes()
			if err = f.checkStalled(); err == nil {
				f.commitStep()
			}
		})
	}
	unsaved := f.session.saveCheckpoint(ctx)
	if unsaved != nil && err != nil {
		return errors.Join(unsaved, err)
	}
	if unsaved != nil {
		return unsaved
	}
	return err
}

// chooseTargets finds where the ways on lead, in the order of the finished tasks and then of
// their ways.
func (f *frame[S]) chooseTargets() error {
	f.targets = f.targets[:0]
	for i := range f.tasks {
		t := &f.tasks[i]
		ways := f.nodeOf(t).ways
		for k := range ways {
			way := &ways[k]
			switch {
			case way.join != nil:
			case way.choose == nil:
				f.targets = append(f.targets, way.targets)
			default:
				targets, err := way.chooseTargets(f.folded)
				if err != nil {
					err = fmt.Errorf("choose the way on: %w", err)
					return &NodeError{Run: f.session.run, Node: t.nodePath(), Attempt: 1, Err: err}
				}
				f.targets = append(f.targets, targets)
			}
		}
	}
	return nil
}

func (r *route[S]) chooseTargets(state S) (targets []*node[S], err error) {
	err = recoverPanic(func() error {
		targets, err = r.selectTargets(r.choose(state))
		return err
	})
	return targets, err
}

// collectNextNodes collects the next nodes, in the order of chooseTargets. Coming to a join twice is
// no different from coming once, so it may be repeated after a stalled step.
func (f *frame[S]) collectNextNodes() {
	f.next = f.next[:0]
	decided := 0
	for i := range f.tasks {
		n := f.nodeOf(&f.tasks[i])
		for k := range n.ways {
			if j := n.ways[k].join; j != nil {
				if f.arrived[j.index].markArrived(slices.Index(j.from, n)) {
					f.addNextNode(j.node)
				}
				continue
			}
			for _, target := range f.targets[decided] {
				f.addNextNode(target)
			}
			decided++
		}
	}
}

// addNextNode adds a node to the next step, once; nil is End.
func (f *frame[S]) addNextNode(n *node[S]) {
	if n != nil && !slices.Contains(f.next, n) {
		f.next = append(f.next, n)
	}
}

// checkStalled returns the error of a run that would end while a join waits.
func (f *frame[S]) checkStalled() error {
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

// commitStep takes the position to the next step.
func (f *frame[S]) commitStep() {
	f.state = f.folded
	if f.encoded != nil {
		for i := range f.tasks {
			for _, change := range f.tasks[i].result.patch {
				f.encoded[slices.Index(f.graph.fieldNames, change.Field())] = nil
			}
		}
	}
	f.steps++
	f.createTasks()
	f.done = len(f.tasks) == 0
}

// overLimit names the nodes of the loop that the run is in: those which have run more
// than once and lie on a way from a current node back to it.
func (f *frame[S]) overLimit() error {
	limit := &StepLimitError{Run: f.session.run, Graph: f.graph.name, Limit: f.session.options.MaxSteps}
	for _, n := range f.graph.nodes {
		for i := range f.tasks {
			current := f.nodeOf(&f.tasks[i])
			if f.visits[n.index] > 1 && f.graph.hasPath(n, current) && f.graph.hasPath(current, n) {
				limit.Loop = append(limit.Loop, f.prefix+n.name)
				break
			}
		}
	}
	return limit
}

// appendAsking adds the tasks that wait for an answer, nested ones too, in order.
func (f *frame[S]) appendAsking(found []*taskCore) []*taskCore {
	for i := range f.tasks {
		t := &f.tasks[i]
		if t.question != nil {
			found = append(found, &t.taskCore)
		}
		if t.sub != nil && !t.done {
			found = t.sub.appendAsking(found)
		}
	}
	return found
}

// nestedScope returns the scope of a graph nested in the task.
func (f *frame[S]) nestedScope(t *task[S]) scope {
	return scope{
		session: f.session,
		prefix:  f.prefix + t.kind.name + "/",
		lineage: f.lineage + t.kind.name + "#" + strconv.Itoa(t.visit) + "/",
	}
}
