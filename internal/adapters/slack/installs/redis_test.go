package installs_test

import (
	"testing"

	"github.com/cairn-bot/cairn/internal/adapters/slack"
	"github.com/cairn-bot/cairn/internal/adapters/slack/installs"
	"github.com/cairn-bot/cairn/internal/redis/conn/conntest"
	"github.com/cairn-bot/cairn/internal/servertest"
)

func TestRedis(t *testing.T) {
	servertest.EachRedis(t, func(t *testing.T, address string) {
		testStore(t, func(t *testing.T) slack.Installs { return installs.OpenRedis(conntest.Connect(t, address)) })
	})
}
