// Package conn connects to Redis: a single server, Sentinel or Cluster, by one address.
// It checks at the start what the backends rely on, and tells what goes wrong with what
// to do about it.
package conn

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// minVersion is the first version that has all commands that are used: XAUTOCLAIM, ZADD LT
// and exclusive ranges of streams.
const minVersion = "6.2"

const (
	// poolSize is how many connections there may be. They are made as they are needed: each
	// claim that waits has one.
	poolSize  = 512
	openLimit = 10 * time.Second
)

// Client is a connection to Redis. It may be shared by backends.
type Client struct {
	redis.UniversalClient
	// Cluster tells that keys of different hash tags may be on different servers.
	Cluster bool
	// Warnings are about settings with which accepted work can be lost, in words for
	// operators; none where all is well.
	Warnings []string

	epoch epoch
}

// discardLogger keeps the library from writing to standard error: what it says there it also
// returns.
type discardLogger struct{}

func (discardLogger) Printf(context.Context, string, ...any) {}

var silenceLibrary = sync.OnceFunc(func() { redis.SetLogger(discardLogger{}) })

// Open connects to the Redis at an address and checks it. It waits a little for one that
// is about to start. The forms of address:
//
//	redis://[user:password@]host[:6379][/database]
//	redis+sentinel://[user:password@]host[:26379][,host…]/master[/database]
//	redis+cluster://[user:password@]host[:6379][,host…]
//
// With rediss instead of redis the connections are encrypted; where the servers'
// certificates are signed by an authority that the machine does not trust, ?ca=FILE at
// the end names its certificate (PEM). User and password are of the servers that hold
// the data, and of Sentinels where those want some. Errors never contain the password.
func Open(ctx context.Context, address string) (*Client, error) {
	silenceLibrary()
	target, err := parseAddress(address)
	if err != nil {
		return nil, fmt.Errorf("address of Redis: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, openLimit)
	defer cancel()
	client, err := target.openClient(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect to Redis at %s: %w", target.hostNames(), explainDial(err))
	}
	return client, nil
}

// openClient connects, and closes what it made where that fails.
func (t target) openClient(ctx context.Context) (*Client, error) {
	options, err := t.clientOptions()
	if err != nil {
		return nil, err
	}
	if err := retryTransient(ctx, func(ctx context.Context) error { return t.awaitServer(ctx, options.TLSConfig) }); err != nil {
		return nil, err
	}
	client := &Client{Cluster: t.kind == cluster}
	options.OnConnect = client.epoch.checkConnection
	switch t.kind {
	case single:
		client.UniversalClient = redis.NewClient(options.Simple())
	case sentinel:
		err := retryTransient(ctx, func(ctx context.Context) error { return t.askSentinels(ctx, options) })
		if err != nil {
			return nil, err
		}
		client.UniversalClient = redis.NewFailoverClient(options.Failover())
	case cluster:
		client.UniversalClient = redis.NewClusterClient(options.Cluster())
	}
	if err := retryTransient(ctx, client.checkServers); err != nil {
		return nil, errors.Join(err, client.Close())
	}
	client.epoch.watchServers()
	return client, nil
}

func (t target) clientOptions() (*redis.UniversalOptions, error) {
	options := &redis.UniversalOptions{
		Addrs: t.addresses, DB: t.database, Username: t.user, Password: t.password, MasterName: t.master,
		PoolSize: poolSize, ContextTimeoutEnabled: true,
	}
	if t.encrypted {
		var err error
		if options.TLSConfig, err = tlsConfig(t.ca); err != nil {
			return nil, err
		}
	}
	return options, nil
}

// checkServers checks every server that holds data.
func (c *Client) checkServers(ctx context.Context) error {
	warned := make(map[string]bool)
	c.Warnings = nil
	var mu sync.Mutex
	look := func(ctx context.Context, server *redis.Client) error {
		text, err := server.Info(ctx).Result()
		if err != nil {
			return err
		}
		info := parseInfo(text)
		if err := c.checkServer(info); err != nil {
			return err
		}
		if info["loading"] == "1" {
			return errLoading
		}
		mu.Lock()
		defer mu.Unlock()
		for _, warning := range durabilityDoubts(info) {
			if !warned[warning] {
				warned[warning] = true
				c.Warnings = append(c.Warnings, warning)
			}
		}
		return nil
	}
	return c.EachServer(ctx, look)
}

// EachServer calls do for every server that holds a part of the keys, at once for those
// of a cluster.
func (c *Client) EachServer(ctx context.Context, do func(ctx context.Context, server *redis.Client) error) error {
	switch client := c.UniversalClient.(type) {
	case *redis.ClusterClient:
		return client.ForEachMaster(ctx, do)
	case *redis.Client:
		return do(ctx, client)
	}
	return fmt.Errorf("no way to reach the servers of a %T", c.UniversalClient)
}

// checkServer returns an error if a server with this INFO can't be used.
func (c *Client) checkServer(info map[string]string) error {
	version := info["redis_version"]
	switch {
	case olderThan(version, minVersion):
		return fmt.Errorf("it is version %s, and %s or later is needed: upgrade it", version, minVersion)
	case info["role"] == "slave":
		return errors.New("it is a replica, which takes no writes: give the address of its master, or of its Sentinels as redis+sentinel://")
	case info["cluster_enabled"] == "1" && !c.Cluster:
		return errors.New("it is a node of a cluster: write the address as redis+cluster://")
	case info["cluster_enabled"] != "1" && c.Cluster:
		return errors.New("it is not in a cluster: write the address as redis://")
	}
	return nil
}

// durabilityDoubts returns the settings with which accepted work can be lost.
func durabilityDoubts(info map[string]string) []string {
	var found []string
	if info["aof_enabled"] != "1" {
		found = append(found, "Redis runs without its append-only file: a restart loses accepted questions; set appendonly yes")
	}
	if policy := info["maxmemory_policy"]; info["maxmemory"] != "0" && policy != "" && policy != "noeviction" {
		found = append(found, "Redis drops keys when its memory is full (maxmemory-policy "+policy+"): questions and sessions may vanish; set maxmemory-policy noeviction")
	}
	return found
}

// parseInfo reads the answer of INFO.
func parseInfo(text string) map[string]string {
	info := make(map[string]string)
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			info[name] = value
		}
	}
	return info
}

// olderThan compares versions, "7.0.15" style; what is not a number counts as 0.
func olderThan(version, than string) bool {
	have, want := strings.Split(version, "."), strings.Split(than, ".")
	for i := range want {
		var a, b int
		if i < len(have) {
			a, _ = strconv.Atoi(have[i]) //nolint:errcheck // a version that is none is an old one
		}
		b, _ = strconv.Atoi(want[i]) //nolint:errcheck // it is the constant above
		if a != b {
			return a < b
		}
	}
	return false
}
