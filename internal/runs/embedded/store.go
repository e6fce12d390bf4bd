package embedded

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/session"
	"github.com/cairn-bot/cairn/internal/sqlite"
	"github.com/cairn-bot/cairn/internal/store"
)

const (
	// pollInterval is how often a waiting claim or follower looks for what another process did.
	pollInterval = 200 * time.Millisecond
	// sweepEvery is how often what has outlived its time is deleted.
	sweepEvery = time.Hour
)

// Store is a store.Store in the database of a data directory. What is only shown
// (store.Journal.Show) stays within one process.
type Store struct {
	db      *sqlite.DB
	options runs.Options
	work    signal // there may be something to claim
	hub     runs.Hub
	sweeper sweeper
	now     func() time.Time
}

var _ store.Store = (*Store)(nil)

// Open returns the store in a database, which stays the caller's. What was not used or saved for
// longer than Options.Keep is forgotten, now and from time to time.
func Open(ctx context.Context, db *sqlite.DB, options runs.Options) (*Store, error) {
	options, err := options.Complete()
	if err != nil {
		return nil, fmt.Errorf("options of runs: %w", err)
	}
	s := &Store{db: db, options: options, now: time.Now}
	s.work.init()
	if err := s.sweepExpired(ctx); err != nil {
		return nil, fmt.Errorf("clear what is expired: %w", err)
	}
	return s, nil
}

// Records implements store.Store.
func (s *Store) Records() store.Records { return &records{s} }

// Sessions implements store.Store.
func (s *Store) Sessions() session.Store { return &sessions{s} }

// nowMillis returns the time in Unix milliseconds, as tables store it.
func (s *Store) nowMillis() int64 { return s.now().UnixMilli() }

// sweepExpired deletes expired rows, once per sweepEvery.
func (s *Store) sweepExpired(ctx context.Context) error {
	if !s.sweeper.isDue(s.now()) {
		return nil
	}
	now := s.now()
	for _, old := range []struct {
		statement string
		before    int64
	}{
		{`DELETE FROM seen WHERE at < ?`, now.Add(-s.options.DedupeFor).UnixMilli()},
		{`DELETE FROM event WHERE at < ?`, now.Add(-s.options.EventsFor).UnixMilli()},
		{`DELETE FROM dead WHERE at < ?`, now.Add(-s.options.Keep).UnixMilli()},
		{`DELETE FROM edit WHERE saved < ?`, now.Add(-s.options.Keep).UnixMilli()},
		{`DELETE FROM delivery WHERE recorded < ?`, now.Add(-s.options.Keep).UnixMilli()},
		{`DELETE FROM checkpoint WHERE updated < ?`, now.Add(-s.options.Keep).Unix()},
		{`DELETE FROM session WHERE updated < ?`, now.Add(-s.options.Keep).Unix()},
		{`DELETE FROM record WHERE updated < ?`, now.Add(-s.options.Keep).Unix()},
	} {
		if _, err := s.db.ExecContext(ctx, old.statement, old.before); err != nil {
			return err
		}
	}
	for _, orphans := range []string{
		`DELETE FROM session_list WHERE thread NOT IN (SELECT thread FROM session)`,
		`DELETE FROM session_person WHERE thread NOT IN (SELECT thread FROM session)`,
		`DELETE FROM rating WHERE run NOT IN (SELECT run FROM record)`,
		`DELETE FROM record_list WHERE run NOT IN (SELECT run FROM record)`,
	} {
		if _, err := s.db.ExecContext(ctx, orphans); err != nil {
			return err
		}
	}
	return nil
}

// inFencedTransaction runs change in a transaction in which the lease is good and lasts for another
// TTL; else it gives runs.ErrLost.
func (s *Store) inFencedTransaction(ctx context.Context, lease runs.Lease, change func(tx *sql.Tx) error) error {
	return s.db.Update(ctx, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `UPDATE thread SET claimable = ? WHERE thread = ? AND token = ? AND worker <> ''`,
			s.nowMillis()+s.options.LeaseTTL.Milliseconds(), lease.Queue().Key(), int64(lease.Token))
		if err != nil {
			return err
		}
		changed, err := result.RowsAffected()
		if err != nil {
			return err
		}
		if changed == 0 {
			return runs.ErrLost
		}
		return change(tx)
	})
}

// timeFromMillis decodes a stored time; 0 is the zero time.
func timeFromMillis(millis int64) time.Time {
	if millis == 0 {
		return time.Time{}
	}
	return time.UnixMilli(millis).UTC()
}

// decodeJob decodes a job and adds its time and attempt, which the store keeps beside it.
func decodeJob(body []byte, enqueued int64, attempt int) (runs.Job, error) {
	job, err := runs.DecodeJob(body)
	job.Enqueued, job.Attempt = timeFromMillis(enqueued), attempt
	return job, err
}

// headOf returns the id, the body and the time of the job at the head of a queue, or
// sql.ErrNoRows.
func headOf(ctx context.Context, tx *sql.Tx, queue runs.QueueID) (id int64, body []byte, enqueued int64, err error) {
	err = tx.QueryRowContext(ctx, `SELECT id, body, enqueued FROM job WHERE thread = ? ORDER BY id LIMIT 1`, queue.Key()).
		Scan(&id, &body, &enqueued)
	return id, body, enqueued, err
}
