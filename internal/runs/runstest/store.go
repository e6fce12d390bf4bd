package runstest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/graphtest"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/store"
)

// Place is where stores keep what they have: a folder, or a server. A test has one of
// its own.
type Place interface {
	// Open gives a store at the place, as another process would have it.
	Open(t testing.TB, options runs.Options) store.Store
	// Enqueue puts a body that need not be a job at the end of a thread's queue.
	Enqueue(t testing.TB, thread chat.ThreadID, body []byte)
}

// shortOptions are options for tests that wait for leases to run out.
var shortOptions = runs.Options{LeaseTTL: 300 * time.Millisecond, ClaimInterval: 200 * time.Millisecond}

// standardOptions are options for tests in which nothing runs out.
var standardOptions = runs.Options{ClaimInterval: 200 * time.Millisecond}

// waitLimit is how long a test waits for what must come.
const waitLimit = 30 * time.Second

// Stores checks a backend. fresh gives an empty place.
func Stores(t *testing.T, fresh func(t testing.TB) Place) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, place Place)
	}{
		{"an event is taken once", testDedupe},
		{"a thread's jobs are worked at one by one and in order", testOrder},
		{"a lease that runs out goes to another worker", testTakeOver},
		{"what lost its lease writes nothing", testZombie},
		{"a held lease does not run out", testHold},
		{"a lost lease ends what is held", testHoldLost},
		{"what waits behind a job", testBehind},
		{"a retry keeps its place", testRetry},
		{"a pause holds up its thread alone", testPause},
		{"a delayed job waits and holds up nobody", testDelay},
		{"a dead letter is listed, and replayed or discarded", testDead},
		{"a dead letter is found by its run or its event", testFindDead},
		{"a job that can't be read is put aside", testPoison},
		{"a job of a newer program is left for it", testNewer},
		{"a job that is left was not tried", testLeft},
		{"what is unsure of a job", testUnsure},
		{"a worker that died left the job unsure", testUnsureAfterDeath},
		{"a released job is claimed at once", testRelease},
		{"a finished lease is of no use", testFinished},
		{"a claim ends with its context", testClaimEnds},
		{"a stop reaches the worker", testStop},
		{"a stop outlives the worker", testStopOutlives},
		{"deliveries outlive the worker", testOutbox},
		{"events are followed from anywhere", testFollow},
		{"what is shown is not kept", testShow},
		{"a step is written whole", testStep},
		{"a commit writes all", testCommit},
		{"a commit whose lease is lost changes nothing", testCommitLost},
		{"a commit that is refused changes nothing", testCommitRefused},
		{"a commit cut off changes all or nothing", testCommitCutOff},
		{"what is not needed is dropped", testOver},
		{"large messages and long queues", testLarge},
		{"threads have any names", testNames},
		{"operators see what there is", testOperate},
		{"lanes of a thread are worked at side by side", testLanes},
		{"operators see all lanes of a thread", testLaneOperator},
		{"a lane is taken over alone", testLaneTakeOver},
		{"an edit is kept for each message", testEdits},
		{"a person is forgotten", testForget},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t, fresh(t))
		})
	}
	t.Run("a journal is a store of checkpoints", func(t *testing.T) {
		graphtest.StoreSuite(t, func(t *testing.T) graph.Store {
			store := fresh(t).Open(t, standardOptions)
			mustEnqueue(t, store, newJob("t", "e"))
			return store.Journal(mustClaim(t, store, "w"))
		})
	})
}

// newJob returns a job for a message whose id is the event's.
func newJob(thread chat.ThreadID, event runs.EventID) runs.Job {
	return runs.Job{Event: event, Kind: runs.Said, Run: chat.RunID("run-" + string(event)), Message: chat.Message{
		ID: chat.MessageID(event), Thread: thread, Author: "ann", Text: "what of " + string(event) + "?",
		At: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
	}}
}

func mustEnqueue(t *testing.T, queue runs.Queue, jobs ...runs.Job) {
	t.Helper()
	for _, job := range jobs {
		if accepted, err := queue.Enqueue(t.Context(), job); err != nil || !accepted {
			t.Fatalf("Enqueue(%s) = %v, %v", job.Event, accepted, err)
		}
	}
}

func mustClaim(t *testing.T, leases runs.Leases, worker runs.WorkerID) runs.Lease {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	lease, err := leases.Claim(ctx, worker)
	if err != nil {
		t.Fatalf("%s claims: %v", worker, err)
	}
	return lease
}

// claimEvent claims and checks which job came.
func claimEvent(t *testing.T, leases runs.Leases, worker runs.WorkerID, event runs.EventID, attempt int) runs.Lease {
	t.Helper()
	lease := mustClaim(t, leases, worker)
	if lease.Job.Event != event || lease.Job.Attempt != attempt {
		t.Fatalf("%s claimed event %q at attempt %d, want %q at attempt %d", worker, lease.Job.Event, lease.Job.Attempt, event, attempt)
	}
	return lease
}

// expectIdle checks that there is nothing to claim for a while.
func expectIdle(t *testing.T, leases runs.Leases, during time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), during)
	defer cancel()
	if lease, err := leases.Claim(ctx, "idle"); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("a claim gave %+v, %v: want nothing", lease, err)
	}
}

func mustFinish(t *testing.T, leases runs.Leases, lease runs.Lease, result runs.Result) {
	t.Helper()
	if err := leases.Finish(t.Context(), lease, result); err != nil {
		t.Fatal(err)
	}
}

func recordDelivery(ctx context.Context, journal store.Journal, delivery runs.Delivery) (recorded runs.Delivery, err error) {
	committed, err := journal.Commit(ctx, store.Commit{Delivery: &delivery})
	return committed.Delivery, err
}

func confirmDelivery(ctx context.Context, journal store.Journal, key runs.DeliveryKey, posted chat.MessageID) error {
	_, err := journal.Commit(ctx, store.Commit{Confirmed: &store.Confirmation{Key: key, Posted: posted}})
	return err
}

// commitEvents commits the events that wait.
func commitEvents(ctx context.Context, journal store.Journal) error {
	_, err := journal.Commit(ctx, store.Commit{})
	return err
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantLost(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, runs.ErrLost) {
		t.Errorf("%s gives %v, want ErrLost", what, err)
	}
}

func mustState(t *testing.T, store runs.Operator, thread chat.ThreadID) runs.ThreadState {
	t.Helper()
	got, err := store.State(t.Context(), thread)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func newEvent(text string) runs.Event {
	return runs.Event{Run: "run", Kind: "step", Body: fmt.Appendf(nil, "{%q\x00\xff}", text)}
}
