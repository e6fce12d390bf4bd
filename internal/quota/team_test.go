package quota_test

import (
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/quota"
	"github.com/cairn-bot/cairn/internal/sqlite/sqlitetest"
)

func TestATeamUsesUpItsModels(t *testing.T) {
	for name, limits := range map[string]quota.TeamLimits{"tokens": {Tokens: 100}, "cost": {Cost: 0.5}, "both": {Tokens: 100, Cost: 100}} {
		t.Run(name, func(t *testing.T) {
			tokens, cost := 10, 0.1 // used before the run works on
			limiter := quota.NewTeamLimiter(quota.TeamOptions{
				Limits: limits, Counts: quota.OpenSQLite(sqlitetest.Open(t, t.TempDir())),
				Team: func(m chat.Message) string { return string(m.Author) }, Used: func(string) (int, float64) { return tokens, cost },
			})
			ours, theirs, nobodys := chat.Message{Thread: "slack:a", Author: "T1"}, chat.Message{Thread: "slack:b", Author: "T2"}, chat.Message{Thread: "web:c"}
			for range 2 { // what is used up by two runs
				if left, err := limiter.UsedUp(t.Context(), ours); left != 0 || err != nil {
					t.Fatalf("%s, %v", left, err)
				}
				charge := limiter.Watch("run-1", ours)
				tokens, cost = tokens+50, cost+0.25
				if err := charge(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if left, err := limiter.UsedUp(t.Context(), ours); left <= 0 || left > 24*time.Hour || err != nil {
				t.Errorf("used up: %s, %v", left, err)
			}
			for _, other := range []chat.Message{theirs, nobodys} {
				if left, err := limiter.UsedUp(t.Context(), other); left != 0 || err != nil {
					t.Errorf("%s: %s, %v", other.Thread, left, err)
				}
			}
		})
	}
}
