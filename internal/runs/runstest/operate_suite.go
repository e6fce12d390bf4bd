package runstest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/runs"
)

func testOperate(t *testing.T, place Place) {
	store := place.Open(t, standardOptions)
	if got := mustState(t, store, "t"); got.Queued != 0 || got.Busy() || got.Thread != "t" {
		t.Errorf("a thread with nothing to do is %+v", got)
	}
	mustEnqueue(t, store, newJob("t", "e1"), newJob("t", "e2"))
	lease := mustClaim(t, store, "w")
	mustEnqueue(t, store, newJob("u", "e3"))
	if accepted, err := store.EnqueueAfter(t.Context(), newJob("v", "e4"), time.Hour); err != nil || !accepted {
		t.Fatalf("EnqueueAfter = %v, %v", accepted, err)
	}
	if _, err := store.Stop(t.Context(), "t", "e1", "ann"); err != nil {
		t.Fatal(err)
	}
	got := mustState(t, store, "t")
	if got.Queued != 2 || got.Worker != "w" || !got.Busy() || got.Until.IsZero() || got.Head.Event != "e1" || got.Head.Attempt != 1 ||
		got.Stopped == nil || got.Stopped.By != "ann" || got.Head.Enqueued.IsZero() {
		t.Errorf("the thread is %+v", got)
	}
	threads, err := place.Open(t, standardOptions).Threads(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[chat.ThreadID]runs.ThreadState)
	for _, thread := range threads {
		seen[thread.Thread] = thread
	}
	if len(threads) != 3 || seen["t"].Worker != "w" || seen["u"].Queued != 1 || seen["u"].Busy() || seen["v"].Delayed != 1 {
		t.Errorf("the threads are %+v", threads)
	}
	if some, err := store.Threads(t.Context(), 2); err != nil || len(some) != 2 {
		t.Errorf("of two: %+v, %v", some, err)
	}
	mustFinish(t, store, lease, runs.Result{})
}

func testForget(t *testing.T, place Place) {
	store := place.Open(t, standardOptions)
	ctx := t.Context()
	by := func(author chat.UserID, event runs.EventID) runs.Job {
		job := newJob("t", event)
		job.Message.Author = author
		return job
	}
	mustEnqueue(t, store, by("eve", "dead"), by("eve", "at work"), by("bob", "kept"), by("eve", "waits"))
	if _, err := store.EnqueueAfter(ctx, by("eve", "late"), time.Hour); err != nil {
		t.Fatal(err)
	}
	mustFinish(t, store, mustClaim(t, store, "w"), runs.Result{Next: runs.Dead, Reason: "x"})
	lease := claimEvent(t, store, "w", "at work", 1)
	journal := store.Journal(lease)
	journal.Append(newEvent("told"))
	for _, run := range []string{"hers", "his"} {
		must(t, journal.Save(ctx, run, []byte("x")))
		if _, err := recordDelivery(ctx, store.Journal(lease), runs.Delivery{Key: runs.DeliveryKey(run), Run: chat.RunID(run)}); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // it may be repeated
		must(t, store.Forget(ctx, "t", "eve", []chat.RunID{"hers"}))
	}
	if got := mustState(t, store, "t"); got.Queued != 2 || got.Delayed != 0 || got.Head.Event != "at work" {
		t.Errorf("the thread is %+v", got)
	}
	if letters, err := store.DeadLetters(ctx, 10); err != nil || len(letters) != 0 {
		t.Errorf("dead letters: %+v, %v", letters, err)
	}
	if _, err := journal.Load(ctx, "hers"); !errors.Is(err, graph.ErrNoCheckpoint) {
		t.Errorf("her checkpoint gives %v", err)
	}
	if _, err := journal.Load(ctx, "his"); err != nil {
		t.Errorf("his checkpoint gives %v", err)
	}
	if left, err := store.Recorded(ctx, lease); err != nil || len(left) != 1 || left[0].Key != "his" {
		t.Errorf("deliveries: %+v, %v", left, err)
	}
	journal.Append(newEvent("after"))
	must(t, commitEvents(ctx, journal))
	if got := followEvents(t, store, "t", runs.Beginning, 1); string(got[0].Body) != string(newEvent("after").Body) {
		t.Errorf("the first event is %q", got[0].Body)
	}
	mustFinish(t, store, lease, runs.Result{})
	mustFinish(t, store, claimEvent(t, store, "w", "kept", 1), runs.Result{})

	mustEnqueue(t, store, by("eve", "alone"))
	mustFinish(t, store, mustClaim(t, store, "w"), runs.Result{Next: runs.Again, After: time.Hour})
	must(t, store.Forget(ctx, "t", "eve", nil))
	if got := mustState(t, store, "t"); got.Queued != 0 || !got.NotBefore.IsZero() {
		t.Errorf("at last the thread is %+v", got)
	}
	mustEnqueue(t, store, by("bob", "new"))
	mustFinish(t, store, claimEvent(t, store, "w", "new", 1), runs.Result{})
}

func testRegistry(t *testing.T, store runs.Records) {
	registry, ok := store.(runs.Registry)
	if !ok {
		t.Fatal("the records can't be listed")
	}
	for i, status := range []runs.Status{runs.Done, runs.Failed, runs.Waiting, runs.Failed} {
		record := exampleRecord(chat.RunID(fmt.Sprint("run-listed-", i)))
		record.Thread, record.Author = chat.ThreadID(fmt.Sprint("listed:", i%2)), chat.UserID(fmt.Sprint("person ", i/2))
		record.Move(status, sampleTime, "")
		mustSave(t, store, record)
		record.Move(status, sampleTime, "again")
		mustSave(t, store, record)
	}
	list := func(filter runs.Filter, limit int) (ids string) {
		t.Helper()
		records, err := registry.List(t.Context(), filter, limit)
		if err != nil {
			t.Fatal(err)
		}
		for _, record := range records {
			ids += string(record.ID[len(record.ID)-1:])
		}
		return ids
	}
	for _, test := range []struct {
		filter runs.Filter
		limit  int
		want   string
	}{
		{runs.Filter{}, 3, "321"},
		{runs.Filter{Status: runs.Failed}, 2, "31"},
		{runs.Filter{Status: runs.Failed}, 1, "3"},
		{runs.Filter{Thread: "listed:0"}, 9, "20"},
		{runs.Filter{Thread: "listed:1", Author: "person 1"}, 9, "3"},
		{runs.Filter{Author: "person 0", Status: runs.Done}, 9, "0"},
		{runs.Filter{Author: "nobody"}, 9, ""},
		{runs.Filter{Match: func(r runs.Record) bool { return r.Author == "person 0" }}, 1, "1"},
		{runs.Filter{Status: runs.Failed, Match: func(r runs.Record) bool { return r.Author == "person 0" }}, 9, "1"},
	} {
		if got := list(test.filter, test.limit); got != test.want {
			t.Errorf("%+v gives %q, want %q", test.filter, got, test.want)
		}
	}
	mustRate(t, store, "run-listed-3", chat.Rating{By: "bob", Verdict: chat.Up, At: sampleTime})
	for range 2 {
		if err := registry.Erase(t.Context(), "run-listed-3"); err != nil {
			t.Fatal(err)
		}
	}
	if got := list(runs.Filter{Status: runs.Failed}, 1); got != "1" {
		t.Errorf("after one was erased the last failed one is %q", got)
	}
	if _, err := store.Load(t.Context(), "run-listed-3"); !errors.Is(err, chat.ErrUnknownRun) {
		t.Errorf("an erased record gives %v", err)
	}
	mustSave(t, store, exampleRecord("run-listed-3"))
	if got := mustLoad(t, store, "run-listed-3"); len(got.Ratings) != 0 {
		t.Errorf("ratings of an erased record: %+v", got.Ratings)
	}
}
