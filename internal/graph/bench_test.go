package graph_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/graphtest"
)

func benchmarkStart(b *testing.B, c *graph.Compiled[tally], options graph.Options) {
	b.ReportAllocs()
	for b.Loop() {
		outcome, err := c.Start(b.Context(), "run", tally{}, options)
		if err != nil || outcome.Status != graph.Done {
			b.Fatal(outcome.Status, err)
		}
	}
}

func BenchmarkLine8(b *testing.B) { benchmarkStart(b, lineGraph(b, 8), graph.Options{}) }

func BenchmarkLine8Saved(b *testing.B) {
	benchmarkStart(b, lineGraph(b, 8), graph.Options{Store: graphtest.NewMemory()})
}

func BenchmarkFanOut5Join(b *testing.B) { benchmarkStart(b, fanGraph(b, 5), graph.Options{}) }

func BenchmarkAskAndResume(b *testing.B) {
	c := askGraph(b)
	options := graph.Options{Store: graphtest.NewMemory()}
	b.ReportAllocs()
	for b.Loop() {
		outcome, err := c.Start(b.Context(), "run", tally{}, options)
		if err != nil {
			b.Fatal(err)
		}
		answers := []graph.Answer{{QuestionID: outcome.Questions[0].ID, Text: "this"}}
		if outcome, err = c.Resume(b.Context(), "run", answers, options); err != nil || outcome.Status != graph.Done {
			b.Fatal(outcome.Status, err)
		}
	}
}

// The floor is what each of these graphs costs when written by hand for it alone: the
// same state, steps and checkpoints, with no policies, events, routes, joins of uneven
// branches, nested graphs or names. It promises what the engine promises for its graph:
// branches have goroutines of their own and are folded in order; a checkpoint is
// encoded and stored after every step; a question is in the checkpoint with its id and
// text, and its answer is checked and stored before the node runs with it.
//
// BenchmarkFloorAskAndResumeForgetful is a floor that does less: neither question nor
// answer is in its checkpoints, so a process that dies between the answer and the end
// of the node asks again. It is there to show what that promise costs by itself.

type floorNode func(ctx context.Context, state tally) (change func(*tally), err error)

func floorCount(_ context.Context, s tally) (func(*tally), error) {
	return func(t *tally) { t.Count = s.Count + 1 }, nil
}

func floorName(_ context.Context, _ tally) (func(*tally), error) {
	return func(t *tally) { t.Names = append(t.Names[:len(t.Names):len(t.Names)], "b") }, nil
}

// floorStep runs nodes at once and folds their changes in order.
func floorStep(ctx context.Context, state tally, nodes ...floorNode) (tally, error) {
	changes, errs := make([]func(*tally), len(nodes)), make([]error, len(nodes))
	if len(nodes) == 1 {
		changes[0], errs[0] = nodes[0](ctx, state)
	} else {
		var running sync.WaitGroup
		for i, node := range nodes {
			running.Go(func() { changes[i], errs[i] = node(ctx, state) })
		}
		running.Wait()
	}
	for i, change := range changes {
		if errs[i] != nil {
			return state, errs[i]
		}
		change(&state)
	}
	return state, ctx.Err()
}

type floorCheckpoint struct {
	Step  int
	State tally
}

// floorAsked is a checkpoint of a graph that asks.
type floorAsked struct {
	floorCheckpoint
	Question *graph.Question `json:",omitempty"`
	Answer   *graph.Answer   `json:",omitempty"`
}

func floorSave[C any](b *testing.B, store graph.Store, checkpoint C) {
	raw, err := json.Marshal(checkpoint)
	if err == nil {
		err = store.Save(b.Context(), "run", raw)
	}
	if err != nil {
		b.Fatal(err)
	}
}

func floorLoad[C any](b *testing.B, store graph.Store) (checkpoint C) {
	raw, err := store.Load(b.Context(), "run")
	if err == nil {
		err = json.Unmarshal(raw, &checkpoint)
	}
	if err != nil {
		b.Fatal(err)
	}
	return checkpoint
}

func benchmarkFloor(b *testing.B, store graph.Store, steps ...[]floorNode) {
	b.ReportAllocs()
	for b.Loop() {
		var state tally
		var err error
		for i, nodes := range steps {
			if state, err = floorStep(b.Context(), state, nodes...); err != nil {
				b.Fatal(err)
			}
			if store != nil {
				floorSave(b, store, floorCheckpoint{i, state})
			}
		}
	}
}

func floorLine() [][]floorNode {
	var steps [][]floorNode
	for range 8 {
		steps = append(steps, []floorNode{floorCount})
	}
	return steps
}

func BenchmarkFloorLine8(b *testing.B) { benchmarkFloor(b, nil, floorLine()...) }

func BenchmarkFloorLine8Saved(b *testing.B) {
	benchmarkFloor(b, graphtest.NewMemory(), floorLine()...)
}

func BenchmarkFloorFanOut5Join(b *testing.B) {
	fan := []floorNode{floorName, floorName, floorName, floorName, floorName}
	benchmarkFloor(b, nil, []floorNode{floorCount}, fan, []floorNode{floorCount})
}

// floorAsk is before → ask → after; the process could die anywhere in between.
type floorAsk struct {
	b     *testing.B
	store graph.Store
}

func (f floorAsk) start() (question graph.Question) {
	state, err := floorStep(f.b.Context(), tally{}, floorCount)
	if err != nil {
		f.b.Fatal(err)
	}
	floorSave(f.b, f.store, floorCheckpoint{0, state})
	question = graph.Question{Key: "which", ID: "run/ask/1/which", Text: "Which one?", FreeText: true, Who: graph.Asker}
	floorSave(f.b, f.store, floorAsked{floorCheckpoint{1, state}, &question, nil})
	return question
}

func (f floorAsk) resume(answer graph.Answer) {
	checkpoint := floorLoad[floorAsked](f.b, f.store)
	if asked := checkpoint.Question; asked == nil || asked.ID != answer.QuestionID || !asked.FreeText || answer.Text == "" {
		f.b.Fatal("the answer is to no question")
	}
	state := checkpoint.State
	floorSave(f.b, f.store, floorAsked{floorCheckpoint{1, state}, nil, &answer})
	replying := func(_ context.Context, _ tally) (func(*tally), error) {
		return func(t *tally) { t.Names = append(t.Names[:len(t.Names):len(t.Names)], answer.Text) }, nil
	}
	for i, node := range []floorNode{replying, floorCount} {
		var err error
		if state, err = floorStep(f.b.Context(), state, node); err != nil {
			f.b.Fatal(err)
		}
		floorSave(f.b, f.store, floorAsked{floorCheckpoint{2 + i, state}, nil, &answer})
	}
}

func BenchmarkFloorAskAndResume(b *testing.B) {
	f := floorAsk{b, graphtest.NewMemory()}
	b.ReportAllocs()
	for b.Loop() {
		f.resume(graph.Answer{QuestionID: f.start().ID, Text: "this"})
	}
}

func BenchmarkFloorAskAndResumeForgetful(b *testing.B) {
	store := graphtest.NewMemory()
	b.ReportAllocs()
	for b.Loop() {
		state, err := floorStep(b.Context(), tally{}, floorCount)
		if err != nil {
			b.Fatal(err)
		}
		floorSave(b, store, floorCheckpoint{0, state})
		floorSave(b, store, floorCheckpoint{1, state}) // the question
		state = floorLoad[floorCheckpoint](b, store).State
		for i, node := range []floorNode{floorName, floorCount} {
			if state, err = floorStep(b.Context(), state, node); err != nil {
				b.Fatal(err)
			}
			floorSave(b, store, floorCheckpoint{2 + i, state})
		}
	}
}
