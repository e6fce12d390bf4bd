package fleet_test

import (
	"testing"

	"github.com/cairn-bot/cairn/internal/adapters/discord/fleet"
	"github.com/cairn-bot/cairn/internal/adapters/discord/fleet/fleettest"
)

func TestMemory(t *testing.T) {
	fleettest.Run(t, func(*testing.T) (fleettest.Store, fleettest.Store) {
		store := fleet.NewMemory()
		return store, store
	})
}
