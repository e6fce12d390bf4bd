package gate

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cairn-bot/cairn/internal/llm"
)

// Allowance is what may be used; 0 is without limit. Costs are in the currency of the
// models' prices.
type Allowance struct {
	RunTokens, DayTokens int
	RunCost, DayCost     float64
}

// Spent is what was used.
type Spent struct {
	Tokens int
	Cost   float64
}

func (s Spent) plus(tokens int, cost float64) Spent {
	return Spent{s.Tokens + tokens, s.Cost + cost}
}

// Budget counts what models use, by run and by day (of UTC). It is kept in memory: a
// restarted process starts a new day. A request is let pass only if its prompt and its
// longest reply fit, so that the budget is never exceeded. Its methods may be called
// concurrently; nil is a budget without limits.
type Budget struct {
	allowance Allowance

	mu    sync.Mutex
	day   string
	today Spent
	runs  map[string]*Spent
	order []string // of runs, oldest first
	// closed are runs that may use nothing more, with why.
	closed map[string]string
}

// maxRuns is how many runs are remembered: far more than work at once.
const maxRuns = 4096

// NewBudget gives a budget of which nothing is used.
func NewBudget(allowance Allowance) *Budget {
	return &Budget{allowance: allowance, runs: make(map[string]*Spent)}
}

// Today is what was used today, and is reserved for requests under way.
func (b *Budget) Today() Spent {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.turnDay()
	return b.today
}

// Run is what a run has used, and is reserved for its requests under way.
func (b *Budget) Run(run string) Spent {
	b.mu.Lock()
	defer b.mu.Unlock()
	if spent := b.runs[run]; spent != nil {
		return *spent
	}
	return Spent{}
}

// Close has a run use nothing more, in this process; reason is for its trace.
func (b *Budget) Close(run, reason string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed == nil || len(b.closed) >= maxRuns {
		b.closed = make(map[string]string)
	}
	b.closed[run] = reason
}

// Open lets a run that was closed use models again.
func (b *Budget) Open(run string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.closed, run)
}

// reserve takes what a request may need. settle, to be called once, takes back what it
// did not use.
func (b *Budget) reserve(need Need) (settle func(llm.Usage), err error) {
	if b == nil {
		return func(llm.Usage) {}, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.turnDay()
	if reason, ok := b.closed[need.Run]; ok {
		return nil, errors.New(reason)
	}
	run := &Spent{}
	if need.Run != "" {
		run = b.run(need.Run)
	}
	a := b.allowance
	if err := fits(run.plus(need.Tokens, need.Cost), a.RunTokens, a.RunCost); err != nil {
		return nil, fmt.Errorf("this run's %w", err)
	}
	if err := fits(b.today.plus(need.Tokens, need.Cost), a.DayTokens, a.DayCost); err != nil {
		return nil, fmt.Errorf("today's %w", err)
	}
	*run = run.plus(need.Tokens, need.Cost)
	b.today = b.today.plus(need.Tokens, need.Cost)
	day := b.day
	return func(usage llm.Usage) {
		b.mu.Lock()
		defer b.mu.Unlock()
		tokens, cost := usage.Prompt+usage.Completion-need.Tokens, usage.Cost-need.Cost
		*run = run.plus(tokens, cost)
		if b.day == day {
			b.today = b.today.plus(tokens, cost)
		}
	}, nil
}

func fits(spent Spent, tokens int, cost float64) error {
	if tokens > 0 && spent.Tokens > tokens {
		return fmt.Errorf("%d tokens do not suffice: %d would be used", tokens, spent.Tokens)
	}
	if cost > 0 && spent.Cost > cost {
		return fmt.Errorf("cost of %.4f does not suffice: %.4f would be used", cost, spent.Cost)
	}
	return nil
}

func (b *Budget) turnDay() {
	if day := time.Now().UTC().Format(time.DateOnly); day != b.day {
		b.day, b.today = day, Spent{}
	}
}

func (b *Budget) run(id string) *Spent {
	if spent := b.runs[id]; spent != nil {
		return spent
	}
	if len(b.order) == maxRuns {
		delete(b.runs, b.order[0])
		b.order = b.order[1:]
	}
	spent := &Spent{}
	b.runs[id] = spent
	b.order = append(b.order, id)
	return spent
}
