package indextest

import (
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge/index"
)

// QueryLogs open query logs over one storage that keep a row for a day.
type QueryLogs struct {
	Hashed, Plain index.QueryLog
	// Count counts the rows, those with the text of a question, and the different hashes, of
	// rows with a total of one second.
	Count func(t *testing.T) (rows, questions, hashes int)
}

// TestQueryLog checks what an index.QueryLog promises.
func TestQueryLog(t *testing.T, logs QueryLogs) {
	at := time.Date(2026, time.May, 1, 2, 3, 4, 0, time.UTC)
	log := func(logger index.QueryLog, run string, at time.Time) {
		t.Helper()
		record := index.QueryRecord{At: at, Run: run, Question: "who?", Lexical: 3, Dense: 4, Shown: 2, Search: time.Millisecond, Total: time.Second}
		if err := logger.LogQuery(t.Context(), record); err != nil {
			t.Fatal(err)
		}
	}
	wantRows := func(what string, want ...int) {
		t.Helper()
		rows, questions, hashes := logs.Count(t)
		if rows != want[0] || questions != want[1] || hashes != want[2] {
			t.Errorf("%s: %d rows, %d questions, %d hashes, want %v", what, rows, questions, hashes, want)
		}
	}
	log(logs.Hashed, "r\x00", at)
	log(logs.Hashed, "r\x00", at.Add(time.Minute))
	wantRows("the same run twice", 1, 0, 1)
	log(logs.Plain, "s", at.Add(12*time.Hour))
	wantRows("as it was asked", 2, 1, 1)
	log(logs.Plain, "t", at.Add(30*time.Hour))
	wantRows("a day and more later", 2, 2, 1)
	if count, err := logs.Plain.ForgetQueries(t.Context(), []string{"s", "unknown"}); err != nil || count != 1 {
		t.Errorf("forgot %d, %v", count, err)
	}
	wantRows("after one was forgotten", 1, 1, 1)
}
