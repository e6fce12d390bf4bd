package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-bot/cairn/internal/agent"
)

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
