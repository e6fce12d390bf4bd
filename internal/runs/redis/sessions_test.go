package redis_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/redis/conn"
	"github.com/cairn-bot/cairn/internal/redis/conn/conntest"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/runs/redis"
	"github.com/cairn-bot/cairn/internal/servertest"
	"github.com/cairn-bot/cairn/internal/session"
	"github.com/cairn-bot/cairn/internal/session/sessiontest"
)

func TestSessions(t *testing.T) {
	servertest.EachRedis(t, func(t *testing.T, address string) {
		sessiontest.Run(t, func(t *testing.T) session.Store { return openSessions(t, conntest.Connect(t, address), "") })
	})
}

func TestTies(t *testing.T) {
	sessiontest.Ties(t, openSessions(t, conntest.Connect(t, servertest.Redis(t)), ""))
}

func TestUseKeepsASession(t *testing.T) {
	client := conntest.Connect(t, servertest.Redis(t))
	store := openSessions(t, client, "p")
	save(t, store, session.Session{Thread: "t"})
	if err := client.Expire(t.Context(), "p:{t}:session", time.Minute).Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Load(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	if left, err := client.TTL(t.Context(), "p:{t}:session").Result(); err != nil || left <= time.Minute || left > time.Hour {
		t.Errorf("after it was used it is kept for %s, %v", left, err)
	}
}

func TestThreadsWhoseTimeHasPassedAreNotListed(t *testing.T) {
	client := conntest.Connect(t, servertest.Redis(t))
	store := openSessions(t, client, "")
	for i := range 7 {
		saved := session.Session{Thread: chat.ThreadID(fmt.Sprint("web:", i))}
		saved.Add(chat.Turn{Role: chat.Person, Author: "ann", Text: "x"})
		save(t, store, saved)
		if i%2 == 0 {
			if err := client.Del(t.Context(), fmt.Sprintf("cairn:{web:%d}:session", i)).Err(); err != nil {
				t.Fatal(err)
			}
		}
	}
	got, err := store.Threads(t.Context(), "web", "ann", 2)
	if err != nil || len(got) != 2 {
		t.Errorf("threads %+v, %v", got, err)
	}
	if got, err = store.Threads(t.Context(), "web", "ann", 9); err != nil || len(got) != 3 {
		t.Errorf("threads %+v, %v", got, err)
	}
}

func TestAnUnknownVersionIsRefused(t *testing.T) {
	client := conntest.Connect(t, servertest.Redis(t))
	store := openSessions(t, client, "")
	for value, want := range map[string]string{
		"1\n{\"version\":99}": "version 99", "nonsense": "missing time", "1\n\x01\xff": "decompress",
	} {
		if err := client.Set(t.Context(), "cairn:{t}:session", value, 0).Err(); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Load(t.Context(), "t"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gives %v, want an error with %q", value, err, want)
		}
	}
}

// TestASessionOfANewerProgramIsListed is for a rolling upgrade, and for who is to be
// forgotten: their threads are found.
func TestASessionOfANewerProgramIsListed(t *testing.T) {
	client := conntest.Connect(t, servertest.Redis(t))
	store := openSessions(t, client, "")
	saved := session.Session{Thread: "web:1"}
	saved.Add(chat.Turn{Role: chat.Person, Author: "ann", Text: "x"})
	save(t, store, saved)
	if err := client.Set(t.Context(), "cairn:{web:1}:session", "1700000000000\n{\"version\":99}", 0).Err(); err != nil {
		t.Fatal(err)
	}
	got, err := store.Threads(t.Context(), "web", "ann", 10)
	if want := time.UnixMilli(1700000000000); err != nil || len(got) != 1 || got[0].Thread != "web:1" || !got[0].Updated.Equal(want) {
		t.Errorf("threads %+v, %v", got, err)
	}
}

func TestALookAtTheListKeepsIt(t *testing.T) {
	client := conntest.Connect(t, servertest.Redis(t))
	store := openSessions(t, client, "")
	saved := session.Session{Thread: "web:1"}
	saved.Add(chat.Turn{Role: chat.Person, Author: "ann", Text: "x"})
	save(t, store, saved)
	if err := client.Expire(t.Context(), "cairn:{web:ann}:threads", time.Minute).Err(); err != nil {
		t.Fatal(err)
	}
	if got, err := store.Threads(t.Context(), "web", "ann", 10); err != nil || len(got) != 1 {
		t.Errorf("threads %+v, %v", got, err)
	}
	if left, err := client.TTL(t.Context(), "cairn:{web:ann}:threads").Result(); err != nil || left <= time.Minute {
		t.Errorf("after a look the list is kept for %s, %v", left, err)
	}
}

// openSessions gives the sessions in a Redis, which keeps them for an hour.
func openSessions(t testing.TB, client *conn.Client, prefix string) session.Store {
	t.Helper()
	options := redis.Options{Options: runs.Options{Keep: time.Hour}, Prefix: prefix, Logger: slog.New(slog.NewTextHandler(t.Output(), nil))}
	store, err := redis.Open(t.Context(), client, options)
	if err != nil {
		t.Fatal(err)
	}
	return store.Sessions()
}

func save(t testing.TB, store session.Store, saved session.Session) {
	t.Helper()
	if err := store.Save(t.Context(), saved); err != nil {
		t.Fatal(err)
	}
}
