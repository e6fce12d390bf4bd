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
	"unicode/utf8"
)

// taskCore is what a task is whatever the state: one visit of a node. There is one for
// every step of every run, so it is kept small.
type taskCore struct {
	scope    *scope
	kind     *nodeCore
	visit    int
	attempt  int        // that runs, or ran last
	begun    *time.Time // the attempt; only where there is an observer
	speaking bool       // an attempt runs whose words the observer gets; observing guards it
	done     bool
	question *Question       // the one it waits for
	encoded  json.RawMessage // of the question, or of a done task's changes
	answers  []keyedAnswer
}

type keyedAnswer struct {
	key    string
	answer Answer
}

type task[S any] struct {
	taskCore
	result Result[S] // of the last attempt
	sub    subtask[S]
}

// createTask makes the task at an index of the step a visit of n.
func (f *frame[S]) createTask(index int, n *node[S], visit int) {
	t := &f.tasks[index]
	t.scope, t.kind, t.visit = &f.scope, &n.nodeCore, visit
}

// nodeOf returns the node that the task is a visit of.
func (f *frame[S]) nodeOf(t *task[S]) *node[S] { return f.graph.nodes[t.kind.index] }

func (t *taskCore) nodePath() string { return t.scope.prefix + t.kind.name }

func (t *taskCore) findAnswer(key string) (Answer, bool) {
	for _, a := range t.answers {
		if a.key == key {
			return a.answer, true
		}
	}
	return Answer{}, false
}

// emitEvent hands an event of the task to the observer, who is there.
func (t *taskCore) emitEvent(event Event) {
	x := t.scope.session
	x.observing.Lock()
	defer x.observing.Unlock()
	t.speaking = event.Kind == StepStarted
	t.deliverEvent(event)
}

// emitText hands the node's words to the observer while the attempt that has them runs.
func (t *taskCore) emitText(kind EventKind, text string, attempt int) {
	x := t.scope.session
	if x.options.Observe == nil {
		return
	}
	x.observing.Lock()
	defer x.observing.Unlock()
	if t.speaking && t.attempt == attempt {
		t.deliverEvent(Event{Kind: kind, Text: text})
	}
}

func (t *taskCore) deliverEvent(event Event) {
	event.Node, event.Description, event.Visit, event.Attempt = t.nodePath(), t.kind.policy.Description, t.visit, t.attempt
	t.scope.session.deliverEvent(event)
}

func (t *task[S]) canRun() bool {
	return !t.done && t.question == nil && (t.sub == nil || t.sub.canRun())
}

// executeTask runs a task to its result, by its policy, and keeps the result. A task that
// waits for an answer afterwards is no error.
//
// It is the bottom of the stack of a new goroutine, which begins small: what a node
// needs of it before it has to grow is what executeTask, runAttempt and callNode leave.
func (f *frame[S]) executeTask(ctx context.Context, t *task[S]) error {
	for {
		t.startAttempt()
		err := f.runAttempt(ctx, t)
		if err == nil {
			return f.keepResult(ctx, t)
		}
		if !f.waitForRetry(ctx, t, err) {
			return f.taskError(ctx, t, err)
		}
	}
}

// startAttempt begins the next attempt.
func (t *taskCore) startAttempt() {
	x := t.scope.session
	if x.options.Observe == nil {
		t.attempt++
		return
	}
	x.observing.Lock()
	t.attempt++
	x.observing.Unlock()
	begun := x.options.Now()
	t.begun = &begun
	t.emitEvent(Event{Kind: StepStarted})
}

// attemptDuration returns how long the attempt has been running, where there is an observer.
func (t *taskCore) attemptDuration() time.Duration {
	if t.begun == nil {
		return 0
	}
	return t.scope.session.options.Now().Sub(*t.begun)
}

// taskError ends the task with the error of its last attempt.
func (f *frame[S]) taskError(ctx context.Context, t *task[S], err error) error {
	if f.session.options.Observe != nil {
		t.emitEvent(Event{Kind: StepFinished, Duration: t.attemptDuration(), Err: err})
	}
	if t.sub != nil && (ctx.Err() != nil || namesItsPlace(err)) {
		return err
	}
	return &NodeError{Run: f.session.run, Node: t.nodePath(), Attempt: t.attempt, Err: err}
}

// namesItsPlace reports whether a nested graph's error needs no node's name around it.
func namesItsPlace(err error) bool {
	_, ok := errors.AsType[*NodeError](err)
	_, save := errors.AsType[*SaveError](err)
	_, limit := errors.AsType[*StepLimitError](err)
	_, stalled := errors.AsType[*StalledError](err)
	return ok || save || limit || stalled
}

// waitForRetry waits for the next attempt where the policy has one.
func (f *frame[S]) waitForRetry(ctx context.Context, t *task[S], err error) bool {
	policy := &t.kind.policy
	if t.attempt > policy.Retries || ctx.Err() != nil {
		return false
	}
	if _, ok := errors.AsType[*PanicError](err); ok {
		return false
	}
	if policy.Transient != nil && !policy.Transient(err) {
		return false
	}
	pause := policy.retryDelay(t.attempt, f.session.options.Random())
	if f.session.options.Observe != nil {
		t.emitEvent(Event{Kind: StepRetried, Duration: pause, Err: err})
	}
	return pause == 0 || f.session.options.Sleep(ctx, pause) == nil
}

// runAttempt calls the node once, or runs the nested graph as far as it goes, and leaves
// the result in the task.
func (f *frame[S]) runAttempt(ctx context.Context, t *task[S]) error {
	var err error
	if t.kind.policy.Timeout > 0 {
		err = f.callWithTimeout(ctx, t)
	} else {
		err = f.callNode(ctx, t)
	}
	if err != nil {
		return err
	}
	return f.checkResult(t)
}

func (f *frame[S]) callWithTimeout(ctx context.Context, t *task[S]) error {
	limit := t.kind.policy.Timeout
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := f.callNode(timed, t)
	if err != nil && timed.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("no result within %s: %w (%w)", limit, context.DeadlineExceeded, err)
	}
	return err
}

// callNode runs the node and turns its panic into an error.
func (f *frame[S]) callNode(ctx context.Context, t *task[S]) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = newPanicError(value)
		}
	}()
	n := f.nodeOf(t)
	if n.nested != nil {
		return f.runNested(ctx, t)
	}
	t.result, err = n.fn(ctx, Step[S]{
		State: f.state, Run: f.session.run, Node: n.name, Visit: t.visit, Attempt: t.attempt, task: &t.taskCore,
	})
	return err
}

func (f *frame[S]) runNested(ctx context.Context, t *task[S]) (err error) {
	if t.sub == nil {
		sub := f.nodeOf(t).nested.openNested(f.nestedScope(t), f.state)
		f.session.applyChange(func() { t.sub = sub })
	}
	if t.result.paused, err = t.sub.run(ctx); t.result.paused || err != nil {
		return err
	}
	t.result.patch = t.sub.outerPatch()
	return nil
}

// recoverPanic calls a function of the graph's author and turns its panic into an error.
func recoverPanic(fn func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = newPanicError(value)
		}
	}()
	return fn()
}

func newPanicError(value any) error {
	return &PanicError{Value: fmt.Sprint(value), Stack: debug.Stack()}
}

// checkResult refuses a result that could not be kept.
func (f *frame[S]) checkResult(t *task[S]) error {
	for i, change := range t.result.patch {
		if change == nil {
			return fmt.Errorf("change %d of the result is nil", i)
		}
		if !slices.Contains(f.graph.fieldNames, change.Field()) {
			return fmt.Errorf("changes field %q, which graph %q does not declare: add it to graph.New", change.Field(), f.graph.name)
		}
	}
	question := t.result.question
	if question == nil {
		return nil
	}
	if err := question.checkFields(); err != nil {
		return err
	}
	if _, ok := t.findAnswer(question.Key); ok {
		return fmt.Errorf("question %q was answered in this visit already: ask again under another key", question.Key)
	}
	return nil
}

func (q *Question) checkFields() error {
	switch {
	case q.Key == "" || !utf8.ValidString(q.Key):
		return fmt.Errorf("the question has no key, or one that is not UTF-8: %q", q.Key)
	case q.Text == "":
		return fmt.Errorf("question %q has no text", q.Key)
	case len(q.Choices) == 0 && !q.FreeText:
		return fmt.Errorf("question %q cannot be answered: give it choices or FreeText", q.Key)
	case len(q.Choices) > MaxChoices:
		return fmt.Errorf("question %q has %d choices, the limit is %d", q.Key, len(q.Choices), MaxChoices)
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

// keepResult puts the result into the position, and into a checkpoint unless the end of the
// step, which follows at once, does that.
func (f *frame[S]) keepResult(ctx context.Context, t *task[S]) error {
	if t.result.paused {
		return nil // the nested graph has saved its questions
	}
	var asked *Question
	if t.result.question != nil {
		asked = t.completeQuestion(*t.result.question)
	}
	stepEnds := false
	f.session.applyChange(func() {
		t.done, t.question, t.sub = asked == nil, asked, nil
		// Inside the change, so that a checkpoint has both the result and the number
		// of its event, or neither.
		if f.session.options.Observe != nil {
			t.emitResult()
		}
		stepEnds = f.session.options.Store != nil && f.countOpenTasks() == 0
	})
	if stepEnds {
		return nil
	}
	return f.session.saveCheckpoint(ctx)
}

func (t *task[S]) emitResult() {
	if t.question != nil {
		t.emitEvent(Event{Kind: QuestionAsked, Duration: t.attemptDuration(), Question: t.question})
		return
	}
	var fields []string
	for _, change := range t.result.patch {
		if !slices.Contains(fields, change.Field()) {
			fields = append(fields, change.Field())
		}
	}
	t.emitEvent(Event{Kind: StepFinished, Duration: t.attemptDuration(), Fields: fields})
}

// completeQuestion completes a question with its place and an id that depends on nothing else.
func (t *taskCore) completeQuestion(q Question) *Question {
	place := t.scope.lineage + t.kind.name + "#" + strconv.Itoa(t.visit)
	var made []byte
	for _, part := range []string{t.scope.session.run, place, q.Key} {
		made = append(append(strconv.AppendInt(made, int64(len(part)), 10), ':'), part...)
		made = append(made, ',')
	}
	sum := sha256.Sum256(made)
	q.ID = "q-" + hex.EncodeToString(sum[:8])
	q.Node = t.nodePath()
	if q.Who == "" {
		q.Who = Asker
	}
	q.Choices = slices.Clone(q.Choices)
	return &q
}
