package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/store"
)

// journal is a store.Journal.
type journal struct {
	store.PendingEvents

	store *Store
	lease runs.Lease

	writing sync.Mutex // held while a commit is made
}

// Journal implements store.Store.
func (s *Store) Journal(lease runs.Lease) store.Journal { return &journal{store: s, lease: lease} }

// Save implements graph.Store.
func (j *journal) Save(ctx context.Context, run string, checkpoint []byte) error {
	_, err := j.Commit(ctx, store.Commit{Checkpoint: &store.Checkpoint{Run: chat.RunID(run), Body: checkpoint}})
	return err
}

// Load implements graph.Store.
func (j *journal) Load(ctx context.Context, run string) ([]byte, error) {
	var checkpoint []byte
	err := j.store.db.QueryRowContext(ctx, `SELECT body FROM checkpoint WHERE run = ?`, run).Scan(&checkpoint)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, graph.ErrNoCheckpoint
	}
	if err != nil {
		return nil, fmt.Errorf("read checkpoint %s: %w", run, err)
	}
	return checkpoint, nil
}

// Commit implements store.Journal.
func (j *journal) Commit(ctx context.Context, changes store.Commit) (store.Committed, error) {
	j.writing.Lock()
	defer j.writing.Unlock()
	events := j.List()
	committed, err := j.store.commit(ctx, j.lease, changes, events)
	if err != nil {
		return store.Committed{}, fmt.Errorf("commit to thread %s: %w", j.lease.Thread, err)
	}
	j.Drop(len(events))
	return committed, nil
}

// commit makes a commit under a lease, and appends events, in one transaction.
func (s *Store) commit(ctx context.Context, lease runs.Lease, changes store.Commit, events []runs.Event) (store.Committed, error) {
	var committed store.Committed
	var last int64
	if err := changes.Check(lease); err != nil {
		return committed, err
	}
	err := s.inFencedTransaction(ctx, lease, func(tx *sql.Tx) (err error) {
		w := writer{tx, s.now(), lease.Queue()}
		if changes.Unless != (store.Unless{}) {
			if err := w.checkUndisturbed(ctx, changes.Unless); err != nil {
				return err
			}
		}
		if err := w.writeMemory(ctx, changes); err != nil {
			return err
		}
		if changes.Delivery != nil {
			if committed.Delivery, err = w.recordDelivery(ctx, *changes.Delivery); err != nil {
				return err
			}
		}
		if changes.Confirmed != nil {
			if err := w.confirmDelivery(ctx, *changes.Confirmed); err != nil {
				return err
			}
		}
		if last, err = w.appendEvents(ctx, events); err != nil || changes.Result == nil {
			return err
		}
		return s.finishJob(ctx, w, lease.Job.Event, *changes.Result)
	})
	if err != nil {
		return store.Committed{}, err
	}
	if last > 0 {
		s.hub.Kept(lease.Thread, runs.Position(strconv.FormatInt(last, 10)))
	}
	if changes.Result != nil {
		s.work.fire()
	}
	return committed, nil
}

// writer writes to a thread, and to a lane of it, in a transaction.
type writer struct {
	tx    *sql.Tx
	now   time.Time
	queue runs.QueueID
}

// checkUndisturbed returns a *store.DisturbedError in the cases in which nothing is to be written.
func (w writer) checkUndisturbed(ctx context.Context, unless store.Unless) error {
	var by string
	var at int64
	var renewal runs.Renewal
	err := w.tx.QueryRowContext(ctx, `SELECT stopped_by, stopped_at, `+hasMoreJobs+` FROM thread WHERE thread = ?`, w.queue.Key()).
		Scan(&by, &at, &renewal.Behind)
	if renewal.Stop = stopOf(by, at); err == nil && (unless.Behind && renewal.Behind || unless.Stopped && renewal.Stop != nil) {
		err = &store.DisturbedError{Renewal: renewal}
	}
	return err
}

// writeMemory writes what a commit has of a checkpoint, of records and of the session.
func (w writer) writeMemory(ctx context.Context, changes store.Commit) error {
	if checkpoint := changes.Checkpoint; checkpoint != nil {
		_, err := w.tx.ExecContext(ctx, `INSERT INTO checkpoint (run, body, updated) VALUES (?, coalesce(?, x''), ?)
			ON CONFLICT (run) DO UPDATE SET body = excluded.body, updated = excluded.updated`, string(checkpoint.Run), checkpoint.Body, w.now.Unix())
		if err != nil {
			return err
		}
	}
	for _, record := range changes.Records {
		if err := w.writeRecord(ctx, record); err != nil {
			return fmt.Errorf("record of run %s: %w", record.ID, err)
		}
	}
	if changes.Session == nil {
		return nil
	}
	return w.writeSession(ctx, *changes.Session)
}

// appendEvents adds events to a thread's, and returns the number of the last; 0 where there are
// none.
func (w writer) appendEvents(ctx context.Context, events []runs.Event) (last int64, err error) {
	for _, event := range events {
		if err := event.Check(); err != nil {
			return 0, err
		}
		result, err := w.tx.ExecContext(ctx, `INSERT INTO event (thread, run, kind, body, at) VALUES (?, ?, ?, coalesce(?, x''), ?)`,
			string(w.queue.Thread), string(event.Run), string(event.Kind), event.Body, w.now.UnixMilli())
		if err == nil {
			last, err = result.LastInsertId()
		}
		if err != nil {
			return 0, err
		}
	}
	return last, nil
}

// Show implements store.Journal.
func (j *journal) Show(_ context.Context, event runs.Event) error {
	if err := event.Check(); err != nil {
		return err
	}
	event.Position = ""
	j.store.hub.Show(j.lease.Thread, event)
	return nil
}
