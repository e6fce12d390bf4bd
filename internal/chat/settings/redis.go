package settings

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/cairn-bot/cairn/internal/redis/conn"
)

// Redis is a Store in a Redis.
//
// PREFIX is "cairn", {S} a space such as "slack:T0123", {A} an app, {K} the key of a notice.
//
//	key                          type    content
//	PREFIX:settings:{S}          hash    by channel, "" for the whole space: its setting in JSON
//	PREFIX:settings:{A}:spaces   string  the spaces that were there at set-up, a list in JSON
//	PREFIX:settings:{K}:told     string  the notice was given; gone by itself
type Redis struct{ client *conn.Client }

var _ Store = (*Redis)(nil)

// OpenRedis gives the store in a Redis. The client stays the caller's.
func OpenRedis(client *conn.Client) *Redis { return &Redis{client: client} }

func redisKey(of, what string) string { return "cairn:settings:{" + of + "}" + what }

// Get implements Store.
func (s *Redis) Get(ctx context.Context, space Space, channel string) (Setting, error) {
	stored, err := s.client.HGet(ctx, redisKey(string(space), ""), channel).Bytes()
	if errors.Is(err, redis.Nil) {
		return Setting{}, nil
	}
	if err != nil {
		return Setting{}, fmt.Errorf("read the setting of %s: %w", space, err)
	}
	return decodeSetting(stored)
}

// Put implements Store.
func (s *Redis) Put(ctx context.Context, space Space, channel string, setting Setting) error {
	stored, err := encodeSetting(space, setting)
	if err != nil {
		return err
	}
	if err := s.client.HSet(ctx, redisKey(string(space), ""), channel, stored).Err(); err != nil {
		return fmt.Errorf("write the setting of %s: %w", space, err)
	}
	return nil
}

// List implements Store. It looks at the names of all keys.
func (s *Redis) List(ctx context.Context) ([]Placed, error) {
	var mu sync.Mutex
	var keys []string
	err := s.client.EachServer(ctx, func(ctx context.Context, server *redis.Client) error {
		found := server.ScanType(ctx, 0, redisKey("*", ""), scanned, "hash").Iterator()
		for found.Next(ctx) {
			mu.Lock()
			keys = append(keys, found.Val())
			mu.Unlock()
		}
		return found.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("list settings: %w", err)
	}
	slices.Sort(keys)
	var list []Placed
	for _, key := range slices.Compact(keys) { // a scan may tell of a key twice
		before, after, _ := strings.Cut(redisKey("*", ""), "*")
		space := Space(strings.TrimSuffix(strings.TrimPrefix(key, before), after))
		channels, err := s.client.HGetAll(ctx, key).Result()
		if err != nil {
			return nil, fmt.Errorf("list the settings of %s: %w", space, err)
		}
		for channel, stored := range channels {
			setting, err := decodeSetting([]byte(stored))
			if err != nil {
				return nil, err
			}
			list = append(list, Placed{space, channel, setting})
		}
	}
	sortPlaced(list)
	return list, nil
}

// scanned is how many keys are asked for at a time.
const scanned = 1000

// RememberSpaces implements Store.
func (s *Redis) RememberSpaces(ctx context.Context, app string, spaces []Space) ([]Space, error) {
	if len(spaces) > 0 {
		stored, err := encodeSpaces(app, spaces)
		if err != nil {
			return nil, err
		}
		if err := s.client.SetNX(ctx, redisKey(app, ":spaces"), stored, 0).Err(); err != nil {
			return nil, fmt.Errorf("write the spaces of %s: %w", app, err)
		}
	}
	stored, err := s.client.Get(ctx, redisKey(app, ":spaces")).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the spaces of %s: %w", app, err)
	}
	return decodeSpaces(app, stored)
}

// MarkTold implements Store.
func (s *Redis) MarkTold(ctx context.Context, notice string, keep time.Duration) (first bool, err error) {
	first, err = s.client.SetNX(ctx, redisKey(notice, ":told"), 1, keep).Result()
	if err != nil {
		return false, fmt.Errorf("note the notice %s: %w", notice, err)
	}
	return first, nil
}
