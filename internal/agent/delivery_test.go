package agent_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-bot/cairn/internal/agent"
)

// request is a message as a transport would deliver it.
func request() agent.Message {
	return agent.Message{
		ID: "m1", Sender: "test", Recipient: "search", Type: agent.SearchRequest, Payload: question{Text: "x"},
		Timestamp: time.Now(), CorrelationID: "c1", Priority: agent.Normal,
	}
}

func TestDoubledRequestRunsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		bus := open(t, func(context.Context, *agent.Task, question) (found, error) {
			runs++ // one at a time
			pass(time.Second)
			return found{}, nil
		}, func(a *agent.Agent) { a.Concurrency = 1 })
		first, again, retried := request(), request(), request()
		again.ID, retried.ID, retried.RetryCount = "m2", "m3", 1
		for _, m := range []agent.Message{first, again, retried, retried} {
			if err := bus.Deliver(t.Context(), m); err != nil {
				t.Fatal(err)
			}
		}
		pass(time.Minute)
		if s := wantState(t, bus, agent.StateIdle); runs != 2 || s.Counts != (agent.Counts{Accepted: 2, Completed: 2, Doubled: 2}) {
			t.Errorf("ran %d times, counts are %+v", runs, s.Counts)
		}
		if bus.Late() != 2 {
			t.Errorf("%d late replies, want 2: nobody waited", bus.Late())
		}
	})
}

func TestDeliverRefusesBrokenMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := open(t, echo, nil)
		for name, spoil := range map[string]func(*agent.Message){
			"id":          func(m *agent.Message) { m.ID = "" },
			"sender":      func(m *agent.Message) { m.Sender = "" },
			"correlation": func(m *agent.Message) { m.CorrelationID = "" },
			"payload":     func(m *agent.Message) { m.Payload = nil },
			"type":        func(m *agent.Message) { m.Type = agent.AnalysisRequest },
			"priority":    func(m *agent.Message) { m.Priority = 0 },
			"retries":     func(m *agent.Message) { m.RetryCount = -1 },
		} {
			t.Log(name)
			m := request()
			spoil(&m)
			wantKind(t, bus.Deliver(t.Context(), m), agent.Failed)
		}
		if s := status(t, bus); s.Counts != (agent.Counts{}) {
			t.Errorf("counts are %+v", s.Counts)
		}
	})
}

func TestMessagesForNobodyAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := open(t, echo, nil)
		for _, p := range []agent.Payload{agent.Cancel{}, agent.Beat{}, found{}, word("x"), &agent.Error{}} {
			for _, to := range []agent.Name{"search", "nobody"} {
				m := request()
				m.Sender, m.Recipient, m.Type, m.Payload = "nobody", to, p.MessageType(), p
				if err := bus.Deliver(t.Context(), m); err != nil {
					t.Errorf("%T to %s: %v", p, to, err)
				}
			}
		}
		if bus.Late() != 6 {
			t.Errorf("%d late messages, want 6", bus.Late())
		}
	})
}

func TestReplyOfAnotherAgentIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var bus *agent.Bus
		bus = open(t, func(ctx context.Context, task *agent.Task, _ question) (found, error) {
			m := task.Message
			m.ID, m.Sender, m.Recipient, m.Type, m.Payload = "forged", "another", m.Sender, agent.SearchResponse, found{"forged"}
			return found{"own"}, bus.Deliver(ctx, m)
		}, nil)
		if got, err := call(t, bus, ask("x")); err != nil || got != "own" || bus.Late() != 1 {
			t.Errorf("got %q, %v, %d dropped", got, err, bus.Late())
		}
	})
}

func TestChangesOfStateAreLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		bus := agent.New(agent.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
		checks := 0
		err := bus.Register(agent.Agent{
			Name: "search", Handlers: []agent.Handler{agent.On(echo)},
			Check: func(context.Context) error {
				if checks++; checks < 10 {
					return errors.New("the index is gone")
				}
				return nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		pass(time.Hour)
		shut(t, bus)
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		want := []string{"state=stuck", "state=down", "recovered"}
		if len(lines) != len(want) {
			t.Fatalf("log is\n%s", log.String())
		}
		for i, line := range lines {
			if !strings.Contains(line, want[i]) || !strings.Contains(line, "agent=search") {
				t.Errorf("line %q, want %s", line, want[i])
			}
		}
	})
}

// silence is a transport that loses everything.
type silence struct{}

func (silence) Deliver(context.Context, agent.Message) error { return nil }

func TestSilentRemote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := agent.New(agent.Options{Remotes: map[agent.Name]agent.Transport{"search": silence{}}})
		if err := bus.Register(agent.Agent{Name: "search", Handlers: []agent.Handler{agent.On(echo)}}); err == nil {
			t.Error("an agent took the name of a remote one")
		}
		begun := time.Now()
		_, err := call(t, bus, ask("x"))
		wantKind(t, err, agent.Timeout)
		if took := time.Since(begun); took != 2*agent.DefaultTimeout {
			t.Errorf("took %s, want twice the default", took)
		}
		var c crowd
		c.call(t, bus, ask("x"))
		synctest.Wait()
		shut(t, bus)
		c.Wait()
		wantKind(t, c.errs[0], agent.Down)
	})
}
