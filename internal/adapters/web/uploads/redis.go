package uploads

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/redis/conn"
)

// Redis is a Store in a Redis.
//
// {I} is the id of a file, {T} that of a thread.
//
//	key                         type    content
//	cairn:{uploads}:file:I      string  the file; gone by itself
//	cairn:{uploads}:thread:T    hash    by id: what else is known of a file, in JSON; gone by itself
//	cairn:{uploads}:used        zset    by id and thread: when a file was last read
//	cairn:{uploads}:sizes       hash    by id and thread: the size of a file
//	cairn:{uploads}:total       string  the size of all files
type Redis struct {
	client *conn.Client
	now    func() time.Time
	all    int64 // bytes that are kept
}

var _ Store = (*Redis)(nil)

// OpenRedis returns the files in a Redis. The client stays the caller's.
func OpenRedis(client *conn.Client) *Redis { return &Redis{client, time.Now, maxAll} }

const (
	usedKey  = "cairn:{uploads}:used"
	sizesKey = "cairn:{uploads}:sizes"
	totalKey = "cairn:{uploads}:total"
)

func contentKey(id string) string                   { return "cairn:{uploads}:file:" + id }
func threadKey(thread chat.ThreadID) string         { return "cairn:{uploads}:thread:" + string(thread) }
func member(thread chat.ThreadID, id string) string { return id + " " + string(thread) }

// described is what is known of a file beside its content.
type described struct {
	File   chat.File   `json:"file"`
	Author chat.UserID `json:"author"`
	At     int64       `json:"at"` // Unix microseconds
}

// keepScript gives 0 where the thread has no room.
//
//	KEYS file, thread, used, sizes, total
//	ARGV id, member, description, content, milliseconds now, milliseconds to keep, room of a thread
var keepScript = goredis.NewScript(`
local there = 0
for _, body in ipairs(redis.call('HVALS', KEYS[2])) do there = there + cjson.decode(body).file.Size end
if there + #ARGV[4] > tonumber(ARGV[7]) then return 0 end
redis.call('SET', KEYS[1], ARGV[4], 'PX', ARGV[6])
redis.call('HSET', KEYS[2], ARGV[1], ARGV[3])
redis.call('PEXPIRE', KEYS[2], ARGV[6])
redis.call('ZADD', KEYS[3], ARGV[5], ARGV[2])
redis.call('HSET', KEYS[4], ARGV[2], #ARGV[4])
redis.call('INCRBY', KEYS[5], #ARGV[4])
return 1`)

// removeScript removes a file, if it is there.
//
//	KEYS file, thread, used, sizes, total
//	ARGV id, member
var removeScript = goredis.NewScript(`
redis.call('DEL', KEYS[1])
redis.call('HDEL', KEYS[2], ARGV[1])
redis.call('ZREM', KEYS[3], ARGV[2])
local size = redis.call('HGET', KEYS[4], ARGV[2])
if size then
  redis.call('HDEL', KEYS[4], ARGV[2])
  redis.call('DECRBY', KEYS[5], size)
end
return 1`)

// useScript gives the beginning of a file, and notes that it was read.
//
//	KEYS file, thread, used
//	ARGV id, member, milliseconds now, milliseconds to keep, bytes
var useScript = goredis.NewScript(`
if redis.call('HEXISTS', KEYS[2], ARGV[1]) == 0 or redis.call('PEXPIRE', KEYS[1], ARGV[4]) == 0 then return false end
redis.call('PEXPIRE', KEYS[2], ARGV[4])
redis.call('ZADD', KEYS[3], 'XX', ARGV[3], ARGV[2])
if tonumber(ARGV[5]) == 0 then return '' end
return redis.call('GETRANGE', KEYS[1], 0, ARGV[5] - 1)`)

func keysOf(thread chat.ThreadID, id string) []string {
	return []string{contentKey(id), threadKey(thread), usedKey, sizesKey, totalKey}
}

// Keep implements Store. It also removes what is too old, and what makes room.
func (s *Redis) Keep(ctx context.Context, thread chat.ThreadID, by chat.UserID, file chat.File, content []byte) error {
	now := s.now()
	file.Size = int64(len(content))
	body, err := json.Marshal(described{File: file, Author: by, At: now.UnixMicro()})
	if err != nil {
		return fmt.Errorf("encode file %s: %w", file.ID, err)
	}
	kept, err := keepScript.Run(ctx, s.client, keysOf(thread, file.ID), file.ID, member(thread, file.ID), body, content, now.UnixMilli(), keepTime.Milliseconds(), MaxThread).Int()
	if err == nil && kept == 0 {
		err = ErrFull
	}
	if err == nil {
		err = s.makeRoom(ctx)
	}
	if err != nil {
		return fmt.Errorf("keep file %s: %w", file.ID, conn.Explain(err))
	}
	return nil
}

// makeRoom removes what is too old, and of the rest what was read longest ago, as far as there is too
// much.
func (s *Redis) makeRoom(ctx context.Context) error {
	if err := s.Prune(ctx); err != nil {
		return err
	}
	for {
		total, err := s.client.Get(ctx, totalKey).Int64()
		if err != nil || total <= s.all {
			return err
		}
		oldest, err := s.client.ZRange(ctx, usedKey, 0, 0).Result()
		if err != nil || len(oldest) == 0 {
			return err
		}
		if err := s.removeMember(ctx, oldest[0]); err != nil {
			return err
		}
	}
}

// Prune implements Store.
func (s *Redis) Prune(ctx context.Context) error {
	before := strconv.FormatInt(s.now().Add(-keepTime).UnixMilli(), 10)
	old, err := s.client.ZRangeByScore(ctx, usedKey, &goredis.ZRangeBy{Min: "-inf", Max: before}).Result()
	if err != nil {
		return fmt.Errorf("list old files: %w", conn.Explain(err))
	}
	for _, one := range old {
		if err := s.removeMember(ctx, one); err != nil {
			return err
		}
	}
	return nil
}

func (s *Redis) removeMember(ctx context.Context, of string) error {
	id, thread, _ := strings.Cut(of, " ")
	return s.Remove(ctx, chat.ThreadID(thread), id)
}

// Remove implements Store.
func (s *Redis) Remove(ctx context.Context, thread chat.ThreadID, id string) error {
	if err := removeScript.Run(ctx, s.client, keysOf(thread, id), id, member(thread, id)).Err(); err != nil {
		return fmt.Errorf("remove file %s: %w", id, conn.Explain(err))
	}
	return nil
}

// ForgetFiles implements chat.FileForgetter.
func (s *Redis) ForgetFiles(ctx context.Context, thread chat.ThreadID, by chat.UserID) error {
	all, err := s.describe(ctx, thread)
	if err != nil {
		return err
	}
	for _, of := range all {
		if of.Author != by {
			continue
		}
		if err := s.Remove(ctx, thread, of.File.ID); err != nil {
			return err
		}
	}
	return nil
}

// Fetch implements chat.Fetcher.
func (s *Redis) Fetch(ctx context.Context, thread chat.ThreadID, file chat.File, limit int64) ([]byte, error) {
	content, err := useScript.Run(ctx, s.client, keysOf(thread, file.ID)[:3], file.ID, member(thread, file.ID), s.now().UnixMilli(), keepTime.Milliseconds(), limit).Text()
	if errors.Is(err, goredis.Nil) {
		return nil, fmt.Errorf("fetch file %s: %w", file.ID, chat.ErrGone)
	}
	if err != nil {
		return nil, fmt.Errorf("fetch file %s: %w", file.ID, conn.Explain(err))
	}
	return []byte(content), nil
}

// Files implements chat.FileFinder. Documents of the bot are kept with its answers, not here.
func (s *Redis) Files(ctx context.Context, thread chat.ThreadID, _ bool) ([]chat.File, error) {
	all, err := s.describe(ctx, thread)
	if err != nil {
		return nil, err
	}
	var files []chat.File
	for _, of := range all[:min(len(all), chat.MaxFiles)] {
		files = append(files, of.File)
	}
	return files, nil
}

// describe gives what is known of the files of a thread, the latest first.
func (s *Redis) describe(ctx context.Context, thread chat.ThreadID) ([]described, error) {
	bodies, err := s.client.HVals(ctx, threadKey(thread)).Result()
	if err != nil {
		return nil, fmt.Errorf("list the files of thread %s: %w", thread, conn.Explain(err))
	}
	all := make([]described, len(bodies))
	for i, body := range bodies {
		if err := json.Unmarshal([]byte(body), &all[i]); err != nil {
			return nil, fmt.Errorf("list the files of thread %s: %w", thread, err)
		}
	}
	slices.SortFunc(all, func(a, b described) int {
		return cmp.Or(cmp.Compare(b.At, a.At), strings.Compare(a.File.ID, b.File.ID))
	})
	return all, nil
}
