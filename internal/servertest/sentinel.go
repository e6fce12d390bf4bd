package servertest

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

// MasterName is what the Sentinels of tests call their master.
const MasterName = "main"

// Watched is a Redis with a replica, and the Sentinels that watch over both.
type Watched struct {
	URL string // redis+sentinel://…
	// Data are the servers that hold the data: the master, then its replica.
	Data []*Server
}

// Sentinels starts a Redis with a replica and three Sentinels, who fail over a second
// after the master stopped answering. With a password, which "" is none, all of them want
// it. All end with the test.
func Sentinels(t testing.TB, password string) *Watched {
	t.Helper()
	var settings, lines []string
	if password != "" {
		settings = []string{"--requirepass", password, "--masterauth", password}
		lines = []string{"requirepass " + password, "sentinel sentinel-pass " + password}
	}
	master := startServer(t, &Server{program: "redis", settings: settings, dial: redis.Options{Password: password}})
	replica := startServer(t, &Server{
		program: "redis", dial: master.dial,
		settings: append([]string{"--replicaof", "127.0.0.1", strconv.Itoa(master.port)}, settings...),
	})
	awaitLine(t, replica, "replication", "master_link_status:up")
	lines = append(lines,
		fmt.Sprintf("sentinel monitor %s 127.0.0.1 %d 2", MasterName, master.port),
		fmt.Sprintf("sentinel down-after-milliseconds %s 1000", MasterName),
		fmt.Sprintf("sentinel failover-timeout %s 5000", MasterName))
	if password != "" {
		lines = append(lines, fmt.Sprintf("sentinel auth-pass %s %s", MasterName, password))
	}
	var watchers []*Server
	var addresses []string
	for range 3 {
		watcher := startServer(t, &Server{program: "sentinel", settings: lines, dial: master.dial})
		watchers = append(watchers, watcher)
		addresses = append(addresses, watcher.serverAddress())
	}
	for _, watcher := range watchers {
		awaitLine(t, watcher, "sentinel", "slaves=1,sentinels=3")
	}
	return &Watched{
		URL: "redis+sentinel://" + strings.Join(addresses, ",") + "/" + MasterName + "/0", Data: []*Server{master, replica},
	}
}

// awaitLine waits until a section of a server's INFO holds a text.
func awaitLine(t testing.TB, server *Server, section, text string) {
	t.Helper()
	dial := server.dial
	client := redis.NewClient(&dial)
	defer closeClient(t, client)
	err := retryUntil(t.Context(), func(ctx context.Context) error {
		info, err := client.Info(ctx, section).Result()
		if err == nil && !strings.Contains(info, text) {
			err = fmt.Errorf("no %s in\n%s", text, info)
		}
		return err
	})
	if err != nil {
		t.Fatalf("%s: %v", server.program, err)
	}
}
