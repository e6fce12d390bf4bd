package graph_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/graphtest"
	"github.com/cairn-bot/cairn/internal/racetest"
)

// ledger checks the order of a run's events, over all calls of Start and Resume.
type ledger struct {
	t       testing.TB
	seq     int64
	running bool
	open    map[string]int // attempt by node and visit
	ended   map[string]bool
	waiting []string // the nodes that have asked
}

func newLedger(t testing.TB) *ledger { return &ledger{t: t} }

func (l *ledger) observe(e graph.Event) {
	l.t.Helper()
	if e.Run != "run" || e.At.IsZero() {
		l.t.Errorf("event without run or time: %+v", e)
	}
	if e.Kind == graph.RunStarted {
		if l.running {
			l.t.Errorf("a run started twice: %+v", e)
		}
		// What was after the last checkpoint comes again.
		if e.Seq > l.seq+1 {
			l.t.Errorf("event %d after %d", e.Seq, l.seq)
		}
		l.running, l.open, l.ended = true, map[string]int{}, map[string]bool{}
	} else if e.Seq != l.seq+1 || !l.running {
		l.t.Errorf("event %d after %d, running: %t", e.Seq, l.seq, l.running)
	}
	l.seq = e.Seq
	l.step(e)
}

func (l *ledger) step(e graph.Event) {
	l.t.Helper()
	visit := fmt.Sprint(e.Node, "#", e.Visit)
	switch e.Kind {
	case graph.RunStarted:
	case graph.StepStarted:
		if l.ended[visit] || l.open[visit] != 0 {
			l.t.Errorf("%s started again: %+v", visit, e)
		}
		l.open[visit] = e.Attempt
		// The visits inside a nested graph count anew.
		maps.DeleteFunc(l.ended, func(other string, _ bool) bool { return strings.HasPrefix(other, e.Node+"/") })
	case graph.Token, graph.Detail:
		if l.open[visit] != e.Attempt {
			l.t.Errorf("%s speaks in attempt %d while %d runs", visit, e.Attempt, l.open[visit])
		}
	case graph.StepRetried, graph.StepFinished, graph.QuestionAsked:
		if l.open[visit] != e.Attempt {
			l.t.Errorf("%s ends attempt %d while %d runs", visit, e.Attempt, l.open[visit])
		}
		delete(l.open, visit)
		l.ended[visit] = e.Kind != graph.StepRetried
		if e.Kind == graph.QuestionAsked {
			l.waiting = append(l.waiting, e.Node)
		}
	case graph.RunFinished:
		l.finish(e)
	default:
		l.t.Errorf("an event of no known kind: %+v", e)
	}
}

// finish checks that nothing runs any more, but for nested graphs that wait inside.
func (l *ledger) finish(e graph.Event) {
	l.t.Helper()
	for visit := range l.open {
		inside := visit[:strings.LastIndex(visit, "#")] + "/"
		waits := slices.ContainsFunc(l.waiting, func(node string) bool { return strings.HasPrefix(node, inside) })
		if e.Status != graph.Waiting || !waits {
			l.t.Errorf("the run ended (%s, %v) while %s ran", e.Status, e.Err, visit)
		}
	}
	l.running = false
}

func TestEventsAreOrdered(t *testing.T) {
	for name, c := range everyGraph(t) {
		t.Run(name, func(t *testing.T) {
			events := newLedger(t)
			options := graph.Options{Store: graphtest.NewMemory(), Observe: events.observe}
			outcome := start(t, c, options)
			for range 10 { // more than any of them asks
				if outcome.Status == graph.Done {
					break
				}
				outcome = resume(t, c, options, graph.Answer{QuestionID: outcome.Questions[0].ID, Text: "x"})
			}
			if events.running || outcome.Status != graph.Done {
				t.Errorf("running: %t, outcome %+v", events.running, outcome)
			}
		})
	}
}

// TestLateWordsAreDropped has a node that goes on speaking after it has returned.
func TestLateWordsAreDropped(t *testing.T) {
	var first graph.Step[tally]
	c := single(t, func(ctx context.Context, step graph.Step[tally]) (graph.Result[tally], error) {
		if step.Attempt == 1 {
			first = step
			return graph.Result[tally]{}, errors.New("busy")
		}
		first.Emit("from the attempt before")
		step.Emit("heard")
		first = step
		return name(ctx, step)
	}, graph.Policy{Retries: 1})
	events := newLedger(t)
	var heard []string
	options := graph.Options{Now: func() time.Time { return time.Unix(7, 0) }, Observe: func(e graph.Event) {
		events.observe(e)
		if e.Kind == graph.Token || e.Kind == graph.Detail {
			heard = append(heard, e.Text)
		}
	}}
	start(t, c, options)
	first.Emit("after the run")
	first.Detail("after the run")
	if !slices.Equal(heard, []string{"heard"}) {
		t.Errorf("heard %q", heard)
	}
}

// TestRandomConversations answers the questions of random graphs some at a time, in
// any order, with a restart before each answer: the end is the reference's, question
// ids stay, no question is asked twice, and the events come in order.
func TestRandomConversations(t *testing.T) {
	const graphs = 240 / racetest.Stride
	for seed, asked := uint64(1), 0; asked < graphs; seed++ {
		random := rand.New(rand.NewPCG(seed, 2))
		p := randomPlan(random, "n", 2)
		if !p.asks() {
			continue
		}
		asked++
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			got := converse(t, p, random)
			if want := p.interpret(trail{}); asJSON(t, got) != asJSON(t, want) {
				t.Errorf("seed %d: engine ended in\n%s\nreference in\n%s", seed, asJSON(t, got), asJSON(t, want))
			}
		})
	}
}

func (p *plan) asks() bool {
	return slices.ContainsFunc(p.nodes, func(n *planNode) bool { return n.asks > 0 || n.nested != nil && n.nested.asks() })
}

func converse(t *testing.T, p *plan, random *rand.Rand) trail {
	t.Helper()
	events := newLedger(t)
	options := graph.Options{Store: graphtest.NewMemory(), Observe: events.observe, MaxSteps: 10000}
	outcome, err := p.compile(t).Start(t.Context(), "run", trail{}, options)
	if err != nil {
		t.Fatal(err)
	}
	answered := map[string]bool{}
	for outcome.Status == graph.Waiting {
		standing := outcome.Questions
		random.Shuffle(len(standing), func(i, k int) { standing[i], standing[k] = standing[k], standing[i] })
		some := 1 + random.IntN(len(standing))
		var answers []graph.Answer
		for _, q := range standing[:some] {
			if answered[q.ID] {
				t.Fatalf("question %+v was answered before", q)
			}
			answered[q.ID] = true
			answers = append(answers, graph.Answer{QuestionID: q.ID, Text: reply(q.Text)})
		}
		if outcome, err = p.compile(t).Resume(t.Context(), "run", answers, options); err != nil {
			t.Fatal(err)
		}
		for _, q := range standing[some:] {
			if !slices.ContainsFunc(outcome.Questions, func(other graph.Question) bool { return asJSON(t, other) == asJSON(t, q) }) {
				t.Fatalf("question %+v does not stand any more, but %+v", q, outcome.Questions)
			}
		}
	}
	return outcome.State
}
