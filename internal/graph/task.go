package graph

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"time"
)

// taskCore is what a task is whatever the state: one visit of a node.
type taskCore struct {
	scope    *scope
	name     string
	visit    int
	policy   *Policy
	done     bool
	question *Question // the one it waits for
	answers  []keyedAnswer
}

type keyedAnswer struct {
	Key    string `json:"key"`
	Answer Answer `json:"answer"`
}

type task[S any] struct {
	taskCore
	node    *node[S]
	patch   Patch[S]
	encoded json.RawMessage // of patch
	sub     subtask[S]
}

func (f *frame[S]) task(n *node[S], visit int) *task[S] {
	return &task[S]{node: n, taskCore: taskCore{scope: &f.scope, name: n.name, visit: visit, policy: &n.policy}}
}

func (t *taskCore) path() string { return t.scope.prefix + t.name }

func (t *taskCore) answer(key string) (Answer, bool) {
	for _, a := range t.answers {
		if a.Key == key {
			return a.Answer, true
		}
	}
	return Answer{}, false
}

func (t *taskCore) emit(event Event) {
	if t.scope.session.options.Observe == nil {
		return
	}
	event.Node, event.Description, event.Visit = t.path(), t.policy.Description, t.visit
	t.scope.session.emit(event)
}

func (t *task[S]) runnable() bool {
	return !t.done && t.question == nil && (t.sub == nil || t.sub.runnable())
}

// execute runs a task to its result, by its policy, and keeps the result. A task that
// waits for an answer afterwards is no error.
func (f *frame[S]) execute(ctx context.Context, t *task[S]) error {
	for attempt := 1; ; attempt++ {
		begun := t.begin(attempt)
		result, err := f.attempt(ctx, t, attempt)
		if err == nil {
			err = f.check(t, result)
		}
		if err == nil {
			return f.keep(ctx, t, result, attempt, begun)
		}
		if again := f.retry(ctx, t, attempt, err); again {
			continue
		}
		t.fail(attempt, begun, err)
		if t.sub != nil && (ctx.Err() != nil || namesItsPlace(err)) {
			return err
		}
		return &NodeError{Run: f.session.run, Node: t.path(), Attempt: attempt, Err: err}
	}
}

// begin, fail and announce tell the observer of a task, if there is one. They are apart
// from execute, which runs on the small stack of a new goroutine: events are large.
func (t *taskCore) begin(attempt int) (begun time.Time) {
	if t.scope.session.options.Observe != nil {
		begun = t.scope.session.options.Now()
		t.emit(Event{Kind: StepStarted, Attempt: attempt})
	}
	return begun
}

func (t *taskCore) fail(attempt int, begun time.Time, err error) {
	if t.scope.session.options.Observe != nil {
		t.emit(Event{Kind: StepFinished, Attempt: attempt, Duration: t.since(begun), Err: err})
	}
}

func (t *task[S]) announce(result Result[S], attempt int, took time.Duration) {
	if t.scope.session.options.Observe == nil {
		return
	}
	if result.question != nil {
		t.emit(Event{Kind: QuestionAsked, Attempt: attempt, Duration: took, Question: t.question})
		return
	}
	var fields []string
	for _, change := range result.patch {
		if !slices.Contains(fields, change.Field()) {
			fields = append(fields, change.Field())
		}
	}
	t.emit(Event{Kind: StepFinished, Attempt: attempt, Duration: took, Fields: fields})
}

func (t *taskCore) since(begun time.Time) time.Duration {
	if begun.IsZero() {
		return 0
	}
	return t.scope.session.options.Now().Sub(begun)
}

// namesItsPlace tells whether a nested graph's error needs no node's name around it.
func namesItsPlace(err error) bool {
	_, node := errors.AsType[*NodeError](err)
	_, save := errors.AsType[*SaveError](err)
	_, limit := errors.AsType[*StepLimitError](err)
	_, stalled := errors.AsType[*StalledError](err)
	return node || save || limit || stalled
}

// retry waits for the next attempt where the policy has one.
func (f *frame[S]) retry(ctx context.Context, t *task[S], attempt int, err error) bool {
	policy := &t.node.policy
	if attempt > policy.Retries || ctx.Err() != nil {
		return false
	}
	if _, isPanic := errors.AsType[*PanicError](err); isPanic {
		return false
	}
	if policy.Transient != nil && !policy.Transient(err) {
		return false
	}
	pause := policy.pause(attempt)
	t.emit(Event{Kind: StepRetried, Attempt: attempt, Duration: pause, Err: err})
	return pause == 0 || f.session.options.Sleep(ctx, pause) == nil
}

// attempt calls the node once, or runs the nested graph as far as it goes.
func (f *frame[S]) attempt(ctx context.Context, t *task[S], attempt int) (Result[S], error) {
	if t.node.policy.Timeout > 0 {
		return f.timed(ctx, t, attempt)
	}
	if t.node.nested != nil {
		return f.enter(ctx, t)
	}
	return f.call(ctx, t, attempt)
}

func (f *frame[S]) timed(ctx context.Context, t *task[S], attempt int) (result Result[S], err error) {
	limit := t.node.policy.Timeout
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if t.node.nested != nil {
		result, err = f.enter(timed, t)
	} else {
		result, err = f.call(timed, t, attempt)
	}
	if err != nil && timed.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("no result within %s: %w (%w)", limit, context.DeadlineExceeded, err)
	}
	return result, err
}

// call calls the node and turns its panic into an error.
func (f *frame[S]) call(ctx context.Context, t *task[S], attempt int) (result Result[S], err error) {
	defer func() {
		if value := recover(); value != nil {
			err = panicked(value)
		}
	}()
	return t.node.fn(ctx, Step[S]{
		State: f.state, Run: f.session.run, Node: t.name, Visit: t.visit, Attempt: attempt, task: &t.taskCore,
	})
}

func (f *frame[S]) enter(ctx context.Context, t *task[S]) (result Result[S], err error) {
	if t.sub == nil {
		var sub subtask[S]
		err := guard(func() error {
			sub = t.node.nested.open(f.inside(t), f.state)
			return nil
		})
		if err != nil {
			return result, err
		}
		f.session.change(func() { t.sub = sub })
	}
	if result.paused, err = t.sub.run(ctx); result.paused || err != nil {
		return result, err
	}
	err = guard(func() error {
		result.patch = t.sub.patch()
		return nil
	})
	return result, err
}

// guard calls a function of the graph's author and turns its panic into an error.
func guard(fn func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = panicked(value)
		}
	}()
	return fn()
}

func panicked(value any) error {
	return &PanicError{Value: fmt.Sprint(value), Stack: debug.Stack()}
}

// check refuses a result that could not be kept.
func (f *frame[S]) check(t *task[S], result Result[S]) error {
	for i, change := range result.patch {
		if change == nil {
			return fmt.Errorf("change %d of the result is nil", i)
		}
		if _, declared := f.graph.field[change.Field()]; !declared {
			return fmt.Errorf("changes field %q, which graph %q does not declare: add it to graph.New", change.Field(), f.graph.name)
		}
	}
	if result.question == nil {
		return nil
	}
	if err := result.question.check(); err != nil {
		return err
	}
	if _, ok := t.answer(result.question.Key); ok {
		return fmt.Errorf("question %q was answered in this visit already: ask again under another key", result.question.Key)
	}
	return nil
}

func (q *Question) check() error {
	switch {
	case q.Key == "":
		return errors.New("the question has no key")
	case q.Text == "":
		return fmt.Errorf("question %q has no text", q.Key)
	case len(q.Choices) == 0 && !q.FreeText:
		return fmt.Errorf("question %q cannot be answered: give it choices or FreeText", q.Key)
	case len(q.Choices) > MaxChoices:
		return fmt.Errorf("question %q has %d choices, the most is %d", q.Key, len(q.Choices), MaxChoices)
	case q.Who != "" && q.Who != Asker && q.Who != Thread:
		return fmt.Errorf("question %q is for %q: use Asker or Thread", q.Key, q.Who)
	case q.Deadline < 0:
		return fmt.Errorf("question %q has a deadline of %s", q.Key, q.Deadline)
	}
	for i, choice := range q.Choices {
		if choice.ID == "" || choice.Label == "" {
			return fmt.Errorf("choice %d of question %q has no id or no label", i, q.Key)
		}
		if slices.ContainsFunc(q.Choices[:i], func(other Choice) bool { return other.ID == choice.ID }) {
			return fmt.Errorf("question %q has two choices with the id %q", q.Key, choice.ID)
		}
	}
	return nil
}

// keep puts a result into the position, and into a checkpoint unless the end of the
// step, which follows at once, does that.
func (f *frame[S]) keep(ctx context.Context, t *task[S], result Result[S], attempt int, begun time.Time) error {
	if result.paused {
		return nil // the nested graph has saved its questions
	}
	took := t.since(begun)
	stepEnds := false
	f.session.change(func() {
		if result.question != nil {
			t.question = t.ask(*result.question)
		} else {
			t.done, t.patch, t.sub = true, result.patch, nil
		}
		// Inside the change, so that a checkpoint has both the result and the number
		// of its event, or neither.
		t.announce(result, attempt, took)
		stepEnds = f.open() == 0
	})
	if stepEnds {
		return nil
	}
	return f.session.save(ctx)
}

// ask completes a question with its place and an id that depends on nothing else.
func (t *taskCore) ask(q Question) *Question {
	h := sha256.New()
	for _, part := range []string{t.scope.session.run, t.scope.lineage + t.name + "#" + strconv.Itoa(t.visit), q.Key} {
		fmt.Fprintf(h, "%d:%s,", len(part), part)
	}
	q.ID = "q-" + hex.EncodeToString(h.Sum(nil)[:8])
	q.Node = t.path()
	if q.Who == "" {
		q.Who = Asker
	}
	q.Choices = slices.Clone(q.Choices)
	return &q
}
