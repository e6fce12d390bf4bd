// Package sessiontest is the suite that every session.Store passes.
package sessiontest

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/session"
)

// Run checks a backend. open gives the same store again at every call, as after a
// restart of the program.
func Run(t *testing.T, open func(t *testing.T) session.Store) {
	t.Run("an unknown thread is empty", func(t *testing.T) {
		store := open(t)
		got, err := store.Load(t.Context(), "nobody")
		if err != nil {
			t.Fatal(err)
		}
		if want := (session.Session{Thread: "nobody"}); !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
	t.Run("a session survives a restart whole", func(t *testing.T) {
		want := exampleSession("thread/ü 1")
		first := open(t)
		if err := first.Save(t.Context(), want); err != nil {
			t.Fatal(err)
		}
		got, err := open(t).Load(t.Context(), want.Thread)
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
		store := open(t)
		saved := exampleSession("again")
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
	t.Run("documents come back whole", func(t *testing.T) { testDocuments(t, open(t)) })
	t.Run("who is no more among the people is not listed", func(t *testing.T) { testForget(t, open(t)) })
	t.Run("threads don't touch each other", func(t *testing.T) { testThreads(t, open(t)) })
	t.Run("threads are listed by who wrote in them", func(t *testing.T) { testList(t, open) })
}

func testList(t *testing.T, open func(t *testing.T) session.Store) {
	first := open(t)
	var at time.Time
	for _, wrote := range []struct {
		thread chat.ThreadID
		by     chat.UserID
		text   string
	}{
		{"list:1", "ann", "first"}, {"list:2", "ann", "second"}, {"list:3", "bob", "third"},
		{"listed:1", "ann", "of another adapter"}, {"list:2", "bob", "me too"}, {"list:1", "ann", "again"},
	} {
		saved, err := first.Load(t.Context(), wrote.thread)
		if err != nil {
			t.Fatal(err)
		}
		saved.Add(chat.Turn{Role: chat.Person, Author: wrote.by, Text: wrote.text})
		if wrote.text == "again" {
			saved.Waiting = &session.Waiting{Run: "r"}
		}
		at = saveAfter(t, first, saved, at)
	}
	store := open(t)
	for _, test := range []struct {
		adapter string
		by      chat.UserID
		limit   int
		want    []chat.ThreadSummary
	}{
		{"list", "ann", 10, []chat.ThreadSummary{{Thread: "list:1", Title: "first", Waiting: true}, {Thread: "list:2", Title: "second"}}},
		{"list", "ann", 1, []chat.ThreadSummary{{Thread: "list:1", Title: "first", Waiting: true}}},
		{"list", "bob", 10, []chat.ThreadSummary{{Thread: "list:2", Title: "second"}, {Thread: "list:3", Title: "third"}}},
		{"list", "eve", 10, nil},
		{"lis", "ann", 10, nil},
	} {
		got, err := store.Threads(t.Context(), test.adapter, test.by, test.limit)
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			if got[i].Updated.IsZero() {
				t.Errorf("%s lacks the time of its last save", got[i].Thread)
			}
			got[i].Updated = time.Time{}
		}
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("threads of %s in %s: %+v, want %+v", test.by, test.adapter, got, test.want)
		}
	}
}

// saveAfter saves a session in a later millisecond than the time given, and gives when
// that was.
func saveAfter(t *testing.T, store session.Store, saved session.Session, after time.Time) time.Time {
	t.Helper()
	for {
		if err := store.Save(t.Context(), saved); err != nil {
			t.Fatal(err)
		}
		got, err := store.Load(t.Context(), saved.Thread)
		if err != nil {
			t.Fatal(err)
		}
		if got.Updated.After(after) {
			return got.Updated
		}
	}
}

// Ties checks the order of threads that are saved within one millisecond: it saves two,
// the one with the smaller id last, until both are. A store that is slower than that has
// a clock that stands still.
func Ties(t *testing.T, store session.Store) {
	const tries = 2000
	for range tries {
		for _, thread := range []chat.ThreadID{"tie:2", "tie:1"} {
			saved := session.Session{Thread: thread}
			saved.Add(chat.Turn{Role: chat.Person, Author: "ann", Text: "x"})
			if err := store.Save(t.Context(), saved); err != nil {
				t.Fatal(err)
			}
		}
		got, err := store.Threads(t.Context(), "tie", "ann", 2)
		if err != nil || len(got) != 2 {
			t.Fatalf("threads %+v, %v", got, err)
		}
		tie := got[0].Updated.Equal(got[1].Updated)
		if first := got[0].Thread; tie && first != "tie:2" || !tie && first != "tie:1" {
			t.Fatalf("threads %+v, in one millisecond: %v", got, tie)
		}
		if tie {
			return
		}
	}
	t.Fatalf("two saves never fell into one millisecond in %d tries", tries)
}

func testThreads(t *testing.T, store session.Store) {
	var saving sync.WaitGroup
	for i := range 20 {
		saving.Go(func() {
			if err := store.Save(t.Context(), exampleSession(threadID(i))); err != nil {
				t.Error(err)
			}
		})
	}
	saving.Wait()
	for i := range 20 {
		got, err := store.Load(t.Context(), threadID(i))
		if err != nil || got.Turns[0].Text != string(threadID(i)) {
			t.Errorf("thread %d: %+v, %v", i, got, err)
		}
	}
}

func threadID(i int) chat.ThreadID { return chat.ThreadID(fmt.Sprintf("thread-%d", i)) }

func exampleSession(thread chat.ThreadID) session.Session {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	question := chat.Question{
		ID: "q1", Run: "r1", Text: "Which?", FreeText: true, Asker: "ann",
		Choices: []chat.Choice{{ID: "a", Label: "This", Detail: "there"}},
	}
	saved := session.Session{
		Thread: thread, Flow: "answer",
		Waiting: &session.Waiting{Run: "r1", Flow: "answer", Question: question, Request: "which one?"},
		Earlier: []session.Topic{{Message: "m0", By: "ann", Asked: "what is there?", Answered: "Much [1].", Documents: []string{"All of it"}}},
	}
	saved.Add(chat.Turn{Role: chat.Person, At: at, Author: "ann", Text: string(thread)})
	saved.Add(chat.Turn{Role: chat.Bot, At: at, Question: &question, Answer: "This", AnsweredBy: "bob"})
	return saved
}

// testDocuments keeps as much of documents as goes with one reply, which nothing packs.
func testDocuments(t *testing.T, store session.Store) {
	random := rand.NewChaCha8([32]byte{1})
	reply := &chat.Reply{Outcome: chat.Answered}
	for range chat.MaxDocuments {
		content := make([]byte, chat.MaxDocument)
		if _, err := random.Read(content); err != nil {
			t.Fatal(err)
		}
		reply.Documents = append(reply.Documents, chat.Document{Name: "a.md", MediaType: "text/markdown", Size: len(content), Content: content})
	}
	saved := exampleSession("documents")
	saved.Add(chat.Turn{Role: chat.Bot, Reply: reply})
	if err := store.Save(t.Context(), saved); err != nil {
		t.Fatal(err)
	}
	got, err := store.Load(t.Context(), "documents")
	if err != nil {
		t.Fatal(err)
	}
	if last := got.Turns[len(got.Turns)-1]; !reflect.DeepEqual(last.Reply, reply) {
		t.Error("the documents are not those that were saved")
	}
}

func testForget(t *testing.T, store session.Store) {
	both := session.Session{Thread: "slack:both"}
	both.Add(chat.Turn{Role: chat.Person, Author: "eve", Message: "m1", Text: "hers"})
	both.Add(chat.Turn{Role: chat.Bot, Message: "m1", Reply: &chat.Reply{Text: "to hers"}})
	both.Add(chat.Turn{Role: chat.Person, Author: "bob", Message: "m2", Text: "his"})
	save := func() {
		t.Helper()
		if err := store.Save(t.Context(), both); err != nil {
			t.Fatal(err)
		}
	}
	save()
	both.Forget("eve")
	save()
	got, err := store.Load(t.Context(), "slack:both")
	if err != nil || len(got.Turns) != 1 || got.Turns[0].Text != "his" || !slices.Equal(got.People, []chat.UserID{"bob"}) {
		t.Errorf("left: %+v, %v", got, err)
	}
	for by, want := range map[chat.UserID]int{"eve": 0, "bob": 1} {
		if threads, err := store.Threads(t.Context(), "slack", by, 10); err != nil || len(threads) != want {
			t.Errorf("threads of %s: %+v, %v", by, threads, err)
		}
	}
}
