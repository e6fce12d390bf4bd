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

// oldest is the first version that has all commands that are used: XAUTOCLAIM, ZADD LT
// and exclusive ranges of streams.
const oldest = "6.2"

const (
	// pool is how many connections there may be. They are made as they are needed: each
	// claim that waits has one.
	pool      = 512
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
}

// quiet keeps the library from writing to standard error: what it says there it also
// returns.
type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

var silence = sync.OnceFunc(func() { redis.SetLogger(quiet{}) })

// Open connects to the Redis at an address and checks it. The forms of address:
//
//	redis://[user:password@]host[:6379][/database]
//	redis+sentinel://[user:password@]host[:26379][,host…]/master[/database]
//	redis+cluster://[user:password@]host[:6379][,host…]
//
// With rediss instead of redis the connections are encrypted; user and password are of
// the servers that hold the data. Errors never contain the address's password.
func Open(ctx context.Context, address string) (*Client, error) {
	silence()
	target, err := parse(address)
	if err != nil {
		return nil, fmt.Errorf("address of Redis: %w", err)
	}
	client := &Client{Cluster: target.kind == cluster}
	switch target.kind {
	case single:
		client.UniversalClient = redis.NewClient(target.options().Simple())
	case sentinel:
		client.UniversalClient = redis.NewFailoverClient(target.options().Failover())
	case cluster:
		client.UniversalClient = redis.NewClusterClient(target.options().Cluster())
	}
	ctx, cancel := context.WithTimeout(ctx, openLimit)
	defer cancel()
	if err := client.check(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("connect to Redis at %s: %w", target.hosts(), Explain(err)), client.Close())
	}
	return client, nil
}

func (t target) options() *redis.UniversalOptions {
	options := &redis.UniversalOptions{
		Addrs: t.addresses, DB: t.database, Username: t.user, Password: t.password, MasterName: t.master,
		PoolSize: pool, ContextTimeoutEnabled: true,
	}
	if t.encrypted {
		options.TLSConfig = tlsFor(t.addresses[0])
	}
	return options
}

// check looks at every server that holds data.
func (c *Client) check(ctx context.Context) error {
	warned := make(map[string]bool)
	var mu sync.Mutex
	look := func(ctx context.Context, server *redis.Client) error {
		text, err := server.Info(ctx).Result()
		if err != nil {
			return err
		}
		info := fields(text)
		if err := c.usable(info); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		for _, warning := range doubts(info) {
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

// usable is nil where a server with this INFO can be worked with.
func (c *Client) usable(info map[string]string) error {
	version := info["redis_version"]
	switch {
	case older(version, oldest):
		return fmt.Errorf("it is version %s, and %s or later is needed: upgrade it", version, oldest)
	case info["role"] == "slave":
		return errors.New("it is a replica, which takes no writes: give the address of its master, or of its Sentinels as redis+sentinel://")
	case info["cluster_enabled"] == "1" && !c.Cluster:
		return errors.New("it is a node of a cluster: write the address as redis+cluster://")
	case info["cluster_enabled"] != "1" && c.Cluster:
		return errors.New("it is not in a cluster: write the address as redis://")
	}
	return nil
}

// doubts are the settings with which accepted work can be lost.
func doubts(info map[string]string) []string {
	var found []string
	if info["aof_enabled"] != "1" {
		found = append(found, "Redis runs without its append-only file: a restart loses accepted questions; set appendonly yes")
	}
	if policy := info["maxmemory_policy"]; info["maxmemory"] != "0" && policy != "" && policy != "noeviction" {
		found = append(found, "Redis drops keys when its memory is full (maxmemory-policy "+policy+"): questions and sessions may vanish; set maxmemory-policy noeviction")
	}
	return found
}

// fields reads the answer of INFO.
func fields(text string) map[string]string {
	info := make(map[string]string)
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			info[name] = value
		}
	}
	return info
}

// older compares versions, "7.0.15" style; what is not a number counts as 0.
func older(version, than string) bool {
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

// remedies tell what to do about what Redis refuses, by the first word of its error.
var remedies = []struct{ prefix, remedy string }{
	{"WRONGPASS", "the user or the password is wrong: correct the address"},
	{"NOAUTH", "it wants a password: write it into the address as redis://:password@host"},
	{"NOPERM", "this user may not do this: give it all commands on these keys"},
	{"OOM", "its memory is full: raise maxmemory or make room; nothing was written"},
	{"READONLY", "it is a replica, which takes no writes: give the address of its master, or use redis+sentinel://"},
	{"MISCONF", "it can't write to its disk: make room there; nothing was written"},
	{"LOADING", "it is still reading its data: try again in a moment"},
	{"CLUSTERDOWN", "a part of the cluster is down: bring its nodes back"},
	{"MASTERDOWN", "its master is down: bring it back, or fail over"},
	{"DB index", "it has no such database: correct the number at the end of the address"},
}

// Explain adds to an error of Redis what can be done about it. It is nil for nil.
func Explain(err error) error {
	if err == nil {
		return nil
	}
	for _, known := range remedies {
		if redis.HasErrorPrefix(err, known.prefix) {
			return fmt.Errorf("%s (%w)", known.remedy, err)
		}
	}
	return err
}
