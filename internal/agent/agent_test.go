package agent_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-bot/cairn/internal/agent"
)

type (
	question struct {
		Text  string
		Words []string
	}
	found struct{ Text string }
	word  string
)

func (question) MessageType() agent.Type { return agent.SearchRequest }
func (found) MessageType() agent.Type    { return agent.SearchResponse }
func (word) MessageType() agent.Type     { return agent.Coordination }

type handle = func(ctx context.Context, task *agent.Task, q question) (found, error)

func echo(_ context.Context, _ *agent.Task, q question) (found, error) { return found{q.Text}, nil }

// open makes a bus with one agent, "search", that the test may change first. It is
// closed at the end of the test, whose handlers must have returned by then.
func open(t testing.TB, h handle, change func(*agent.Agent)) *agent.Bus {
	t.Helper()
	bus := agent.New(agent.Options{Interval: 10 * time.Second})
	t.Cleanup(func() { shut(t, bus) })
	a := agent.Agent{Name: "search", Handlers: []agent.Handler{agent.On(h)}}
	if change != nil {
		change(&a)
	}
	if err := bus.Register(a); err != nil {
		t.Fatal(err)
	}
	return bus
}

func shut(t testing.TB, bus *agent.Bus) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := bus.Close(ctx); err != nil {
		t.Error(err)
	}
}

func ask(text string) agent.Request {
	return agent.Request{From: "test", To: "search", Payload: question{Text: text}}
}

func call(t testing.TB, bus *agent.Bus, r agent.Request) (string, error) {
	t.Helper()
	got, err := agent.Call[found](t.Context(), bus, r)
	return got.Text, err
}

// wantKind checks that a call failed, of which agent and why.
func wantKind(t testing.TB, err error, want agent.Kind) {
	t.Helper()
	failure, ok := errors.AsType[*agent.Error](err)
	if !ok || failure.Kind != want || failure.Agent != "search" {
		t.Fatalf("error is %v, want agent search: %s", err, want)
	}
}

// pass lets time go by on the clock of the test's bubble.
func pass(d time.Duration) { <-time.After(d) }

func status(t testing.TB, bus *agent.Bus) agent.Status {
	t.Helper()
	states := bus.States()
	if len(states) != 1 {
		t.Fatalf("%d agents, want 1", len(states))
	}
	return states[0]
}

func wantState(t testing.TB, bus *agent.Bus, want agent.State) agent.Status {
	t.Helper()
	s := status(t, bus)
	if s.State != want {
		t.Fatalf("state is %s (%v), want %s", s.State, s.Problem, want)
	}
	return s
}

// crowd is calls that run at the same time.
type crowd struct {
	sync.WaitGroup
	mu      sync.Mutex
	replies []string
	errs    []error
}

func (c *crowd) call(t *testing.T, bus *agent.Bus, r agent.Request) {
	c.Go(func() {
		got, err := agent.Call[found](t.Context(), bus, r)
		c.mu.Lock()
		defer c.mu.Unlock()
		if err != nil {
			c.errs = append(c.errs, err)
			return
		}
		c.replies = append(c.replies, got.Text)
	})
}

func TestCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := open(t, echo, nil)
		if got, err := call(t, bus, ask("hello")); err != nil || got != "hello" {
			t.Fatalf("got %q, %v", got, err)
		}
		synctest.Wait()
		s := wantState(t, bus, agent.StateIdle)
		if s.Counts != (agent.Counts{Accepted: 1, Completed: 1}) {
			t.Errorf("counts are %+v", s.Counts)
		}
	})
}

func TestHandlerSeesTheMessageAndTheRequestersValues(t *testing.T) {
	type key struct{}
	synctest.Test(t, func(t *testing.T) {
		var seen agent.Message
		var value any
		bus := open(t, func(ctx context.Context, task *agent.Task, _ question) (found, error) {
			seen, value = task.Message, ctx.Value(key{})
			return found{}, nil
		}, nil)
		r := ask("x")
		r.Priority = agent.High
		if _, err := agent.Call[found](context.WithValue(t.Context(), key{}, 7), bus, r); err != nil {
			t.Fatal(err)
		}
		if value != 7 {
			t.Errorf("value of the requester's context is %v, want 7", value)
		}
		if seen.Sender != "test" || seen.Recipient != "search" || seen.Type != agent.SearchRequest || seen.Priority != agent.High ||
			seen.RetryCount != 0 || seen.ID == "" || seen.CorrelationID == "" || !seen.Timestamp.Equal(time.Now()) {
			t.Errorf("message is %+v", seen)
		}
	})
}

func TestPriorityUnderLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var order []string
		bus := open(t, func(_ context.Context, _ *agent.Task, q question) (found, error) {
			order = append(order, q.Text) // one at a time
			pass(time.Second)             // of the bubble's clock
			return found{q.Text}, nil
		}, func(a *agent.Agent) { a.Concurrency = 1 })
		var c crowd
		for _, r := range []struct {
			text     string
			priority agent.Priority
		}{{"running", 1}, {"low 1", 2}, {"high 1", 5}, {"normal", 0}, {"low 2", 2}, {"high 2", 5}, {"lowest", 1}} {
			request := ask(r.text)
			request.Priority = r.priority
			c.call(t, bus, request)
			synctest.Wait()
		}
		if s := wantState(t, bus, agent.StateBusy); s.Running != 1 || s.Waiting != 6 {
			t.Errorf("%d run and %d wait, want 1 and 6", s.Running, s.Waiting)
		}
		c.Wait()
		want := []string{"running", "high 1", "high 2", "normal", "low 1", "low 2", "lowest"}
		if !slices.Equal(order, want) || len(c.errs) > 0 {
			t.Errorf("order is %q, want %q; errors %v", order, want, c.errs)
		}
	})
}

func TestFullMailboxRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var order []string
		bus := open(t, func(_ context.Context, _ *agent.Task, q question) (found, error) {
			<-release
			order = append(order, q.Text) // one at a time
			return found{q.Text}, nil
		}, func(a *agent.Agent) { a.Concurrency, a.Mailbox = 1, 2 })
		var c crowd
		for _, text := range []string{"running", "first", "second"} {
			c.call(t, bus, ask(text))
			synctest.Wait()
		}
		begun := time.Now()
		_, err := call(t, bus, ask("third"))
		wantKind(t, err, agent.Full)
		if !time.Now().Equal(begun) {
			t.Error("the refusal took time")
		}
		urgent := ask("urgent")
		urgent.Priority = agent.Highest
		c.call(t, bus, urgent)
		synctest.Wait()
		if len(c.errs) != 1 {
			t.Fatalf("errors are %v, want one for the displaced", c.errs)
		}
		wantKind(t, c.errs[0], agent.Full)
		close(release)
		c.Wait()
		if want := []string{"running", "urgent", "first"}; !slices.Equal(order, want) || len(c.replies) != 3 {
			t.Errorf("order is %q, want %q; %d replies", order, want, len(c.replies))
		}
		if s := status(t, bus); s.Counts != (agent.Counts{Accepted: 4, Completed: 3, Displaced: 1, Refused: 1}) {
			t.Errorf("counts are %+v", s.Counts)
		}
	})
}

func TestConcurrencyLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		now, most := 0, 0
		bus := open(t, func(_ context.Context, _ *agent.Task, _ question) (found, error) {
			mu.Lock()
			now++
			most = max(most, now)
			mu.Unlock()
			pass(time.Second)
			mu.Lock()
			now--
			mu.Unlock()
			return found{}, nil
		}, func(a *agent.Agent) { a.Concurrency = 3 })
		begun := time.Now()
		var c crowd
		for range 30 {
			c.call(t, bus, ask("x"))
		}
		c.Wait()
		if most != 3 || len(c.replies) != 30 || time.Since(begun) != 10*time.Second {
			t.Errorf("%d at a time, %d replies, took %s; want 3, 30 and 10s", most, len(c.replies), time.Since(begun))
		}
	})
}

func TestPanicBecomesAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := open(t, func(_ context.Context, _ *agent.Task, q question) (found, error) {
			return found{q.Words[3]}, nil
		}, func(a *agent.Agent) { a.Concurrency = 1 })
		r := ask("x")
		r.Retries = 3
		_, err := call(t, bus, r)
		wantKind(t, err, agent.Panicked)
		if !strings.Contains(err.Error(), "index out of range") {
			t.Errorf("error is %v", err)
		}
		r.Payload = question{Words: []string{"a", "b", "c", "d"}}
		if got, err := call(t, bus, r); err != nil || got != "d" {
			t.Errorf("after the panic: %q, %v", got, err)
		}
		synctest.Wait()
		if s := wantState(t, bus, agent.StateIdle); s.Counts.Panicked != 1 {
			t.Errorf("%d panics, want 1: a panic is not retried", s.Counts.Panicked)
		}
	})
}

func TestHandlerThatEndsItsGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := open(t, func(context.Context, *agent.Task, question) (found, error) {
			runtime.Goexit()
			return found{}, nil
		}, nil)
		_, err := call(t, bus, ask("x"))
		wantKind(t, err, agent.Panicked)
	})
}

func TestTwoRequesters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := open(t, func(_ context.Context, task *agent.Task, q question) (found, error) {
			task.Progress(word(q.Text))
			pass(time.Second)
			return found{q.Text + " for " + string(task.Message.Sender)}, nil
		}, nil)
		var c crowd
		for _, from := range []agent.Name{"one", "two"} {
			r := ask("of " + string(from))
			r.From = from
			r.OnProgress = func(p agent.Payload) {
				if p != word("of "+string(from)) {
					t.Errorf("%s was given %v", from, p)
				}
			}
			c.call(t, bus, r)
			synctest.Wait()
		}
		c.Wait()
		if want := []string{"of one for one", "of two for two"}; !slices.Equal(c.replies, want) && !slices.Equal(c.replies, []string{want[1], want[0]}) {
			t.Errorf("replies are %q, want %q", c.replies, want)
		}
	})
}

func TestAgentsCallAgents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := open(t, func(context.Context, *agent.Task, question) (found, error) {
			return found{}, errors.New("the index is gone")
		}, nil)
		err := bus.Register(agent.Agent{Name: "orchestrator", Handlers: []agent.Handler{agent.On(
			func(ctx context.Context, task *agent.Task, q question) (found, error) {
				return agent.Call[found](ctx, bus, agent.Request{From: task.Message.Recipient, To: "search", Payload: q})
			})}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = agent.Call[found](t.Context(), bus, agent.Request{From: "test", To: "orchestrator", Payload: question{}})
		outer, ok := errors.AsType[*agent.Error](err)
		if !ok || outer.Agent != "orchestrator" || outer.Kind != agent.Failed {
			t.Fatalf("error is %v", err)
		}
		wantKind(t, outer.Cause, agent.Failed)
	})
}

func TestRegisterNamesEveryMistake(t *testing.T) {
	bus := open(t, echo, nil)
	fine := agent.On(echo)
	backwards := agent.On(func(context.Context, *agent.Task, found) (question, error) { return question{}, nil })
	unpaired := agent.On(func(context.Context, *agent.Task, question) (word, error) { return "", nil })
	for _, a := range []agent.Agent{
		{Handlers: []agent.Handler{fine}},
		{Name: "bus", Handlers: []agent.Handler{fine}},
		{Name: "search", Handlers: []agent.Handler{fine}},
		{Name: "empty"},
		{Name: "twice", Handlers: []agent.Handler{fine, fine}},
		{Name: "backwards", Handlers: []agent.Handler{backwards}},
		{Name: "unpaired", Handlers: []agent.Handler{unpaired}},
		{Name: "negative", Handlers: []agent.Handler{fine}, Mailbox: -1},
	} {
		if err := bus.Register(agent.Agent{Name: "good", Handlers: []agent.Handler{fine}}, a); err == nil {
			t.Errorf("%+v was registered", a)
		}
	}
	if len(bus.States()) != 1 {
		t.Errorf("agents are %v, want search alone", bus.States())
	}
}

func TestRequestsThatCannotBeSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := open(t, echo, nil)
		for name, r := range map[string]agent.Request{
			"no payload":      {From: "test", To: "search"},
			"no request":      {From: "test", To: "search", Payload: found{}},
			"no sender":       {To: "search", Payload: question{}},
			"priority":        {From: "test", To: "search", Payload: question{}, Priority: 6},
			"negative":        {From: "test", To: "search", Payload: question{}, Retries: -1},
			"negative limits": {From: "test", To: "search", Payload: question{}, Timeout: -1},
		} {
			t.Log(name)
			_, err := call(t, bus, r)
			wantKind(t, err, agent.Failed)
		}
		_, err := agent.Call[word](t.Context(), bus, ask("x"))
		wantKind(t, err, agent.Failed)
		if s := status(t, bus); s.Counts.Accepted != 1 {
			t.Errorf("%d requests reached the agent, want 1", s.Counts.Accepted)
		}
	})
}

type page struct{}

func (page) MessageType() agent.Type { return agent.AnalysisRequest }

type other struct{}

func (other) MessageType() agent.Type { return agent.SearchRequest }

func TestUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := open(t, echo, nil)
		_, err := agent.Call[found](t.Context(), bus, agent.Request{From: "test", To: "nobody", Payload: question{}, Retries: 5})
		if failure, ok := errors.AsType[*agent.Error](err); !ok || failure.Kind != agent.Unknown || failure.Agent != "nobody" {
			t.Errorf("error is %v", err)
		}
		r := ask("x")
		r.Payload = page{}
		_, err = call(t, bus, r)
		wantKind(t, err, agent.Unknown)
		r.Payload = other{}
		_, err = call(t, bus, r)
		wantKind(t, err, agent.Failed)
	})
}
