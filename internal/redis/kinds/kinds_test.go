package kinds_test

import (
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/quota/quotatest"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/runs/redis/redistest"
	"github.com/cairn-bot/cairn/internal/runs/runstest"
	"github.com/cairn-bot/cairn/internal/servertest"
	"github.com/cairn-bot/cairn/internal/session"
	"github.com/cairn-bot/cairn/internal/session/sessiontest"
)

// suites runs all suites of what is kept in Redis. All keys begin with "cairn".
func suites(t *testing.T, address string) {
	t.Run("runs", func(t *testing.T) { runstest.Stores(t, redistest.Places(address)) })
	t.Run("records", func(t *testing.T) {
		here := redistest.Place{Address: address, Prefix: "cairn-records"}
		runstest.Records(t, func(t *testing.T) runs.Records { return here.OpenStore(t, runs.Options{}).Records() })
	})
	t.Run("quota", func(t *testing.T) {
		quotatest.Run(t, func(t *testing.T) quotatest.Place { return quotatest.RedisPlace(t, address) })
	})
	t.Run("sessions", func(t *testing.T) {
		sessiontest.Run(t, func(t *testing.T) session.Store {
			return redistest.Place{Address: address, Prefix: "cairn"}.OpenStore(t, runs.Options{}).Sessions()
		})
	})
}

func TestSentinels(t *testing.T) {
	t.Parallel()
	suites(t, servertest.Sentinels(t, "").URL)
}

func TestValkey(t *testing.T) {
	t.Parallel()
	suites(t, servertest.Valkey(t).URL)
}

// rights are those that docs/redis.md gives the bot's user.
const rights = "on >hush ~cairn* &cairn* +@read +@write +@pubsub +@scripting +@connection +@transaction +info +time +bgrewriteaof"

func TestEncryptedWithAUser(t *testing.T) {
	t.Parallel()
	settings := append([]string{"--user", "default", "off", "--user", "cairn"}, strings.Fields(rights)...)
	server, _ := servertest.EncryptedRedis(t, settings...)
	suites(t, strings.Replace(server.URL, "rediss://", "rediss://cairn:hush@", 1))
}
