package postgres

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/cairn-bot/cairn/internal/knowledge/index"
)

// LogQuery adds a row to the query log, and now and then drops those that were kept for
// long enough. A run that is logged again keeps its last row alone. A reader may log too.
func (x *Index) LogQuery(ctx context.Context, record index.QueryRecord) error {
	hash := sha256.Sum256([]byte(record.Question))
	var plain []byte
	if x.options.PlainQueries {
		plain = []byte(record.Question)
	}
	_, err := x.primary.Exec(ctx, `INSERT INTO cairn.query_log
		(at, run, question, question_hash, lexical, dense, shown, search_us, total_us) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		ON CONFLICT (run) DO UPDATE SET (at, question, question_hash, lexical, dense, shown, search_us, total_us) =
		(excluded.at, excluded.question, excluded.question_hash, excluded.lexical, excluded.dense, excluded.shown, excluded.search_us, excluded.total_us)`,
		record.At, []byte(record.Run), plain, hash[:], record.Lexical, record.Dense, record.Shown,
		record.Search.Microseconds(), record.Total.Microseconds())
	if err == nil {
		err = x.dropOldQueries(ctx, record)
	}
	if err != nil {
		return fmt.Errorf("log query: %w", causeOf(ctx, explainError(err)))
	}
	return nil
}

// dropOldQueries removes what was kept for long enough, at the first row of a process
// and then at the first of each hour.
func (x *Index) dropOldQueries(ctx context.Context, record index.QueryRecord) error {
	hour := record.At.Unix() / 3600
	if x.dropped.Swap(hour) == hour {
		return nil
	}
	_, err := x.primary.Exec(ctx, "DELETE FROM cairn.query_log WHERE at < $1", record.At.Add(-x.options.KeepQueries))
	return err
}

// ForgetQueries removes the rows of runs from the query log, and says how many.
func (x *Index) ForgetQueries(ctx context.Context, runs []string) (int, error) {
	keys := make([][]byte, len(runs))
	for i, run := range runs {
		keys[i] = []byte(run)
	}
	tag, err := x.primary.Exec(ctx, "DELETE FROM cairn.query_log WHERE run = ANY ($1)", keys)
	if err != nil {
		return 0, fmt.Errorf("forget queries: %w", causeOf(ctx, explainError(err)))
	}
	return int(tag.RowsAffected()), nil
}
