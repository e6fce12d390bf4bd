// Package querylog keeps the query log of an index that has no server: in the database of the
// data directory, for the processes that only read the index write nothing to its file.
package querylog

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/sqlite"
)

// Options say what is kept, and for how long.
type Options struct {
	Plain bool          // the text of questions as well, not their hash alone
	Keep  time.Duration // required
}

// Log is an index.QueryLog. It is safe for concurrent use.
type Log struct {
	db      *sqlite.DB
	options Options
}

var _ index.QueryLog = (*Log)(nil)

// Open returns the query log in a database, which stays the caller's.
func Open(db *sqlite.DB, options Options) *Log { return &Log{db: db, options: options} }

// LogQuery implements index.QueryLog: it adds a row, and drops those that were kept for long
// enough. A run that is logged again keeps its last row alone.
func (l *Log) LogQuery(ctx context.Context, record index.QueryRecord) error {
	hash := sha256.Sum256([]byte(record.Question))
	question := sql.NullString{String: record.Question, Valid: l.options.Plain}
	err := l.db.Update(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM query_log WHERE at < ?`, record.At.Add(-l.options.Keep).UnixMilli()); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO query_log
			(run, at, question, question_hash, lexical, dense, shown, search_us, total_us) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			record.Run, record.At.UnixMilli(), question, hash[:], record.Lexical, record.Dense, record.Shown,
			record.Search.Microseconds(), record.Total.Microseconds())
		return err
	})
	if err != nil {
		return fmt.Errorf("log query: %w", err)
	}
	return nil
}

// ForgetQueries implements index.QueryLog.
func (l *Log) ForgetQueries(ctx context.Context, runs []string) (int, error) {
	count := 0
	err := l.db.Update(ctx, func(tx *sql.Tx) error {
		for _, run := range runs {
			removed, err := tx.ExecContext(ctx, `DELETE FROM query_log WHERE run = ?`, run)
			if err != nil {
				return err
			}
			rows, err := removed.RowsAffected()
			if err != nil {
				return err
			}
			count += int(rows)
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("forget queries: %w", err)
	}
	return count, nil
}
