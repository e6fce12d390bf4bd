/*
Package redis gives turns to all processes of an app by Redis 6.2 or later: a single server,
behind Sentinel, or a Cluster. Time is the server's own.

TEAM is the workspace; all its keys are on one server. LANE is the method, and of methods
with a limit for each channel ":" and the channel.

	key                             type    what
	cairn:slack:{TEAM}:next:LANE    string  when the next call is due if they come evenly (µs); gone when that has passed
	cairn:slack:{TEAM}:line:LANE    zset    callers that wait, by the time of what they are about (µs); a minute after the last asked
	cairn:slack:{TEAM}:due:LANE     zset    the same callers, by when their turn comes (ms); as line
	cairn:slack:{TEAM}:back:LANE    zset    the same callers, by when they ask again at the latest (ms); as line
*/
package redis

import (
	"context"
	"embed"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"cairn/internal/adapters/slack/pace"
	"cairn/internal/redis/conn"
)

//go:embed lua/*.lua
var scriptSources embed.FS

var (
	takeScript = loadScript("take")
	holdScript = loadScript("hold")
)

func loadScript(name string) *redis.Script {
	body, err := scriptSources.ReadFile("lua/" + name + ".lua")
	if err != nil {
		panic(err) // it is embedded
	}
	return redis.NewScript(string(body))
}

// Turns gives turns to all processes that share a Redis.
type Turns struct{ client *conn.Client }

var _ pace.Turns = (*Turns)(nil)

// Open returns turns by a Redis. The client stays the caller's.
func Open(client *conn.Client) *Turns { return &Turns{client} }

// laneKeys returns those of a lane: when its next call is due, who waits, until when, and who
// asks again by when.
func laneKeys(lane pace.Lane) []string {
	name := lane.Method
	if lane.Channel != "" {
		name += ":" + lane.Channel
	}
	prefix := "cairn:slack:{" + lane.Team + "}:"
	return []string{prefix + "next:" + name, prefix + "line:" + name, prefix + "due:" + name, prefix + "back:" + name}
}

// Take implements pace.Turns.
func (t *Turns) Take(ctx context.Context, ask pace.Ask) (time.Duration, error) {
	ms, err := takeScript.Run(ctx, t.client, laneKeys(ask.Lane),
		ask.Limit.Every.Microseconds(), ask.Limit.Burst, ask.Spare, ask.Caller, ask.Order.UnixMicro(),
		pace.Absent.Milliseconds(), pace.Soon.Milliseconds(), pace.LongestAway.Milliseconds(), pace.Poll.Milliseconds(), pace.MaxAhead).Int64()
	if err != nil {
		return 0, fmt.Errorf("take a turn of %s: %w", ask.Lane.Method, conn.Explain(err))
	}
	return time.Duration(ms) * time.Millisecond, nil
}

// Leave implements pace.Turns.
func (t *Turns) Leave(ctx context.Context, ask pace.Ask) error {
	places := laneKeys(ask.Lane)[1:]
	_, err := t.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for _, key := range places {
			pipe.ZRem(ctx, key, ask.Caller)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("give up a turn of %s: %w", ask.Lane.Method, conn.Explain(err))
	}
	return nil
}

// Hold implements pace.Turns.
func (t *Turns) Hold(ctx context.Context, ask pace.Ask, wait time.Duration) error {
	err := holdScript.Run(ctx, t.client, laneKeys(ask.Lane)[:1], ask.Limit.Every.Microseconds(), ask.Limit.Burst, wait.Milliseconds()).Err()
	if err != nil {
		return fmt.Errorf("hold %s: %w", ask.Lane.Method, conn.Explain(err))
	}
	return nil
}
