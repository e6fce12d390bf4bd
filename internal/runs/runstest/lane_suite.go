package runstest

import (
	"slices"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/session"
	"github.com/cairn-bot/cairn/internal/store"
)

// inLane returns the job in the lane of commands.
func inLane(job runs.Job) runs.Job {
	job.Lane = runs.LaneCommands
	return job
}

// testLanes works in two lanes of a thread at once.
func testLanes(t *testing.T, place Place) {
	at, other := place.Open(t, standardOptions), place.Open(t, standardOptions)
	ctx := t.Context()
	mustEnqueue(t, at, newJob("t", "m1"), inLane(newJob("t", "c1")), newJob("t", "m2"), inLane(newJob("t", "c2")))
	for _, again := range []runs.Job{newJob("t", "c1"), inLane(newJob("t", "m1"))} {
		if accepted, err := at.Enqueue(ctx, again); err != nil || accepted {
			t.Errorf("event %s of another lane is accepted: %v, %v", again.Event, accepted, err)
		}
	}
	leases := make(map[runs.Lane]runs.Lease)
	for _, from := range []store.Store{at, other} {
		lease := mustClaim(t, from, "w")
		leases[lease.Lane] = lease
	}
	messages, commands := leases[runs.LaneMessages], leases[runs.LaneCommands]
	if messages.Job.Event != "m1" || commands.Job.Event != "c1" || commands.Thread != "t" || commands.Job.Queue() != commands.Queue() || !commands.Behind {
		t.Fatalf("the leases are %+v", leases)
	}
	expectIdle(t, at, 300*time.Millisecond)
	if stopped, err := at.Stop(ctx, "t", "c1", "ann"); err != nil || stopped {
		t.Errorf("Stop of a command = %v, %v", stopped, err)
	}
	if stopped, err := at.Stop(ctx, "t", "m1", "ann"); err != nil || !stopped {
		t.Errorf("Stop of a message = %v, %v", stopped, err)
	}
	if renewal, err := at.Renew(ctx, commands); err != nil || renewal.Stop != nil || !renewal.Behind {
		t.Errorf("the command is renewed with %+v, %v", renewal, err)
	}
	testLaneWrites(t, at, messages, commands)
	if got := mustState(t, at, "t"); got.Queued != 2 || got.Head.Event != "m1" || got.Lane != runs.LaneMessages {
		t.Errorf("the thread is %+v", got)
	}
	mustFinish(t, at, commands, runs.Result{})
	if next := claimEvent(t, other, "w", "c2", 1); next.Lane != runs.LaneCommands || next.Session != nil {
		t.Errorf("in the lane comes %+v", next)
	}
	if _, err := at.Renew(ctx, messages); err != nil {
		t.Errorf("the end of a command's lease gives %v for the message's", err)
	}
	_, err := at.Renew(ctx, commands)
	wantLost(t, "Renew", err)
	mustFinish(t, at, messages, runs.Result{})
	claimEvent(t, at, "w", "m2", 1)
}

// testLaneWrites commits under the leases of two lanes of a thread.
func testLaneWrites(t *testing.T, at store.Store, messages, commands runs.Lease) {
	ctx := t.Context()
	for i, lease := range []runs.Lease{messages, commands} {
		journal := at.Journal(lease)
		journal.Append(newEvent(string(lease.Job.Event)))
		recorded, err := recordDelivery(ctx, journal, runs.Delivery{Key: "key", Body: []byte(lease.Job.Event)})
		if err != nil || string(recorded.Body) != string(lease.Job.Event) {
			t.Errorf("delivery %d is recorded as %+v, %v", i, recorded, err)
		}
		if left, err := at.Recorded(ctx, lease); err != nil || len(left) != 1 || string(left[0].Body) != string(lease.Job.Event) {
			t.Errorf("the deliveries of lane %q are %+v, %v", lease.Lane, left, err)
		}
	}
	followed := followEvents(t, at, "t", runs.Beginning, 2)
	if got := []string{string(followed[0].Body), string(followed[1].Body)}; !slices.Equal(got, []string{string(newEvent("m1").Body), string(newEvent("c1").Body)}) {
		t.Errorf("the events are %q", got)
	}
	remembered := &session.Session{Thread: "t", Flow: "kept"}
	if _, err := at.Journal(commands).Commit(ctx, store.Commit{Session: remembered}); err == nil {
		t.Error("a session is committed in the lane of commands")
	}
	_, err := at.Journal(messages).Commit(ctx, store.Commit{Session: remembered})
	must(t, err)
}

// testLaneOperator looks into lanes, and repairs and clears them.
func testLaneOperator(t *testing.T, place Place) {
	at := place.Open(t, standardOptions)
	ctx := t.Context()
	mustEnqueue(t, at, inLane(newJob("t", "c1")))
	mustFinish(t, at, claimEvent(t, at, "w", "c1", 1), runs.Result{Next: runs.Dead, Reason: "x"})
	letter, err := at.FindDeadLetter(ctx, "run-c1")
	if err != nil || letter.Job.Lane != runs.LaneCommands {
		t.Errorf("the dead letter is %+v, %v", letter, err)
	}
	must(t, at.Replay(ctx, "t", "c1"))
	if lease := claimEvent(t, at, "w", "c1", 1); lease.Lane != runs.LaneCommands {
		t.Errorf("it is replayed as %+v", lease)
	} else {
		mustFinish(t, at, lease, runs.Result{})
	}

	if _, err := at.EnqueueAfter(ctx, inLane(newJob("t", "c2")), time.Hour); err != nil {
		t.Fatal(err)
	}
	mustEnqueue(t, at, newJob("t", "m1"), inLane(newJob("t", "c3")))
	listed, err := place.Open(t, standardOptions).Threads(ctx, 10)
	must(t, err)
	states := make(map[string]runs.ThreadState)
	for _, state := range listed {
		states[state.Queue().String()] = state
	}
	if len(listed) != 2 || states["t"].Queued != 1 || states["t (commands)"].Queued != 1 || states["t (commands)"].Delayed != 1 || states["t (commands)"].Head.Event != "c3" {
		t.Errorf("the lanes with work are %+v", listed)
	}
	must(t, at.Forget(ctx, "t", "ann", nil))
	if listed, err := at.Threads(ctx, 10); err != nil || len(listed) != 0 {
		t.Errorf("after all is forgotten there are %+v, %v", listed, err)
	}
}

// testLaneTakeOver has another worker take over one lane of a thread of two.
func testLaneTakeOver(t *testing.T, place Place) {
	dying, living := place.Open(t, shortOptions), place.Open(t, shortOptions)
	mustEnqueue(t, dying, inLane(newJob("t", "c1")))
	lost := mustClaim(t, dying, "dying")
	mustEnqueue(t, dying, newJob("t", "m1"))
	held := mustClaim(t, living, "living")
	if held.Job.Event != "m1" {
		t.Fatalf("beside the command is claimed %+v", held)
	}
	_, release := runs.Hold(t.Context(), living, held)
	defer release()
	taken := claimEvent(t, living, "living", "c1", 2)
	if taken.Queue() != lost.Queue() || taken.Unsure.IsZero() {
		t.Errorf("it is taken over as %+v", taken)
	}
	_, err := dying.Renew(t.Context(), lost)
	wantLost(t, "Renew", err)
	_, err = living.Renew(t.Context(), held)
	must(t, err)
}
