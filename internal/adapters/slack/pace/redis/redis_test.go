package redis_test

import (
	"context"
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"cairn/internal/adapters/slack/pace"
	"cairn/internal/adapters/slack/pace/pacetest"
	"cairn/internal/adapters/slack/pace/redis"
	"cairn/internal/redis/conn/conntest"
	"cairn/internal/servertest"
)

// inTeam has each test use workspaces of its own.
type inTeam struct {
	pace.Turns
	name string
}

func (t inTeam) of(ask pace.Ask) pace.Ask {
	ask.Lane.Team = t.name + ask.Lane.Team
	return ask
}

func (t inTeam) Take(ctx context.Context, ask pace.Ask) (time.Duration, error) {
	return t.Turns.Take(ctx, t.of(ask))
}

func (t inTeam) Leave(ctx context.Context, ask pace.Ask) error { return t.Turns.Leave(ctx, t.of(ask)) }

func (t inTeam) Hold(ctx context.Context, ask pace.Ask, wait time.Duration) error {
	return t.Turns.Hold(ctx, t.of(ask), wait)
}

func run(t *testing.T, address string) {
	pacetest.Run(t, func(t *testing.T) (one, other pace.Turns) {
		name := rand.Text()
		return inTeam{redis.Open(conntest.Connect(t, address)), name}, inTeam{redis.Open(conntest.Connect(t, address)), name}
	})
}

func TestTurns(t *testing.T) { run(t, servertest.Redis(t)) }

func TestTurnsInACluster(t *testing.T) {
	run(t, "redis+cluster://"+strings.Join(servertest.Cluster(t), ","))
}
