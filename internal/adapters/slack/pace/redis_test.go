package pace_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/slack/pace"
	"github.com/cairn-bot/cairn/internal/redis/conn/conntest"
	"github.com/cairn-bot/cairn/internal/servertest"
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
	testStore(t, func(t *testing.T) (one, other pace.Turns) {
		name := rand.Text()
		return inTeam{pace.OpenRedis(conntest.Connect(t, address)), name}, inTeam{pace.OpenRedis(conntest.Connect(t, address)), name}
	})
}

func TestTurns(t *testing.T) { run(t, servertest.Redis(t)) }

func TestTurnsInACluster(t *testing.T) {
	run(t, "redis+cluster://"+strings.Join(servertest.Cluster(t), ","))
}

// TestWhoStaysAwayHoldsUpNobody has many go away for good whose turns come much later. What
// they should have come back by is moved into the past.
func TestWhoStaysAwayFromRedisHoldsUpNobody(t *testing.T) {
	client := conntest.Connect(t, servertest.Redis(t))
	turns := inTeam{pace.OpenRedis(client), rand.Text()}
	ask := func(caller string, order int64) time.Duration {
		t.Helper()
		wait, err := turns.Take(t.Context(), pace.Ask{
			Lane: pace.Lane{Team: "T1", Method: "m"}, Limit: pace.Limit{Every: time.Hour, Burst: 2}, Caller: caller, Order: time.Unix(order, 0),
		})
		if err != nil {
			t.Fatal(err)
		}
		return wait
	}
	ask("first", 0)
	ask("second", 0)
	for i := range int64(50) {
		ask(fmt.Sprint("goes ", i), i+1)
	}
	if wait := ask("stays", 200); wait < 50*time.Hour {
		t.Errorf("behind fifty the wait is %s", wait)
	}
	back := "cairn:slack:{" + turns.name + "T1}:back:m"
	for i := range 50 {
		if err := client.ZIncrBy(t.Context(), back, -float64((pace.LongestAway+pace.Absent)/time.Millisecond), fmt.Sprint("goes ", i)).Err(); err != nil {
			t.Fatal(err)
		}
	}
	<-time.After(time.Second / 10)
	if wait := ask("stays", 200); wait > time.Hour {
		t.Errorf("once they have not come back the wait is %s", wait)
	}
}
