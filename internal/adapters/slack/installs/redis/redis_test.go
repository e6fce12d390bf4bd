package redis_test

import (
	"strings"
	"testing"

	"cairn/internal/adapters/slack"
	"cairn/internal/adapters/slack/installs/installstest"
	"cairn/internal/adapters/slack/installs/redis"
	"cairn/internal/redis/conn/conntest"
	"cairn/internal/servertest"
)

func TestStore(t *testing.T) {
	address := servertest.Redis(t)
	installstest.Run(t, func(t *testing.T) slack.Installs { return redis.Open(conntest.Connect(t, address)) })
}

func TestStoreInACluster(t *testing.T) {
	address := "redis+cluster://" + strings.Join(servertest.Cluster(t), ",")
	installstest.Run(t, func(t *testing.T) slack.Installs { return redis.Open(conntest.Connect(t, address)) })
}
