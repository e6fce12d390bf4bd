package chaos

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
)

var (
	seed     = flag.Uint64("chaos.seed", 0, "what goes wrong, and when; 0: another each time")
	threads  = flag.Int("chaos.threads", 10, "how many threads talk at the same time")
	messages = flag.Int("chaos.messages", 3, "how many messages each thread has, beside answers")
	backend  = flag.String("chaos.store", "", "redis or embedded; empty: one after the other")
	fsync    = flag.String("chaos.sync", "always", "Redis's appendfsync: with everysec it forgets what it confirmed last when it is killed")
	limit    = flag.Duration("chaos.limit", 90*time.Second, "how long all may take with one store")
)

// forgetful tells that accepted messages may be lost, by the fault of Redis.
func (tn *town) forgetful() bool { return tn.redis != nil && *fsync != "always" }

// TestChaos is checked from outside: from what was posted.
func TestChaos(t *testing.T) {
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	t.Logf("seed %d: repeat with -chaos.seed=%[1]d", *seed)
	for _, store := range []string{"embedded", "redis"} {
		if *backend == "" || *backend == store {
			t.Run(store, func(t *testing.T) { chaos(t, store) })
		}
	}
}

func chaos(t *testing.T, store string) {
	ctx, cancel := context.WithTimeout(t.Context(), *limit)
	defer cancel()
	tn := newTown(t, store, fault)
	quiet, stop := context.WithCancel(ctx)
	var striking sync.WaitGroup
	striking.Go(func() { tn.strikeProcesses(quiet) })
	if tn.redis != nil {
		striking.Go(func() { tn.strikeStore(quiet) })
	}
	begun := time.Now()
	var talking sync.WaitGroup
	people := make([]*person, *threads)
	for i := range people {
		people[i] = &person{town: tn, thread: chat.ThreadID(fmt.Sprintf("platform:%d", i))}
		talking.Go(func() { people[i].talk(ctx) })
	}
	talking.Wait()
	stop()
	striking.Wait()
	tn.end()
	for _, p := range people {
		p.check()
	}
	t.Logf("%d messages were posted in %d threads in %s; struck: %v",
		len(tn.platform.Posted("")), *threads, time.Since(begun).Round(time.Second), tn.struck)
}
