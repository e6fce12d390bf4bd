package reports

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/cairn-bot/cairn/internal/redis/conn"
)

const (
	processesKey  = "cairn:{agents}:processes"
	processesKeep = 24 * time.Hour
)

func reportKey(process string) string { return "cairn:{agents}:report:" + process }

// Redis is a Store in a Redis.
//
// {P} is the name of a process. {agents} keeps all of them on one server of a cluster.
//
//	key                          type    content
//	cairn:{agents}:processes     set     names of processes that reported; forgotten a day after the last report
//	cairn:{agents}:report:{P}    string  the last report of a process, see reports.Encode; gone after reports.Keep
type Redis struct{ client *conn.Client }

var _ Store = (*Redis)(nil)

// OpenRedis returns the reports in a Redis. The client stays the caller's.
func OpenRedis(client *conn.Client) *Redis { return &Redis{client: client} }

// Save implements Store.
func (s *Redis) Save(ctx context.Context, report Report) error {
	body, err := Encode(report)
	if err != nil {
		return fmt.Errorf("encode the report of %s: %w", report.Process, err)
	}
	_, err = s.client.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.SAdd(ctx, processesKey, report.Process)
		pipe.Expire(ctx, processesKey, processesKeep)
		pipe.Set(ctx, reportKey(report.Process), body, Keep)
		return nil
	})
	if err != nil {
		return fmt.Errorf("save the report of %s: %w", report.Process, conn.Explain(err))
	}
	return nil
}

// List implements Store. Names of processes whose reports are gone are removed.
func (s *Redis) List(ctx context.Context) ([]Report, error) {
	processes, err := s.client.SMembers(ctx, processesKey).Result()
	if err != nil {
		return nil, fmt.Errorf("list reports on agents: %w", conn.Explain(err))
	}
	slices.Sort(processes)
	var bodies [][]byte
	var gone []any
	for _, process := range processes {
		body, err := s.client.Get(ctx, reportKey(process)).Bytes()
		switch {
		case errors.Is(err, redis.Nil):
			gone = append(gone, process)
		case err != nil:
			return nil, fmt.Errorf("list reports on agents: %w", conn.Explain(err))
		default:
			bodies = append(bodies, body)
		}
	}
	if len(gone) > 0 { // a process that comes back adds itself again
		if err := s.client.SRem(ctx, processesKey, gone...).Err(); err != nil {
			return nil, fmt.Errorf("forget processes that report no more: %w", conn.Explain(err))
		}
	}
	return DecodeAll(bodies)
}

// Remove implements Store.
func (s *Redis) Remove(ctx context.Context, process string) error {
	_, err := s.client.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.SRem(ctx, processesKey, process)
		pipe.Del(ctx, reportKey(process))
		return nil
	})
	if err != nil {
		return fmt.Errorf("remove the report of %s: %w", process, conn.Explain(err))
	}
	return nil
}
