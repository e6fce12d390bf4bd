package redis

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/redis/go-redis/v9"

	"cairn/internal/graph"
	"cairn/internal/runs"
)

// journal is a runs.Journal.
type journal struct {
	store *Store
	lease runs.Lease
	name  string // tells its batches from those of another journal

	writing sync.Mutex // held while a batch is written
	batches int
	batch   []runs.Event // was sent, and may have been written

	mu     sync.Mutex   // guards events
	events []runs.Event // were not sent yet
}

// Journal implements runs.Journals.
func (s *Store) Journal(lease runs.Lease) runs.Journal {
	return &journal{store: s, lease: lease, name: rand.Text()}
}

// Save implements graph.Store.
func (j *journal) Save(ctx context.Context, run string, checkpoint []byte) error {
	if err := j.writeBatch(ctx, run, checkpoint, "1"); err != nil {
		return fmt.Errorf("write checkpoint %s: %w", run, err)
	}
	return nil
}

// Load implements graph.Store.
func (j *journal) Load(ctx context.Context, run string) ([]byte, error) {
	checkpoint, err := j.store.client.Get(ctx, j.store.keys.checkpointKey(j.lease.Thread, run)).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, graph.ErrNoCheckpoint
	}
	if err != nil {
		return nil, fmt.Errorf("read checkpoint %s: %w", run, explainError(err))
	}
	return checkpoint, nil
}

// Append implements runs.Journal.
func (j *journal) Append(events ...runs.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.events = append(j.events, events...)
}

// Flush implements runs.Journal.
func (j *journal) Flush(ctx context.Context) error {
	if err := j.writeBatch(ctx, "", nil, ""); err != nil {
		return fmt.Errorf("write events of thread %s: %w", j.lease.Thread, err)
	}
	return nil
}

// writeBatch writes a checkpoint, if there is one, and the events that wait.
func (j *journal) writeBatch(ctx context.Context, run string, checkpoint []byte, given string) error {
	j.writing.Lock()
	defer j.writing.Unlock()
	if len(j.batch) > 0 { // an earlier write broke off: it is known by its number if it was done
		if err := j.runScript(ctx, "", nil, ""); err != nil {
			return err
		}
	}
	j.mu.Lock()
	events := j.events
	j.mu.Unlock()
	for _, event := range events {
		if err := event.Check(); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	j.mu.Lock()
	j.batch, j.events = events, j.events[len(events):]
	j.mu.Unlock()
	j.batches++
	return j.runScript(ctx, run, checkpoint, given)
}

// runScript writes the batch.
func (j *journal) runScript(ctx context.Context, run string, checkpoint []byte, given string) error {
	s, t := j.store, j.lease.Thread
	arguments := append(s.fenceArgs(j.lease), given, checkpoint, formatMillis(s.options.Keep), j.name+strconv.Itoa(j.batches),
		s.options.EventsKept, formatMillis(s.options.EventsFor), s.keys.liveKey(t))
	for _, event := range j.batch {
		arguments = append(arguments, string(event.Run), string(event.Kind), event.Body)
	}
	write := stepScript.With([]string{s.keys.stateKey(t), s.keys.checkpointKey(t, run), s.keys.eventsKey(t)}, arguments...)
	return runScripts(ctx, s.client, write.Then(func(_ context.Context, result *redis.Cmd) error {
		if err := result.Err(); err != nil {
			return err
		}
		j.batch = nil
		return nil
	}))
}

// shown is an event as it goes through the channel.
type shown struct {
	Run  string `json:"r"`
	Kind string `json:"k"`
	Body []byte `json:"b"`
}

// Show implements runs.Journal.
func (j *journal) Show(ctx context.Context, event runs.Event) error {
	if err := event.Check(); err != nil {
		return err
	}
	message, err := json.Marshal(shown{string(event.Run), string(event.Kind), event.Body})
	if err != nil {
		return fmt.Errorf("show an event of thread %s: %w", j.lease.Thread, err)
	}
	if err := j.store.client.Publish(ctx, j.store.keys.liveKey(j.lease.Thread), message).Err(); err != nil {
		return fmt.Errorf("show an event of thread %s: %w", j.lease.Thread, explainError(err))
	}
	return nil
}
