package agent_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-bot/cairn/internal/agent"
)

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
