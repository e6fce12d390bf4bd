package embedded_test

import (
	"testing"

	"cairn/internal/adapters/discord/fleet/embedded"
	"cairn/internal/adapters/discord/fleet/fleettest"
)

func TestStore(t *testing.T) {
	fleettest.Run(t, func(*testing.T) (fleettest.Store, fleettest.Store) {
		store := embedded.New()
		return store, store
	})
}
