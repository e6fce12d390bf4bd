package curated

import (
	"context"
	"errors"
	"fmt"

	goredis "github.com/redis/go-redis/v9"

	"github.com/cairn-bot/cairn/internal/redis/conn"
)

// Redis is a Store in a Redis.
//
//	key                       type    content
//	cairn:{curated}:answers   hash    by id: a pinned answer in JSON
//	cairn:{curated}:revision  string  counts the changes of the answers
type Redis struct{ client *conn.Client }

var _ Store = (*Redis)(nil)

const (
	answersKey  = "cairn:{curated}:answers"
	revisionKey = "cairn:{curated}:revision"
)

// OpenRedis returns the pinned answers in a Redis. The client stays the caller's.
func OpenRedis(client *conn.Client) *Redis { return &Redis{client} }

// putScript gives 0 where there is no room.
//
//	KEYS answers, revision
//	ARGV id, body, how many there may be
var putScript = goredis.NewScript(`
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 and redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('INCR', KEYS[2])
return 1`)

// deleteScript gives 0 where there is no such answer.
//
//	KEYS answers, revision
//	ARGV id
var deleteScript = goredis.NewScript(`
if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('INCR', KEYS[2])
return 1`)

// Put implements Store.
func (s *Redis) Put(ctx context.Context, answer Answer) error {
	body, err := Encode(answer)
	if err != nil {
		return err
	}
	kept, err := putScript.Run(ctx, s.client, []string{answersKey, revisionKey}, string(answer.ID), body, MaxAnswers).Int()
	if err == nil && kept == 0 {
		err = ErrFull
	}
	if err != nil {
		return fmt.Errorf("keep pinned answer %s: %w", answer.ID, conn.Explain(err))
	}
	return nil
}

// Delete implements Store.
func (s *Redis) Delete(ctx context.Context, id ID) error {
	removed, err := deleteScript.Run(ctx, s.client, []string{answersKey, revisionKey}, string(id)).Int()
	if err == nil && removed == 0 {
		err = ErrUnknown
	}
	if err != nil {
		return fmt.Errorf("remove pinned answer %s: %w", id, conn.Explain(err))
	}
	return nil
}

// List implements Store.
func (s *Redis) List(ctx context.Context) ([]Answer, error) {
	bodies, err := s.client.HGetAll(ctx, answersKey).Result()
	if err != nil {
		return nil, fmt.Errorf("list pinned answers: %w", conn.Explain(err))
	}
	var all []Answer
	for _, body := range bodies {
		answer, err := Decode([]byte(body))
		if err != nil {
			return nil, err
		}
		all = append(all, answer)
	}
	sortLatest(all)
	return all, nil
}

// Revision implements Store.
func (s *Redis) Revision(ctx context.Context) (int64, error) {
	revision, err := s.client.Get(ctx, revisionKey).Int64()
	if err != nil && !errors.Is(err, goredis.Nil) {
		return 0, fmt.Errorf("read the revision of pinned answers: %w", conn.Explain(err))
	}
	return revision, nil
}
