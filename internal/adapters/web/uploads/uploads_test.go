package uploads

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
	"github.com/cairn-bot/cairn/internal/redis/conn/conntest"
	"github.com/cairn-bot/cairn/internal/servertest"
	"github.com/cairn-bot/cairn/internal/sqlite/sqlitetest"
)

// shelf is a store with a clock and a size that tests set.
type shelf struct {
	Store
	now *time.Time
	all *int64
}

func TestSQLite(t *testing.T) {
	testStore(t, func(t *testing.T) shelf {
		store, now := OpenSQLite(sqlitetest.Open(t, t.TempDir())), time.Now()
		store.now = func() time.Time { return now }
		return shelf{store, &now, &store.all}
	})
}

func TestRedis(t *testing.T) {
	servertest.EachRedis(t, func(t *testing.T, address string) {
		testStore(t, func(t *testing.T) shelf {
			store, now := OpenRedis(conntest.Connect(t, address)), time.Now()
			store.now = func() time.Time { return now.Add(100 * keepTime) }
			if err := store.Prune(t.Context()); err != nil { // what other tests left
				t.Fatal(err)
			}
			store.now = func() time.Time { return now }
			return shelf{store, &now, &store.all}
		})
	})
}

const one, other = chat.ThreadID("web:ONE"), chat.ThreadID("web:OTHER")

func testStore(t *testing.T, open func(t *testing.T) shelf) {
	chattest.TestFetcher(t, func(t *testing.T, content []byte) chattest.FetcherRoom {
		s := open(t)
		return chattest.FetcherRoom{Fetcher: s, Thread: one, File: s.keep(t, one, "ann", "a.bin", content)}
	})
	t.Run("the latest first", func(t *testing.T) { testOrder(t, open(t)) })
	t.Run("forgotten", func(t *testing.T) { testForget(t, open(t)) })
	t.Run("a full thread", func(t *testing.T) { testFull(t, open(t)) })
	t.Run("what was read longest ago makes room", func(t *testing.T) { testRoom(t, open(t)) })
	t.Run("old files", func(t *testing.T) { testOld(t, open(t)) })
}

// keep keeps a file of text, a second after the one before.
func (s shelf) keep(t *testing.T, thread chat.ThreadID, by chat.UserID, name string, content []byte) chat.File {
	t.Helper()
	*s.now = s.now.Add(time.Second)
	file := chat.File{ID: NewID(), Name: name, MediaType: "text/plain", Size: int64(len(content))}
	if err := s.Keep(t.Context(), thread, by, file, content); err != nil {
		t.Fatal(err)
	}
	return file
}

// names are those of the files that can be read in a thread.
func (s shelf) names(t *testing.T, thread chat.ThreadID) []string {
	t.Helper()
	files, err := s.Files(t.Context(), thread, false)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		if content, err := s.Fetch(t.Context(), thread, file, MaxFile); err != nil || int64(len(content)) != file.Size {
			t.Errorf("%s has %d bytes, %v", file.Name, len(content), err)
		}
		names = append(names, file.Name)
	}
	return names
}

func testOrder(t *testing.T, s shelf) {
	var want []string
	for i := range chat.MaxFiles + 3 {
		name := fmt.Sprintf("%d \" €.txt", i)
		s.keep(t, one, "ann", name, []byte("x"))
		want = append([]string{name}, want...)
	}
	if got := s.names(t, one); !slices.Equal(got, want[:chat.MaxFiles]) {
		t.Errorf("the files are %q, want %q", got, want[:chat.MaxFiles])
	}
	file := s.keep(t, one, "ann", "mine.txt", []byte("secret"))
	if content, err := s.Fetch(t.Context(), other, file, MaxFile); !errors.Is(err, chat.ErrGone) {
		t.Errorf("another thread reads %q, %v", content, err)
	}
}

func testForget(t *testing.T, s shelf) {
	removed := s.keep(t, one, "ann", "removed.txt", []byte("x"))
	s.keep(t, one, "ann", "anns.txt", []byte("x"))
	s.keep(t, one, "bob", "bobs.txt", []byte("x"))
	s.keep(t, other, "ann", "elsewhere.txt", []byte("x"))
	for range 2 {
		if err := s.Remove(t.Context(), one, removed.ID); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.names(t, one); !slices.Equal(got, []string{"bobs.txt", "anns.txt"}) {
		t.Errorf("after one was removed: %q", got)
	}
	if err := s.ForgetFiles(t.Context(), one, "ann"); err != nil {
		t.Fatal(err)
	}
	if got := append(s.names(t, one), s.names(t, other)...); !slices.Equal(got, []string{"bobs.txt", "elsewhere.txt"}) {
		t.Errorf("after ann was forgotten in one thread: %q", got)
	}
}

func testFull(t *testing.T, s shelf) {
	content := bytes.Repeat([]byte("x"), MaxFile)
	for range MaxThread / MaxFile {
		s.keep(t, one, "ann", "large.txt", content)
	}
	if err := s.Keep(t.Context(), one, "ann", chat.File{ID: NewID()}, []byte("x")); !errors.Is(err, ErrFull) {
		t.Errorf("one byte too many: %v", err)
	}
	s.keep(t, other, "ann", "small.txt", []byte("x"))
}

func testRoom(t *testing.T, s shelf) {
	*s.all = 20
	first := s.keep(t, one, "ann", "first.txt", []byte("12345678"))
	s.keep(t, one, "ann", "second.txt", []byte("12345678"))
	*s.now = s.now.Add(time.Second)
	if _, err := s.Fetch(t.Context(), one, first, MaxFile); err != nil {
		t.Fatal(err)
	}
	s.keep(t, other, "bob", "third.txt", []byte("12345678"))
	if got := append(s.names(t, one), s.names(t, other)...); !slices.Equal(got, []string{"first.txt", "third.txt"}) {
		t.Errorf("left are %q", got)
	}
}

func testOld(t *testing.T, s shelf) {
	s.keep(t, one, "ann", "old.txt", []byte("x"))
	*s.now = s.now.Add(keepTime / 2)
	read := s.keep(t, one, "ann", "read.txt", []byte("x"))
	if err := s.Prune(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := len(s.names(t, other)) + len(listed(t, s)); got != 2 {
		t.Errorf("%d files are left before their time", got)
	}
	*s.now = s.now.Add(keepTime/2 + time.Hour)
	if _, err := s.Fetch(t.Context(), one, read, MaxFile); err != nil {
		t.Fatal(err)
	}
	if err := s.Prune(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := listed(t, s); !slices.Equal(got, []string{"read.txt"}) {
		t.Errorf("left are %q", got)
	}
}

// listed are the names of the files of a thread, which are not read.
func listed(t *testing.T, s shelf) []string {
	t.Helper()
	files, err := s.Files(t.Context(), one, false)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		names = append(names, file.Name)
	}
	return names
}
