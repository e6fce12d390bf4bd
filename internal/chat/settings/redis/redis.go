// Package redis keeps the settings of places in Redis 6.2 or later: a single server, behind
// Sentinel, or a Cluster.
//
// PREFIX is "cairn", {S} a space such as "slack:T0123", {A} an app, {K} the key of a notice.
//
//	key                          type    content
//	PREFIX:settings:{S}          hash    by channel, "" for the whole space: its setting in JSON
//	PREFIX:settings:{A}:spaces   string  the spaces that were there at set-up, a list in JSON
//	PREFIX:settings:{K}:told     string  the notice was given; gone by itself
package redis

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"cairn/internal/chat/settings"
	"cairn/internal/redis/conn"
)

// Store is a settings.Store in a Redis.
type Store struct{ client *conn.Client }

var _ settings.Store = (*Store)(nil)

// Open gives the store in a Redis. The client stays the caller's.
func Open(client *conn.Client) *Store { return &Store{client: client} }

func key(of, what string) string { return "cairn:settings:{" + of + "}" + what }

// Get implements settings.Store.
func (s *Store) Get(ctx context.Context, space settings.Space, channel string) (settings.Setting, error) {
	stored, err := s.client.HGet(ctx, key(string(space), ""), channel).Bytes()
	if errors.Is(err, redis.Nil) {
		return settings.Setting{}, nil
	}
	if err != nil {
		return settings.Setting{}, fmt.Errorf("read the setting of %s: %w", space, err)
	}
	return settings.Decode(stored)
}

// Put implements settings.Store.
func (s *Store) Put(ctx context.Context, space settings.Space, channel string, setting settings.Setting) error {
	stored, err := settings.Encode(setting)
	if err != nil {
		return fmt.Errorf("encode the setting of %s: %w", space, err)
	}
	if err := s.client.HSet(ctx, key(string(space), ""), channel, stored).Err(); err != nil {
		return fmt.Errorf("write the setting of %s: %w", space, err)
	}
	return nil
}

// RememberSpaces implements settings.Store.
func (s *Store) RememberSpaces(ctx context.Context, app string, spaces []settings.Space) ([]settings.Space, error) {
	if len(spaces) > 0 {
		stored, err := json.Marshal(spaces)
		if err != nil {
			return nil, fmt.Errorf("encode the spaces of %s: %w", app, err)
		}
		if err := s.client.SetNX(ctx, key(app, ":spaces"), stored, 0).Err(); err != nil {
			return nil, fmt.Errorf("write the spaces of %s: %w", app, err)
		}
	}
	stored, err := s.client.Get(ctx, key(app, ":spaces")).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the spaces of %s: %w", app, err)
	}
	var kept []settings.Space
	if err := json.Unmarshal(stored, &kept); err != nil {
		return nil, fmt.Errorf("read the spaces of %s: %w", app, err)
	}
	return kept, nil
}

// MarkTold implements settings.Store.
func (s *Store) MarkTold(ctx context.Context, notice string, keep time.Duration) (first bool, err error) {
	first, err = s.client.SetNX(ctx, key(notice, ":told"), 1, keep).Result()
	if err != nil {
		return false, fmt.Errorf("note the notice %s: %w", notice, err)
	}
	return first, nil
}
