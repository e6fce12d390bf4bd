package runstest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/store"
)

// followEvents returns the next n events behind a position.
func followEvents(t *testing.T, events runs.Events, thread chat.ThreadID, after runs.Position, n int) []runs.Event {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	var got []runs.Event
	for event, err := range events.Follow(ctx, thread, after) {
		if err != nil {
			t.Fatal(err)
		}
		if got = append(got, event); len(got) == n {
			return got
		}
	}
	t.Fatalf("%d events came, want %d", len(got), n)
	return nil
}

func testFollow(t *testing.T, place Place) {
	writing, reading := place.Open(t, standardOptions), place.Open(t, standardOptions)
	mustEnqueue(t, writing, newJob("t", "e1"), newJob("other", "e2"))
	journals := make(map[chat.ThreadID]store.Journal)
	for range 2 {
		lease := mustClaim(t, writing, "w")
		journal := writing.Journal(lease)
		journals[lease.Thread] = journal
		for step := range 3 {
			journal.Append(newEvent(fmt.Sprint(lease.Thread, step, "a")), newEvent(fmt.Sprint(lease.Thread, step, "b")))
			must(t, journal.Save(t.Context(), "run", []byte("x")))
		}
	}
	all := followEvents(t, reading, "t", runs.Beginning, 6)
	for i, got := range all {
		want := newEvent(fmt.Sprint("t", i/2, string(rune('a'+i%2))))
		if string(got.Body) != string(want.Body) || got.Run != "run" || got.Kind != "step" || got.Position == "" {
			t.Errorf("event %d is %+v, want %q", i, got, want.Body)
		}
	}
	if rest := followEvents(t, writing, "t", all[3].Position, 2); rest[0].Position != all[4].Position || rest[1].Position != all[5].Position {
		t.Errorf("behind %s come %+v", all[3].Position, rest)
	}
	for _, err := range reading.Follow(t.Context(), "t", "nonsense") {
		if err == nil {
			t.Error("a position that is none was followed")
		}
		break
	}
	// Followers that wait hear of what another process writes.
	const followers = 2
	heard := make(chan string, followers)
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	for range followers {
		go func() {
			for event, err := range reading.Follow(ctx, "t", all[5].Position) {
				heard <- fmt.Sprint(string(event.Body), err)
				return
			}
			heard <- "nothing"
		}()
	}
	journals["t"].Append(newEvent("flushed"))
	must(t, commitEvents(t.Context(), journals["t"]))
	must(t, commitEvents(t.Context(), journals["t"]))
	for range followers {
		if got, want := <-heard, string(newEvent("flushed").Body)+"<nil>"; got != want {
			t.Errorf("heard %q, want %q", got, want)
		}
	}
}

func testShow(t *testing.T, place Place) {
	store := place.Open(t, standardOptions)
	mustEnqueue(t, store, newJob("t", "e1"))
	journal := store.Journal(mustClaim(t, store, "w"))
	journal.Append(newEvent("kept"))
	must(t, commitEvents(t.Context(), journal))
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	shown, showing := make(chan struct{}), false
	for got, err := range store.Follow(ctx, "t", runs.Beginning) {
		must(t, err)
		if got.Position == "" {
			if string(got.Body) != string(newEvent("token").Body) || got.Kind != "step" || got.Run != "run" {
				t.Errorf("shown is %+v", got)
			}
			break
		}
		// Whoever follows may still be late for the first ones shown.
		if !showing {
			showing = true
			go func() {
				defer close(shown)
				for ctx.Err() == nil {
					if err := journal.Show(ctx, newEvent("token")); err != nil && ctx.Err() == nil {
						t.Error(err)
					}
				}
			}()
		}
	}
	cancel()
	<-shown
	must(t, commitEvents(t.Context(), journal))
	journal.Append(newEvent("last"))
	must(t, commitEvents(t.Context(), journal))
	if got := followEvents(t, store, "t", runs.Beginning, 2); string(got[1].Body) != string(newEvent("last").Body) {
		t.Errorf("kept is %q", got[1].Body)
	}
	if err := journal.Show(t.Context(), runs.Event{Body: make([]byte, runs.MaxEvent+1)}); !errors.Is(err, runs.ErrTooLarge) {
		t.Errorf("an event that is too large gives %v", err)
	}
}

// testStep looks at a step that can't be written: nothing of it is, and the next has
// its events once.
func testStep(t *testing.T, place Place) {
	store := place.Open(t, standardOptions)
	mustEnqueue(t, store, newJob("t", "e1"))
	journal := store.Journal(mustClaim(t, store, "w"))
	must(t, journal.Save(t.Context(), "run", []byte("one")))
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	journal.Append(newEvent("two"))
	if err := journal.Save(gone, "run", []byte("two")); !errors.Is(err, context.Canceled) {
		t.Errorf("a save that is given up gives %v", err)
	}
	if got, err := journal.Load(t.Context(), "run"); err != nil || string(got) != "one" {
		t.Errorf("the checkpoint is %q, %v", got, err)
	}
	journal.Append(newEvent("three"))
	must(t, journal.Save(t.Context(), "run", []byte("three")))
	journal.Append(newEvent("four"))
	must(t, commitEvents(t.Context(), journal))
	for i, got := range followEvents(t, store, "t", runs.Beginning, 3) {
		if want := newEvent([]string{"two", "three", "four"}[i]); string(got.Body) != string(want.Body) {
			t.Errorf("event %d is %q, want %q", i, got.Body, want.Body)
		}
	}
	journal.Append(runs.Event{Body: make([]byte, runs.MaxEvent+1)})
	if err := journal.Save(t.Context(), "run", []byte("five")); !errors.Is(err, runs.ErrTooLarge) {
		t.Errorf("an event that is too large gives %v", err)
	}
}

func testOver(t *testing.T, place Place) {
	options := standardOptions
	options.EventsKept = 10
	store := place.Open(t, options)
	mustEnqueue(t, store, newJob("t", "e1"), newJob("t", "e2"))
	lease := mustClaim(t, store, "w")
	journal := store.Journal(lease)
	for i := range 1000 {
		journal.Append(newEvent(fmt.Sprint(i)))
		if i%100 == 99 {
			must(t, journal.Save(t.Context(), "run", []byte("x")))
		}
	}
	must(t, journal.Save(t.Context(), "another", []byte("y")))
	mustFinish(t, store, lease, runs.Result{Over: "run"})
	lease = mustClaim(t, store, "w")
	if _, err := store.Journal(lease).Load(t.Context(), "run"); !errors.Is(err, graph.ErrNoCheckpoint) {
		t.Errorf("the checkpoint of a run that is over gives %v", err)
	}
	if got, err := store.Journal(lease).Load(t.Context(), "another"); err != nil || string(got) != "y" {
		t.Errorf("the other checkpoint is %q, %v", got, err)
	}
	if first := followEvents(t, store, "t", runs.Beginning, 1); string(first[0].Body) == string(newEvent("0").Body) {
		t.Error("of 1000 events the first is still kept, want about 10")
	}
}

func testOutbox(t *testing.T, place Place) {
	dead, living := place.Open(t, shortOptions), place.Open(t, shortOptions)
	ctx := t.Context()
	mustEnqueue(t, dead, newJob("t", "e1"), newJob("t", "e2"), newJob("t", "e3"))
	lease := mustClaim(t, dead, "dead")
	for _, key := range []runs.DeliveryKey{"posted", "cut off", "gone"} {
		got, err := recordDelivery(ctx, dead.Journal(lease), runs.Delivery{Key: key, Run: "run", Body: []byte("body \x00\xff of " + key)})
		if err != nil || got.Recorded.IsZero() || got.Posted != "" {
			t.Fatalf("Record(%s) = %+v, %v", key, got, err)
		}
	}
	for range 2 {
		must(t, confirmDelivery(ctx, dead.Journal(lease), "posted", "m1"))
	}
	if err := confirmDelivery(ctx, dead.Journal(lease), "never recorded", "m1"); !errors.Is(err, runs.ErrUnknownDelivery) {
		t.Errorf("to confirm the unknown gives %v", err)
	}
	must(t, dead.Drop(ctx, lease, "gone"))
	must(t, dead.Drop(ctx, lease, "gone"))

	lease = claimEvent(t, living, "living", "e1", 2)
	got, err := living.Recorded(ctx, lease)
	if err != nil || len(got) != 2 || got[0].Key != "posted" || got[0].Posted != "m1" || got[1].Key != "cut off" || got[1].Posted != "" {
		t.Fatalf("Recorded = %+v, %v", got, err)
	}
	if got[1].Run != "run" || string(got[1].Body) != "body \x00\xff of cut off" {
		t.Errorf("the second is %+v", got[1])
	}
	again, err := recordDelivery(ctx, living.Journal(lease), runs.Delivery{Key: "posted", Body: []byte("made again")})
	if err != nil || again.Posted != "m1" || string(again.Body) != string(got[0].Body) {
		t.Errorf("recorded again it is %+v, %v", again, err)
	}
	mustFinish(t, living, lease, runs.Result{})

	lease = mustClaim(t, living, "living")
	if got, err = living.Recorded(ctx, lease); err != nil || len(got) != 1 || got[0].Key != "cut off" {
		t.Errorf("after the job is finished: %+v, %v", got, err)
	}
	must(t, confirmDelivery(ctx, living.Journal(lease), "cut off", "m2"))
	mustFinish(t, living, lease, runs.Result{})
	lease = mustClaim(t, living, "living")
	if got, err = living.Recorded(ctx, lease); err != nil || len(got) != 0 {
		t.Errorf("at last: %+v, %v", got, err)
	}
	for _, bad := range []runs.Delivery{{}, {Key: "k", Body: make([]byte, runs.MaxEvent+1)}} {
		if _, err := recordDelivery(ctx, living.Journal(lease), bad); err == nil {
			t.Errorf("a delivery with the key %q and %d bytes was recorded", bad.Key, len(bad.Body))
		}
	}
}
