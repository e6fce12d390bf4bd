package graphtest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/cairn-bot/cairn/internal/graph"
)

func TestMemory(t *testing.T) {
	StoreSuite(t, func(*testing.T) graph.Store { return NewMemory() })
}

func TestCrashing(t *testing.T) {
	for _, written := range []bool{false, true} {
		memory := NewMemory()
		store := NewCrashing(memory, CrashPoint{Save: 2, Written: written})
		if err := store.Save(t.Context(), "run", []byte("1")); err != nil || store.Crashed() {
			t.Fatalf("the first save: %v", err)
		}
		for range 2 {
			if err := store.Save(t.Context(), "run", []byte("2")); !errors.Is(err, ErrCrash) {
				t.Errorf("Save = %v, want ErrCrash", err)
			}
		}
		if _, err := store.Load(t.Context(), "run"); !errors.Is(err, ErrCrash) {
			t.Errorf("Load = %v, want ErrCrash", err)
		}
		want := map[bool]string{false: "1", true: "2"}[written]
		if got := string(mustLoad(t, memory, "run")); got != want {
			t.Errorf("the store under it has %q, want %q", got, want)
		}
	}
}

func TestCrashingOnceWorksAgain(t *testing.T) {
	memory := NewMemory()
	store := NewCrashing(memory, CrashPoint{Save: 2, Once: true})
	for save, fails := range []bool{false, true, false} {
		err := store.Save(t.Context(), "run", []byte{byte('1' + save)})
		if errors.Is(err, ErrCrash) != fails {
			t.Errorf("save %d = %v", save+1, err)
		}
	}
	if got := string(mustLoad(t, store, "run")); got != "3" || store.Saves() != 3 {
		t.Errorf("the store has %q after %d saves", got, store.Saves())
	}
}

// TestCrashesFindsARepeat runs a graph whose node does not end the same when it is run
// again.
func TestCrashesFindsARepeat(t *testing.T) {
	type state struct{ Calls int }
	field := graph.Replace("calls", func(s *state) *int { return &s.Calls })
	calls := 0
	g := graph.New("counting", 1, field)
	g.Node("only", func(context.Context, graph.Step[state]) (graph.Result[state], error) {
		calls++
		return graph.Update(field.Set(calls)), nil
	})
	g.Edge("only", graph.End)
	g.Start("only")
	c, err := g.Compile()
	if err != nil {
		t.Fatal(err)
	}
	l := newLives(Scenario[state]{Graph: c})
	want, err := l.runProcess(t.Context(), l.store)
	if err != nil {
		t.Fatal(err)
	}
	again := newLives(l.Scenario)
	if crashed, err := again.compareOutcome(t.Context(), CrashPoint{Save: 1}, want, l.kept); !crashed || err == nil {
		t.Errorf("compare = %t, %v: want the difference", crashed, err)
	}
}

// reports collects what ReadOnly says.
type reports []string

func (r *reports) Errorf(format string, args ...any) {
	*r = append(*r, fmt.Sprintf(format, args...))
}

func TestReadOnlyFindsAWriter(t *testing.T) {
	type state struct{ Names []string }
	names := graph.Replace("names", func(s *state) *[]string { return &s.Names })
	reader := func(_ context.Context, step graph.Step[state]) (graph.Result[state], error) {
		return graph.Update(names.Set(append([]string{"first"}, step.State.Names...))), nil
	}
	writer := func(_ context.Context, step graph.Step[state]) (graph.Result[state], error) {
		step.State.Names[0] = "overwritten"
		return graph.Update[state](), nil
	}
	for want, node := range []graph.Node[state]{reader, writer} {
		var found reports
		step := graph.Step[state]{Node: "only", State: state{Names: []string{"a"}}}
		if _, err := ReadOnly(&found, node)(t.Context(), step); err != nil {
			t.Fatal(err)
		}
		if len(found) != want {
			t.Errorf("reports %q, want %d", found, want)
		}
	}
}
