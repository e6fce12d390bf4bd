package graph

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// restorer reads one graph's position.
type restorer[S any] struct {
	frame *frame[S]
	doc   *frameDoc
	// steps are the migrations from the checkpoint's version to the graph's.
	steps []Migration
}

func restoreFrame[S any](graph *Compiled[S], in scope, doc *frameDoc) (*frame[S], error) {
	r := &restorer[S]{frame: blankFrame(graph, in), doc: doc}
	for _, read := range []func() error{r.restoreHeader, r.restoreState, r.restoreTasks, r.restoreVisits, r.restoreJoins} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	return r.frame, nil
}

func (r *restorer[S]) checkpointError(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return &CheckpointError{Run: r.frame.session.run, Err: fmt.Errorf("graph %q: %w", r.frame.graph.name, err)}
}

func (r *restorer[S]) restoreHeader() error {
	graph, doc := r.frame.graph, r.doc
	if doc.Name != graph.name {
		return r.checkpointError("the checkpoint belongs to graph %q", doc.Name)
	}
	for version := doc.Version; version != graph.version; version++ {
		step := graph.migrations[version]
		if step == nil {
			return &SchemaError{Run: r.frame.session.run, Graph: graph.name, Got: doc.Version, Want: graph.version}
		}
		r.steps = append(r.steps, step)
	}
	if doc.Done != (len(doc.Tasks) == 0) {
		return r.checkpointError("the done flag contradicts the tasks")
	}
	r.frame.steps, r.frame.done = doc.Steps, doc.Done
	return nil
}

// migrate brings values to the graph's version.
func (r *restorer[S]) migrate(values []storedValue) ([]storedValue, error) {
	if len(r.steps) == 0 {
		return values, nil
	}
	fields := make(map[string]json.RawMessage, len(values))
	for _, value := range values {
		fields[value.field] = value.raw
	}
	for i, step := range r.steps {
		if err := recoverPanic(func() error { return step(fields) }); err != nil {
			return nil, r.checkpointError("migrate from version %d: %w", r.doc.Version+i, err)
		}
	}
	values = values[:0]
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		values = append(values, storedValue{name, fields[name]})
	}
	return values, nil
}

// readFields calls read for the value of every field that the graph has.
func (r *restorer[S]) readFields(values []storedValue, read func(index int, raw json.RawMessage) error) error {
	values, err := r.migrate(values)
	if err != nil {
		return err
	}
	graph := r.frame.graph
	seen := make([]bool, len(graph.fields))
	for _, value := range values {
		index, ok := graph.field[value.field]
		if !ok && graph.retired[value.field] {
			continue
		}
		if !ok {
			return &UnknownFieldError{Run: r.frame.session.run, Graph: graph.name, Field: value.field}
		}
		if seen[index] {
			return r.checkpointError("duplicate field %q", graph.fieldNames[index])
		}
		seen[index] = true
		if err := read(index, value.raw); err != nil {
			return r.checkpointError("%w", err)
		}
	}
	return nil
}

func (r *restorer[S]) restoreState() error {
	return r.readFields(r.doc.State, func(index int, raw json.RawMessage) error {
		if r.frame.encoded != nil {
			r.frame.encoded[index] = raw
		}
		return r.frame.graph.fields[index].decode(&r.frame.state, raw)
	})
}

// findNode returns the node that the checkpoint means by a name, which may be an old one.
func (r *restorer[S]) findNode(name string) (*node[S], error) {
	n := r.frame.graph.node[name]
	if n == nil {
		return nil, &UnknownNodeError{Run: r.frame.session.run, Graph: r.frame.graph.name, Node: r.frame.prefix + name}
	}
	return n, nil
}

func (r *restorer[S]) restoreTasks() error {
	r.frame.tasks = make([]task[S], len(r.doc.Tasks))
	for i := range r.doc.Tasks {
		doc := &r.doc.Tasks[i]
		n, err := r.findNode(doc.Node)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(r.frame.tasks[:i], func(t task[S]) bool { return t.kind == &n.nodeCore }) {
			return r.checkpointError("duplicate node %q", n.name)
		}
		r.frame.createTask(i, n, doc.Visit)
		if err := r.restoreTask(&r.frame.tasks[i], doc); err != nil {
			return err
		}
	}
	return nil
}

func (r *restorer[S]) restoreTask(t *task[S], doc *taskDoc) (err error) {
	n := r.frame.nodeOf(t)
	switch {
	case doc.Visit < 1:
		return r.checkpointError("node %q: invalid visit %d", n.name, doc.Visit)
	case doc.Done && (doc.Question != nil || doc.Sub != nil):
		return r.checkpointError("node %q is done and still has a question or a nested graph", n.name)
	case !doc.Done && doc.Changes != nil:
		return r.checkpointError("node %q has changes before it is done", n.name)
	case doc.Sub != nil && (n.nested == nil || doc.Question != nil):
		return r.checkpointError("node %q has the position of a nested graph and is not one", n.name)
	}
	t.done = doc.Done
	if err := r.restoreAnswers(t, doc.Answers); err != nil {
		return err
	}
	if doc.Question != nil {
		if err := doc.Question.checkFields(); err != nil {
			return r.checkpointError("node %q: %w", n.name, err)
		}
		if doc.Question.ID == "" || n.nested != nil {
			return r.checkpointError("node %q: unexpected question", n.name)
		}
		t.question = doc.Question
		t.question.Node = t.nodePath()
	}
	if doc.Sub != nil {
		t.sub, err = n.nested.restoreNested(r.frame.nestedScope(t), doc.Sub)
		return err
	}
	return r.restoreChanges(t, doc.Changes)
}

func (r *restorer[S]) restoreAnswers(t *task[S], docs []answerDoc) error {
	for _, doc := range docs {
		answer, known := r.frame.session.findAnswer(doc.Question)
		if !known {
			return r.checkpointError("node %q refers to an unknown answer to question %q", t.kind.name, doc.Question)
		}
		t.answers = append(t.answers, keyedAnswer{doc.Key, answer})
	}
	return nil
}

func (r *restorer[S]) restoreChanges(t *task[S], changes [][]storedValue) error {
	for _, change := range changes {
		err := r.readFields(change, func(index int, raw json.RawMessage) error {
			parsed, err := r.frame.graph.fields[index].parse(raw)
			t.result.patch = append(t.result.patch, parsed)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *restorer[S]) restoreVisits() error {
	for _, visited := range r.doc.Visits {
		// A node that is gone needs no count; one that has two names has the sum.
		if n := r.frame.graph.node[visited.Node]; n != nil {
			r.frame.visits[n.index] += visited.Count
			if r.frame.visits[n.index] > maxCount {
				return r.checkpointError("node %q has %d visits", n.name, r.frame.visits[n.index])
			}
		}
	}
	return nil
}

func (r *restorer[S]) restoreJoins() error {
	for _, doc := range r.doc.Joins {
		n, err := r.findNode(doc.Node)
		if err != nil {
			return err
		}
		index := slices.IndexFunc(r.frame.graph.joins, func(j *joinNode[S]) bool { return j.node == n })
		if index < 0 {
			return r.checkpointError("node %q is not a join", n.name)
		}
		from := r.frame.graph.joins[index].from
		for _, name := range doc.From {
			source, err := r.findNode(name)
			if err != nil {
				return err
			}
			place := slices.Index(from, source)
			if place < 0 {
				return r.checkpointError("join %q does not wait for node %q", n.name, name)
			}
			if r.frame.arrived[index].markArrived(place) {
				return r.checkpointError("join %q is complete and did not run", n.name)
			}
		}
	}
	return nil
}
