package runstest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/runs"
	keeper "github.com/cairn-bot/cairn/internal/store"
)

// Benchmarks measures a backend. fresh gives an empty place.
func Benchmarks(b *testing.B, fresh func(t testing.TB) Place) {
	b.Run("EnqueueToStart", func(b *testing.B) { benchStart(b, fresh(b)) })
	b.Run("Step", func(b *testing.B) { benchStep(b, fresh(b)) })
	b.Run("Echo", func(b *testing.B) { benchEcho(b, fresh(b)) })
	b.Run("Stop", func(b *testing.B) { benchStop(b, fresh(b)) })
}

// reportPercentiles reports the median and the 95th percentile.
func reportPercentiles(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds()), "p95-µs")
}

func checkError(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// benchStart measures from the call of Enqueue until a worker that waits has the job.
func benchStart(b *testing.B, place Place) {
	store := place.Open(b, standardOptions)
	started := make(chan time.Time)
	ctx, cancel := context.WithCancel(b.Context())
	var working sync.WaitGroup
	working.Go(func() {
		for {
			lease, err := store.Claim(ctx, "w")
			if err != nil {
				return
			}
			started <- time.Now()
			if err := store.Finish(context.WithoutCancel(ctx), lease, runs.Result{}); err != nil {
				b.Error(err)
			}
		}
	})
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		begun := time.Now()
		_, err := store.Enqueue(ctx, newJob(chat.ThreadID(fmt.Sprint(i%50)), runs.EventID(fmt.Sprint(i))))
		checkError(b, err)
		took = append(took, (<-started).Sub(begun))
	}
	cancel()
	working.Wait()
	reportPercentiles(b, took)
}

// benchStep measures a step with a checkpoint of 2 KB and one event.
func benchStep(b *testing.B, place Place) {
	store := place.Open(b, standardOptions)
	_, err := store.Enqueue(b.Context(), newJob("t", "e"))
	checkError(b, err)
	lease, err := store.Claim(b.Context(), "w")
	checkError(b, err)
	journal := store.Journal(lease)
	checkpoint := make([]byte, 2048)
	for b.Loop() {
		journal.Append(newEvent("step"))
		checkError(b, journal.Save(b.Context(), "run", checkpoint))
	}
}

// benchEcho has 16 workers at messages that are enqueued 32 at a time, in 200 threads:
// each is claimed, makes one step, is recorded and confirmed in the outbox and finished.
func benchEcho(b *testing.B, place Place) {
	const workers, inFlight, threads = 16, 32, 200
	store := place.Open(b, standardOptions)
	ctx, cancel := context.WithCancel(b.Context())
	room := make(chan struct{}, inFlight)
	var working, asking sync.WaitGroup
	for i := range workers {
		working.Go(func() {
			for {
				lease, err := store.Claim(ctx, runs.WorkerID(fmt.Sprint(i)))
				if err != nil {
					if !errors.Is(err, context.Canceled) {
						b.Error(err)
					}
					return
				}
				if err := echoJob(context.WithoutCancel(ctx), store, lease); err != nil {
					b.Error(err)
				}
				<-room
			}
		})
	}
	var number atomic.Int64
	for b.Loop() {
		room <- struct{}{}
		asking.Go(func() {
			n := number.Add(1)
			if _, err := store.Enqueue(ctx, newJob(chat.ThreadID(fmt.Sprint(n%threads)), runs.EventID(fmt.Sprint(n)))); err != nil {
				b.Error(err)
			}
		})
	}
	asking.Wait()
	for range inFlight { // until all are finished
		room <- struct{}{}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
	cancel()
	working.Wait()
}

func echoJob(ctx context.Context, store keeper.Store, lease runs.Lease) error {
	run := lease.Job.Run
	journal := store.Journal(lease)
	journal.Append(newEvent("finished"))
	if err := journal.Save(ctx, string(run), []byte(`{"format":2}`)); err != nil {
		return err
	}
	key := runs.DeliveryKey(run)
	if _, err := recordDelivery(ctx, store.Journal(lease), runs.Delivery{Key: key, Run: run, Body: []byte(lease.Job.Message.Text)}); err != nil {
		return err
	}
	if err := confirmDelivery(ctx, store.Journal(lease), key, "posted"); err != nil {
		return err
	}
	return store.Finish(ctx, lease, runs.Result{Over: run})
}

// benchStop measures from a person's wish until the worker's context ends.
func benchStop(b *testing.B, place Place) {
	asked, working := place.Open(b, standardOptions), place.Open(b, standardOptions)
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		_, err := asked.Enqueue(b.Context(), newJob("t", runs.EventID(fmt.Sprint(i))))
		checkError(b, err)
		lease, err := working.Claim(b.Context(), "w")
		checkError(b, err)
		held, release := runs.Hold(b.Context(), working, lease)
		begun := time.Now()
		_, err = asked.Stop(b.Context(), "t", lease.Job.Event, "ann")
		checkError(b, err)
		<-held.Done()
		took = append(took, time.Since(begun))
		release()
		checkError(b, working.Finish(b.Context(), lease, runs.Result{}))
	}
	reportPercentiles(b, took)
}
