package runstest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/runs"
	keeper "github.com/cairn-bot/cairn/internal/store"
)

func testDedupe(t *testing.T, place Place) {
	first := place.Open(t, standardOptions)
	job := newJob("t", "e1")
	job.Message.Answers = &chat.Press{Question: "q", Choice: "c"}
	mustEnqueue(t, first, job)
	for name, store := range map[string]keeper.Store{"the same store": first, "another": place.Open(t, standardOptions)} {
		if accepted, err := store.Enqueue(t.Context(), job); err != nil || accepted {
			t.Errorf("the repeat at %s gives %v, %v", name, accepted, err)
		}
		if accepted, err := store.EnqueueAfter(t.Context(), job, time.Hour); err != nil || accepted {
			t.Errorf("the delayed repeat at %s gives %v, %v", name, accepted, err)
		}
	}
	lease := claimEvent(t, first, "w", "e1", 1)
	if lease.Job.Enqueued.IsZero() || lease.Thread != "t" || lease.Worker != "w" || lease.TTL == 0 {
		t.Errorf("the lease is %+v", lease)
	}
	lease.Job.Enqueued, job.Attempt = time.Time{}, 1
	if !reflect.DeepEqual(lease.Job, job) {
		t.Errorf("got  %+v\nwant %+v", lease.Job, job)
	}
	mustFinish(t, first, lease, runs.Result{})
	if accepted, err := first.Enqueue(t.Context(), job); err != nil || accepted {
		t.Errorf("the repeat of a finished job gives %v, %v", accepted, err)
	}
	mustEnqueue(t, first, newJob("another thread", "e1"))
	for _, bad := range []runs.Job{{Event: "e"}, {Message: chat.Message{Thread: "t"}}} {
		if _, err := first.Enqueue(t.Context(), bad); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
}

// workerPool is some workers, and what they have done.
type workerPool struct {
	t    *testing.T
	done func() // called when nothing is left

	mu      sync.Mutex
	working map[chat.ThreadID]bool
	events  map[chat.ThreadID][]string
	left    int
}

// runWorker is the life of one worker.
func (c *workerPool) runWorker(ctx context.Context, store keeper.Store, worker runs.WorkerID) {
	for {
		lease, err := store.Claim(ctx, worker)
		if err == nil {
			err = c.runJob(ctx, store, lease)
		}
		if err != nil {
			if !errors.Is(err, context.Canceled) {
				c.t.Error(err)
			}
			return
		}
	}
}

func (c *workerPool) runJob(ctx context.Context, store keeper.Store, lease runs.Lease) error {
	c.mu.Lock()
	if c.working[lease.Thread] {
		c.t.Errorf("thread %s is worked at twice", lease.Thread)
	}
	c.working[lease.Thread] = true
	c.mu.Unlock()
	if err := store.Journal(lease).Save(ctx, string(lease.Job.Run), []byte("x")); err != nil {
		return err
	}
	c.mu.Lock()
	c.working[lease.Thread] = false
	c.events[lease.Thread] = append(c.events[lease.Thread], string(lease.Job.Event))
	c.mu.Unlock()
	if err := store.Finish(ctx, lease, runs.Result{}); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left--; c.left == 0 {
		c.done()
	}
	return nil
}

// testOrder has several workers of several stores at the jobs of some threads, while
// they are enqueued.
func testOrder(t *testing.T, place Place) {
	const threads, jobs, stores, workers = 8, 15, 2, 3
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	c := &workerPool{t: t, done: cancel, left: threads * jobs, working: make(map[chat.ThreadID]bool), events: make(map[chat.ThreadID][]string)}
	var opened []keeper.Store
	var all sync.WaitGroup
	for i := range stores {
		store := place.Open(t, standardOptions)
		opened = append(opened, store)
		for n := range workers {
			all.Go(func() { c.runWorker(ctx, store, runs.WorkerID(fmt.Sprint(i, n))) })
		}
	}
	want := make([]string, jobs)
	for n := range jobs {
		want[n] = fmt.Sprintf("e%03d", n)
		for i := range threads {
			mustEnqueue(t, opened[i%stores], newJob(chat.ThreadID(fmt.Sprint("thread ", i)), runs.EventID(want[n])))
		}
	}
	all.Wait()
	for thread, events := range c.events {
		if !reflect.DeepEqual(events, want) {
			t.Errorf("thread %s had %v", thread, events)
		}
	}
	if len(c.events) != threads {
		t.Errorf("%d threads were worked at, want %d", len(c.events), threads)
	}
}

func testDelay(t *testing.T, place Place) {
	const delay = 400 * time.Millisecond
	store := place.Open(t, standardOptions)
	begun := time.Now()
	if accepted, err := store.EnqueueAfter(t.Context(), newJob("t", "late"), delay); err != nil || !accepted {
		t.Fatalf("EnqueueAfter = %v, %v", accepted, err)
	}
	mustEnqueue(t, store, newJob("t", "e1"))
	if got := mustState(t, store, "t"); got.Queued != 1 || got.Delayed != 1 {
		t.Errorf("the thread is %+v", got)
	}
	first := claimEvent(t, store, "w", "e1", 1)
	mustFinish(t, store, first, runs.Result{})
	last := claimEvent(t, place.Open(t, standardOptions), "w2", "late", 1)
	if passed := time.Since(begun); passed < delay {
		t.Errorf("the delayed job came after %s", passed)
	}
	mustFinish(t, store, last, runs.Result{})
	if got := mustState(t, store, "t"); got.Queued != 0 || got.Delayed != 0 || got.Busy() {
		t.Errorf("at last the thread is %+v", got)
	}
}

func testLarge(t *testing.T, place Place) {
	const jobs = 10_000
	store := place.Open(t, standardOptions)
	large := newJob("large", "e")
	large.Message.Text = strings.Repeat("0123456789abcdef", 1<<16) // 1 MiB
	mustEnqueue(t, store, large)
	lease := mustClaim(t, store, "w")
	if lease.Job.Message.Text != large.Message.Text {
		t.Errorf("a text of %d bytes came back with %d", len(large.Message.Text), len(lease.Job.Message.Text))
	}
	mustFinish(t, store, lease, runs.Result{})
	large.Event, large.Message.Text = "e2", strings.Repeat("x", runs.MaxJob)
	if _, err := store.Enqueue(t.Context(), large); !errors.Is(err, runs.ErrTooLarge) {
		t.Errorf("a job that is too large gives %v", err)
	}

	var enqueuing sync.WaitGroup
	numbers := make(chan int)
	for range 8 {
		enqueuing.Go(func() {
			for n := range numbers {
				if _, err := store.Enqueue(t.Context(), newJob("long", runs.EventID(fmt.Sprint(n)))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for n := range jobs {
		numbers <- n
	}
	close(numbers)
	enqueuing.Wait()
	if got := mustState(t, store, "long"); got.Queued != jobs {
		t.Errorf("%d jobs are queued, want %d", got.Queued, jobs)
	}
	for range 100 {
		mustFinish(t, store, mustClaim(t, store, "w"), runs.Result{})
	}
	mustEnqueue(t, store, newJob("other", "e"))
	seen := make(map[chat.ThreadID]int)
	for range 4 { // a long queue does not keep others waiting, also where a look through all queues announced it twice
		lease := mustClaim(t, store, "w")
		seen[lease.Thread]++
		mustFinish(t, store, lease, runs.Result{})
	}
	if seen["other"] != 1 {
		t.Errorf("of four turns the other thread had %d", seen["other"])
	}
}

func testNames(t *testing.T, place Place) {
	store := place.Open(t, standardOptions)
	names := []chat.ThreadID{"a", "A", "{", "}", "}{", "{}", "a}b", "%7B", "*", "тред 1", "x\x00y", "slack:T1:C1:1772445600.1", "a:jobs", "\xff"}
	for _, name := range names {
		mustEnqueue(t, store, newJob(name, "e"))
	}
	seen := make(map[chat.ThreadID]bool)
	for range names {
		lease := mustClaim(t, store, "w")
		seen[lease.Thread] = true
		journal := store.Journal(lease)
		journal.Append(newEvent(string(lease.Thread)))
		must(t, journal.Save(t.Context(), string(lease.Thread), []byte(lease.Thread)))
	}
	for _, name := range names {
		if name != "\xff" && !seen[name] { // in JSON, broken bytes are replaced
			t.Errorf("thread %q was not claimed", name)
		}
		if got := followEvents(t, store, name, runs.Beginning, 1); name != "\xff" && !bytes.Equal(got[0].Body, newEvent(string(name)).Body) {
			t.Errorf("the event of thread %q is %q", name, got[0].Body)
		}
	}
}
