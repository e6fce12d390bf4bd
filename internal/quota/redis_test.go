package quota_test

import (
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/quota"
	"github.com/cairn-bot/cairn/internal/quota/quotatest"
	"github.com/cairn-bot/cairn/internal/redis/conn/conntest"
	"github.com/cairn-bot/cairn/internal/servertest"
)

func TestRedis(t *testing.T) {
	servertest.EachRedis(t, func(t *testing.T, address string) {
		quotatest.Run(t, func(t *testing.T) quotatest.Place { return quotatest.RedisPlace(t, address) })
	})
}

// What is kept goes by itself, and no id can leave its key.
func TestWhatIsKeptEnds(t *testing.T) {
	client := conntest.Connect(t, servertest.Redis(t))
	store := quota.OpenRedis(client)
	if _, err := store.Take(t.Context(), "q", []quota.Meter{{Name: "user:slack:{U*}%", Questions: 1}}); err != nil {
		t.Fatal(err)
	}
	if err := store.Spend(t.Context(), []string{"user:slack:{U*}%"}, 1); err != nil {
		t.Fatal(err)
	}
	for key, most := range map[string]time.Duration{
		"cairn:{quota}:asked:user:slack:%7BU%2A%7D%25": time.Hour, "cairn:{quota}:spent:user:slack:%7BU%2A%7D%25": 48 * time.Hour,
	} {
		if left, err := client.PTTL(t.Context(), key).Result(); err != nil || left <= 0 || left > most {
			t.Errorf("%s is kept for %s, %v", key, left, err)
		}
	}
}
