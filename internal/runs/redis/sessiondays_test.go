package redis_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/redis/conn/conntest"
	"github.com/cairn-bot/cairn/internal/servertest"
	"github.com/cairn-bot/cairn/internal/session"
)

func TestAFullRedisKeepsItsSessions(t *testing.T) {
	client := conntest.Connect(t, servertest.OwnRedis(t).URL)
	store := openSessions(t, client, "")
	before := ordinary("web:1")
	save(t, store, before)
	full := func(limit string) {
		t.Helper()
		if err := client.ConfigSet(t.Context(), "maxmemory", limit).Err(); err != nil {
			t.Fatal(err)
		}
	}
	full("1")
	after := before
	after.Flow = "later"
	if err := store.Save(t.Context(), after); err == nil || !strings.Contains(err.Error(), "memory is full") || !strings.Contains(err.Error(), "web:1") {
		t.Errorf("a save gives %v, want one that names the thread and says that the memory is full", err)
	}
	if got, err := store.Load(t.Context(), "web:1"); err != nil || got.Flow != before.Flow || len(got.Turns) != len(before.Turns) {
		t.Errorf("what was kept is %+v, %v", got, err)
	}
	full("0")
	save(t, store, after)
	if got, err := store.Load(t.Context(), "web:1"); err != nil || got.Flow != "later" {
		t.Errorf("with room again: %+v, %v", got, err)
	}
}

// TestARedisThatGoesAway is asked while it is down. No call hangs, and none says that
// there was no session.
func TestSessionsOfARedisThatGoesAway(t *testing.T) {
	own := servertest.OwnRedis(t, "--appendfsync", "always")
	store := openSessions(t, conntest.Connect(t, own.URL), "")
	save(t, store, ordinary("web:1"))
	own.Kill()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := store.Load(ctx, "web:1"); err == nil || ctx.Err() != nil {
		t.Errorf("a load gives %v, %v", err, ctx.Err())
	}
	if err := store.Save(ctx, session.Session{Thread: "web:1"}); err == nil || ctx.Err() != nil {
		t.Errorf("a save gives %v, %v", err, ctx.Err())
	}
	own.Start()
	if got, err := store.Load(t.Context(), "web:1"); err != nil || len(got.Turns) != 10 {
		t.Errorf("after the restart: %d turns, %v", len(got.Turns), err)
	}
}

func TestAMasterThatBecomesAReplicaRefuses(t *testing.T) {
	client := conntest.Connect(t, servertest.OwnRedis(t).URL)
	store := openSessions(t, client, "")
	if err := client.Do(t.Context(), "REPLICAOF", "127.0.0.1", "1").Err(); err != nil {
		t.Fatal(err)
	}
	if err := store.Save(t.Context(), ordinary("web:1")); err == nil || !strings.Contains(err.Error(), "address of its master") {
		t.Errorf("a save gives %v", err)
	}
}
