package conn

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// epoch is the time since which the servers have lost nothing.
type epoch struct {
	mu    sync.Mutex
	known map[string]bool // lives of servers: one that starts again, or is promoted, begins another
	since time.Time
	// watching tells that all servers were seen once: one that turns up later as a promoted
	// replica was promoted meanwhile.
	watching bool
}

// Since returns when the servers began to answer for all that they were told, by their own
// clock. One that is killed, or replaced by its replica, may have forgotten the last
// second or two before that, also of what it had confirmed: Redis writes its
// append-only file behind, unless appendfsync is "always".
func (c *Client) Since() time.Time {
	c.epoch.mu.Lock()
	defer c.epoch.mu.Unlock()
	return c.epoch.since
}

// checkConnection checks the server behind a new connection. A server that was killed is checked
// again before any command: its connections died with it.
func (e *epoch) checkConnection(ctx context.Context, connection *redis.Conn) error {
	about, err := connection.InfoMap(ctx, "server").Result()
	if err != nil {
		return err
	}
	if olderThan(about["Server"]["redis_version"], minVersion) {
		return nil // it does not tell its time, and check refuses it
	}
	linked, err := connection.InfoMap(ctx, "replication").Result()
	if err != nil {
		return err
	}
	return e.recordServer(about["Server"], linked["Replication"])
}

// recordServer keeps what a server says of itself.
func (e *epoch) recordServer(server, replication map[string]string) error {
	usec, err := strconv.ParseInt(server["server_time_usec"], 10, 64)
	if err != nil {
		return fmt.Errorf("time of the server: %w", err)
	}
	up, err := strconv.ParseInt(server["uptime_in_seconds"], 10, 64)
	if err != nil {
		return fmt.Errorf("uptime of the server: %w", err)
	}
	life := server["run_id"] + " " + replication["master_replid"]
	now := time.UnixMilli(usec / 1000).UTC()
	// Both ends of the uptime are whole seconds, rounded down: this is the latest it can be.
	began := now.Truncate(time.Second).Add(time.Second - time.Duration(up)*time.Second)
	if began.After(now) {
		began = now
	}
	promoted := strings.Trim(replication["master_replid2"], "0") != ""
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.known[life] {
		return nil
	}
	if e.known == nil {
		e.known = make(map[string]bool)
	}
	e.known[life] = true
	if promoted && e.watching {
		began = now
	}
	if began.After(e.since) {
		e.since = began
	}
	return nil
}

// watchServers makes servers that appear from now on count as new.
func (e *epoch) watchServers() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.watching = true
}
