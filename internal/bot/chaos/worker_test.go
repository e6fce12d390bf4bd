package chaos

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/redis/conn"
	"github.com/cairn-bot/cairn/internal/runs"
	redisruns "github.com/cairn-bot/cairn/internal/runs/redis"
)

// queues looks into the queues of a town that has Redis.
func (tn *town) queues() *redisruns.Store {
	client, err := conn.Open(tn.t.Context(), tn.redis.URL)
	if err != nil {
		tn.t.Fatal(err)
	}
	store, err := redisruns.Open(tn.t.Context(), client, redisruns.Options{Options: times(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		tn.t.Fatal(err)
	}
	tn.t.Cleanup(func() {
		if err := store.Close(); err != nil {
			tn.t.Error(err)
		}
		if err := client.Close(); err != nil {
			tn.t.Error(err)
		}
	})
	return store
}

// workerOf waits until one of the workers has a thread, and gives it.
func (tn *town) workerOf(ctx context.Context, queues runs.Operator, thread chat.ThreadID) *process {
	for ctx.Err() == nil {
		state, err := queues.State(ctx, thread)
		if err != nil {
			tn.t.Fatal(err)
		}
		for _, worker := range tn.workers {
			if strings.Contains(string(state.Worker), fmt.Sprintf("-%d-", worker.command.Process.Pid)) {
				return worker
			}
		}
		wait(ctx, time.Millisecond)
	}
	tn.t.Fatalf("no worker took thread %s", thread)
	return nil
}

// TestZombie stops a worker in the middle of a step for longer than its lease: another
// finishes, and what the first does when it goes on is refused.
func TestZombie(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), *limit)
	defer cancel()
	tn := newTown(t, "redis", nil)
	queues := tn.queues()
	p := &person{town: tn, thread: "platform:1"}
	p.send(ctx, p.message(dwells+" 1"))
	p.expect(dwells + " 1 by splitabc")
	zombie := tn.workerOf(ctx, queues, p.thread)
	if err := zombie.signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if !p.posted(ctx) {
		t.Fatalf("nobody went on: people see %q", p.seen())
	}
	if err := zombie.signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	for !strings.Contains(zombie.stderr.String(), "the lease was lost") {
		if ctx.Err() != nil {
			t.Fatalf("the zombie did not notice that its lease was lost; it said:\n%s", zombie.stderr.String())
		}
		wait(ctx, 10*time.Millisecond)
	}
	tn.end()
	p.check()
}

// BenchmarkRecovery kills a worker in the middle of a run, and measures until another has
// the run, with the times that are set by default.
func BenchmarkRecovery(b *testing.B) {
	b.Setenv(envTimes, "default")
	tn := newTown(b, "redis", nil)
	queues := tn.queues()
	p := &person{town: tn, thread: "platform:1"}
	var longest time.Duration
	for i := 0; b.Loop(); i++ {
		text := fmt.Sprint(dwells, " ", i)
		p.send(b.Context(), p.message(text))
		p.expect(text + " by splitabc")
		worker := tn.workerOf(b.Context(), queues, p.thread)
		if err := worker.end(syscall.SIGKILL); err != nil {
			b.Fatal(err)
		}
		begun := time.Now()
		dead := fmt.Sprintf("-%d-", worker.command.Process.Pid)
		for {
			state, err := queues.State(b.Context(), p.thread)
			if err != nil {
				b.Fatal(err)
			}
			if state.Worker != "" && !strings.Contains(string(state.Worker), dead) {
				break
			}
			wait(b.Context(), time.Millisecond)
		}
		longest = max(longest, time.Since(begun))
		p.posted(b.Context())
		if err := worker.start(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(longest.Seconds(), "longest-s")
	tn.end()
	p.check()
}
