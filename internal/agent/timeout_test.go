package agent_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-bot/cairn/internal/agent"
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
