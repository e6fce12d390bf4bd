package runstest

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/runs"
)

func testTakeOver(t *testing.T, place Place) {
	dead, living := place.Open(t, shortOptions), place.Open(t, shortOptions)
	mustEnqueue(t, dead, newJob("t", "e1"), newJob("t", "e2"))
	first := claimEvent(t, dead, "dead", "e1", 1)
	must(t, dead.Journal(first).Save(t.Context(), "run-e1", []byte("kept")))
	second := claimEvent(t, living, "living", "e1", 2)
	if passed := second.Given.Sub(first.Given); passed < shortOptions.LeaseTTL || first.Given.Before(first.Job.Enqueued) {
		t.Errorf("the job came at %s, was given at %s and %s later", first.Job.Enqueued, first.Given, passed)
	}
	if second.Token <= first.Token {
		t.Errorf("the later lease has the token %d, the one before %d", second.Token, first.Token)
	}
	if got, err := living.Journal(second).Load(t.Context(), "run-e1"); err != nil || string(got) != "kept" {
		t.Errorf("the checkpoint is %q, %v", got, err)
	}
	mustFinish(t, living, second, runs.Result{})
	claimEvent(t, living, "living", "e2", 1)
}

// testZombie lets a worker that stood still for longer than its lease go on writing.
func testZombie(t *testing.T, place Place) {
	stood, living := place.Open(t, shortOptions), place.Open(t, shortOptions)
	mustEnqueue(t, stood, newJob("t", "e1"))
	zombie := mustClaim(t, stood, "zombie")
	journal := stood.Journal(zombie)
	journal.Append(newEvent("before"))
	must(t, journal.Save(t.Context(), "run", []byte("before")))
	if _, err := recordDelivery(t.Context(), stood.Journal(zombie), runs.Delivery{Key: "k1", Body: []byte("b")}); err != nil {
		t.Fatal(err)
	}
	lease := claimEvent(t, living, "living", "e1", 2)

	ctx := t.Context()
	journal.Append(newEvent("after"))
	wantLost(t, "Save", journal.Save(ctx, "run", []byte("after")))
	wantLost(t, "Save of another run", stood.Journal(zombie).Save(ctx, "another", []byte("after")))
	wantLost(t, "Flush", commitEvents(ctx, journal))
	_, err := stood.Renew(ctx, zombie)
	wantLost(t, "Renew", err)
	wantLost(t, "Finish", stood.Finish(ctx, zombie, runs.Result{}))
	wantLost(t, "Finish with a retry", stood.Finish(ctx, zombie, runs.Result{Next: runs.Again}))
	wantLost(t, "Finish with a dead letter", stood.Finish(ctx, zombie, runs.Result{Next: runs.Dead}))
	wantLost(t, "Release", stood.Release(ctx, zombie))
	_, err = recordDelivery(ctx, stood.Journal(zombie), runs.Delivery{Key: "k2"})
	wantLost(t, "Record", err)
	wantLost(t, "Confirm", confirmDelivery(ctx, stood.Journal(zombie), "k1", "m1"))
	wantLost(t, "Drop", stood.Drop(ctx, zombie, "k1"))
	_, err = stood.Recorded(ctx, zombie)
	wantLost(t, "Recorded", err)

	if got, err := living.Journal(lease).Load(ctx, "run"); err != nil || string(got) != "before" {
		t.Errorf("the checkpoint is %q, %v", got, err)
	}
	if _, err := living.Journal(lease).Load(ctx, "another"); !errors.Is(err, graph.ErrNoCheckpoint) {
		t.Errorf("the zombie's other checkpoint gives %v", err)
	}
	deliveries, err := living.Recorded(ctx, lease)
	if err != nil || len(deliveries) != 1 || deliveries[0].Posted != "" {
		t.Errorf("deliveries are %+v, %v", deliveries, err)
	}
	if got := mustState(t, living, "t"); got.Worker != "living" || got.Queued != 1 {
		t.Errorf("the thread is %+v", got)
	}
	living.Journal(lease).Append(newEvent("unused"))
	last := living.Journal(lease)
	last.Append(newEvent("living"))
	must(t, commitEvents(ctx, last))
	if got := followEvents(t, living, "t", runs.Beginning, 2); string(got[1].Body) != string(newEvent("living").Body) {
		t.Errorf("the second event is %q", got[1].Body)
	}
}

func testHold(t *testing.T, place Place) {
	store, other := place.Open(t, shortOptions), place.Open(t, shortOptions)
	mustEnqueue(t, store, newJob("t", "e1"))
	lease := mustClaim(t, store, "w")
	held, release := runs.Hold(t.Context(), store, lease)
	expectIdle(t, other, 3*shortOptions.LeaseTTL)
	if held.Err() != nil {
		t.Errorf("what is held ended: %v", context.Cause(held))
	}
	release()
	if err := context.Cause(held); !errors.Is(err, context.Canceled) {
		t.Errorf("after release its cause is %v", err)
	}
	claimEvent(t, other, "other", "e1", 2)
}

func testHoldLost(t *testing.T, place Place) {
	store := place.Open(t, shortOptions)
	mustEnqueue(t, store, newJob("t", "e1"))
	lease := mustClaim(t, store, "w")
	held, release := runs.Hold(t.Context(), store, lease)
	defer release()
	must(t, store.Release(t.Context(), lease))
	<-held.Done()
	wantLost(t, "the cause of its end", context.Cause(held))
}

// testBehind has jobs come behind the one that is worked at.
func testBehind(t *testing.T, place Place) {
	store := place.Open(t, standardOptions)
	renewed := func(lease runs.Lease) runs.Renewal {
		t.Helper()
		renewal, err := store.Renew(t.Context(), lease)
		must(t, err)
		return renewal
	}
	mustEnqueue(t, store, newJob("t", "e1"))
	lease := claimEvent(t, store, "w", "e1", 1)
	if renewal := renewed(lease); lease.Behind || renewal.Behind {
		t.Errorf("behind the only job there are others: %t when it was claimed, %t later", lease.Behind, renewal.Behind)
	}
	mustEnqueue(t, store, newJob("other", "e0"))
	if renewed(lease).Behind {
		t.Error("a job of another thread is behind")
	}
	mustFinish(t, store, claimEvent(t, store, "w", "e0", 1), runs.Result{})
	mustEnqueue(t, store, newJob("t", "e2"), newJob("t", "e3"))
	if !renewed(lease).Behind {
		t.Error("two jobs came behind the first, and are not")
	}
	mustFinish(t, store, lease, runs.Result{})
	lease = claimEvent(t, store, "w", "e2", 1)
	if !lease.Behind {
		t.Error("one job is behind the second, and is not")
	}
	mustFinish(t, store, lease, runs.Result{})
	if lease = claimEvent(t, store, "w", "e3", 1); lease.Behind {
		t.Error("there are jobs behind the last")
	}
}

func testRetry(t *testing.T, place Place) {
	store := place.Open(t, standardOptions)
	mustEnqueue(t, store, newJob("t", "e1"), newJob("t", "e2"))
	for attempt := 1; attempt <= 3; attempt++ {
		lease := claimEvent(t, store, "w", "e1", attempt)
		mustFinish(t, store, lease, runs.Result{Next: runs.Again, Reason: "the model is down"})
		if got := mustState(t, store, "t"); got.Reason != "the model is down" || got.Queued != 2 || got.Busy() || got.Head.Attempt != attempt {
			t.Errorf("after attempt %d the thread is %+v", attempt, got)
		}
	}
	mustFinish(t, store, claimEvent(t, store, "w", "e1", 4), runs.Result{})
	claimEvent(t, store, "w", "e2", 1)
	if got := mustState(t, store, "t"); got.Reason != "" {
		t.Errorf("the next job has the reason %q", got.Reason)
	}
}

func testPause(t *testing.T, place Place) {
	const pause = 500 * time.Millisecond
	store := place.Open(t, standardOptions)
	mustEnqueue(t, store, newJob("t", "e1"))
	lease := mustClaim(t, store, "w")
	mustEnqueue(t, store, newJob("t", "e2"), newJob("other", "e3"))
	begun := time.Now()
	mustFinish(t, store, lease, runs.Result{Next: runs.Again, After: pause, Reason: "later"})
	if got := mustState(t, store, "t"); got.NotBefore.IsZero() || got.Busy() {
		t.Errorf("the thread is %+v", got)
	}
	mustFinish(t, store, claimEvent(t, store, "w", "e3", 1), runs.Result{})
	mustEnqueue(t, store, newJob("t", "e4")) // must not wake the thread up
	mustFinish(t, store, claimEvent(t, store, "w", "e1", 2), runs.Result{})
	if passed := time.Since(begun); passed < pause {
		t.Errorf("it was tried again after %s", passed)
	}
	mustFinish(t, store, claimEvent(t, store, "w", "e2", 1), runs.Result{})
	mustFinish(t, store, claimEvent(t, store, "w", "e4", 1), runs.Result{})
}

func testLeft(t *testing.T, place Place) {
	store := place.Open(t, standardOptions)
	mustEnqueue(t, store, newJob("t", "e1"), newJob("t", "e2"))
	for range 3 {
		mustFinish(t, store, claimEvent(t, store, "w", "e1", 1), runs.Result{Next: runs.Left, Reason: "no such adapter here"})
		if got := mustState(t, store, "t"); got.Reason != "no such adapter here" || got.Queued != 2 || got.Busy() {
			t.Errorf("the thread is %+v", got)
		}
	}
	mustFinish(t, store, claimEvent(t, store, "w", "e1", 1), runs.Result{Next: runs.Again})
	claimEvent(t, store, "w", "e1", 2)
}

func testNewer(t *testing.T, place Place) {
	store := place.Open(t, standardOptions)
	place.Enqueue(t, "t", []byte(`{"version":99,"event":"e0","thread":"t"}`))
	mustEnqueue(t, store, newJob("t", "e1"), newJob("u", "e2"))
	mustFinish(t, store, claimEvent(t, store, "w", "e2", 1), runs.Result{})
	expectIdle(t, store, 300*time.Millisecond)
	if got := mustState(t, store, "t"); got.Queued != 2 || got.NotBefore.IsZero() || !strings.Contains(got.Reason, "newer program") {
		t.Errorf("the thread is %+v", got)
	}
	if letters, err := store.DeadLetters(t.Context(), 10); err != nil || len(letters) != 0 {
		t.Errorf("put aside: %+v, %v", letters, err)
	}
}

func testDead(t *testing.T, place Place) {
	store := place.Open(t, standardOptions)
	mustEnqueue(t, store, newJob("t", "e1"), newJob("t", "e2"), newJob("u", "e1"))
	for range 2 {
		lease := claimEvent(t, store, "w", "e1", 1)
		mustFinish(t, store, lease, runs.Result{Next: runs.Dead, Reason: "tried too often"})
	}
	letters, err := store.DeadLetters(t.Context(), 10)
	if err != nil || len(letters) != 2 {
		t.Fatalf("dead letters: %+v, %v", letters, err)
	}
	for _, letter := range letters {
		if letter.Reason != "tried too often" || letter.At.IsZero() || letter.Job.Event != "e1" || letter.Job.Message.Author != "ann" {
			t.Errorf("the letter is %+v", letter)
		}
	}
	if one, err := store.DeadLetters(t.Context(), 1); err != nil || len(one) != 1 {
		t.Errorf("of one: %+v, %v", one, err)
	}
	must(t, store.Replay(t.Context(), "t", "e1"))
	if err := store.Replay(t.Context(), "t", "e1"); !errors.Is(err, runs.ErrUnknownLetter) {
		t.Errorf("a second replay gives %v", err)
	}
	mustFinish(t, store, claimEvent(t, store, "w", "e2", 1), runs.Result{})
	mustFinish(t, store, claimEvent(t, store, "w", "e1", 1), runs.Result{})
	if letters, err = store.DeadLetters(t.Context(), 10); err != nil || len(letters) != 1 || letters[0].Job.Thread() != "u" {
		t.Errorf("left: %+v, %v", letters, err)
	}
	must(t, store.Discard(t.Context(), "u", "e1"))
	for _, gone := range []struct {
		thread chat.ThreadID
		event  runs.EventID
	}{{"u", "e1"}, {"t", "e1"}, {"u", "never"}} {
		if err := store.Discard(t.Context(), gone.thread, gone.event); !errors.Is(err, runs.ErrUnknownLetter) {
			t.Errorf("to discard %s of thread %s, which is no dead letter, gives %v", gone.event, gone.thread, err)
		}
	}
	if letters, err = store.DeadLetters(t.Context(), 10); err != nil || len(letters) != 0 {
		t.Errorf("once the last is discarded there are %+v, %v", letters, err)
	}
	if err := store.Replay(t.Context(), "u", "e1"); !errors.Is(err, runs.ErrUnknownLetter) {
		t.Errorf("to replay what was discarded gives %v", err)
	}
	expectIdle(t, store, 300*time.Millisecond)
}

// testFindDead finds dead letters by the runs of their jobs, by the events of jobs that have
// none, and the latest of several; what is not a dead letter any more is not found.
func testFindDead(t *testing.T, place Place) {
	store := place.Open(t, standardOptions)
	putAside := func(thread chat.ThreadID, event runs.EventID, run chat.RunID) {
		t.Helper()
		job := newJob(thread, event)
		job.Run = run
		mustEnqueue(t, store, job)
		mustFinish(t, store, mustClaim(t, store, "w"), runs.Result{Next: runs.Dead, Reason: "tried too often"})
		for at := time.Now().UnixMilli(); time.Now().UnixMilli() == at; { // letters are in order by the millisecond
			runtime.Gosched()
		}
	}
	find := func(run chat.RunID, thread chat.ThreadID, event runs.EventID) {
		t.Helper()
		letter, err := store.FindDeadLetter(t.Context(), run)
		if thread == "" {
			if !errors.Is(err, runs.ErrUnknownLetter) {
				t.Errorf("the dead letter %q is %+v, %v; want none", run, letter, err)
			}
			return
		}
		if err != nil || letter.Job.Thread() != thread || letter.Job.Event != event || letter.Name() != run ||
			letter.Reason != "tried too often" || letter.At.IsZero() || letter.Job.Message.Author != "ann" {
			t.Errorf("the dead letter %q is %+v, %v; want event %s of %s", run, letter, err, event, thread)
		}
	}
	find("run", "", "")
	putAside("t {1}", "e 1", "run")
	putAside("t {1}", "e2", "run")
	putAside("u", "alone", "")
	putAside("v", "alone", "")
	putAside("v", "e3", "run-3")
	find("run", "t {1}", "e2")
	find("alone", "v", "alone")
	find("run-3", "v", "e3")
	for _, none := range []chat.RunID{"e2", "e3", "another", ""} {
		find(none, "", "")
	}
	must(t, store.Discard(t.Context(), "t {1}", "e2"))
	find("run", "t {1}", "e 1")
	must(t, store.Replay(t.Context(), "t {1}", "e 1"))
	find("run", "", "")
	must(t, store.Forget(t.Context(), "v", "ann", nil))
	find("alone", "u", "alone")
	find("run-3", "", "")
	mustFinish(t, store, claimEvent(t, store, "w", "e 1", 1), runs.Result{Next: runs.Dead, Reason: "tried too often"})
	find("run", "t {1}", "e 1")
}

func testPoison(t *testing.T, place Place) {
	store := place.Open(t, standardOptions)
	place.Enqueue(t, "t", []byte(`{"version":0,"event":"from nowhere"}`))
	place.Enqueue(t, "t", []byte("\x00\xff"))
	mustEnqueue(t, store, newJob("t", "e1"))
	mustFinish(t, store, claimEvent(t, store, "w", "e1", 1), runs.Result{})
	letters, err := store.DeadLetters(t.Context(), 10)
	if err != nil || len(letters) != 2 {
		t.Fatalf("dead letters: %+v, %v", letters, err)
	}
	var reasons string
	for _, letter := range letters {
		reasons += letter.Reason
		if letter.Job.Event == "" || letter.Job.Thread() != "t" {
			t.Errorf("the letter has no address: %+v", letter)
		}
		found, err := store.FindDeadLetter(t.Context(), letter.Name())
		if err != nil || found.Job.Event != letter.Job.Event || found.Reason != letter.Reason {
			t.Errorf("by its event the letter is %+v, %v", found, err)
		}
	}
	if !strings.Contains(reasons, "version 0") {
		t.Errorf("the reasons are %q", reasons)
	}
	must(t, store.Replay(t.Context(), "t", letters[0].Job.Event)) // it is put aside again
	expectIdle(t, store, 300*time.Millisecond)
	if letters, err = store.DeadLetters(t.Context(), 10); err != nil || len(letters) != 2 {
		t.Errorf("after a replay: %+v, %v", letters, err)
	}
}

func testRelease(t *testing.T, place Place) {
	store, other := place.Open(t, standardOptions), place.Open(t, standardOptions)
	mustEnqueue(t, store, newJob("t", "e1"))
	first := claimEvent(t, store, "w", "e1", 1)
	must(t, store.Journal(first).Save(t.Context(), "run", []byte("so far")))
	must(t, store.Release(t.Context(), first))
	wantLost(t, "a second Release", store.Release(t.Context(), first))
	wantLost(t, "Save after it", store.Journal(first).Save(t.Context(), "run", nil))
	second := claimEvent(t, other, "other", "e1", 1)
	if got, err := other.Journal(second).Load(t.Context(), "run"); err != nil || string(got) != "so far" {
		t.Errorf("the checkpoint is %q, %v", got, err)
	}
}

func testFinished(t *testing.T, place Place) {
	store := place.Open(t, standardOptions)
	mustEnqueue(t, store, newJob("t", "e1"), newJob("t", "e2"))
	lease := mustClaim(t, store, "w")
	mustFinish(t, store, lease, runs.Result{})
	for range 2 { // with a job behind it, and with none
		wantLost(t, "Finish", store.Finish(t.Context(), lease, runs.Result{}))
		wantLost(t, "Release", store.Release(t.Context(), lease))
		_, err := store.Renew(t.Context(), lease)
		wantLost(t, "Renew", err)
		wantLost(t, "Save", store.Journal(lease).Save(t.Context(), "run", nil))
		lease = mustClaim(t, store, "w")
		mustFinish(t, store, lease, runs.Result{})
		mustEnqueue(t, store, newJob("t", runs.EventID("e"+time.Now().Format(time.RFC3339Nano))))
	}
}

func testClaimEnds(t *testing.T, place Place) {
	store := place.Open(t, standardOptions)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := store.Claim(ctx, "w")
		ended <- err
	}()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Claim gives %v", err)
	}
	mustEnqueue(t, store, newJob("t", "e1"))
	claimEvent(t, store, "w", "e1", 1)
}

func testStop(t *testing.T, place Place) {
	working, asked := place.Open(t, standardOptions), place.Open(t, standardOptions)
	if stopped, err := asked.Stop(t.Context(), "t", "e1", "ann"); err != nil || stopped {
		t.Errorf("to stop nothing gives %v, %v", stopped, err)
	}
	mustEnqueue(t, working, newJob("t", "e1"), newJob("t", "e2"))
	if stopped, err := asked.Stop(t.Context(), "t", "e2", "eve"); err != nil || stopped {
		t.Errorf("to stop a job that is not at the head gives %v, %v", stopped, err)
	}
	lease := mustClaim(t, working, "w")
	held, release := runs.Hold(t.Context(), working, lease)
	for _, by := range []string{"ann", "bob"} {
		if stopped, err := asked.Stop(t.Context(), "t", "e1", chat.UserID(by)); err != nil || !stopped {
			t.Errorf("Stop by %s = %v, %v", by, stopped, err)
		}
	}
	<-held.Done()
	if by, stopped := runs.Stopped(held); !stopped || by != "ann" {
		t.Errorf("it was stopped: %v by %q, %v", stopped, by, context.Cause(held))
	}
	release()
	must(t, working.Journal(lease).Save(t.Context(), "run", []byte("x"))) // the lease is still good
	mustFinish(t, working, lease, runs.Result{})
	if next := claimEvent(t, asked, "w", "e2", 1); next.Stopped != nil {
		t.Errorf("the next job is stopped too: %+v", next.Stopped)
	}
}

func testStopOutlives(t *testing.T, place Place) {
	store := place.Open(t, shortOptions)
	mustEnqueue(t, store, newJob("t", "e1"))
	claimEvent(t, store, "dead", "e1", 1)
	if stopped, err := store.Stop(t.Context(), "t", "e1", "ann"); err != nil || !stopped {
		t.Fatalf("Stop = %v, %v", stopped, err)
	}
	lease := claimEvent(t, store, "living", "e1", 2)
	if lease.Stopped == nil || lease.Stopped.By != "ann" || lease.Stopped.At.IsZero() {
		t.Fatalf("the lease knows of %+v", lease.Stopped)
	}
	held, release := runs.Hold(t.Context(), store, lease)
	defer release()
	<-held.Done()
	if by, stopped := runs.Stopped(held); !stopped || by != "ann" {
		t.Errorf("it ended by %v", context.Cause(held))
	}
}

// testUnsure gives a job back with every doubt.
func testUnsure(t *testing.T, place Place) {
	store := place.Open(t, standardOptions)
	mustEnqueue(t, store, newJob("t", "e1"), newJob("t", "e2"))
	lease := claimEvent(t, store, "w", "e1", 1)
	if !lease.Unsure.IsZero() {
		t.Errorf("before the first attempt it is unsure until %s", lease.Unsure)
	}
	mustFinish(t, store, lease, runs.Result{Next: runs.Left, Doubt: runs.UnsureBefore})
	if lease = claimEvent(t, store, "w", "e1", 1); !lease.Unsure.IsZero() {
		t.Errorf("as unsure as before is until %s", lease.Unsure)
	}
	mustFinish(t, store, lease, runs.Result{Next: runs.Again})
	lease = claimEvent(t, store, "w", "e1", 2)
	unsure := lease.Unsure
	if unsure.IsZero() || unsure.After(lease.Given) {
		t.Errorf("it is unsure until %s, and was claimed at %s", unsure, lease.Given)
	}
	mustFinish(t, store, lease, runs.Result{Next: runs.Left, Doubt: runs.UnsureBefore, After: 10 * time.Millisecond})
	if lease = claimEvent(t, store, "w", "e1", 2); !lease.Unsure.Equal(unsure) {
		t.Errorf("as unsure as before is until %s, want %s", lease.Unsure, unsure)
	}
	mustFinish(t, store, lease, runs.Result{Next: runs.Again, Doubt: runs.Sure})
	if lease = claimEvent(t, store, "w", "e1", 3); !lease.Unsure.IsZero() {
		t.Errorf("all is known, and it is unsure until %s", lease.Unsure)
	}
	must(t, store.Release(t.Context(), lease))
	if lease = claimEvent(t, store, "w", "e1", 3); lease.Unsure.IsZero() {
		t.Error("after a release it is sure")
	}
	mustFinish(t, store, lease, runs.Result{})
	if lease = claimEvent(t, store, "w", "e2", 1); !lease.Unsure.IsZero() {
		t.Errorf("the next job is unsure until %s", lease.Unsure)
	}
}

func testUnsureAfterDeath(t *testing.T, place Place) {
	store := place.Open(t, shortOptions)
	mustEnqueue(t, store, newJob("t", "e1"))
	claimEvent(t, store, "dead", "e1", 1)
	if lease := claimEvent(t, store, "living", "e1", 2); lease.Unsure.IsZero() || !lease.Unsure.Equal(lease.Given.Truncate(time.Millisecond)) {
		t.Errorf("it is unsure until %s, and was claimed at %s", lease.Unsure, lease.Given)
	}
}
