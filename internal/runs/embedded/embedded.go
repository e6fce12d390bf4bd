// Package embedded keeps the checkpoints of runs in one SQLite file, with no server.
//
// A checkpoint is safe from the death of the process once Save has returned: it is in
// the write-ahead log, in the hands of the operating system. It is not forced to the
// disk before the log is next folded into the file (every 1,000 pages), so a power cut
// or a crash of the machine can take back the last saves: the file stays whole, and
// runs go on from the checkpoints before those.
package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // the driver, pure Go

	"cairn/internal/graph"
)

const schema = `
CREATE TABLE IF NOT EXISTS checkpoint (
	run     TEXT PRIMARY KEY,
	body    BLOB NOT NULL,      -- as the engine gave it
	updated INTEGER NOT NULL    -- Unix seconds
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS checkpoint_updated ON checkpoint (updated);`

// Checkpoints is a graph.Store in one file.
type Checkpoints struct {
	db  *sql.DB
	now func() time.Time
}

var _ graph.Store = (*Checkpoints)(nil)

// Open opens or makes the checkpoints of a data directory and forgets those not
// written for longer than keep; 0 keeps them for ever.
func Open(ctx context.Context, dir string, keep time.Duration) (*Checkpoints, error) {
	file := filepath.Join(dir, "runs.db")
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(5000)&_pragma=journal_mode(wal)&_pragma=synchronous(normal)")
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", file, err)
	}
	store := &Checkpoints{db: db, now: time.Now}
	if err := store.prepare(ctx, keep); err != nil {
		return nil, errors.Join(fmt.Errorf("open checkpoints %s: %w", file, err), db.Close())
	}
	return store, nil
}

func (c *Checkpoints) prepare(ctx context.Context, keep time.Duration) error {
	if _, err := c.db.ExecContext(ctx, schema); err != nil {
		return err
	}
	if keep <= 0 {
		return nil
	}
	_, err := c.db.ExecContext(ctx, `DELETE FROM checkpoint WHERE updated < ?`, c.now().Add(-keep).Unix())
	return err
}

// Save implements graph.Store.
func (c *Checkpoints) Save(ctx context.Context, run string, checkpoint []byte) error {
	_, err := c.db.ExecContext(ctx, saveCheckpoint, run, checkpoint, c.now().Unix())
	if err != nil {
		return fmt.Errorf("write checkpoint %s: %w", run, err)
	}
	return nil
}

// Load implements graph.Store.
func (c *Checkpoints) Load(ctx context.Context, run string) ([]byte, error) {
	return loadCheckpoint(ctx, c.db, run)
}

// Close releases the file.
func (c *Checkpoints) Close() error { return c.db.Close() }
