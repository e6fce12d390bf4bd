package access_test

import (
	"testing"

	"cairn/internal/access"
	"cairn/internal/redis/conn/conntest"
	"cairn/internal/servertest"
)

func TestRedis(t *testing.T) {
	servertest.EachRedis(t, func(t *testing.T, address string) {
		testStore(t, func(t *testing.T) access.Store { return access.OpenRedis(conntest.Connect(t, address)) })
	})
}
