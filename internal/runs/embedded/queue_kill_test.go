package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/runs/embedded"
	"github.com/cairn-bot/cairn/internal/sqlite"
)

// queueKilledAt is set for a process that works at a queue: its directory, and the call
// of the store at which it kills itself, as in killedAt.
const queueKilledAt = "EMBEDDED_TEST_QUEUE_KILLED_AT"

// queued are the jobs of a thread in the order they are enqueued in.
var queued = []string{"e0", "e1", "e2", "e3"}

// calls counts calls of a store, at one of which the process dies.
type calls struct {
	at   string
	made int
}

func (c *calls) call(do func() error) error {
	c.made++
	at := fmt.Sprint(c.made)
	if c.at == at {
		return die()
	}
	err := do()
	if c.at == at+"+" {
		return errors.Join(err, die())
	}
	return err
}

// work is the life of a process: it enqueues what is not there yet, as a platform's
// retries would have it, and works until there is nothing left.
func work(at string) error {
	ctx := context.Background()
	dir, at, _ := strings.Cut(at, "|")
	db, err := sqlite.OpenData(ctx, dir)
	if err != nil {
		return err
	}
	store, err := embedded.Open(ctx, db, runs.Options{LeaseTTL: 100 * time.Millisecond})
	if err != nil {
		return err
	}
	c := &calls{at: at}
	for _, event := range queued {
		job := runs.Job{Event: runs.EventID(event), Message: chat.Message{Thread: "t"}}
		if err := c.call(func() error { _, err := store.Enqueue(ctx, job); return err }); err != nil {
			return err
		}
	}
	for {
		if state, err := store.State(ctx, "t"); err != nil || state.Queued == 0 {
			return errors.Join(err, db.Close())
		}
		var lease runs.Lease
		if err := c.call(func() (err error) { lease, err = store.Claim(ctx, "w"); return err }); err != nil {
			return err
		}
		if err := c.call(func() error { return store.Journal(lease).Save(ctx, "run", []byte(lease.Job.Event)) }); err != nil {
			return err
		}
		if err := note(dir, string(lease.Job.Event)); err != nil {
			return err
		}
		if err := c.call(func() error { return store.Finish(ctx, lease, runs.Result{}) }); err != nil {
			return err
		}
	}
}

// note writes down that a job was worked at.
func note(dir, event string) error {
	file, err := os.OpenFile(filepath.Join(dir, "log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(event + "\n")
	return errors.Join(err, file.Close())
}

// TestQueueKilledAtEveryCall kills a process at each of its calls, before and after what
// they do, and lets another go on: no job is lost or out of order, and only the one at
// work is worked at twice.
func TestQueueKilledAtEveryCall(t *testing.T) {
	for call := 1; ; call++ {
		for _, when := range []string{"", "+"} {
			dir := t.TempDir()
			killed := worker(t, dir, fmt.Sprint(call, when))
			if killed {
				worker(t, dir, "0")
			}
			worked := ran(t, dir)
			if len(worked) > len(queued)+1 {
				t.Errorf("killed at call %d%s: %v", call, when, worked)
			}
			if got := slices.Compact(worked); !slices.Equal(got, queued) {
				t.Errorf("killed at call %d%s: %v, want %v", call, when, got, queued)
			}
			if !killed {
				if call < 4*len(queued) {
					t.Errorf("it made only %d calls", call-1)
				}
				return
			}
		}
	}
}

// worker runs a process that works at the queue, and reports whether it killed itself.
func worker(t *testing.T, dir, at string) (killed bool) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), self)
	command.Env = append(os.Environ(), queueKilledAt+"="+dir+"|"+at)
	output, err := command.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == -1 {
		return true
	}
	if err != nil {
		t.Fatalf("the process ended with %v\n%s", err, output)
	}
	return false
}
