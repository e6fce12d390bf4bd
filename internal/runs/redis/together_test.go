package redis_test

import (
	"context"
	"errors"
	"testing"

	"cairn/internal/graph"
	"cairn/internal/redis/conn/conntest"
	"cairn/internal/redis/script"
	"cairn/internal/runs"
	"cairn/internal/runs/redis/redistest"
	"cairn/internal/servertest"
)

// TestOutcomeIsWrittenAtOnce writes a checkpoint and what is to be posted together: under a
// lease both, and under one that was lost neither.
func TestOutcomeIsWrittenAtOnce(t *testing.T) {
	address := servertest.Redis(t)
	store := redistest.Place{Address: address, Prefix: "outcome"}.OpenStore(t, soon)
	together := script.Together(conntest.Connect(t, address))
	enqueue(t, store, job("t", "e1"))
	write := func(lease runs.Lease, run string) (recorded []runs.Delivery, err error) {
		err = together(t.Context(), func(ctx context.Context) error {
			outcome := store.Record(ctx, lease, runs.Delivery{Key: runs.DeliveryKey(run), Body: []byte("said")}, func(delivery runs.Delivery) {
				recorded = append(recorded, delivery)
			})
			if len(recorded) > 0 {
				t.Error("it is said to be recorded before anything is written")
			}
			return errors.Join(outcome, store.Journal(lease).Save(ctx, run, []byte("kept")))
		})
		return recorded, err
	}
	lost := claim(t, store)
	if recorded, err := write(lost, "first"); err != nil || len(recorded) != 1 || string(recorded[0].Body) != "said" || recorded[0].Recorded.IsZero() {
		t.Errorf("recorded %+v, %v", recorded, err)
	}
	must(t, store.Release(t.Context(), lost))
	lease := claim(t, store)
	if recorded, err := write(lost, "second"); !errors.Is(err, runs.ErrLost) || len(recorded) != 0 {
		t.Errorf("under a lease that was lost: %+v, %v", recorded, err)
	}
	journal := store.Journal(lease)
	if kept, err := journal.Load(t.Context(), "first"); err != nil || string(kept) != "kept" {
		t.Errorf("the checkpoint is %q, %v", kept, err)
	}
	if _, err := journal.Load(t.Context(), "second"); !errors.Is(err, graph.ErrNoCheckpoint) {
		t.Errorf("the checkpoint that was refused gives %v", err)
	}
	if recorded, err := store.Recorded(t.Context(), lease); err != nil || len(recorded) != 1 {
		t.Errorf("in the outbox are %+v, %v", recorded, err)
	}
}
