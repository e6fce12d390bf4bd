// Package sessiontest is the suite that every session.Store passes.
package sessiontest

import (
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"cairn/internal/chat"
	"cairn/internal/session"
)

// Run checks a backend. open gives the same store again at every call, as after a
// restart of the program; Run closes what it opened.
func Run(t *testing.T, open func(t *testing.T) session.Store) {
	t.Run("an unknown thread is empty", func(t *testing.T) {
		store := opened(t, open)
		got, err := store.Load(t.Context(), "nobody")
		if err != nil {
			t.Fatal(err)
		}
		if want := (session.Session{Thread: "nobody"}); !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
	t.Run("a session survives a restart whole", func(t *testing.T) {
		want := example("thread/ü 1")
		first := open(t)
		if err := first.Save(t.Context(), want); err != nil {
			t.Fatal(err)
		}
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		got, err := opened(t, open).Load(t.Context(), want.Thread)
		if err != nil {
			t.Fatal(err)
		}
		if got.Updated.IsZero() {
			t.Error("the time of the last save is not kept")
		}
		got.Updated = want.Updated
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
	t.Run("a later save replaces", func(t *testing.T) {
		store := opened(t, open)
		saved := example("again")
		for range 2 {
			if err := store.Save(t.Context(), saved); err != nil {
				t.Fatal(err)
			}
			saved.Waiting, saved.Turns = nil, saved.Turns[:1]
		}
		got, err := store.Load(t.Context(), "again")
		if err != nil {
			t.Fatal(err)
		}
		if got.Waiting != nil || len(got.Turns) != 1 {
			t.Errorf("got %+v after it was replaced", got)
		}
	})
	t.Run("threads don't touch each other", func(t *testing.T) { testThreads(t, opened(t, open)) })
}

func testThreads(t *testing.T, store session.Store) {
	var saving sync.WaitGroup
	for i := range 20 {
		saving.Go(func() {
			if err := store.Save(t.Context(), example(thread(i))); err != nil {
				t.Error(err)
			}
		})
	}
	saving.Wait()
	for i := range 20 {
		got, err := store.Load(t.Context(), thread(i))
		if err != nil || got.Turns[0].Text != string(thread(i)) {
			t.Errorf("thread %d: %+v, %v", i, got, err)
		}
	}
}

func opened(t *testing.T, open func(t *testing.T) session.Store) session.Store {
	store := open(t)
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

func thread(i int) chat.ThreadID { return chat.ThreadID(fmt.Sprintf("thread-%d", i)) }

func example(thread chat.ThreadID) session.Session {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	question := chat.Question{
		ID: "q1", Run: "r1", Text: "Which?", FreeText: true, Asker: "ann",
		Choices: []chat.Choice{{ID: "a", Label: "This", Detail: "there"}},
	}
	saved := session.Session{
		Thread: thread, Flow: "answer",
		Waiting: &session.Waiting{Run: "r1", Flow: "answer", Question: question, Request: "which one?"},
	}
	saved.Add(chat.Turn{Role: chat.Person, At: at, Text: string(thread)})
	saved.Add(chat.Turn{Role: chat.Bot, At: at, Question: &question})
	return saved
}
