package graphtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"testing"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/racetest"
)

// Scenario is a run of a graph from its beginning to its end.
type Scenario[S any] struct {
	Graph   *graph.Compiled[S]
	Initial S
	// Answer gives the reply to each question; nil where there are none.
	Answer func(graph.Question) graph.Answer
}

// Steps counts how often each node's result was kept: by node path and visit.
type Steps map[string]int

// Crashes carries a scenario out undisturbed and then several times for every save
// point: the process dies before the checkpoint is written or after, or lives on with a
// store that failed before or after writing it; with the race detector, at every sixth
// (racetest.Stride). Each must end in the same outcome, with
// every step kept once and the same ids of questions, and no process may save again
// after a save that failed. It gives the undisturbed run's end and steps.
func Crashes[S any](t testing.TB, scenario Scenario[S]) (graph.Outcome[S], Steps) {
	t.Helper()
	undisturbed := newLives(scenario)
	want, err := undisturbed.runProcess(t.Context(), undisturbed.store)
	if err != nil {
		t.Fatalf("undisturbed run: %v", err)
	}
	for save := 1; ; save += racetest.Stride {
		for _, at := range []CrashPoint{
			{Save: save}, {Save: save, Written: true}, {Save: save, Once: true}, {Save: save, Written: true, Once: true},
		} {
			l := newLives(scenario)
			l.known = undisturbed.asked
			crashed, err := l.compareOutcome(t.Context(), at, want, undisturbed.kept)
			if err != nil {
				t.Fatalf("crash at %+v: %v", at, err)
			}
			if !crashed {
				return want, undisturbed.kept
			}
		}
	}
}

// crashRun is a run that may be carried out by several processes in a row.
type crashRun[S any] struct {
	Scenario[S]
	store *Memory

	fresh    []finishedStep // of this process
	kept     Steps          // of those before, and of this one up to its last checkpoint
	answered []graph.Answer
	asked    map[string]bool // ids of questions
	known    map[string]bool // the ids of the undisturbed run, in all others
	err      error           // what was seen to be wrong
}

// mostAnswers is more than any scenario asks for: a run that asks on is an error.
const mostAnswers = 1000

func newLives[S any](scenario Scenario[S]) *crashRun[S] {
	return &crashRun[S]{Scenario: scenario, store: NewMemory(), kept: Steps{}, asked: map[string]bool{}}
}

type finishedStep struct {
	seq  int64
	step string
}

// compareOutcome carries the run out with one crash. crashed is false if it ended before.
func (l *crashRun[S]) compareOutcome(ctx context.Context, at CrashPoint, want graph.Outcome[S], steps Steps) (crashed bool, err error) {
	store := NewCrashing(l.store, at)
	got, err := l.runProcess(ctx, store)
	if store.Crashed() {
		var unsaved *graph.SaveError
		if !errors.As(err, &unsaved) || !errors.Is(err, ErrCrash) {
			return true, fmt.Errorf("the crash gave no SaveError: %w", err)
		}
		if saves := store.Saves(); saves != at.Save {
			return true, fmt.Errorf("%d saves were tried after one that failed", saves-at.Save)
		}
		// Where only the save failed, the next try goes to the same store.
		next := graph.Store(l.store)
		if at.Once {
			next = store
		}
		got, err = l.runProcess(ctx, next)
	}
	if err != nil {
		return store.Crashed(), err
	}
	if !maps.Equal(l.kept, steps) {
		return store.Crashed(), fmt.Errorf("steps kept: %v, undisturbed: %v", l.kept, steps)
	}
	return store.Crashed(), checkSameOutcome(got, want)
}

func checkSameOutcome[S any](got, want graph.Outcome[S]) error {
	gotRaw, err := json.Marshal(got)
	if err != nil {
		return fmt.Errorf("encode outcome: %w", err)
	}
	wantRaw, err := json.Marshal(want)
	if err != nil {
		return fmt.Errorf("encode outcome: %w", err)
	}
	if string(gotRaw) != string(wantRaw) {
		return fmt.Errorf("ended in\n%s, undisturbed in\n%s", gotRaw, wantRaw)
	}
	return nil
}

// runProcess is one process: it takes the run up where it is and goes on to its end.
// Questions are answered one by one. What was answered before a crash is answered
// again, as by a queue that redelivers.
func (l *crashRun[S]) runProcess(ctx context.Context, store graph.Store) (graph.Outcome[S], error) {
	const run = "run"
	options := graph.Options{Store: store, Observe: l.recordEvent}
	outcome, err := l.Graph.Resume(ctx, run, l.pendingAnswers(ctx), options)
	if errors.Is(err, graph.ErrNoCheckpoint) {
		outcome, err = l.Graph.Start(ctx, run, l.Initial, options)
	}
	for err == nil && outcome.Status == graph.Waiting {
		if len(l.answered) == mostAnswers {
			return outcome, fmt.Errorf("the run still asks after %d answers: %+v", mostAnswers, outcome.Questions)
		}
		answer := l.Answer(outcome.Questions[0])
		answer.QuestionID = outcome.Questions[0].ID
		l.answered = append(l.answered, answer)
		outcome, err = l.Graph.Resume(ctx, run, []graph.Answer{answer}, options)
	}
	if err == nil {
		l.settleKept(1 << 62)
		err = l.err
	}
	return outcome, err
}

// pendingAnswers returns the answers to deliver again: none before there is a checkpoint.
func (l *crashRun[S]) pendingAnswers(ctx context.Context) []graph.Answer {
	if _, err := l.store.Load(ctx, "run"); err != nil {
		return nil
	}
	return l.answered
}

// recordEvent notes finished steps. The first event of a process tells how far the events
// before it were kept.
func (l *crashRun[S]) recordEvent(event graph.Event) {
	switch event.Kind {
	case graph.RunStarted:
		l.settleKept(event.Seq)
	case graph.StepFinished:
		if event.Err == nil {
			l.fresh = append(l.fresh, finishedStep{event.Seq, fmt.Sprintf("%s#%d", event.Node, event.Visit)})
		}
	case graph.QuestionAsked:
		if l.known != nil && !l.known[event.Question.ID] {
			l.err = fmt.Errorf("%s asks with the id %s, which the undisturbed run had not", event.Node, event.Question.ID)
		}
		l.asked[event.Question.ID] = true
	}
}

func (l *crashRun[S]) settleKept(before int64) {
	for _, f := range l.fresh {
		if f.seq < before {
			l.kept[f.step]++
		}
	}
	l.fresh = nil
}
