package redis_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"testing"

	goredis "github.com/redis/go-redis/v9"

	"github.com/cairn-bot/cairn/internal/redis/conn"
	"github.com/cairn-bot/cairn/internal/redis/conn/conntest"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/runs/redis"
	"github.com/cairn-bot/cairn/internal/runs/redis/redistest"
	"github.com/cairn-bot/cairn/internal/servertest"
	"github.com/cairn-bot/cairn/internal/session"
	"github.com/cairn-bot/cairn/internal/store"
)

// errCut is what a caller gets whose script is delayed on its way.
var errCut = errors.New("the connection was cut")

// lateScripts notes the last script that a client ran, and can keep scripts from Redis until
// they are sent again.
type lateScripts struct {
	cut  bool
	last []any // with its arguments
}

func (l *lateScripts) DialHook(next goredis.DialHook) goredis.DialHook {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		return next(ctx, network, address)
	}
}

func (l *lateScripts) ProcessHook(next goredis.ProcessHook) goredis.ProcessHook {
	return func(ctx context.Context, command goredis.Cmder) error {
		if command.Name() != "evalsha" {
			return next(ctx, command)
		}
		l.last = slices.Clone(command.Args())
		if l.cut {
			command.SetErr(errCut)
			return errCut
		}
		return next(ctx, command)
	}
}

func (l *lateScripts) ProcessPipelineHook(next goredis.ProcessPipelineHook) goredis.ProcessPipelineHook {
	return next
}

// lateWorld is a thread at which one worker works, in a Redis whose scripts may come late.
type lateWorld struct {
	client  *conn.Client // without the hook
	scripts *lateScripts
	store   *redis.Store
	lease   runs.Lease
	journal store.Journal
}

func newLateWorld(t *testing.T, address, prefix string) *lateWorld {
	place := redistest.Place{Address: address, Prefix: prefix}
	hooked := conntest.Connect(t, address)
	made, err := redis.Open(t.Context(), hooked, place.Options(t, runs.Options{}))
	must(t, err)
	t.Cleanup(func() { must(t, made.Close()) })
	w := &lateWorld{client: conntest.Connect(t, address), scripts: &lateScripts{}, store: made}
	_, err = made.Enqueue(t.Context(), job("t", "e"))
	must(t, err)
	w.lease = claim(t, made)
	w.journal = made.Journal(w.lease)
	must(t, w.commit(t, "warm")) // Redis knows the script from here on
	hooked.AddHook(w.scripts)
	return w
}

// commit commits a session, a checkpoint and an event with the text.
func (w *lateWorld) commit(t *testing.T, text string) error {
	w.journal.Append(runs.Event{Run: "run", Kind: "step", Body: []byte(text)})
	_, err := w.journal.Commit(t.Context(), store.Commit{
		Session: &session.Session{Thread: "t", Flow: text}, Checkpoint: &store.Checkpoint{Run: "run", Body: []byte(text)},
	})
	return err
}

// expect checks that the thread has what was committed last, and each event once.
func (w *lateWorld) expect(t *testing.T, events ...string) {
	t.Helper()
	want := events[len(events)-1]
	remembered, err := w.store.Sessions().Load(t.Context(), "t")
	must(t, err)
	checkpoint, err := w.journal.Load(t.Context(), "run")
	must(t, err)
	if remembered.Flow != want || string(checkpoint) != want {
		t.Errorf("the session is %q and the checkpoint %q, want %q", remembered.Flow, checkpoint, want)
	}
	var got []string
	for event, err := range w.store.Follow(t.Context(), "t", runs.Beginning) {
		must(t, err)
		if got = append(got, string(event.Body)); string(event.Body) == want {
			break
		}
	}
	if !slices.Equal(got, events) {
		t.Errorf("the events are %q, want %q", got, events)
	}
}

// testLateCommits plays scripts of commits that come behind later commits of their lease: one
// whose caller was cut off, and a second copy of one that was made.
func testLateCommits(t *testing.T, address, prefix string) {
	w := newLateWorld(t, address, prefix)
	w.scripts.cut = true
	if err := w.commit(t, "cut off"); !errors.Is(err, errCut) {
		t.Fatalf("a commit that is cut off gives %v", err)
	}
	cutOff := w.scripts.last
	w.scripts.cut = false
	must(t, w.commit(t, "made"))
	made := w.scripts.last
	play := func(script []any, refusal string) {
		t.Helper()
		if err := w.client.Do(t.Context(), script...).Err(); refusal == "" && err != nil || refusal != "" && !goredis.HasErrorPrefix(err, refusal) {
			t.Errorf("a late script gives %v, want %q", err, refusal)
		}
	}
	play(made, "") // it is known to be made
	play(cutOff, "LATE")
	w.expect(t, "warm", "cut off", "made")
	must(t, w.commit(t, "later"))
	play(made, "LATE")
	play(cutOff, "LATE")
	w.expect(t, "warm", "cut off", "made", "later")
	must(t, w.store.Release(t.Context(), w.lease))
	w.lease = claim(t, w.store)
	w.journal = w.store.Journal(w.lease)
	play(made, "LOST")
	must(t, w.commit(t, "next lease"))
	w.expect(t, "warm", "cut off", "made", "later", "next lease")
	must(t, w.store.Finish(t.Context(), w.lease, runs.Result{}))
	play(w.scripts.last, "") // the end of a lease is known as well
	play(cutOff, "LOST")
}

func TestALateCommitIsRefused(t *testing.T) { testLateCommits(t, servertest.Redis(t), "late") }

func TestALateCommitIsRefusedInACluster(t *testing.T) {
	testLateCommits(t, cluster(t), "late")
}

// TestALateEndOfALeaseIsRefused plays the end of a lease whose caller was cut off, behind a commit
// of the same lease.
func TestALateEndOfALeaseIsRefused(t *testing.T) {
	w := newLateWorld(t, servertest.Redis(t), "late-end")
	w.scripts.cut = true
	if err := w.store.Finish(t.Context(), w.lease, runs.Result{}); !errors.Is(err, errCut) {
		t.Fatalf("an end of a lease that is cut off gives %v", err)
	}
	w.scripts.cut = false
	ending := w.scripts.last
	must(t, w.commit(t, "made"))
	if err := w.client.Do(t.Context(), ending...).Err(); !goredis.HasErrorPrefix(err, "LATE") {
		t.Errorf("the late end of the lease gives %v", err)
	}
	state, err := w.store.State(t.Context(), "t")
	must(t, err)
	if !state.Busy() {
		t.Errorf("the lease has ended: %+v", state)
	}
}
