package fleet_test

import (
	"testing"

	"cairn/internal/adapters/discord/fleet"
	"cairn/internal/adapters/discord/fleet/fleettest"
)

func TestMemory(t *testing.T) {
	fleettest.Run(t, func(*testing.T) (fleettest.Store, fleettest.Store) {
		store := fleet.NewMemory()
		return store, store
	})
}
