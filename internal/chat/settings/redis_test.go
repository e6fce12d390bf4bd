package settings_test

import (
	"testing"

	"cairn/internal/chat/settings"
	"cairn/internal/redis/conn/conntest"
	"cairn/internal/servertest"
)

func TestRedis(t *testing.T) {
	servertest.EachRedis(t, func(t *testing.T, address string) {
		testStore(t, func(t *testing.T) settings.Store { return settings.OpenRedis(conntest.Connect(t, address)) })
	})
}
