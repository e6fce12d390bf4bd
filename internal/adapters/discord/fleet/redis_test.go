package fleet_test

import (
	"crypto/rand"
	"testing"

	"cairn/internal/adapters/discord/fleet"
	"cairn/internal/adapters/discord/fleet/fleettest"
	"cairn/internal/redis/conn/conntest"
	"cairn/internal/servertest"
)

// runSuite has each test use a bot of its own.
func runSuite(t *testing.T, address string) {
	fleettest.Run(t, func(t *testing.T) (fleettest.Store, fleettest.Store) {
		application := rand.Text()
		return fleet.OpenRedis(conntest.Connect(t, address), application), fleet.OpenRedis(conntest.Connect(t, address), application)
	})
}

func TestRedis(t *testing.T) { servertest.EachRedis(t, runSuite) }
