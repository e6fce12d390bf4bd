package access_test

import (
	"testing"

	"github.com/cairn-bot/cairn/internal/access"
	"github.com/cairn-bot/cairn/internal/redis/conn/conntest"
	"github.com/cairn-bot/cairn/internal/servertest"
)

func TestRedis(t *testing.T) {
	servertest.EachRedis(t, func(t *testing.T, address string) {
		testStore(t, func(t *testing.T) access.Store { return access.OpenRedis(conntest.Connect(t, address)) })
	})
}
