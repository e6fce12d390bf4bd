package quotatest

import (
	"strconv"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/cairn-bot/cairn/internal/quota"
	"github.com/cairn-bot/cairn/internal/redis/conn"
	"github.com/cairn-bot/cairn/internal/redis/conn/conntest"
)

// RedisPlace returns a Redis in which nothing is counted yet. Time passes there by making what is
// kept older: its clock is its own.
func RedisPlace(t *testing.T, address string) Place {
	t.Helper()
	client := conntest.Connect(t, address)
	for _, meter := range Meters {
		if err := client.Del(t.Context(), keyOf("asked", meter), keyOf("spent", meter)).Err(); err != nil {
			t.Fatal(err)
		}
	}
	return Place{
		Open: func(t *testing.T) quota.Counts {
			t.Helper()
			return quota.OpenRedis(conntest.Connect(t, address))
		},
		Pass: func(t *testing.T, by time.Duration) {
			t.Helper()
			for _, meter := range Meters {
				shiftQuestions(t, client, keyOf("asked", meter), by)
				shiftCosts(t, client, keyOf("spent", meter), by)
			}
		},
	}
}

func keyOf(what, meter string) string { return "cairn:{quota}:" + what + ":" + meter }

func shiftQuestions(t *testing.T, client *conn.Client, key string, by time.Duration) {
	t.Helper()
	asked, err := client.ZRangeWithScores(t.Context(), key, 0, -1).Result()
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range asked {
		older := goredis.Z{Score: one.Score - float64(by.Milliseconds()), Member: one.Member}
		if err := client.ZAdd(t.Context(), key, older).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

func shiftCosts(t *testing.T, client *conn.Client, key string, by time.Duration) {
	t.Helper()
	days := int(by / (24 * time.Hour))
	spent, err := client.HGetAll(t.Context(), key).Result()
	if err != nil {
		t.Fatal(err)
	}
	if days == 0 || len(spent) == 0 {
		return
	}
	if err := client.Del(t.Context(), key).Err(); err != nil {
		t.Fatal(err)
	}
	for day, millionths := range spent {
		number, err := strconv.Atoi(day)
		if err != nil {
			t.Fatal(err)
		}
		if err := client.HSet(t.Context(), key, strconv.Itoa(number-days), millionths).Err(); err != nil {
			t.Fatal(err)
		}
	}
}
