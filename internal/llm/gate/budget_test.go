package gate_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/llm/gate"
)

func TestBudget(t *testing.T) {
	for name, of := range map[string]struct {
		allowance gate.Allowance
		passes    int // of run 1, which are followed by one of run 2
		other     bool
	}{
		"none":           {gate.Allowance{}, 9, true},
		"tokens a run":   {gate.Allowance{RunTokens: 40}, 2, true}, // 15 each, 20 at most
		"tokens a day":   {gate.Allowance{DayTokens: 40}, 2, false},
		"cost of a run":  {gate.Allowance{RunCost: 1.5}, 2, true}, // .5 each, .8 at most
		"cost of a day":  {gate.Allowance{DayCost: 1.5}, 2, false},
		"of a small run": {gate.Allowance{RunTokens: 19}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := gate.New("m", gate.Options{Budget: gate.NewBudget(of.allowance)})
			s := newServer()
			pass := func(run string) error {
				_, err := g.Pass(t.Context(), gate.Need{Run: run, Tokens: 20, Cost: .8}, s.try)
				return err
			}
			for range of.passes {
				if err := pass("1"); err != nil {
					t.Fatal(err)
				}
			}
			if of.passes < 9 {
				wantFailure(t, pass("1"), llm.OverBudget)
			}
			if err := pass("2"); (err == nil) != of.other {
				t.Errorf("another run: %v", err)
			}
		})
	}
}

func TestBudgetOfAnotherDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		budget := gate.NewBudget(gate.Allowance{DayTokens: 20})
		g := gate.New("m", gate.Options{Budget: budget})
		s := newServer()
		need := gate.Need{Tokens: 20}
		if _, err := g.Pass(t.Context(), need, s.try); err != nil || budget.Today() != (gate.Spent{Tokens: 15, Cost: .5}) {
			t.Fatalf("today %+v, %v", budget.Today(), err)
		}
		_, err := g.Pass(t.Context(), need, s.try)
		wantFailure(t, err, llm.OverBudget)
		advance(t, 24*time.Hour)
		if _, err := g.Pass(t.Context(), need, func(ctx context.Context) (gate.Try, *llm.Error) {
			advance(t, 24*time.Hour) // beyond midnight
			return s.try(ctx)
		}); err != nil {
			t.Fatal(err)
		}
		if today := budget.Today(); today != (gate.Spent{}) {
			t.Errorf("what was reserved yesterday is counted today: %+v", today)
		}
	})
}

func TestFailuresPayWhatTheyUsed(t *testing.T) {
	budget := gate.NewBudget(gate.Allowance{RunTokens: 1000})
	g := gate.New("m", gate.Options{Budget: budget, Retries: -1})
	_, err := g.Pass(t.Context(), gate.Need{Run: "1", Tokens: 900}, newServer(of(llm.Unavailable, 0)).try)
	wantFailure(t, err, llm.Unavailable)
	if spent := budget.Run("1"); spent != (gate.Spent{Tokens: 15, Cost: .5}) {
		t.Errorf("spent %+v", spent)
	}
}

// TestBudgetIsNeverExceeded lets many ask at once for what only some can have.
func TestBudgetIsNeverExceeded(t *testing.T) {
	budget := gate.NewBudget(gate.Allowance{DayTokens: 100})
	g := gate.New("m", gate.Options{Budget: budget})
	var mu sync.Mutex
	most := 0
	var callers sync.WaitGroup
	for i := range 50 {
		callers.Go(func() {
			_, err := g.Pass(t.Context(), gate.Need{Run: fmt.Sprint(i), Tokens: 20}, func(context.Context) (gate.Try, *llm.Error) {
				mu.Lock()
				defer mu.Unlock()
				most = max(most, budget.Today().Tokens)
				return gate.Try{Usage: llm.Usage{Prompt: 20}}, nil
			})
			var failure *llm.Error
			if err != nil && (!errors.As(err, &failure) || failure.Failure != llm.OverBudget) {
				t.Errorf("error %v", err)
			}
		})
	}
	callers.Wait()
	if most > 100 || budget.Today().Tokens != 100 {
		t.Errorf("at most %d tokens were reserved, %d used; want 100", most, budget.Today().Tokens)
	}
}

func TestRunsAreForgotten(t *testing.T) {
	budget := gate.NewBudget(gate.Allowance{})
	g := gate.New("m", gate.Options{Budget: budget})
	s := newServer()
	for i := range 5000 {
		if _, err := g.Pass(t.Context(), gate.Need{Run: fmt.Sprint(i)}, s.try); err != nil {
			t.Fatal(err)
		}
	}
	if first, last := budget.Run("0"), budget.Run("4999"); first.Tokens != 0 || last.Tokens != 15 {
		t.Errorf("the first run's %+v, the last one's %+v", first, last)
	}
}

func TestAClosedRunUsesNothing(t *testing.T) {
	budget := gate.NewBudget(gate.Allowance{})
	g := gate.New("m", gate.Options{Budget: budget})
	s := newServer()
	pass := func(run string) error {
		_, err := g.Pass(t.Context(), gate.Need{Run: run, Tokens: 20, Cost: .8}, s.try)
		return err
	}
	budget.Close("1", "the team's budget of today is used up")
	wantFailure(t, pass("1"), llm.OverBudget)
	if err := pass("2"); err != nil {
		t.Errorf("another run: %v", err)
	}
	budget.Open("1")
	if err := pass("1"); err != nil {
		t.Errorf("an opened run: %v", err)
	}
}
