package redis_test

import (
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/runs/redis/redistest"
	"github.com/cairn-bot/cairn/internal/runs/runstest"
	"github.com/cairn-bot/cairn/internal/servertest"
)

func cluster(t testing.TB) string {
	return "redis+cluster://" + strings.Join(servertest.Cluster(t), ",")
}

func TestStores(t *testing.T) { runstest.Stores(t, redistest.Places(servertest.Redis(t))) }

func TestStoresInACluster(t *testing.T) { runstest.Stores(t, redistest.Places(cluster(t))) }

func testRecords(t *testing.T, address string) {
	here := redistest.Place{Address: address, Prefix: "records"}
	runstest.Records(t, func(t *testing.T) runs.Records { return here.OpenStore(t, runs.Options{}).Records() })
}

func TestRecords(t *testing.T) { testRecords(t, servertest.Redis(t)) }

func TestRecordsInACluster(t *testing.T) { testRecords(t, cluster(t)) }
