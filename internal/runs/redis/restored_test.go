package redis_test

import (
	"testing"

	"github.com/cairn-bot/cairn/internal/redis/conn/conntest"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/runs/redis/redistest"
	"github.com/cairn-bot/cairn/internal/servertest"
)

// TestAJobFromBeforeARestartWaitsForForgottenLeases: the server may have forgotten that
// somebody is at the job, and what was said about it.
func TestAJobFromBeforeARestartWaitsForForgottenLeases(t *testing.T) {
	own := servertest.OwnRedis(t)
	here := redistest.Place{Address: own.URL, Prefix: "cairn"}
	store := here.OpenStore(t, soon)
	enqueue(t, store, job("t", "e1"))
	enqueue(t, store, job("u", "e2"))
	if lease := claim(t, store); lease.Restored {
		t.Error("a job is said to be from before a restart that never was")
	}
	own.Kill()
	own.Start()
	client := conntest.Connect(t, own.URL)
	again(t, func() error { _, err := store.Enqueue(t.Context(), job("v", "e3")); return err })
	since := claim(t, store)
	if since.Thread != "v" || since.Restored {
		t.Errorf("first there is %+v, want the job that came since", since)
	}
	must(t, store.Finish(t.Context(), since, runs.Result{}))
	for range 2 {
		lease := claim(t, store)
		if waited := lease.Given.Sub(client.Since()); !lease.Restored || waited < soon.LeaseTTL {
			t.Errorf("%s later there is %+v", waited, lease)
		}
	}
}

// TestANoticeThatIsGone is what is left where a server forgot that a lease ended, and its
// worker, which knows of it, settled the notice.
func TestANoticeThatIsGone(t *testing.T) {
	own := servertest.OwnRedis(t)
	here := redistest.Place{Address: own.URL, Prefix: "cairn"}
	store := here.OpenStore(t, soon)
	enqueue(t, store, job("t", "e1"))
	lease := claim(t, store)
	client := conntest.Connect(t, own.URL)
	must(t, client.XAck(t.Context(), "cairn:{*}:ready", "workers", lease.Ref).Err())
	must(t, client.XDel(t.Context(), "cairn:{*}:ready", lease.Ref).Err())
	must(t, client.HDel(t.Context(), "cairn:{*}:noticed", "t").Err())
	own.Kill()
	own.Start()
	var next runs.Lease
	again(t, func() (err error) { next, err = store.Claim(t.Context(), "another"); return err })
	if next.Thread != "t" || next.Job.Attempt != 2 {
		t.Errorf("found %+v", next)
	}
}
