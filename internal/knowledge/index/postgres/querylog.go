package postgres

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// QueryRecord is one question as the query log keeps it.
type QueryRecord struct {
	At          time.Time
	Thread, Run string // ids, for joining with traces; may be empty
	Question    string // kept as it is or as its SHA-256 alone, see Options.PlainQueries
	Lexical     int    // candidates found by words
	Dense       int    // candidates found by meaning
	Shown       int    // sources shown to the person
	Search      time.Duration
	Total       time.Duration
}

// LogQuery adds a row to the query log. A reader may too.
func (x *Index) LogQuery(ctx context.Context, record QueryRecord) error {
	hash := sha256.Sum256([]byte(record.Question))
	var plain []byte
	if x.options.PlainQueries {
		plain = []byte(record.Question)
	}
	// Not tried again: the row could come to stand twice.
	_, err := x.primary.Exec(ctx, `INSERT INTO cairn.query_log
		(at, thread, run, question, question_hash, lexical, dense, shown, search_us, total_us) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		record.At, []byte(record.Thread), []byte(record.Run), plain, hash[:], record.Lexical, record.Dense, record.Shown,
		record.Search.Microseconds(), record.Total.Microseconds())
	if err != nil {
		return fmt.Errorf("log query: %w", causeOf(ctx, explain(err)))
	}
	return nil
}

// ForgetQueries removes the rows of the query log before a time, and says how many.
func (x *Index) ForgetQueries(ctx context.Context, before time.Time) (int, error) {
	var count int
	err := pgx.BeginFunc(ctx, x.primary, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, "DELETE FROM cairn.query_log WHERE at < $1", before)
		count = int(tag.RowsAffected())
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("forget queries: %w", causeOf(ctx, explain(err)))
	}
	return count, nil
}
