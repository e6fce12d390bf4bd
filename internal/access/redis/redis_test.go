package redis_test

import (
	"strings"
	"testing"

	"cairn/internal/access"
	"cairn/internal/access/accesstest"
	"cairn/internal/access/redis"
	"cairn/internal/redis/conn/conntest"
	"cairn/internal/servertest"
)

func TestStore(t *testing.T) {
	address := servertest.Redis(t)
	accesstest.Run(t, func(t *testing.T) access.Store { return redis.Open(conntest.Connect(t, address)) })
}

func TestStoreInACluster(t *testing.T) {
	address := "redis+cluster://" + strings.Join(servertest.Cluster(t), ",")
	accesstest.Run(t, func(t *testing.T) access.Store { return redis.Open(conntest.Connect(t, address)) })
}
