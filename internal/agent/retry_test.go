package agent_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-bot/cairn/internal/agent"
)

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
		if took := time.Since(begun); took < 75*time.Millisecond || took > 225*time.Millisecond {
			t.Errorf("pauses were %s, want 75ms to 225ms", took)
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
		if n := status(t, bus).Counts.Accepted; n < 1200 || n > 3700 {
			t.Errorf("%d attempts in an hour, want one to three seconds between them", n)
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
