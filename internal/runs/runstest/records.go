// Package runstest has the suites that the backends of package runs pass: Stores for
// queues, leases, journals and outboxes, Records for records.
package runstest

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/runs"
)

var sampleTime = time.Date(2026, 3, 1, 12, 0, 0, 123_000_000, time.UTC)

// Records checks a backend. open gives the same store again at every call, as after a
// restart of the program.
func Records(t *testing.T, open func(t *testing.T) runs.Records) {
	t.Run("an unknown run is an error", func(t *testing.T) {
		store := open(t)
		if _, err := store.Load(t.Context(), "run-nobody"); !errors.Is(err, chat.ErrUnknownRun) {
			t.Errorf("Load = %v, want ErrUnknownRun", err)
		}
		for _, verdict := range []chat.Verdict{chat.Up, chat.Unrated} {
			err := store.Rate(t.Context(), "run-nobody", chat.Rating{By: "ann", Verdict: verdict, At: sampleTime})
			if !errors.Is(err, chat.ErrUnknownRun) {
				t.Errorf("Rate %q = %v, want ErrUnknownRun", verdict, err)
			}
		}
	})
	t.Run("a record survives a restart whole", func(t *testing.T) {
		want := exampleRecord("run-whole/ü 1")
		first := open(t)
		mustSave(t, first, want)
		if got := mustLoad(t, open(t), want.ID); !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
	})
	t.Run("a later save replaces all but ratings", func(t *testing.T) { testReplace(t, open(t)) })
	t.Run("a person has one rating", func(t *testing.T) { testRatings(t, open(t)) })
	t.Run("records are listed and erased", func(t *testing.T) { testRegistry(t, open(t)) })
	t.Run("runs don't touch each other", func(t *testing.T) { testConcurrency(t, open(t)) })
}

func testReplace(t *testing.T, store runs.Records) {
	saved := exampleRecord("run-replace")
	mustSave(t, store, saved)
	mustRate(t, store, saved.ID, chat.Rating{By: "bob", Verdict: chat.Up, At: sampleTime})
	saved.Move(runs.Failed, sampleTime, "a node failed")
	saved.Trace = chat.Trace{Flow: "answer"}
	saved.Ratings = []chat.Rating{{By: "eve", Verdict: chat.Down}}
	mustSave(t, store, saved)
	got := mustLoad(t, store, saved.ID)
	if got.Status() != runs.Failed || len(got.Transitions) != 3 || len(got.Trace.Steps) != 0 {
		t.Errorf("got %+v after it was replaced", got)
	}
	if want := []chat.Rating{{By: "bob", Verdict: chat.Up, At: sampleTime}}; !reflect.DeepEqual(got.Ratings, want) {
		t.Errorf("ratings %+v, want %+v", got.Ratings, want)
	}
}

func testRatings(t *testing.T, store runs.Records) {
	mustSave(t, store, exampleRecord("run-rated"))
	mustRate(t, store, "run-rated", chat.Rating{By: "bob", Verdict: chat.Up, At: sampleTime})
	mustRate(t, store, "run-rated", chat.Rating{By: "ann", Verdict: chat.Up, ByReaction: true, At: sampleTime})
	mustRate(t, store, "run-rated", chat.Rating{By: "bob", Verdict: chat.Down, Reason: "too old", At: sampleTime.Add(time.Minute)})
	want := []chat.Rating{{By: "ann", Verdict: chat.Up, ByReaction: true, At: sampleTime}, {By: "bob", Verdict: chat.Down, Reason: "too old", At: sampleTime.Add(time.Minute)}}
	if got := mustLoad(t, store, "run-rated").Ratings; !reflect.DeepEqual(got, want) {
		t.Errorf("ratings %+v, want %+v", got, want)
	}
	for range 2 { // taking back what is gone is no error
		mustRate(t, store, "run-rated", chat.Rating{By: "bob", Verdict: chat.Unrated, At: sampleTime})
	}
	if got := mustLoad(t, store, "run-rated").Ratings; !reflect.DeepEqual(got, want[:1]) {
		t.Errorf("ratings %+v after one was taken back, want %+v", got, want[:1])
	}
}

func testConcurrency(t *testing.T, store runs.Records) {
	id := func(i int) chat.RunID { return chat.RunID(fmt.Sprintf("run-%d", i)) }
	var saving sync.WaitGroup
	for i := range 20 {
		saving.Go(func() {
			record := exampleRecord(id(i))
			record.Request = string(id(i))
			if err := store.Save(t.Context(), record); err != nil {
				t.Error(err)
				return
			}
			if err := store.Rate(t.Context(), id(i), chat.Rating{By: chat.UserID(id(i)), Verdict: chat.Up, At: sampleTime}); err != nil {
				t.Error(err)
			}
		})
	}
	saving.Wait()
	for i := range 20 {
		got := mustLoad(t, store, id(i))
		if got.Request != string(id(i)) || len(got.Ratings) != 1 || got.Ratings[0].By != chat.UserID(id(i)) {
			t.Errorf("run %d: %+v", i, got)
		}
	}
}

func mustSave(t *testing.T, store runs.Records, record runs.Record) {
	t.Helper()
	if err := store.Save(t.Context(), record); err != nil {
		t.Fatal(err)
	}
}

func mustLoad(t *testing.T, store runs.Records, run chat.RunID) runs.Record {
	t.Helper()
	got, err := store.Load(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func mustRate(t *testing.T, store runs.Records, run chat.RunID, rating chat.Rating) {
	t.Helper()
	if err := store.Rate(t.Context(), run, rating); err != nil {
		t.Fatal(err)
	}
}

func exampleRecord(id chat.RunID) runs.Record {
	record := runs.Record{
		ID: id, Thread: "web:1", Flow: "answer", Author: "ann", Message: "m1", Request: "how?\n回滚", Depth: chat.Brief, Collections: []string{"handbook"},
		Trace: chat.Trace{
			Flow:     "answer",
			Steps:    []chat.TraceStep{{Node: "outer/inner", Status: chat.Failed, Took: time.Millisecond}},
			Queries:  []chat.TraceQuery{{Text: "how", Used: []string{"how"}, Lexical: 3, Took: 1}},
			Evidence: []chat.TraceEvidence{{Passage: "p1", Title: "T", Score: .25, Kept: true}},
			Agents:   []chat.TraceAgent{{Name: "HybridSearch", Requests: 2, Failures: 1, Took: 5}},
			Models:   []chat.TraceModel{{Role: "answer", Model: "m", Prompt: 10, Cost: .125, FirstToken: 3, Failure: "refused"}},
			Inputs:   []chat.TraceInput{{Name: "coverage", Value: .5, Limit: .75, Decided: true}},
			Notes:    []string{"parallel"},
			Took:     time.Second,
		},
	}
	record.Move(runs.Queued, sampleTime, "the message came")
	record.Move(runs.Running, sampleTime.Add(time.Millisecond), "its turn came")
	return record
}
