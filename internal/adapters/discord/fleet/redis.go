package fleet

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/cairn-bot/cairn/internal/adapters/discord/gateway"
	"github.com/cairn-bot/cairn/internal/redis/conn"
)

//go:embed lua/*.lua
var scriptSources embed.FS

var (
	shareScript = loadScript("share")
	saveScript  = loadScript("save")
	startScript = loadScript("start")
	askScript   = loadScript("ask")
	tellScript  = loadScript("tell")
)

func loadScript(name string) *redis.Script {
	body, err := scriptSources.ReadFile("lua/" + name + ".lua")
	if err != nil {
		panic(err) // it is embedded
	}
	return redis.NewScript(string(body))
}

// maxRoutes bounds the routes whose buckets are remembered in memory.
const maxRoutes = 10_000

// Redis is what the replicas of one bot share.
//
// {A} is the id of the application; all keys of a bot are on one server.
//
//	key                            type    what
//	cairn:discord:{A}:shards       hash    count and token of all; of each shard N: N:owner, N:token, N:until (ms), N:session (JSON)
//	cairn:discord:{A}:members      zset    replicas, by when they count as gone
//	cairn:discord:{A}:starts       hash    left and reset (ms) of the day; B:next (ms), when bucket B may identify again
//	cairn:discord:{A}:global       hash    tat (µs) of the limit on all, blocked until (ms), invalid answers and when their count ends
//	cairn:discord:{A}:route:H      string  the bucket of a route by its hash, "-" for none; gone after a day, those of interactions after 15 minutes
//	cairn:discord:{A}:bucket:H     hash    limit, remaining, reset (ms), epoch (ms of Discord's clock), blocked until (ms), window (ms); gone after a day, those of interactions after 15 minutes
//	cairn:discord:{A}:line:H       zset    turns that wait for a bucket, in their order; gone once none does
//	cairn:discord:{A}:lineend:H    zset    the same, by when their places in line are given up
//	cairn:discord:{A}:flight:H     zset    requests under way, by when they count as lost; gone after a minute
type Redis struct {
	client      *conn.Client
	application string

	mu     sync.Mutex
	routes map[string]string // the bucket of a route's hash
}

var (
	_ gateway.Shards = (*Redis)(nil)
	_ gateway.Starts = (*Redis)(nil)
	_ Rates          = (*Redis)(nil)
)

// OpenRedis returns the store of the bot of an application. The client stays the caller's.
func OpenRedis(client *conn.Client, application string) *Redis {
	return &Redis{client: client, application: application, routes: make(map[string]string)}
}

func (s *Redis) storeKey(what string) string { return "cairn:discord:{" + s.application + "}:" + what }

// Share implements gateway.Shards.
func (s *Redis) Share(ctx context.Context, member gateway.Member) (gateway.Share, error) {
	fields, err := shareScript.Run(ctx, s.client, []string{s.storeKey("shards"), s.storeKey("members")},
		member.Replica, member.Shards, member.TTL.Milliseconds()).StringSlice()
	if err != nil {
		return gateway.Share{}, fmt.Errorf("share the Discord shards: %w", conn.Explain(err))
	}
	share, err := readShare(member.Replica, fields)
	if err != nil {
		return gateway.Share{}, fmt.Errorf("share the Discord shards: %w", err)
	}
	return share, nil
}

// readShare reads count and quota, then number, token and session of each lease.
func readShare(replica string, fields []string) (gateway.Share, error) {
	if len(fields) < 2 || len(fields)%3 != 2 {
		return gateway.Share{}, fmt.Errorf("the script gave %d fields", len(fields))
	}
	var failed []error
	number := func(text string) int64 {
		n, err := strconv.ParseInt(text, 10, 64)
		failed = append(failed, err)
		return n
	}
	share := gateway.Share{Shards: int(number(fields[0])), Quota: int(number(fields[1]))}
	for i := 2; i < len(fields); i += 3 {
		lease := gateway.Lease{
			Replica: replica, Shard: int(number(fields[i])), Shards: share.Shards, Token: number(fields[i+1]),
		}
		if fields[i+2] != "" {
			failed = append(failed, json.Unmarshal([]byte(fields[i+2]), &lease.Session))
		}
		share.Leases = append(share.Leases, lease)
	}
	return share, errors.Join(failed...)
}

// Save implements gateway.Shards.
func (s *Redis) Save(ctx context.Context, lease gateway.Lease, session gateway.Session) error {
	if err := s.saveSession(ctx, lease, session, "keep"); err != nil {
		return fmt.Errorf("save the session of Discord shard %d: %w", lease.Shard, err)
	}
	return nil
}

// Release implements gateway.Shards.
func (s *Redis) Release(ctx context.Context, lease gateway.Lease, session gateway.Session) error {
	if err := s.saveSession(ctx, lease, session, "release"); err != nil {
		return fmt.Errorf("release Discord shard %d: %w", lease.Shard, err)
	}
	return nil
}

func (s *Redis) saveSession(ctx context.Context, lease gateway.Lease, session gateway.Session, what string) error {
	kept := ""
	if session != (gateway.Session{}) {
		raw, err := json.Marshal(session)
		if err != nil {
			return err
		}
		kept = string(raw)
	}
	held, err := saveScript.Run(ctx, s.client, []string{s.storeKey("shards")},
		lease.Shard, lease.Replica, lease.Token, kept, what).Int()
	if err != nil {
		return conn.Explain(err)
	}
	if held == 0 {
		return gateway.ErrLost
	}
	return nil
}

// Leave implements gateway.Shards.
func (s *Redis) Leave(ctx context.Context, replica string) error {
	if err := s.client.ZRem(ctx, s.storeKey("members"), replica).Err(); err != nil {
		return fmt.Errorf("leave the Discord shards: %w", conn.Explain(err))
	}
	return nil
}

// Start implements gateway.Starts.
func (s *Redis) Start(ctx context.Context, shard int, limit gateway.StartLimit) (time.Duration, error) {
	wait, err := startScript.Run(ctx, s.client, []string{s.storeKey("starts")}, shard%max(1, limit.MaxConcurrency),
		limit.Window.Milliseconds(), limit.Remaining, limit.ResetAfter.Milliseconds()).Int64()
	if err != nil {
		return 0, fmt.Errorf("take a place to identify at Discord: %w", conn.Explain(err))
	}
	return time.Duration(wait) * time.Millisecond, nil
}

// hashText makes keys of a fixed length, and hides the tokens that paths of webhooks have.
func hashText(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:12])
}
