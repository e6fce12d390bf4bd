package agent_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-bot/cairn/internal/agent"
)

func TestProgressComesInOrderAndNotAfterTheReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const words = 1000 // many more than the requester's backlog
		var task *agent.Task
		bus := open(t, func(_ context.Context, running *agent.Task, _ question) (found, error) {
			task = running
			for i := range words {
				task.Progress(word(fmt.Sprint(i)))
			}
			return found{"end"}, nil
		}, nil)
		r := ask("x")
		var got []agent.Payload
		r.OnProgress = func(p agent.Payload) {
			got = append(got, p)
			if len(got)%100 == 0 {
				pass(time.Second) // the agent waits meanwhile
			}
		}
		if _, err := call(t, bus, r); err != nil {
			t.Fatal(err)
		}
		task.Progress(word("too late"))
		synctest.Wait()
		if len(got) != words || bus.Late() != 0 {
			t.Fatalf("%d updates, want %d; %d late, want 0", len(got), words, bus.Late())
		}
		for i, p := range got {
			if p != word(fmt.Sprint(i)) {
				t.Fatalf("update %d is %v", i, p)
			}
		}
	})
}

func TestProgressOfARequesterThatLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := open(t, func(_ context.Context, task *agent.Task, _ question) (found, error) {
			for range 1000 { // blocks on the backlog until the requester has gone
				task.Progress(word("x"))
			}
			return found{}, nil
		}, nil)
		r := ask("x")
		r.Timeout = time.Second
		first := true
		r.OnProgress = func(agent.Payload) {
			if first {
				first = false
				pass(time.Minute)
			}
		}
		_, err := call(t, bus, r)
		wantKind(t, err, agent.Timeout)
		synctest.Wait()
		if s := wantState(t, bus, agent.StateIdle); s.Counts.Cancelled+s.Counts.Completed != 1 {
			t.Errorf("counts are %+v", s.Counts)
		}
	})
}

func TestRequesterThatPanicsCancelsItsTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := open(t, func(ctx context.Context, task *agent.Task, _ question) (found, error) {
			task.Progress(word("x"))
			<-ctx.Done()
			return found{}, ctx.Err()
		}, nil)
		r := ask("x")
		r.OnProgress = func(agent.Payload) { panic("no") }
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic was swallowed")
				}
			}()
			_, err := call(t, bus, r)
			t.Errorf("Call returned, with %v", err)
		}()
		synctest.Wait()
		if s := wantState(t, bus, agent.StateIdle); s.Counts != (agent.Counts{Accepted: 1, Cancelled: 1}) {
			t.Errorf("counts are %+v", s.Counts)
		}
	})
}

func TestTimeoutWhileProgressWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := open(t, func(_ context.Context, task *agent.Task, _ question) (found, error) {
			for range 1000 {
				task.Progress(word("x"))
			}
			return found{"with a gap"}, nil
		}, func(a *agent.Agent) { a.Timeout = time.Second })
		for range 50 {
			r := ask("x")
			r.Timeout = time.Hour
			first := true
			r.OnProgress = func(agent.Payload) {
				if first {
					first = false
					pass(time.Minute)
				}
			}
			_, err := call(t, bus, r)
			wantKind(t, err, agent.Timeout)
		}
		if s := wantState(t, bus, agent.StateIdle); s.Counts.TimedOut != 50 || s.Counts.Accepted != 50 {
			t.Errorf("counts are %+v", s.Counts)
		}
	})
}

func TestProgressOfTheWrongType(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := open(t, func(_ context.Context, task *agent.Task, _ question) (found, error) {
			task.Progress(found{})
			return found{}, nil
		}, nil)
		_, err := call(t, bus, ask("x"))
		wantKind(t, err, agent.Failed)
		if !strings.Contains(err.Error(), "found") {
			t.Errorf("error is %v", err)
		}
	})
}
