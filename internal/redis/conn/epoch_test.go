package conn

import (
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/servertest"
)

// TestSinceTellsOfRestarts kills a server under a client: the client notices before it
// has an answer of the new one.
func TestSinceTellsOfRestarts(t *testing.T) {
	server := servertest.OwnRedis(t)
	client, err := Open(t.Context(), server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	}()
	first := client.Since()
	now, err := client.Time(t.Context()).Result()
	if err != nil {
		t.Fatal(err)
	}
	if first.IsZero() || first.After(now) {
		t.Errorf("the server began at %s, and it is %s there", first, now)
	}
	server.Kill()
	server.Start()
	restarted, err := client.Time(t.Context()).Result()
	if err != nil {
		t.Fatal(err)
	}
	if got := client.Since(); !got.After(now) || got.After(restarted) {
		t.Errorf("since %s, the restart was between %s and %s", got, now, restarted)
	}
}

func TestEpochNotesLives(t *testing.T) {
	const never = "0000000000000000000000000000000000000000"
	at := func(second int64) time.Time { return time.Unix(second, 0).UTC() }
	server := func(id, up string) map[string]string {
		return map[string]string{"run_id": id, "uptime_in_seconds": up, "server_time_usec": "1000000000"} // second 1000
	}
	replica := func(id, second string) map[string]string {
		return map[string]string{"master_replid": id, "master_replid2": second}
	}
	var e epoch
	note := func(server, replication map[string]string, want time.Time) {
		t.Helper()
		if err := e.recordServer(server, replication); err != nil {
			t.Error(err)
		}
		if !e.since.Equal(want) {
			t.Errorf("since %s, want %s", e.since, want)
		}
	}
	note(server("a", "900"), replica("r1", never), at(101))
	note(server("b", "500"), replica("r2", "r0"), at(501)) // it was promoted at some time before
	e.watchServers()
	note(server("a", "900"), replica("r1", never), at(501)) // known
	note(server("c", "700"), replica("r3", never), at(501)) // began before
	note(server("d", "900"), replica("r4", "r1"), at(1000)) // promoted meanwhile
	if err := e.recordServer(map[string]string{"run_id": "x"}, nil); err == nil {
		t.Error("a server without a time is noted")
	}
}
