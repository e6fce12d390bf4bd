package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/pressly/goose/v3"
)

// DataFile is the name of the database in a data directory.
const DataFile = "cairn.db"

//go:embed migrations/*.sql
var migrations embed.FS

const (
	// storeParameters are those of the database: readers and one writer at the same time, and
	// zeros in place of what is deleted.
	storeParameters = "_pragma=busy_timeout(5000)&_pragma=journal_mode(wal)&_pragma=secure_delete(on)&_pragma=synchronous(normal)"
	// maxReaders is how many connections read at the same time.
	maxReaders = 4
	// migrateTime is how long a process waits for others that migrate the database.
	migrateTime = 10 * time.Second
)

// DB is the database of a data directory, which keeps everything but the index and the audit
// log where there is no server. Several processes of one machine may have it open.
//
// What is written is safe from the death of the process once the call has returned: it is in
// the write-ahead log, in the hands of the operating system. It is not forced to the disk
// before the log is next folded into the file (every 1,000 pages, or Sync), so a power cut or
// a crash of the machine can take back the last writes: the file stays whole.
type DB struct {
	reader *sql.DB
	writer *sql.DB // of one connection: SQLite has one writer, and to wait for a connection is fairer than for its lock
}

// OpenData opens or makes the database of a data directory, and brings its tables up to what
// this program expects. One with newer tables is an error.
func OpenData(ctx context.Context, dir string) (*DB, error) {
	file := filepath.Join(dir, DataFile)
	db, err := openData(ctx, file)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", file, err)
	}
	return db, nil
}

func openData(ctx context.Context, file string) (*DB, error) {
	writer, err := Open(file, storeParameters+"&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	writer.SetMaxOpenConns(1)
	db := &DB{writer: writer}
	if err := db.migrate(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if db.reader, err = OpenExisting(file, storeParameters+"&_pragma=query_only(on)"); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	db.reader.SetMaxOpenConns(maxReaders)
	return db, nil
}

// migrate applies what is missing of the migrations. Another process may do so at the same
// time: whoever comes second fails, and finds them applied when it tries again.
func (d *DB) migrate(ctx context.Context) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, d.writer, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	_, err = backoff.Retry(ctx, func() (struct{}, error) {
		return struct{}{}, upgrade(ctx, provider)
	}, backoff.WithMaxElapsedTime(migrateTime))
	return err
}

func upgrade(ctx context.Context, provider *goose.Provider) error {
	sources := provider.ListSources()
	newest := sources[len(sources)-1].Version
	current, err := provider.GetDBVersion(ctx)
	if err != nil {
		return err
	}
	if current > newest {
		return backoff.Permanent(fmt.Errorf("its tables have version %d, newer than this program supports (%d): upgrade cairn", current, newest))
	}
	_, err = provider.Up(ctx)
	return err
}

// Close releases the file.
func (d *DB) Close() error {
	if d.reader == nil {
		return d.writer.Close()
	}
	return errors.Join(d.reader.Close(), d.writer.Close())
}

// QueryContext reads rows, as [sql.DB] does. It sees what was written before.
func (d *DB) QueryContext(ctx context.Context, query string, arguments ...any) (*sql.Rows, error) {
	return d.reader.QueryContext(ctx, query, arguments...)
}

// QueryRowContext reads one row, as [sql.DB] does. It sees what was written before.
func (d *DB) QueryRowContext(ctx context.Context, query string, arguments ...any) *sql.Row {
	return d.reader.QueryRowContext(ctx, query, arguments...)
}

// ExecContext writes by one statement, in a transaction of its own.
func (d *DB) ExecContext(ctx context.Context, statement string, arguments ...any) (sql.Result, error) {
	return d.writer.ExecContext(ctx, statement, arguments...)
}

// Update runs change in a transaction, which is rolled back after an error. No other process
// writes meanwhile.
func (d *DB) Update(ctx context.Context, change func(tx *sql.Tx) error) error {
	tx, err := d.writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // after a commit there is nothing to roll back
	if err := change(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// Sync forces to the disk what was written.
func (d *DB) Sync(ctx context.Context) error {
	// To fold the log into the file begins with syncing the log.
	if _, err := d.writer.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)"); err != nil {
		return fmt.Errorf("sync the write-ahead log: %w", err)
	}
	return nil
}

// PurgeDeleted removes what is left of deleted rows from the files.
func (d *DB) PurgeDeleted(ctx context.Context) error { return PurgeDeleted(ctx, d.writer) }
