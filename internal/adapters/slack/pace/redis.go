package pace

import (
	"context"
	"embed"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/cairn-bot/cairn/internal/redis/conn"
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

// Redis gives turns to all processes that share a Redis.
//
// TEAM is the workspace; all its keys are on one server. LANE is the method, and of methods
// with a limit for each channel ":" and the channel.
//
//	key                             type    what
//	cairn:slack:{TEAM}:next:LANE    string  when the next call is due if they come evenly (µs); gone when that has passed
//	cairn:slack:{TEAM}:line:LANE    zset    callers that wait, by the time of what they are about (µs); a minute after the last asked
//	cairn:slack:{TEAM}:due:LANE     zset    the same callers, by when their turn comes (ms); as line
//	cairn:slack:{TEAM}:back:LANE    zset    the same callers, by when they ask again at the latest (ms); as line
type Redis struct{ client *conn.Client }

var _ Turns = (*Redis)(nil)

// OpenRedis returns turns by a Redis. The client stays the caller's.
func OpenRedis(client *conn.Client) *Redis { return &Redis{client} }

// laneKeys returns those of a lane: when its next call is due, who waits, until when, and who
// asks again by when.
func laneKeys(lane Lane) []string {
	name := lane.Method
	if lane.Channel != "" {
		name += ":" + lane.Channel
	}
	prefix := "cairn:slack:{" + lane.Team + "}:"
	return []string{prefix + "next:" + name, prefix + "line:" + name, prefix + "due:" + name, prefix + "back:" + name}
}

// Take implements Turns.
func (t *Redis) Take(ctx context.Context, ask Ask) (time.Duration, error) {
	ms, err := takeScript.Run(ctx, t.client, laneKeys(ask.Lane),
		ask.Limit.Every.Microseconds(), ask.Limit.Burst, ask.Spare, ask.Caller, ask.Order.UnixMicro(),
		Absent.Milliseconds(), Soon.Milliseconds(), LongestAway.Milliseconds(), Poll.Milliseconds(), MaxAhead).Int64()
	if err != nil {
		return 0, fmt.Errorf("take a turn of %s: %w", ask.Lane.Method, conn.Explain(err))
	}
	return time.Duration(ms) * time.Millisecond, nil
}

// Leave implements Turns.
func (t *Redis) Leave(ctx context.Context, ask Ask) error {
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

// Hold implements Turns.
func (t *Redis) Hold(ctx context.Context, ask Ask, wait time.Duration) error {
	err := holdScript.Run(ctx, t.client, laneKeys(ask.Lane)[:1], ask.Limit.Every.Microseconds(), ask.Limit.Burst, wait.Milliseconds()).Err()
	if err != nil {
		return fmt.Errorf("hold %s: %w", ask.Lane.Method, conn.Explain(err))
	}
	return nil
}
