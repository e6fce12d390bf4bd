package installs_test

import (
	"testing"

	"cairn/internal/adapters/slack"
	"cairn/internal/adapters/slack/installs"
	"cairn/internal/redis/conn/conntest"
	"cairn/internal/servertest"
)

func TestRedis(t *testing.T) {
	servertest.EachRedis(t, func(t *testing.T, address string) {
		testStore(t, func(t *testing.T) slack.Installs { return installs.OpenRedis(conntest.Connect(t, address)) })
	})
}
