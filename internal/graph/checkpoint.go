package graph

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// formatVersion is the version of the document below; see the package comment.
const formatVersion = 1

// document is the checkpoint of a run.
type document struct {
	Format   int               `json:"format"`
	Run      string            `json:"run"`
	Seq      int64             `json:"seq"` // of the last event
	Answered map[string]Answer `json:"answered,omitempty"`
	Graph    *frameDoc         `json:"graph"`
}

// frameDoc is the position of one graph.
type frameDoc struct {
	Name    string                     `json:"name"`
	Version int                        `json:"version"`
	Steps   int                        `json:"steps"`
	Done    bool                       `json:"done,omitempty"`
	State   map[string]json.RawMessage `json:"state"`
	Tasks   []taskDoc                  `json:"tasks,omitempty"`
	Joins   map[string][]string        `json:"joins,omitempty"` // join → the nodes that reached it
	Visits  map[string]int             `json:"visits,omitempty"`
}

// taskDoc is one node of the step that runs.
type taskDoc struct {
	Node     string          `json:"node"`
	Visit    int             `json:"visit"`
	Done     bool            `json:"done,omitempty"`
	Changes  json.RawMessage `json:"changes,omitempty"` // [{field: value}, …], of a done one
	Question *Question       `json:"question,omitempty"`
	Answers  []keyedAnswer   `json:"answers,omitempty"`
	Sub      *frameDoc       `json:"sub,omitempty"`
}

// doc gives the position for a checkpoint. The session's mu is held.
func (f *frame[S]) doc() (*frameDoc, error) {
	doc := &frameDoc{
		Name: f.graph.name, Version: f.graph.version, Steps: f.steps, Done: f.done,
		State:  make(map[string]json.RawMessage, len(f.graph.fields)),
		Visits: make(map[string]int, len(f.visits)),
	}
	for i, field := range f.graph.fields {
		if f.encoded[i] == nil {
			raw, err := field.encode(&f.state)
			if err != nil {
				return nil, err
			}
			f.encoded[i] = raw
		}
		doc.State[field.names()[0]] = f.encoded[i]
	}
	for i, n := range f.graph.nodes {
		if f.visits[i] > 0 {
			doc.Visits[n.name] = f.visits[i]
		}
	}
	for i, arrived := range f.arrived {
		if arrived.count > 0 && doc.Joins == nil {
			doc.Joins = make(map[string][]string)
		}
		j := f.graph.joins[i]
		for place, here := range arrived.here {
			if here {
				doc.Joins[j.node.name] = append(doc.Joins[j.node.name], j.from[place].name)
			}
		}
	}
	for _, t := range f.tasks {
		taskDoc, err := t.doc()
		if err != nil {
			return nil, err
		}
		doc.Tasks = append(doc.Tasks, taskDoc)
	}
	return doc, nil
}

func (t *task[S]) doc() (doc taskDoc, err error) {
	doc = taskDoc{Node: t.name, Visit: t.visit, Done: t.done, Question: t.question, Answers: t.answers}
	if len(t.patch) > 0 && t.encoded == nil {
		if t.encoded, err = json.Marshal(t.patch); err != nil {
			return doc, fmt.Errorf("changes of node %q: %w", t.path(), err)
		}
	}
	doc.Changes = t.encoded
	if t.sub != nil {
		doc.Sub, err = t.sub.doc()
	}
	return doc, err
}

func decodeDocument(run string, checkpoint []byte) (*document, error) {
	// The version comes first: the rest of another format may not decode at all.
	var head struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(checkpoint, &head); err != nil {
		return nil, &CheckpointError{Run: run, Err: err}
	}
	if head.Format != formatVersion {
		return nil, &SchemaError{Run: run, Got: head.Format, Want: formatVersion}
	}
	doc := &document{}
	if err := json.Unmarshal(checkpoint, doc); err != nil {
		return nil, &CheckpointError{Run: run, Err: err}
	}
	switch {
	case doc.Run != run:
		return nil, &CheckpointError{Run: run, Err: fmt.Errorf("it belongs to run %q", doc.Run)}
	case doc.Graph == nil:
		return nil, &CheckpointError{Run: run, Err: errors.New("it has no graph")}
	case doc.Seq < 0:
		return nil, &CheckpointError{Run: run, Err: fmt.Errorf("it has the event number %d", doc.Seq)}
	}
	return doc, nil
}

// restorer reads one graph's position.
type restorer[S any] struct {
	frame *frame[S]
	doc   *frameDoc
	// steps are the migrations from the checkpoint's version to the graph's.
	steps []Migration
}

func restoreFrame[S any](graph *Compiled[S], in scope, doc *frameDoc) (*frame[S], error) {
	r := &restorer[S]{frame: blankFrame(graph, in), doc: doc}
	for _, read := range []func() error{r.header, r.state, r.tasks, r.visits, r.joins} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	return r.frame, nil
}

func (r *restorer[S]) damaged(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return &CheckpointError{Run: r.frame.session.run, Err: fmt.Errorf("graph %q: %w", r.frame.graph.name, err)}
}

// maxCount bounds the counters of a checkpoint, far above what a run can reach.
const maxCount = 1 << 30

func (r *restorer[S]) header() error {
	graph, doc := r.frame.graph, r.doc
	if doc.Name != graph.name {
		return r.damaged("it is a checkpoint of graph %q", doc.Name)
	}
	for version := doc.Version; version != graph.version; version++ {
		step := graph.migrations[version]
		if step == nil {
			return &SchemaError{Run: r.frame.session.run, Graph: graph.name, Got: doc.Version, Want: graph.version}
		}
		r.steps = append(r.steps, step)
	}
	if doc.Steps < 0 || doc.Steps > maxCount {
		return r.damaged("it has %d steps", doc.Steps)
	}
	if doc.Done != (len(doc.Tasks) == 0) {
		return r.damaged("it is done and has tasks, or neither")
	}
	r.frame.steps, r.frame.done = doc.Steps, doc.Done
	return nil
}

// migrate brings fields to the graph's version.
func (r *restorer[S]) migrate(fields map[string]json.RawMessage) error {
	for i, step := range r.steps {
		if err := guard(func() error { return step(fields) }); err != nil {
			return r.damaged("migrate from version %d: %w", r.doc.Version+i, err)
		}
	}
	return nil
}

// each calls read for every field that the graph has, in order of declaration.
func (r *restorer[S]) each(fields map[string]json.RawMessage, read func(spec FieldSpec[S], raw json.RawMessage) error) error {
	graph := r.frame.graph
	values := make(map[int]json.RawMessage, len(fields))
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		index, known := graph.field[name]
		if !known && graph.retired[name] {
			continue
		}
		if !known {
			return &UnknownFieldError{Run: r.frame.session.run, Graph: graph.name, Field: name}
		}
		if _, twice := values[index]; twice {
			return r.damaged("it has the field %q under an old name too", graph.fields[index].names()[0])
		}
		values[index] = fields[name]
	}
	for index, spec := range graph.fields {
		if raw, ok := values[index]; ok {
			if err := read(spec, raw); err != nil {
				return r.damaged("%w", err)
			}
		}
	}
	return nil
}

func (r *restorer[S]) state() error {
	fields := maps.Clone(r.doc.State)
	if fields == nil {
		fields = make(map[string]json.RawMessage)
	}
	if err := r.migrate(fields); err != nil {
		return err
	}
	return r.each(fields, func(spec FieldSpec[S], raw json.RawMessage) error {
		return spec.decode(&r.frame.state, raw)
	})
}

// node gives the node that the checkpoint means by a name, which may be an old one.
func (r *restorer[S]) node(name string) (*node[S], error) {
	n := r.frame.graph.node[name]
	if n == nil {
		return nil, &UnknownNodeError{Run: r.frame.session.run, Graph: r.frame.graph.name, Node: r.frame.prefix + name}
	}
	return n, nil
}

func (r *restorer[S]) tasks() error {
	for _, doc := range r.doc.Tasks {
		n, err := r.node(doc.Node)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(r.frame.tasks, func(t *task[S]) bool { return t.node == n }) {
			return r.damaged("node %q is in it twice", n.name)
		}
		t := r.frame.task(n, doc.Visit)
		if err := r.task(t, doc); err != nil {
			return err
		}
		r.frame.tasks = append(r.frame.tasks, t)
	}
	return nil
}

func (r *restorer[S]) task(t *task[S], doc taskDoc) (err error) {
	switch {
	case doc.Visit < 1 || doc.Visit > maxCount:
		return r.damaged("node %q has the visit %d", t.name, doc.Visit)
	case doc.Done && (doc.Question != nil || doc.Sub != nil):
		return r.damaged("node %q is done and not done", t.name)
	case !doc.Done && doc.Changes != nil:
		return r.damaged("node %q has changes and is not done", t.name)
	case doc.Sub != nil && (t.node.nested == nil || doc.Question != nil):
		return r.damaged("node %q has the position of a nested graph, which it is not", t.name)
	}
	t.done, t.answers = doc.Done, doc.Answers
	if doc.Question != nil {
		if err := doc.Question.check(); err != nil {
			return r.damaged("node %q: %w", t.name, err)
		}
		if doc.Question.ID == "" || t.node.nested != nil {
			return r.damaged("node %q has a question that it cannot have asked", t.name)
		}
		t.question = doc.Question
		t.question.Node = t.path()
	}
	if doc.Sub != nil {
		t.sub, err = t.node.nested.restore(r.frame.inside(t), doc.Sub)
		return err
	}
	return r.changes(t, doc.Changes)
}

func (r *restorer[S]) changes(t *task[S], raw json.RawMessage) error {
	if raw == nil {
		return nil
	}
	var changes []map[string]json.RawMessage
	if err := json.Unmarshal(raw, &changes); err != nil {
		return r.damaged("changes of node %q: %w", t.name, err)
	}
	for _, change := range changes {
		if change == nil {
			return r.damaged("node %q has an empty change", t.name)
		}
		if err := r.migrate(change); err != nil {
			return err
		}
		err := r.each(change, func(spec FieldSpec[S], raw json.RawMessage) error {
			parsed, err := spec.parse(raw)
			t.patch = append(t.patch, parsed)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *restorer[S]) visits() error {
	for name, visits := range r.doc.Visits {
		if visits < 0 || visits > maxCount {
			return r.damaged("node %q has %d visits", name, visits)
		}
		// A node that is gone needs no count; one that has two names has the sum.
		if n := r.frame.graph.node[name]; n != nil {
			r.frame.visits[n.index] += visits
		}
	}
	return nil
}

func (r *restorer[S]) joins() error {
	for name, reached := range r.doc.Joins {
		n, err := r.node(name)
		if err != nil {
			return err
		}
		index := slices.IndexFunc(r.frame.graph.joins, func(j *joinNode[S]) bool { return j.node == n })
		if index < 0 {
			return r.damaged("node %q is no join", name)
		}
		from := r.frame.graph.joins[index].from
		for _, name := range reached {
			source, err := r.node(name)
			if err != nil {
				return err
			}
			place := slices.Index(from, source)
			if place < 0 {
				return r.damaged("join %q does not wait for node %q", n.name, name)
			}
			if r.frame.arrived[index].add(place) {
				return r.damaged("join %q is complete and did not run", n.name)
			}
		}
	}
	return nil
}
