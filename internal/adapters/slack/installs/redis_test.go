package installs_test

import (
	"strings"
	"testing"

	"cairn/internal/adapters/slack"
	"cairn/internal/adapters/slack/installs"
	"cairn/internal/redis/conn/conntest"
	"cairn/internal/servertest"
)

func TestRedis(t *testing.T) {
	address := servertest.Redis(t)
	testStore(t, func(t *testing.T) slack.Installs { return installs.OpenRedis(conntest.Connect(t, address)) })
}

func TestRedisInACluster(t *testing.T) {
	address := "redis+cluster://" + strings.Join(servertest.Cluster(t), ",")
	testStore(t, func(t *testing.T) slack.Installs { return installs.OpenRedis(conntest.Connect(t, address)) })
}
