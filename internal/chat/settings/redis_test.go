package settings_test

import (
	"testing"

	"github.com/cairn-bot/cairn/internal/chat/settings"
	"github.com/cairn-bot/cairn/internal/redis/conn/conntest"
	"github.com/cairn-bot/cairn/internal/servertest"
)

func TestRedis(t *testing.T) {
	servertest.EachRedis(t, func(t *testing.T, address string) {
		testStore(t, func(t *testing.T) settings.Store { return settings.OpenRedis(conntest.Connect(t, address)) })
	})
}
