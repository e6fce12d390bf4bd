package agent_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"cairn/internal/agent"
)

func TestTimeoutOfATask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := open(t, func(ctx context.Context, _ *agent.Task, _ question) (found, error) {
			<-ctx.Done()
			pass(time.Second / 2) // to clean up
			return found{}, ctx.Err()
		}, func(a *agent.Agent) { a.Timeout, a.Concurrency = 3*time.Second, 1 })
		begun := time.Now()
		_, err := call(t, bus, ask("x"))
		wantKind(t, err, agent.Timeout)
		if took := time.Since(begun); took != 3*time.Second {
			t.Errorf("took %s, want 3s", took)
		}
		wantState(t, bus, agent.StateBusy)
		pass(time.Second)
		if s := wantState(t, bus, agent.StateIdle); s.Counts != (agent.Counts{Accepted: 1, TimedOut: 1}) {
			t.Errorf("counts are %+v", s.Counts)
		}
	})
}

func TestResultInTheLastMomentCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := open(t, func(ctx context.Context, _ *agent.Task, _ question) (found, error) {
			deadline, ok := ctx.Deadline()
			if !ok {
				t.Error("the context has no deadline")
			}
			pass(time.Until(deadline) - 1)
			return found{"just"}, nil
		}, nil)
		if got, err := call(t, bus, ask("x")); err != nil || got != "just" {
			t.Errorf("got %q, %v", got, err)
		}
	})
}

func TestHandlersThatNeverReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		bus := open(t, func(_ context.Context, _ *agent.Task, q question) (found, error) {
			if q.Text == "hang" {
				<-release
			}
			return found{q.Text}, nil
		}, func(a *agent.Agent) { a.Timeout, a.Concurrency = 3*time.Second, 2 })
		_, err := call(t, bus, ask("hang"))
		wantKind(t, err, agent.Timeout)
		wantState(t, bus, agent.StateBusy) // in its grace

		pass(agent.DefaultGrace)
		synctest.Wait()
		if s := wantState(t, bus, agent.StateStuck); s.Lost != 1 || s.Problem == nil {
			t.Errorf("%d slots lost, problem %v", s.Lost, s.Problem)
		}
		if _, err := call(t, bus, ask("on the other slot")); err != nil {
			t.Errorf("stuck agent: %v", err)
		}

		var c crowd
		c.call(t, bus, ask("hang"))
		pass(3500 * time.Millisecond)
		waiting := ask("waits")
		waiting.Retries = 3
		c.call(t, bus, waiting)
		pass(time.Second / 2)
		synctest.Wait()
		wantState(t, bus, agent.StateDown)
		c.Wait()
		wantKind(t, c.errs[0], agent.Timeout)
		wantKind(t, c.errs[1], agent.Stuck)

		begun := time.Now()
		_, err = call(t, bus, waiting)
		wantKind(t, err, agent.Down)
		if !time.Now().Equal(begun) {
			t.Error("an agent that is down took time to say so")
		}

		close(release)
		synctest.Wait()
		s := wantState(t, bus, agent.StateIdle)
		if want := (agent.Counts{Accepted: 4, Completed: 1, TimedOut: 2, Unserved: 1, Refused: 1, Abandoned: 2}); s.Counts != want {
			t.Errorf("counts are %+v, want %+v", s.Counts, want)
		}
		if _, err := call(t, bus, ask("again")); err != nil {
			t.Errorf("after it recovered: %v", err)
		}
	})
}

func TestRequestersTimeoutCountsWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := open(t, func(ctx context.Context, _ *agent.Task, _ question) (found, error) {
			<-ctx.Done()
			return found{}, ctx.Err()
		}, func(a *agent.Agent) { a.Concurrency = 1 })
		var c crowd
		c.call(t, bus, ask("runs"))
		synctest.Wait()
		r := ask("waits")
		r.Timeout = time.Second
		_, err := call(t, bus, r)
		wantKind(t, err, agent.Timeout)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v does not wrap context.DeadlineExceeded", err)
		}
		if s := status(t, bus); s.Waiting != 0 || s.Counts.Cancelled != 1 {
			t.Errorf("%d wait and %d were cancelled, want 0 and 1", s.Waiting, s.Counts.Cancelled)
		}
		c.Wait()
	})
}

func TestLateResultIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := open(t, func(_ context.Context, task *agent.Task, _ question) (found, error) {
			attempt := task.Message.RetryCount
			if attempt == 0 {
				pass(1500 * time.Millisecond) // whatever its context says
			}
			task.Progress(word(fmt.Sprint(attempt)))
			pass(time.Second / 2)
			return found{fmt.Sprint(attempt)}, nil
		}, nil)
		r := ask("x")
		r.Timeout, r.Retries = time.Second, 1
		var updates []agent.Payload
		r.OnProgress = func(p agent.Payload) { updates = append(updates, p) }
		got, err := call(t, bus, r)
		if err != nil || got != "1" {
			t.Errorf("got %q, %v, want the second attempt's reply", got, err)
		}
		pass(time.Minute)
		if !slices.Equal(updates, []agent.Payload{word("1")}) {
			t.Errorf("updates are %v, want the second attempt's", updates)
		}
		if s := status(t, bus); s.Counts != (agent.Counts{Accepted: 2, Completed: 1, Cancelled: 1, Abandoned: 1}) {
			t.Errorf("counts are %+v", s.Counts)
		}
	})
}

func TestRetriesAndTheirLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var attempts []int
		correlations := map[string]bool{}
		ids := map[string]bool{}
		bus := open(t, func(_ context.Context, task *agent.Task, q question) (found, error) {
			attempts = append(attempts, task.Message.RetryCount)
			correlations[task.Message.CorrelationID] = true
			ids[task.Message.ID] = true
			if len(attempts) == len(q.Words) {
				return found{"at last"}, nil
			}
			return found{}, errors.New("not yet")
		}, nil)
		r := ask("x")
		r.Retries = 2
		var told []*agent.Error
		r.OnRetry = func(failed *agent.Error) { told = append(told, failed) }
		r.Payload = question{Words: make([]string, 3)}
		begun := time.Now()
		if got, err := call(t, bus, r); err != nil || got != "at last" {
			t.Errorf("got %q, %v", got, err)
		}
		if took := time.Since(begun); took < 75*time.Millisecond || took > 150*time.Millisecond {
			t.Errorf("pauses were %s, want 75ms to 150ms", took)
		}
		if !slices.Equal(attempts, []int{0, 1, 2}) || len(correlations) != 1 || len(ids) != 3 || len(told) != 2 {
			t.Errorf("attempts %v, correlation ids %v, ids %v, told %v", attempts, correlations, ids, told)
		}

		attempts = nil
		r.Payload = question{Words: make([]string, 99)}
		_, err := call(t, bus, r)
		wantKind(t, err, agent.Failed)
		if !strings.Contains(err.Error(), "not yet") {
			t.Errorf("error is %q", err)
		}
		if len(attempts) != 3 {
			t.Errorf("%d attempts, want 3", len(attempts))
		}
	})
}

func TestLongRetriesEndWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := open(t, func(context.Context, *agent.Task, question) (found, error) {
			return found{}, errors.New("never")
		}, nil)
		r := ask("x")
		r.Retries = 1 << 30
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		begun := time.Now()
		_, err := agent.Call[found](ctx, bus, r)
		wantKind(t, err, agent.Timeout)
		if time.Since(begun) != time.Hour {
			t.Errorf("took %s, want 1h", time.Since(begun))
		}
		if n := status(t, bus).Counts.Accepted; n < 1800 || n > 3700 {
			t.Errorf("%d attempts in an hour, want one or two seconds between them", n)
		}
	})
}

func TestCancellation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cause error
		bus := open(t, func(ctx context.Context, _ *agent.Task, _ question) (found, error) {
			<-ctx.Done()
			cause = ctx.Err()
			return found{}, ctx.Err()
		}, func(a *agent.Agent) { a.Concurrency = 1 })
		ctx, cancel := context.WithCancel(t.Context())
		results := make(chan error, 2)
		for range 2 { // one runs, one waits
			go func() {
				r := ask("x")
				r.Retries = 5
				_, err := agent.Call[found](ctx, bus, r)
				results <- err
			}()
		}
		synctest.Wait()
		begun := time.Now()
		cancel()
		for range 2 {
			err := <-results
			wantKind(t, err, agent.Cancelled)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%v does not wrap context.Canceled", err)
			}
		}
		synctest.Wait()
		if !errors.Is(cause, context.Canceled) || !time.Now().Equal(begun) {
			t.Errorf("the handler's context ended with %v after %s", cause, time.Since(begun))
		}
		if s := wantState(t, bus, agent.StateIdle); s.Counts != (agent.Counts{Accepted: 2, Cancelled: 2}) {
			t.Errorf("counts are %+v", s.Counts)
		}
		_, err := agent.Call[found](ctx, bus, ask("x"))
		wantKind(t, err, agent.Cancelled)
		if s := status(t, bus); s.Counts.Accepted != 2 {
			t.Error("a request was sent though its context had ended")
		}
	})
}

func TestMissedHeartbeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := errors.New("the index does not answer")
		var broken atomic.Bool
		bus := open(t, echo, func(a *agent.Agent) {
			a.Check = func(context.Context) error {
				if broken.Load() {
					return gone
				}
				return nil
			}
		})
		pass(35 * time.Second) // the interval is 10 s
		s := wantState(t, bus, agent.StateIdle)
		if ago := time.Since(s.LastBeat); ago != 5*time.Second {
			t.Errorf("last heartbeat %s ago, want 5s", ago)
		}
		broken.Store(true)
		pass(10 * time.Second) // one missed
		wantState(t, bus, agent.StateIdle)
		pass(10 * time.Second)
		wantState(t, bus, agent.StateStuck)
		if _, err := call(t, bus, ask("x")); err != nil {
			t.Errorf("stuck agent: %v", err)
		}
		pass(10 * time.Second)
		wantState(t, bus, agent.StateDown)
		_, err := call(t, bus, ask("x"))
		wantKind(t, err, agent.Down)
		if !errors.Is(err, gone) {
			t.Errorf("%v does not say why", err)
		}
		broken.Store(false)
		pass(10 * time.Second)
		wantState(t, bus, agent.StateIdle)
		if _, err := call(t, bus, ask("x")); err != nil {
			t.Errorf("after it recovered: %v", err)
		}
	})
}

func TestCheckThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		bus := open(t, func(ctx context.Context, _ *agent.Task, _ question) (found, error) {
			<-ctx.Done()
			return found{}, ctx.Err()
		}, func(a *agent.Agent) {
			a.Concurrency, a.Timeout = 1, time.Hour
			a.Check = func(context.Context) error {
				<-release
				return nil
			}
		})
		var c crowd
		c.call(t, bus, ask("runs"))
		synctest.Wait()
		c.call(t, bus, ask("waits"))
		pass(30*time.Second + 1)
		synctest.Wait()
		wantState(t, bus, agent.StateDown)
		if len(c.errs) != 1 {
			t.Fatalf("errors are %v, want one for what waited", c.errs)
		}
		wantKind(t, c.errs[0], agent.Down)

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := bus.Close(ctx); err == nil || !strings.Contains(err.Error(), "search") {
			t.Errorf("Close while a check hangs: %v, want an error that names the agent", err)
		}
		close(release)
		c.Wait()
	})
}

func TestCheckThatHungAndPanickedRecovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		checks := 0
		bus := open(t, echo, func(a *agent.Agent) {
			a.Check = func(context.Context) error {
				switch checks++; checks {
				case 1:
					<-release
				case 2, 3, 4, 5:
					panic("no")
				}
				return nil
			}
		})
		pass(55 * time.Second)
		wantState(t, bus, agent.StateDown)
		close(release)
		synctest.Wait()
		wantState(t, bus, agent.StateIdle)
		pass(30 * time.Second)
		if s := wantState(t, bus, agent.StateDown); !strings.Contains(s.Problem.Error(), "panic: no") {
			t.Errorf("problem is %v", s.Problem)
		}
		pass(time.Minute)
		wantState(t, bus, agent.StateIdle)
	})
}

func TestCloseWhileBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cleaned := 0
		bus := open(t, func(ctx context.Context, _ *agent.Task, _ question) (found, error) {
			<-ctx.Done()
			pass(time.Second / 2)
			cleaned++
			return found{}, ctx.Err()
		}, func(a *agent.Agent) { a.Concurrency = 1 })
		var c crowd
		for range 3 {
			c.call(t, bus, ask("x"))
			synctest.Wait()
		}
		begun := time.Now()
		shut(t, bus)
		if time.Since(begun) != time.Second/2 || cleaned != 1 {
			t.Errorf("Close took %s and %d handlers had returned, want 500ms and 1", time.Since(begun), cleaned)
		}
		c.Wait()
		if len(c.errs) != 3 {
			t.Fatalf("errors are %v, want 3", c.errs)
		}
		for _, err := range c.errs {
			wantKind(t, err, agent.Down)
			if !errors.Is(err, agent.ErrClosed) {
				t.Errorf("%v does not wrap ErrClosed", err)
			}
		}
		_, err := call(t, bus, ask("x"))
		wantKind(t, err, agent.Down)
		wantState(t, bus, agent.StateDown)
		if err := bus.Register(agent.Agent{Name: "late", Handlers: []agent.Handler{agent.On(echo)}}); !errors.Is(err, agent.ErrClosed) {
			t.Errorf("Register after Close: %v", err)
		}
	})
}

func TestCloseGivesUpOnAHandlerThatNeverReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		bus := open(t, func(context.Context, *agent.Task, question) (found, error) {
			<-release
			return found{}, nil
		}, nil)
		var c crowd
		c.call(t, bus, ask("x"))
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := bus.Close(ctx)
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "search") {
			t.Errorf("Close: %v", err)
		}
		c.Wait()
		wantKind(t, c.errs[0], agent.Down)
		close(release) // the second Close, at the end, waits to the end
	})
}

func TestCloseDuringThePauseBeforeARetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := open(t, func(context.Context, *agent.Task, question) (found, error) {
			return found{}, errors.New("no")
		}, nil)
		var c crowd
		r := ask("x")
		r.Retries = 1
		c.call(t, bus, r)
		synctest.Wait()
		shut(t, bus)
		c.Wait()
		wantKind(t, c.errs[0], agent.Down)
	})
}

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

func TestReplyThatCameInTimeCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := open(t, func(_ context.Context, task *agent.Task, q question) (found, error) {
			task.Progress(word("x"))
			task.Progress(word("y"))
			return found{q.Text}, nil
		}, nil)
		for range 20 {
			r := ask("x")
			r.Timeout = time.Second
			updates := 0
			r.OnProgress = func(agent.Payload) {
				updates++
				pass(time.Minute)
			}
			if got, err := call(t, bus, r); err != nil || got != "x" || updates != 2 {
				t.Fatalf("got %q, %v after %d updates", got, err, updates)
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
