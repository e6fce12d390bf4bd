// Package redis keeps the settings and tickets of the Discord app in Redis 6.2 or later: a
// single server, behind Sentinel, or a Cluster.
//
// PREFIX is "cairn", {G} the id of a server, {I} that of an interaction.
//
//	key                          type    what
//	PREFIX:discord:{G}:settings  hash    by channel, "" for the whole server: its setting in JSON
//	PREFIX:discord:{I}:ticket    string  the right to answer, in JSON; gone by itself
package redis

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"cairn/internal/adapters/discord"
	"cairn/internal/redis/conn"
)

// Store is a discord.Settings and a discord.Tickets in a Redis.
type Store struct{ client *conn.Client }

var (
	_ discord.Settings = (*Store)(nil)
	_ discord.Tickets  = (*Store)(nil)
)

// Open gives the store in a Redis. The client stays the caller's.
func Open(client *conn.Client) *Store { return &Store{client: client} }

func key(id, what string) string { return "cairn:discord:{" + id + "}:" + what }

// Get implements discord.Settings.
func (s *Store) Get(ctx context.Context, guild, channel string) (discord.Setting, error) {
	stored, err := s.client.HGet(ctx, key(guild, "settings"), channel).Bytes()
	if errors.Is(err, redis.Nil) {
		return discord.Setting{}, nil
	}
	if err != nil {
		return discord.Setting{}, fmt.Errorf("read the setting of server %s: %w", guild, err)
	}
	return discord.DecodeSetting(stored)
}

// Put implements discord.Settings.
func (s *Store) Put(ctx context.Context, guild, channel string, setting discord.Setting) error {
	stored, err := discord.EncodeSetting(setting)
	if err != nil {
		return fmt.Errorf("encode the setting of server %s: %w", guild, err)
	}
	if err := s.client.HSet(ctx, key(guild, "settings"), channel, stored).Err(); err != nil {
		return fmt.Errorf("write the setting of server %s: %w", guild, err)
	}
	return nil
}

// Keep implements discord.Tickets.
func (s *Store) Keep(ctx context.Context, interaction string, ticket discord.Ticket) error {
	left := time.Until(ticket.Until)
	if left <= 0 {
		return nil
	}
	stored, err := json.Marshal(ticket)
	if err != nil {
		return fmt.Errorf("encode ticket %s: %w", interaction, err)
	}
	if err := s.client.Set(ctx, key(interaction, "ticket"), stored, left).Err(); err != nil {
		return fmt.Errorf("write ticket %s: %w", interaction, err)
	}
	return nil
}

// Ticket implements discord.Tickets.
func (s *Store) Ticket(ctx context.Context, interaction string) (discord.Ticket, error) {
	stored, err := s.client.Get(ctx, key(interaction, "ticket")).Bytes()
	if errors.Is(err, redis.Nil) {
		return discord.Ticket{}, nil
	}
	if err != nil {
		return discord.Ticket{}, fmt.Errorf("read ticket %s: %w", interaction, err)
	}
	var ticket discord.Ticket
	if err := json.Unmarshal(stored, &ticket); err != nil {
		return discord.Ticket{}, fmt.Errorf("read ticket %s: %w", interaction, err)
	}
	return ticket, nil
}
