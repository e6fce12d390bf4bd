package fleet_test

import (
	"crypto/rand"
	"testing"

	"github.com/cairn-bot/cairn/internal/adapters/discord/fleet"
	"github.com/cairn-bot/cairn/internal/adapters/discord/fleet/fleettest"
	"github.com/cairn-bot/cairn/internal/redis/conn/conntest"
	"github.com/cairn-bot/cairn/internal/servertest"
)

// runSuite has each test use a bot of its own.
func runSuite(t *testing.T, address string) {
	fleettest.Run(t, func(t *testing.T) (fleettest.Store, fleettest.Store) {
		application := rand.Text()
		return fleet.OpenRedis(conntest.Connect(t, address), application), fleet.OpenRedis(conntest.Connect(t, address), application)
	})
}

func TestRedis(t *testing.T) { servertest.EachRedis(t, runSuite) }
