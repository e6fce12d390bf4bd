package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"cairn/internal/chat"
	"cairn/internal/runs"
	"cairn/internal/runs/watch"
	"cairn/internal/sqlite"
)

// letterName is runs.DeadLetter.Name of a row of dead.
const letterName = `CASE WHEN json_valid(CAST(body AS TEXT)) THEN coalesce(nullif(CAST(body AS TEXT) ->> '$.run', ''), event) ELSE event END`

// All times are Unix milliseconds on the machine's clock. Tokens begin at the clock's
// microseconds: those of a thread whose row is gone are not given again.
const storeSchema = `
CREATE TABLE IF NOT EXISTS checkpoint (
	run     TEXT PRIMARY KEY,
	body    BLOB NOT NULL,               -- as the engine gave it
	updated INTEGER NOT NULL             -- Unix seconds
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS checkpoint_updated ON checkpoint (updated);
CREATE TABLE IF NOT EXISTS job (         -- what is to be done, in order of id in each thread
	id       INTEGER PRIMARY KEY AUTOINCREMENT,
	thread   TEXT NOT NULL,
	body     BLOB NOT NULL,              -- runs.EncodeJob
	enqueued INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS job_thread ON job (thread, id);
CREATE TABLE IF NOT EXISTS delayed (     -- what joins job when it is due
	id       INTEGER PRIMARY KEY AUTOINCREMENT,
	thread   TEXT NOT NULL,
	due      INTEGER NOT NULL,
	body     BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS delayed_due ON delayed (due);
CREATE INDEX IF NOT EXISTS delayed_thread ON delayed (thread);
CREATE TABLE IF NOT EXISTS thread (      -- threads that have jobs
	thread     TEXT PRIMARY KEY,
	claimable  INTEGER NOT NULL,         -- when its head may be claimed: at once, after a pause, or when the lease runs out
	token      INTEGER NOT NULL DEFAULT 0,
	worker     TEXT NOT NULL DEFAULT '', -- who has the lease; '' nobody
	attempt    INTEGER NOT NULL DEFAULT 0,  -- from here on: of the job at the head
	reason     TEXT NOT NULL DEFAULT '',
	stopped_by TEXT NOT NULL DEFAULT '',
	stopped_at INTEGER NOT NULL DEFAULT 0,  -- 0: not stopped
	unsure     INTEGER NOT NULL DEFAULT 0   -- runs.Lease.Unsure; 0: nothing is
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS thread_turn ON thread (claimable, token);
DROP INDEX IF EXISTS thread_claimable;
CREATE TABLE IF NOT EXISTS seen (        -- events, to tell their repeats
	thread TEXT NOT NULL,
	event  TEXT NOT NULL,
	at     INTEGER NOT NULL,
	PRIMARY KEY (thread, event)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS seen_at ON seen (at);
CREATE TABLE IF NOT EXISTS event (       -- what happened in a thread
	position INTEGER PRIMARY KEY AUTOINCREMENT,
	thread   TEXT NOT NULL,
	run      TEXT NOT NULL,
	kind     TEXT NOT NULL,
	body     BLOB NOT NULL,
	at       INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS event_thread ON event (thread, position);
CREATE INDEX IF NOT EXISTS event_at ON event (at);
CREATE TABLE IF NOT EXISTS delivery (
	id       INTEGER PRIMARY KEY AUTOINCREMENT,
	thread   TEXT NOT NULL,
	key      TEXT NOT NULL,
	run      TEXT NOT NULL,
	body     BLOB NOT NULL,
	recorded INTEGER NOT NULL,
	posted   TEXT NOT NULL DEFAULT '',   -- the platform's id; '' until it is known
	UNIQUE (thread, key)
);
CREATE TABLE IF NOT EXISTS dead (
	thread TEXT NOT NULL,
	event  TEXT NOT NULL,
	body   BLOB NOT NULL,                -- runs.EncodeJob
	reason TEXT NOT NULL,
	at     INTEGER NOT NULL,
	PRIMARY KEY (thread, event)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS dead_name ON dead (` + letterName + `, at);
CREATE TABLE IF NOT EXISTS edit (        -- changes of messages that are not dealt with
	thread  TEXT NOT NULL,
	message TEXT NOT NULL,
	author  TEXT NOT NULL,
	body    BLOB NOT NULL,               -- runs.EncodeEdit
	saved   INTEGER NOT NULL,
	PRIMARY KEY (thread, message)
) WITHOUT ROWID;`

const (
	// pollInterval is how often a waiting claim or follower looks for what another process did.
	pollInterval = 200 * time.Millisecond
	// sweepEvery is how often what has outlived its time is deleted.
	sweepEvery = time.Hour
)

// Store is the queue, the leases, the checkpoints, the events and the outbox in one
// file, beside that of the records. Several processes may have it open; what is only
// shown (runs.Journal.Show) stays within one.
type Store struct {
	db      *sql.DB
	options runs.Options
	work    signal // there may be something to claim
	hub     watch.Hub
	sweeper sweeper
	now     func() time.Time
}

var (
	_ runs.Queue     = (*Store)(nil)
	_ runs.Leases    = (*Store)(nil)
	_ runs.Stopper   = (*Store)(nil)
	_ runs.Journals  = (*Store)(nil)
	_ runs.Events    = (*Store)(nil)
	_ runs.Outbox    = (*Store)(nil)
	_ runs.Operator  = (*Store)(nil)
	_ runs.Forgetter = (*Store)(nil)
)

// OpenStore opens or makes the store of a data directory.
func OpenStore(ctx context.Context, dir string, options runs.Options) (*Store, error) {
	options, err := options.Complete()
	if err != nil {
		return nil, fmt.Errorf("options of the runs in %s: %w", dir, err)
	}
	file := filepath.Join(dir, "runs.db")
	db, err := sqlite.OpenStore(file, "_pragma=synchronous(normal)&_txlock=immediate")
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", file, err)
	}
	db.SetMaxOpenConns(1) // SQLite has one writer; waiting here is fairer than waiting for its lock
	store := &Store{db: db, options: options, now: time.Now}
	store.work.init()
	if _, err := db.ExecContext(ctx, storeSchema); err != nil {
		return nil, errors.Join(fmt.Errorf("open the runs in %s: %w", file, err), db.Close())
	}
	if err := store.addUnsure(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("upgrade the runs in %s: %w", file, err), db.Close())
	}
	if err := store.sweepExpired(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("clear the runs in %s: %w", file, err), db.Close())
	}
	return store, nil
}

// addUnsure adds the column to a file of an older program.
func (s *Store) addUnsure(ctx context.Context) error {
	return s.inTransaction(ctx, func(tx *sql.Tx) error {
		var there bool
		err := tx.QueryRowContext(ctx, `SELECT count(*) > 0 FROM pragma_table_info('thread') WHERE name = 'unsure'`).Scan(&there)
		if err != nil || there {
			return err
		}
		_, err = tx.ExecContext(ctx, `ALTER TABLE thread ADD COLUMN unsure INTEGER NOT NULL DEFAULT 0`)
		return err
	})
}

// Close releases the file. Claims and followers must have ended.
func (s *Store) Close() error { return s.db.Close() }

// nowMillis returns the time in Unix milliseconds, as tables store it.
func (s *Store) nowMillis() int64 { return s.now().UnixMilli() }

// inTransaction runs change in a transaction, which is rolled back after an error.
func (s *Store) inTransaction(ctx context.Context, change func(tx *sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := change(tx); err != nil {
		return err
	}
	return tx.Commit()
}

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
	} {
		if _, err := s.db.ExecContext(ctx, old.statement, old.before); err != nil {
			return err
		}
	}
	return nil
}

// inFencedTransaction runs change in a transaction in which the lease is good and lasts for another
// TTL; else it gives runs.ErrLost.
func (s *Store) inFencedTransaction(ctx context.Context, lease runs.Lease, change func(tx *sql.Tx) error) error {
	return s.inTransaction(ctx, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `UPDATE thread SET claimable = ? WHERE thread = ? AND token = ? AND worker <> ''`,
			s.nowMillis()+s.options.LeaseTTL.Milliseconds(), string(lease.Thread), int64(lease.Token))
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

// headOf returns the id, the body and the time of the job at the head of a thread, or
// sql.ErrNoRows.
func headOf(ctx context.Context, tx *sql.Tx, thread chat.ThreadID) (id int64, body []byte, enqueued int64, err error) {
	err = tx.QueryRowContext(ctx, `SELECT id, body, enqueued FROM job WHERE thread = ? ORDER BY id LIMIT 1`, string(thread)).
		Scan(&id, &body, &enqueued)
	return id, body, enqueued, err
}

// PurgeDeleted removes what is left of deleted runs from the store's files.
func (s *Store) PurgeDeleted(ctx context.Context) error {
	if err := sqlite.PurgeDeleted(ctx, s.db); err != nil {
		return fmt.Errorf("purge deleted runs: %w", err)
	}
	return nil
}
