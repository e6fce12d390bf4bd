package kinds_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/redis/conn"
	"github.com/cairn-bot/cairn/internal/redis/conn/conntest"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/runs/redis/redistest"
	"github.com/cairn-bot/cairn/internal/servertest"
	"github.com/cairn-bot/cairn/internal/store"
)

// persist repeats what fails while a replica takes the master's place. No call may take
// longer than the time that a client may wait for one answer.
func persist(t testing.TB, what string, do func(ctx context.Context) error) {
	t.Helper()
	all, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		ctx, cancel := context.WithTimeout(all, 20*time.Second)
		err := do(ctx)
		hung := ctx.Err() != nil
		cancel()
		if err == nil {
			return
		}
		if hung {
			t.Fatalf("%s hung: %v", what, err)
		}
	}
}

// TestAFailoverMidWork kills the master while jobs are enqueued and worked at: what was
// accepted and had reached the replica is worked at in order, with its session.
func TestAFailoverMidWork(t *testing.T) {
	t.Parallel()
	const before, after = 30, 10
	watched := servertest.Sentinels(t, "")
	client := conntest.Connect(t, watched.URL)
	queue := redistest.Place{Address: watched.URL, Prefix: "cairn"}.Open(t, runs.Options{LeaseTTL: 2 * time.Second, ClaimInterval: 500 * time.Millisecond})
	enqueue := func(i int) {
		persist(t, "Enqueue", func(ctx context.Context) error {
			event := runs.EventID(fmt.Sprintf("e%03d", i))
			_, err := queue.Enqueue(ctx, runs.Job{Event: event, Message: chat.Message{Thread: "t", Author: "ann", Text: string(event)}})
			return err
		})
	}
	for i := range before {
		enqueue(i)
	}
	replicated(t, client)
	var enqueuing sync.WaitGroup
	defer enqueuing.Wait()
	for done := range before + after {
		if done == before/2 {
			watched.Data[0].Kill()
			enqueuing.Go(func() {
				for i := range after {
					enqueue(before + i)
				}
			})
		}
		workAtNext(t, queue, runs.EventID(fmt.Sprintf("e%03d", done)))
	}
	if kept, err := queue.Sessions().Load(t.Context(), "t"); err != nil || len(kept.Topics()) != before+after {
		t.Errorf("the session has %d topics, %v", len(kept.Topics()), err)
	}
}

// replicated waits until the replica has all that was written so far.
func replicated(t testing.TB, client *conn.Client) {
	t.Helper()
	pipe := client.Pipeline() // WAIT is about the writes of its own connection
	pipe.Set(t.Context(), "cairn-mark", "", 0)
	copies := pipe.Do(t.Context(), "WAIT", 1, time.Minute.Milliseconds())
	if _, err := pipe.Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, err := copies.Int(); err != nil || n != 1 {
		t.Fatalf("%d replicas have it, %v", n, err)
	}
}

// workAtNext claims the job at the head, which is the one named, writes it into the
// thread's session and finishes it. What the failover undoes is done again.
func workAtNext(t testing.TB, queue store.Store, want runs.EventID) {
	t.Helper()
	persist(t, "work at "+string(want), func(ctx context.Context) error {
		lease, err := queue.Claim(ctx, "w")
		if err != nil {
			return err
		}
		if lease.Job.Event < want { // its end did not reach the replica
			return finishAs(ctx, queue, lease, fmt.Errorf("job %s came again", lease.Job.Event))
		}
		if lease.Job.Event != want {
			t.Fatalf("job %s came, want %s", lease.Job.Event, want)
		}
		kept, err := queue.Sessions().Load(ctx, "t")
		if err != nil {
			return err
		}
		message := chat.MessageID(want)
		if topics := kept.Topics(); len(topics) == 0 || topics[len(topics)-1].Message < message {
			kept.Add(chat.Turn{Role: chat.Person, Author: "ann", Message: message, Text: string(want)})
		}
		_, err = queue.Journal(lease).Commit(ctx, store.Commit{Session: &kept, Result: &runs.Result{}})
		return err
	})
}

func finishAs(ctx context.Context, queue store.Store, lease runs.Lease, result error) error {
	if err := queue.Finish(ctx, lease, runs.Result{}); err != nil {
		return err
	}
	return result
}
