package tickets

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/cairn-bot/cairn/internal/adapters/discord"
	"github.com/cairn-bot/cairn/internal/redis/conn"
)

// Redis is a discord.Tickets in a Redis.
//
// PREFIX is "cairn", {I} the id of an interaction.
//
//	key                        type    what
//	PREFIX:discord:{I}:ticket  string  the right to answer, in JSON; gone by itself
type Redis struct{ client *conn.Client }

var _ discord.Tickets = (*Redis)(nil)

// OpenRedis gives the store in a Redis. The client stays the caller's.
func OpenRedis(client *conn.Client) *Redis { return &Redis{client: client} }

func ticketKey(interaction string) string { return "cairn:discord:{" + interaction + "}:ticket" }

// Keep implements discord.Tickets.
func (s *Redis) Keep(ctx context.Context, interaction string, ticket discord.Ticket) error {
	left := time.Until(ticket.Until)
	if left <= 0 {
		return nil
	}
	stored, err := json.Marshal(ticket)
	if err != nil {
		return fmt.Errorf("encode ticket %s: %w", interaction, err)
	}
	if err := s.client.Set(ctx, ticketKey(interaction), stored, left).Err(); err != nil {
		return fmt.Errorf("write ticket %s: %w", interaction, err)
	}
	return nil
}

// Ticket implements discord.Tickets.
func (s *Redis) Ticket(ctx context.Context, interaction string) (discord.Ticket, error) {
	stored, err := s.client.Get(ctx, ticketKey(interaction)).Bytes()
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
