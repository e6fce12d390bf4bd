package redis_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/redis/conn/conntest"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/runs/redis"
	"github.com/cairn-bot/cairn/internal/runs/redis/redistest"
	"github.com/cairn-bot/cairn/internal/servertest"
)

var soon = runs.Options{LeaseTTL: time.Second, ClaimInterval: 200 * time.Millisecond}

func job(thread chat.ThreadID, event string) runs.Job {
	return runs.Job{Event: runs.EventID(event), Message: chat.Message{Thread: thread, Author: "ann", Text: event}}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func enqueue(t testing.TB, store *redis.Store, job runs.Job) {
	t.Helper()
	_, err := store.Enqueue(t.Context(), job)
	must(t, err)
}

func claim(t testing.TB, store *redis.Store) runs.Lease {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	lease, err := store.Claim(ctx, "w")
	must(t, err)
	return lease
}

// again repeats what fails while a server is away.
func again(t testing.TB, do func() error) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; {
		err := do()
		if err == nil || time.Now().After(end) {
			must(t, err)
			return
		}
	}
}

func TestARestartOfRedisLosesNothing(t *testing.T) {
	own := servertest.OwnRedis(t)
	store := redistest.Place{Address: own.URL, Prefix: "p"}.OpenStore(t, soon)
	for i := range 20 {
		enqueue(t, store, job("t", fmt.Sprint("e", i)))
	}
	lease := claim(t, store)
	must(t, store.Journal(lease).Save(t.Context(), "run", []byte("so far")))
	own.Kill()
	if _, err := store.Enqueue(t.Context(), job("t", "lost")); err == nil {
		t.Error("a job was accepted by a Redis that is down")
	}
	own.Start()
	again(t, func() error {
		got, err := store.Journal(lease).Load(t.Context(), "run")
		if err == nil && string(got) != "so far" {
			t.Errorf("the checkpoint is %q", got)
		}
		return err
	})
	must(t, store.Finish(t.Context(), lease, runs.Result{}))
	for i := 1; i < 20; i++ {
		lease = claim(t, store)
		if want := fmt.Sprint("e", i); string(lease.Job.Event) != want {
			t.Fatalf("job %s came, want %s", lease.Job.Event, want)
		}
		must(t, store.Finish(t.Context(), lease, runs.Result{}))
	}
}

func TestScriptsThatRedisForgot(t *testing.T) {
	place := redistest.Place{Address: servertest.OwnRedis(t).URL, Prefix: "p"}
	store, client := place.OpenStore(t, soon), conntest.Connect(t, place.Address)
	for i := range 3 {
		must(t, client.ScriptFlush(t.Context()).Err())
		enqueue(t, store, job("t", fmt.Sprint("e", i)))
		must(t, client.ScriptFlush(t.Context()).Err())
		lease := claim(t, store)
		must(t, client.ScriptFlush(t.Context()).Err())
		must(t, store.Journal(lease).Save(t.Context(), "run", nil))
		must(t, client.ScriptFlush(t.Context()).Err())
		must(t, store.Finish(t.Context(), lease, runs.Result{}))
	}
}

func TestARedisThatWasEmptiedIsWorkedOnWith(t *testing.T) {
	place := redistest.Place{Address: servertest.OwnRedis(t).URL, Prefix: "p"}
	store := place.OpenStore(t, soon)
	must(t, conntest.Connect(t, place.Address).FlushAll(t.Context()).Err())
	enqueue(t, store, job("t", "e1"))
	must(t, store.Finish(t.Context(), claim(t, store), runs.Result{}))
}

// TestAnEnqueueThatWasCutOff leaves what Enqueue has written before it announces a job.
func TestAnEnqueueThatWasCutOff(t *testing.T) {
	place := redistest.Place{Address: servertest.OwnRedis(t).URL, Prefix: "p"}
	store, client := place.OpenStore(t, soon), conntest.Connect(t, place.Address)
	enqueue(t, store, job("first", "e")) // so that the look through all queues is done
	must(t, store.Finish(t.Context(), claim(t, store), runs.Result{}))
	body, err := runs.EncodeJob(job("t", "e1"))
	must(t, err)
	must(t, client.Do(t.Context(), "ZADD", "p:{*}:due", time.Now().Add(time.Second).UnixMilli(), "t").Err())
	must(t, client.RPush(t.Context(), "p:{t}:jobs", "1 "+string(body)).Err())
	if lease := claim(t, store); lease.Job.Event != "e1" {
		t.Errorf("job %s came", lease.Job.Event)
	}
}

func TestAFullRedisTakesNothingAndLosesNothing(t *testing.T) {
	place := redistest.Place{Address: servertest.OwnRedis(t).URL, Prefix: "p"}
	store, client := place.OpenStore(t, soon), conntest.Connect(t, place.Address)
	enqueue(t, store, job("t", "e1"))
	enqueue(t, store, job("t", "e2"))
	lease := claim(t, store)
	journal := store.Journal(lease)
	must(t, journal.Save(t.Context(), "run", []byte("kept")))
	must(t, client.ConfigSet(t.Context(), "maxmemory", "1").Err())
	for name, err := range map[string]error{
		"Enqueue": func() error { _, err := store.Enqueue(t.Context(), job("t", "e3")); return err }(),
		"Save":    journal.Save(t.Context(), "run", []byte("more")),
	} {
		if err == nil || !strings.Contains(err.Error(), "memory is full") {
			t.Errorf("%s gives %v, want one that says that the memory is full", name, err)
		}
	}
	must(t, store.Finish(t.Context(), lease, runs.Result{})) // what is there can be worked off
	lease = claim(t, store)
	must(t, client.ConfigSet(t.Context(), "maxmemory", "0").Err())
	if got, err := store.Journal(lease).Load(t.Context(), "run"); err != nil || string(got) != "kept" {
		t.Errorf("the checkpoint is %q, %v", got, err)
	}
	if accepted, err := store.Enqueue(t.Context(), job("t", "e3")); err != nil || !accepted {
		t.Errorf("the refused job comes again: %v, %v", accepted, err)
	}
	must(t, store.Finish(t.Context(), lease, runs.Result{}))
	if lease = claim(t, store); lease.Job.Event != "e3" {
		t.Errorf("job %s came", lease.Job.Event)
	}
}

// proxy passes connections on to a server, and cuts each one off instead of passing on
// its nth answer: what was asked has been done, and nobody hears of it.
type proxy struct {
	net.Listener
	target  string
	nth     int64
	answers atomic.Int64
	cuts    atomic.Int64
	all     sync.WaitGroup
}

func cutting(t *testing.T, target string, nth int64) *proxy {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	p := &proxy{Listener: listener, target: target, nth: nth}
	p.all.Go(p.accept)
	t.Cleanup(func() {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
		p.all.Wait()
	})
	return p
}

func (p *proxy) accept() {
	for {
		client, err := p.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.target) //nolint:noctx // it ends with the test's server
		if err != nil {
			client.Close()
			continue
		}
		p.all.Go(func() {
			io.Copy(server, client) //nolint:errcheck // the other end tells
			server.Close()
		})
		p.all.Go(func() {
			defer client.Close()
			defer server.Close()
			buffer := make([]byte, 64<<10)
			for {
				n, err := server.Read(buffer)
				if err != nil {
					return
				}
				if p.answers.Add(1)%p.nth == 0 {
					p.cuts.Add(1)
					return
				}
				if _, err := client.Write(buffer[:n]); err != nil {
					return
				}
			}
		})
	}
}

// TestCutConnections works at jobs over connections that break at every few answers.
func TestCutConnections(t *testing.T) {
	const jobs = 150
	own := servertest.OwnRedis(t)
	cut := cutting(t, strings.TrimSuffix(strings.TrimPrefix(own.URL, "redis://"), "/0"), 13)
	near := redistest.Place{Address: own.URL, Prefix: "p"}.OpenStore(t, soon)
	far := redistest.Place{Address: "redis://" + cut.Addr().String(), Prefix: "p"}
	var store *redis.Store
	again(t, func() (err error) {
		store, err = redis.Open(t.Context(), conntest.Connect(t, far.Address), far.Options(t, soon))
		return err
	})
	defer store.Close()
	ctx := t.Context()
	for i := range jobs {
		name := fmt.Sprintf("e%03d", i)
		again(t, func() error { _, err := store.Enqueue(ctx, job("t", name)); return err })
	}
	for done := 0; done < jobs; {
		var lease runs.Lease
		again(t, func() (err error) { lease, err = store.Claim(ctx, "w"); return err })
		if want := fmt.Sprintf("e%03d", done); string(lease.Job.Event) != want {
			t.Fatalf("job %s came, want %s", lease.Job.Event, want)
		}
		journal := store.Journal(lease)
		journal.Append(runs.Event{Kind: "step", Body: []byte(lease.Job.Event)})
		again(t, func() error { return journal.Save(ctx, "run", []byte(lease.Job.Event)) })
		again(t, func() error {
			err := store.Finish(ctx, lease, runs.Result{})
			if errors.Is(err, runs.ErrLost) { // an earlier call has done it
				return nil
			}
			return err
		})
		done++
	}
	seen := 0
	limited, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for event, err := range near.Follow(limited, "t", runs.Beginning) {
		must(t, err)
		if want := fmt.Sprintf("e%03d", seen); string(event.Body) != want {
			t.Fatalf("event %q came, want %s", event.Body, want)
		}
		if seen++; seen == jobs {
			break
		}
	}
	if cut.cuts.Load() == 0 {
		t.Error("no connection was cut")
	}
	t.Logf("%d connections were cut", cut.cuts.Load())
}
