package runstest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/session"
	"github.com/cairn-bot/cairn/internal/store"
)

// newCommit returns a commit that changes all that one can, each part marked by the text.
func newCommit(thread chat.ThreadID, text string) store.Commit {
	record := exampleRecord(chat.RunID("run-" + text))
	record.Thread, record.Request = thread, text
	remembered := session.Session{Thread: thread, Flow: text}
	remembered.Add(chat.Turn{Role: chat.Person, Author: chat.UserID("of " + text), Text: text})
	return store.Commit{
		Checkpoint: &store.Checkpoint{Run: record.ID, Body: []byte(text)},
		Records:    []runs.Record{record},
		Session:    &remembered,
		Delivery:   &runs.Delivery{Key: runs.DeliveryKey("key " + text), Run: record.ID, Body: []byte(text)},
	}
}

// committedParts returns which parts of newCommit(thread, text) are there, each as a word.
func committedParts(t *testing.T, at store.Store, lease runs.Lease, text string) []string {
	t.Helper()
	ctx, run := t.Context(), chat.RunID("run-"+text)
	var parts []string
	add := func(part string, there bool) {
		if there {
			parts = append(parts, part)
		}
	}
	checkpoint, err := at.Journal(lease).Load(ctx, string(run))
	if err != nil && !errors.Is(err, graph.ErrNoCheckpoint) {
		t.Fatal(err)
	}
	add("checkpoint", string(checkpoint) == text)
	record, err := at.Records().Load(ctx, run)
	if err != nil && !errors.Is(err, chat.ErrUnknownRun) {
		t.Fatal(err)
	}
	add("record", record.Request == text)
	for name, filter := range map[string]runs.Filter{"thread": {Thread: lease.Thread}, "status": {Status: runs.Running}} {
		listed, err := at.Records().List(ctx, filter, 100)
		must(t, err)
		for _, found := range listed {
			if found.ID == run && name == "thread" {
				add("listed", found.Request == text)
			} else if found.ID == run && found.Request != text {
				t.Errorf("by its status is found %+v", found)
			}
		}
	}
	remembered, err := at.Sessions().Load(ctx, lease.Thread)
	must(t, err)
	add("session", remembered.Flow == text)
	threads, err := at.Sessions().Threads(ctx, lease.Thread.Adapter(), chat.UserID("of "+text), 10)
	must(t, err)
	add("person", len(threads) == 1 && threads[0].Thread == lease.Thread)
	deliveries, err := at.Recorded(ctx, lease)
	must(t, err)
	for _, delivery := range deliveries {
		add("delivery", delivery.Key == runs.DeliveryKey("key "+text) && string(delivery.Body) == text && delivery.Posted == "")
	}
	return parts
}

var allParts = []string{"checkpoint", "record", "listed", "session", "person", "delivery"}

func testCommit(t *testing.T, place Place) {
	writing, reading := place.Open(t, standardOptions), place.Open(t, standardOptions)
	ctx, thread := t.Context(), chat.NewThreadID("commits", "1")
	mustEnqueue(t, writing, newJob(thread, "e1"), newJob(thread, "e2"))
	lease := mustClaim(t, writing, "w")
	if lease.Session != nil || lease.SessionUnread {
		t.Errorf("a new thread has the session %q, unread: %t", lease.Session, lease.SessionUnread)
	}
	journal := writing.Journal(lease)
	journal.Append(newEvent("first"))
	committed, err := journal.Commit(ctx, newCommit(thread, "first"))
	must(t, err)
	if got := committed.Delivery; got.Key != "key first" || got.Recorded.IsZero() || got.Posted != "" {
		t.Errorf("the delivery is recorded as %+v", got)
	}
	if got := committedParts(t, reading, lease, "first"); !reflect.DeepEqual(got, allParts) {
		t.Errorf("of the first commit there are %v", got)
	}
	// The second ends the job, confirms what was posted, and drops the checkpoint.
	second := newCommit(thread, "second")
	second.Delivery, second.Checkpoint = nil, nil
	second.Confirmed = &store.Confirmation{Key: "key first", Posted: "m1"}
	second.Result = &runs.Result{Over: "run-first"}
	journal.Append(newEvent("second"))
	_, err = journal.Commit(ctx, second)
	must(t, err)
	next := claimEvent(t, reading, "w", "e2", 1)
	if got := committedParts(t, reading, next, "second"); !reflect.DeepEqual(got, []string{"record", "listed", "session", "person"}) {
		t.Errorf("of the second commit there are %v", got)
	}
	if remembered, err := session.Decode(thread, next.Session); err != nil || remembered.Flow != "second" {
		t.Errorf("with the lease comes the session %+v, %v", remembered, err)
	}
	if got := committedParts(t, reading, next, "first"); !reflect.DeepEqual(got, []string{"record", "listed"}) {
		t.Errorf("of the first commit there are then %v", got)
	}
	for i, got := range followEvents(t, reading, thread, runs.Beginning, 2) {
		if want := newEvent([]string{"first", "second"}[i]); string(got.Body) != string(want.Body) {
			t.Errorf("event %d is %q, want %q", i, got.Body, want.Body)
		}
	}
}

// testCommitLost commits under leases that are lost: taken over, finished and released.
func testCommitLost(t *testing.T, place Place) {
	stood, living := place.Open(t, shortOptions), place.Open(t, shortOptions)
	thread := chat.NewThreadID("lost", "1")
	mustEnqueue(t, stood, newJob(thread, "e1"), newJob(thread, "e2"))
	var lost []runs.Lease
	lost = append(lost, mustClaim(t, stood, "zombie"))
	second := claimEvent(t, living, "living", "e1", 2)
	must(t, living.Release(t.Context(), second))
	third := claimEvent(t, living, "living", "e1", 2)
	mustFinish(t, living, third, runs.Result{})
	lost = append(lost, second, third)
	lease := claimEvent(t, living, "living", "e2", 1)
	_, err := living.Journal(lease).Commit(t.Context(), newCommit(thread, "living"))
	must(t, err)
	for i, of := range lost {
		for _, result := range []*runs.Result{nil, {}, {Next: runs.Again}, {Next: runs.Dead}, {Next: runs.Released}} {
			changes := newCommit(thread, fmt.Sprint("lost", i))
			changes.Result = result
			journal := stood.Journal(of)
			journal.Append(newEvent("lost"))
			_, err := journal.Commit(t.Context(), changes)
			wantLost(t, "Commit", err)
			if got := committedParts(t, living, lease, fmt.Sprint("lost", i)); len(got) != 0 {
				t.Errorf("of commit %d, whose lease was lost, there are %v", i, got)
			}
		}
	}
	if got := committedParts(t, living, lease, "living"); !reflect.DeepEqual(got, allParts) {
		t.Errorf("of what the living worker committed there are %v", got)
	}
	journal := living.Journal(lease)
	journal.Append(newEvent("living"))
	must(t, commitEvents(t.Context(), journal))
	if first := followEvents(t, living, thread, runs.Beginning, 1); string(first[0].Body) != string(newEvent("living").Body) {
		t.Errorf("the first event is %q", first[0].Body)
	}
}

// testCommitRefused commits what is refused for other reasons than its lease.
func testCommitRefused(t *testing.T, place Place) {
	at := place.Open(t, standardOptions)
	thread := chat.NewThreadID("refused", "1")
	mustEnqueue(t, at, newJob(thread, "e1"))
	lease := mustClaim(t, at, "w")
	commit := func(text string, change func(*store.Commit)) error {
		t.Helper()
		changes := newCommit(thread, text)
		change(&changes)
		_, err := at.Journal(lease).Commit(t.Context(), changes)
		if got := committedParts(t, at, lease, text); err != nil && len(got) != 0 {
			t.Errorf("of the refused commit %q there are %v", text, got)
		}
		return err
	}
	undisturbed := func(c *store.Commit) { c.Unless = store.Unless{Stopped: true, Behind: true} }
	unstopped := func(c *store.Commit) { c.Unless.Stopped = true }
	must(t, commit("alone", undisturbed))
	unknown := commit("unknown", func(c *store.Commit) { c.Confirmed = &store.Confirmation{Key: "never recorded", Posted: "m1"} })
	if !errors.Is(unknown, runs.ErrUnknownDelivery) {
		t.Errorf("to confirm the unknown gives %v", unknown)
	}
	for _, of := range []runs.Delivery{{}, {Key: "k", Body: make([]byte, runs.MaxEvent+1)}} {
		if err := commit("delivery", func(c *store.Commit) { c.Delivery = &of }); err == nil {
			t.Errorf("a delivery with the key %q and %d bytes was committed", of.Key, len(of.Body))
		}
	}
	if err := commit("elsewhere", func(c *store.Commit) { c.Session.Thread = "another" }); err == nil {
		t.Error("the session of another thread was committed")
	}
	mustEnqueue(t, at, newJob(thread, "e2"))
	disturbed, ok := errors.AsType[*store.DisturbedError](commit("behind", undisturbed))
	if !ok || !disturbed.Renewal.Behind || disturbed.Renewal.Stop != nil {
		t.Errorf("with a job behind it there is %+v", disturbed)
	}
	must(t, commit("not stopped", unstopped))
	if stopped, err := at.Stop(t.Context(), thread, "e1", "ann"); err != nil || !stopped {
		t.Errorf("Stop = %v, %v", stopped, err)
	}
	disturbed, ok = errors.AsType[*store.DisturbedError](commit("stopped", unstopped))
	if !ok || disturbed.Renewal.Stop == nil || disturbed.Renewal.Stop.By != "ann" {
		t.Errorf("after a stop there is %+v", disturbed)
	}
	must(t, commit("all the same", func(*store.Commit) {}))
}

// testCommitCutOff gives commits up at any moment: each is made whole or not at all, and its
// event comes once, whether it is known to be made or not.
func testCommitCutOff(t *testing.T, place Place) {
	at := place.Open(t, standardOptions)
	thread := chat.NewThreadID("cut", "1")
	mustEnqueue(t, at, newJob(thread, "e1"))
	lease := mustClaim(t, at, "w")
	journal := at.Journal(lease)
	const commits = 30
	for i := range commits {
		text := fmt.Sprint("cut", i)
		journal.Append(newEvent(text))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			_, err := journal.Commit(ctx, newCommit(thread, text))
			ended <- err
		}()
		if i%3 > 0 {
			for range i * 50 { // up to some way into the commit
				if ctx.Err() != nil {
					break
				}
			}
			cancel()
		}
		err := <-ended
		cancel()
		got := committedParts(t, at, lease, text)
		if len(got) != 0 && !reflect.DeepEqual(got, allParts) || err == nil && len(got) == 0 {
			t.Errorf("of commit %d, which gave %v, there are %v", i, err, got)
		}
	}
	must(t, commitEvents(t.Context(), journal))
	for i, got := range followEvents(t, at, thread, runs.Beginning, commits) {
		if want := newEvent(fmt.Sprint("cut", i)); string(got.Body) != string(want.Body) {
			t.Fatalf("event %d is %q, want %q", i, got.Body, want.Body)
		}
	}
}
