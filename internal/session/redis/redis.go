// Package redis keeps sessions in Redis 6.2 or later: a single server, behind Sentinel,
// or a Cluster.
//
// PREFIX is Options.Prefix. {T} is a thread's id with { } % * written as %7B %7D %25 %2A,
// so that a session is on the same server of a cluster as all else of its thread; {A:P}
// is an adapter's name and a person's id, each written likewise.
//
//	key                      type    what
//	PREFIX:{T}:session       string  "FENCE SAVED\n" (SAVED in ms) and session.Encode, packed; Options.Keep after the last use
//	PREFIX:{A:P}:threads     zset    threads in which the person wrote, by when they were saved (ms); Options.Keep after
//	                                 the last save of one of them, or look at the list
package redis

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"cairn/internal/chat"
	"cairn/internal/redis/conn"
	"cairn/internal/redis/pack"
	"cairn/internal/runs"
	"cairn/internal/session"
)

// DefaultKeep is how long a session is kept after its last use where Options.Keep is 0.
const DefaultKeep = 30 * 24 * time.Hour

// Options are what a store is made of.
type Options struct {
	// Prefix begins all keys; "" means "cairn".
	Prefix string
	// Keep is how long a session is kept after its last use; 0 means DefaultKeep.
	Keep time.Duration
}

// saveScript has KEYS session; ARGV fence (0: not checked), body, keep (ms). It gives when
// the session was saved (ms), 0 where it was refused, and what was there before.
var saveScript = redis.NewScript(`
local t = redis.call('TIME')
local saved = string.format('%.0f', t[1] * 1000 + math.floor(t[2] / 1000))
local before = redis.call('GET', KEYS[1]) or ''
local fence = string.match(before, '^(%d+) ') or '0'
local mine = ARGV[1]
if mine == '0' then mine = fence end
if tonumber(mine) < tonumber(fence) then return {0, ''} end
redis.call('SET', KEYS[1], mine .. ' ' .. saved .. '\n' .. ARGV[2], 'PX', ARGV[3])
return {tonumber(saved), before}`)

// Store is a session.Store in a Redis.
type Store struct {
	client *conn.Client
	prefix string
	keep   time.Duration
}

var _ session.Store = (*Store)(nil)

// Open gives the sessions in a Redis. The client stays the caller's.
func Open(client *conn.Client, options Options) *Store {
	s := &Store{client: client, prefix: options.Prefix, keep: options.Keep}
	if s.prefix == "" {
		s.prefix = "cairn"
	}
	if s.keep <= 0 {
		s.keep = DefaultKeep
	}
	return s
}

// Close does nothing: the client is the caller's.
func (s *Store) Close() error { return nil }

var escaper = strings.NewReplacer("{", "%7B", "}", "%7D", "%", "%25", "*", "%2A")

func (s *Store) key(thread chat.ThreadID) string {
	return s.prefix + ":{" + escaper.Replace(string(thread)) + "}:session"
}

func (s *Store) threadsKey(adapter string, by chat.UserID) string {
	return s.prefix + ":{" + escaper.Replace(adapter) + ":" + escaper.Replace(string(by)) + "}:threads"
}

// Load implements session.Store. It counts as a use.
func (s *Store) Load(ctx context.Context, thread chat.ThreadID) (session.Session, error) {
	loaded := session.Session{Thread: thread}
	value, err := s.client.GetEx(ctx, s.key(thread), s.keep).Bytes()
	if errors.Is(err, redis.Nil) {
		return loaded, nil
	}
	if err != nil {
		return loaded, fmt.Errorf("load session %s: %w", thread, conn.Explain(err))
	}
	if loaded, err = read(thread, value); err != nil {
		return session.Session{Thread: thread}, fmt.Errorf("load session %s: %w", thread, err)
	}
	return loaded, nil
}

// read reads the value of a session's key.
func read(thread chat.ThreadID, value []byte) (session.Session, error) {
	saved, packed, err := divide(value)
	if err != nil {
		return session.Session{}, err
	}
	body, err := pack.Unpack(packed)
	if err != nil {
		return session.Session{}, err
	}
	loaded, err := session.Decode(thread, body)
	loaded.Updated = saved
	return loaded, err
}

// divide gives when a session was saved, and what stands behind that in its value.
func divide(value []byte) (saved time.Time, packed []byte, err error) {
	head, packed, found := bytes.Cut(value, []byte("\n"))
	_, at, _ := strings.Cut(string(head), " ")
	ms, err := strconv.ParseInt(at, 10, 64)
	if !found || err != nil {
		return time.Time{}, nil, errors.New("it does not begin with its fence and time")
	}
	return time.UnixMilli(ms), packed, nil
}

// Save implements session.Store.
func (s *Store) Save(ctx context.Context, saved session.Session) error {
	if err := s.save(ctx, saved); err != nil {
		return fmt.Errorf("save session %s: %w", saved.Thread, conn.Explain(err))
	}
	return nil
}

// save writes the session, then lists it for those who wrote in it, and no longer for
// those who are not among them any more. Cut off in between, the lists are behind until
// the next save.
func (s *Store) save(ctx context.Context, saved session.Session) error {
	body, err := session.Encode(saved)
	if err == nil {
		body, err = pack.Pack(body)
	}
	if err != nil {
		return err
	}
	result, err := saveScript.Run(ctx, s.client, []string{s.key(saved.Thread)},
		strconv.FormatInt(int64(saved.Fence), 10), body, s.keep.Milliseconds()).Slice()
	if err != nil {
		return err
	}
	at, before, err := written(result)
	if err != nil {
		return err
	}
	if at == 0 {
		return runs.ErrLost
	}
	return s.relist(ctx, saved, at, before)
}

// written reads the result of saveScript.
func written(result []any) (at int64, before string, err error) {
	if len(result) == 2 {
		at, isNumber := result[0].(int64)
		before, isText := result[1].(string)
		if isNumber && isText {
			return at, before, nil
		}
	}
	return 0, "", fmt.Errorf("the script gave %d values that are not a time and a session", len(result))
}

func (s *Store) relist(ctx context.Context, saved session.Session, at int64, before string) error {
	gone, err := s.people(saved.Thread, before)
	if err != nil {
		return err
	}
	gone = slices.DeleteFunc(gone, func(person chat.UserID) bool { return slices.Contains(saved.People, person) })
	if len(saved.People)+len(gone) == 0 {
		return nil
	}
	_, err = s.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for _, person := range saved.People {
			key := s.threadsKey(saved.Thread.Adapter(), person)
			pipe.ZAdd(ctx, key, redis.Z{Score: float64(at), Member: string(saved.Thread)})
			pipe.PExpire(ctx, key, s.keep)
		}
		for _, person := range gone {
			pipe.ZRem(ctx, s.threadsKey(saved.Thread.Adapter(), person), string(saved.Thread))
		}
		return nil
	})
	return err
}

// people are those of a session as it was stored, none where there was none.
func (s *Store) people(thread chat.ThreadID, value string) ([]chat.UserID, error) {
	if value == "" {
		return nil, nil
	}
	kept, err := read(thread, []byte(value))
	return kept.People, err
}

// Threads implements session.Store.
func (s *Store) Threads(ctx context.Context, adapter string, by chat.UserID, limit int) ([]chat.ThreadSummary, error) {
	listed, err := s.list(ctx, adapter, by, limit)
	if err != nil {
		return nil, fmt.Errorf("list the threads of %s: %w", adapter, conn.Explain(err))
	}
	return listed, nil
}

func (s *Store) list(ctx context.Context, adapter string, by chat.UserID, limit int) ([]chat.ThreadSummary, error) {
	key := s.threadsKey(adapter, by)
	var listed []chat.ThreadSummary
	for start := 0; len(listed) < limit; {
		threads, err := s.page(ctx, key, start, limit)
		if err != nil {
			return nil, err
		}
		if len(threads) == 0 {
			break
		}
		kept, gone, err := s.summaries(ctx, threads)
		if err != nil {
			return nil, err
		}
		if len(gone) > 0 {
			if err := s.client.ZRem(ctx, key, gone...).Err(); err != nil {
				return nil, err
			}
		}
		listed = append(listed, kept...)
		start += len(kept)
	}
	return listed[:min(limit, len(listed))], nil
}

// page gives a part of a person's threads. It counts as a use of their list.
func (s *Store) page(ctx context.Context, key string, start, limit int) ([]string, error) {
	var threads *redis.StringSliceCmd
	_, err := s.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		// Those of one millisecond come from the greatest id down, as the contract wants it.
		threads = pipe.ZRevRange(ctx, key, int64(start), int64(start+limit-1))
		pipe.PExpire(ctx, key, s.keep)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return threads.Val(), nil
}

// summaries gives what lists show of threads, and those whose time has passed.
func (s *Store) summaries(ctx context.Context, threads []string) (kept []chat.ThreadSummary, gone []any, err error) {
	values := make([]*redis.StringCmd, len(threads))
	_, err = s.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for i, thread := range threads {
			values[i] = pipe.Get(ctx, s.key(chat.ThreadID(thread)))
		}
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, nil, err
	}
	for i, thread := range threads {
		value, err := values[i].Bytes()
		if errors.Is(err, redis.Nil) {
			gone = append(gone, thread)
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		summary, err := summaryOf(chat.ThreadID(thread), value)
		if err != nil {
			return nil, nil, fmt.Errorf("session %s: %w", thread, err)
		}
		kept = append(kept, summary)
	}
	return kept, gone, nil
}

// summaryOf gives what lists show of a session. One that this program can't read, such as
// a newer program's, is listed without its title; who loads it is told what is wrong.
func summaryOf(thread chat.ThreadID, value []byte) (chat.ThreadSummary, error) {
	saved, _, err := divide(value)
	if err != nil {
		return chat.ThreadSummary{}, err
	}
	summary := chat.ThreadSummary{Thread: thread, Updated: saved}
	if kept, err := read(thread, value); err == nil {
		summary.Title, summary.Waiting = kept.Title, kept.Waiting != nil
	}
	return summary, nil
}
