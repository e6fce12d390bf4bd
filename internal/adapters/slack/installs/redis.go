package installs

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/cairn-bot/cairn/internal/adapters/slack"
	"github.com/cairn-bot/cairn/internal/redis/conn"
)

// letGo has KEYS held; ARGV owner. It lets go of what is still the owner's.
var letGo = redis.NewScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1`)

// Redis is a slack.Installs in a Redis.
//
// PREFIX is "cairn", {I} the id of a workspace or enterprise.
//
//	key                        type    what
//	PREFIX:slack:{I}:install   string  the sealed install; kept until it ends
//	PREFIX:slack:{I}:held      string  who refreshes it; gone by itself
type Redis struct{ client *conn.Client }

var _ slack.Installs = (*Redis)(nil)

// OpenRedis gives the installs in a Redis. The client stays the caller's.
func OpenRedis(client *conn.Client) *Redis { return &Redis{client: client} }

func installKey(id slack.InstallID, what string) string {
	return "cairn:slack:{" + string(id) + "}:" + what
}

// Load implements slack.Installs.
func (s *Redis) Load(ctx context.Context, id slack.InstallID) ([]byte, error) {
	sealed, err := s.client.Get(ctx, installKey(id, "install")).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, slack.ErrNotInstalled
	}
	if err != nil {
		return nil, fmt.Errorf("read install %s: %w", id, err)
	}
	return sealed, nil
}

// Save implements slack.Installs.
func (s *Redis) Save(ctx context.Context, id slack.InstallID, sealed []byte) error {
	if err := s.client.Set(ctx, installKey(id, "install"), sealed, 0).Err(); err != nil {
		return fmt.Errorf("write install %s: %w", id, err)
	}
	return nil
}

// Delete implements slack.Installs.
func (s *Redis) Delete(ctx context.Context, id slack.InstallID) error {
	if err := s.client.Del(ctx, installKey(id, "install")).Err(); err != nil {
		return fmt.Errorf("delete install %s: %w", id, err)
	}
	return nil
}

// Lock implements slack.Installs, by the server's clock.
func (s *Redis) Lock(ctx context.Context, id slack.InstallID, limit time.Duration) (held bool, unlock func(context.Context) error, err error) {
	owner := rand.Text()
	err = s.client.SetArgs(ctx, installKey(id, "held"), owner, redis.SetArgs{Mode: "NX", TTL: limit}).Err()
	if errors.Is(err, redis.Nil) {
		return false, nil, nil
	}
	if err != nil {
		return false, nil, fmt.Errorf("hold install %s: %w", id, err)
	}
	return true, func(ctx context.Context) error {
		if err := letGo.Run(ctx, s.client, []string{installKey(id, "held")}, owner).Err(); err != nil {
			return fmt.Errorf("let go of install %s: %w", id, err)
		}
		return nil
	}, nil
}
