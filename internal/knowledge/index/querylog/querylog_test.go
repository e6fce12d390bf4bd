package querylog_test

import (
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge/index/indextest"
	"github.com/cairn-bot/cairn/internal/knowledge/index/querylog"
	"github.com/cairn-bot/cairn/internal/sqlite"
)

func TestQueryLog(t *testing.T) {
	db, err := sqlite.OpenData(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	indextest.TestQueryLog(t, indextest.QueryLogs{
		Hashed: querylog.Open(db, querylog.Options{Keep: 24 * time.Hour}),
		Plain:  querylog.Open(db, querylog.Options{Keep: 24 * time.Hour, Plain: true}),
		Count: func(t *testing.T) (rows, questions, hashes int) {
			t.Helper()
			err := db.QueryRowContext(t.Context(), "SELECT count(*), count(question), count(DISTINCT question_hash) FROM query_log WHERE total_us = 1000000").
				Scan(&rows, &questions, &hashes)
			if err != nil {
				t.Fatal(err)
			}
			return rows, questions, hashes
		},
	})
}
