package redis_test

import (
	"strings"
	"testing"

	"cairn/internal/chat/settings"
	"cairn/internal/chat/settings/redis"
	"cairn/internal/chat/settings/settingstest"
	"cairn/internal/redis/conn/conntest"
	"cairn/internal/servertest"
)

func TestStore(t *testing.T) {
	address := servertest.Redis(t)
	settingstest.Run(t, func(t *testing.T) settings.Store { return redis.Open(conntest.Connect(t, address)) })
}

func TestStoreInACluster(t *testing.T) {
	address := "redis+cluster://" + strings.Join(servertest.Cluster(t), ",")
	settingstest.Run(t, func(t *testing.T) settings.Store { return redis.Open(conntest.Connect(t, address)) })
}
