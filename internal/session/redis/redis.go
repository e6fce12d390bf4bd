// Package redis keeps sessions in Redis 6.2 or later: a single server, behind Sentinel,
// or a Cluster.
//
// PREFIX is Options.Prefix. {T} is a thread's id with { } % * written as %7B %7D %25 %2A,
// so that a session is on the same server of a cluster as all else of its thread; {A:P}
// is an adapter's name and a person's id, each written likewise.
//
//	key                      type    what
//	PREFIX:{T}:session       string  "FENCE SAVED PEOPLE\n" (SAVED in ms, PEOPLE as in a URL's query, with commas) and
//	                                 session.Encode, packed; Options.Keep after the last use
//	PREFIX:{A:P}:threads     zset    threads in which the person wrote, by when they were saved (ms); Options.Keep after
//	                                 the last save of one of them, or look at the list
package redis

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"cairn/internal/chat"
	"cairn/internal/redis/conn"
	"cairn/internal/redis/pack"
	"cairn/internal/redis/script"
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

// saveScript gives who was in the session before, where that is not who is in it now.
//
//	KEYS session, lists of those who are in it (none: they are listed elsewhere)
//	ARGV fence (0: not checked), who is in it, body, keep (ms), thread
var saveScript = script.New("", `
local t = redis.call('TIME')
local saved = string.format('%.0f', t[1] * 1000 + math.floor(t[2] / 1000))
local fence, people = string.match(redis.call('GET', KEYS[1]) or '', '^(%d+) %d+ ?([^\n]*)\n')
local mine = ARGV[1]
if mine == '0' then mine = fence or '0' end
if tonumber(mine) < tonumber(fence or 0) then return redis.error_reply('LOST the lease was lost') end
redis.call('SET', KEYS[1], mine .. ' ' .. saved .. ' ' .. ARGV[2] .. '\n' .. ARGV[3], 'PX', ARGV[4])
for i = 2, #KEYS do
  redis.call('ZADD', KEYS[i], saved, ARGV[5])
  redis.call('PEXPIRE', KEYS[i], ARGV[4])
end
if people == ARGV[2] then people = '' end
return {saved, people or ''}`)

// Store is a session.Store in a Redis.
type Store struct {
	client *conn.Client
	prefix string
	keep   time.Duration
}

var _ session.Store = (*Store)(nil)

// Open returns the sessions in a Redis. The client stays the caller's.
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

var keyEscaper = strings.NewReplacer("{", "%7B", "}", "%7D", "%", "%25", "*", "%2A")

func (s *Store) sessionKey(thread chat.ThreadID) string {
	return s.prefix + ":{" + keyEscaper.Replace(string(thread)) + "}:session"
}

func (s *Store) threadsKey(adapter string, by chat.UserID) string {
	return s.prefix + ":{" + keyEscaper.Replace(adapter) + ":" + keyEscaper.Replace(string(by)) + "}:threads"
}

// Load implements session.Store. It counts as a use.
func (s *Store) Load(ctx context.Context, thread chat.ThreadID) (session.Session, error) {
	loaded := session.Session{Thread: thread}
	value, err := s.client.GetEx(ctx, s.sessionKey(thread), s.keep).Bytes()
	if errors.Is(err, redis.Nil) {
		return loaded, nil
	}
	if err != nil {
		return loaded, fmt.Errorf("load session %s: %w", thread, conn.Explain(err))
	}
	if loaded, err = decodeSession(thread, value); err != nil {
		return session.Session{Thread: thread}, fmt.Errorf("load session %s: %w", thread, err)
	}
	return loaded, nil
}

// decodeSession decodes the value of a session's key.
func decodeSession(thread chat.ThreadID, value []byte) (session.Session, error) {
	saved, packed, err := splitValue(value)
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

// splitValue splits the value of a session into the time of its save and its packed body.
func splitValue(value []byte) (saved time.Time, packed []byte, err error) {
	head, packed, found := bytes.Cut(value, []byte("\n"))
	_, at, _ := strings.Cut(string(head), " ")
	at, _, _ = strings.Cut(at, " ")
	ms, err := strconv.ParseInt(at, 10, 64)
	if !found || err != nil {
		return time.Time{}, nil, errors.New("missing fencing token and time")
	}
	return time.UnixMilli(ms), packed, nil
}

// Save implements session.Store.
func (s *Store) Save(ctx context.Context, saved session.Session) error {
	if err := s.saveSession(ctx, saved); err != nil {
		return fmt.Errorf("save session %s: %w", saved.Thread, conn.Explain(err))
	}
	return nil
}

// saveSession writes the session, adds it to the lists of the people in it, and removes it from
// those of people who left. If it is interrupted in between, the next save corrects the lists.
func (s *Store) saveSession(ctx context.Context, saved session.Session) error {
	body, err := session.Encode(saved)
	if err == nil {
		body, err = pack.Pack(body)
	}
	if err != nil {
		return err
	}
	keys := []string{s.sessionKey(saved.Thread)}
	if !s.client.Cluster {
		keys = append(keys, s.listKeys(saved.Thread, saved.People)...)
	}
	write := saveScript.With(keys, strconv.FormatInt(int64(saved.Fence), 10), joinPeople(saved.People), body, s.keep.Milliseconds(), string(saved.Thread))
	return script.Do(ctx, s.client, write.Then(func(ctx context.Context, result *redis.Cmd) error {
		at, before, err := parseSaved(result)
		if err != nil {
			return err
		}
		return s.updateLists(ctx, saved, at, before)
	}))
}

// parseSaved decodes the result of saveScript.
func parseSaved(result *redis.Cmd) (at float64, before []chat.UserID, err error) {
	values, err := result.StringSlice()
	if redis.HasErrorPrefix(err, "LOST") {
		return 0, nil, runs.ErrLost
	}
	if err != nil {
		return 0, nil, err
	}
	if len(values) != 2 {
		return 0, nil, fmt.Errorf("unexpected script result of %d values: want a time and people", len(values))
	}
	if at, err = strconv.ParseFloat(values[0], 64); err != nil {
		return 0, nil, fmt.Errorf("unexpected script result %q: want a time", values[0])
	}
	before, err = splitPeople(values[1])
	return at, before, err
}

// updateLists updates the lists that the script could not: in a cluster those of all people in
// the session, else those of people who left it.
func (s *Store) updateLists(ctx context.Context, saved session.Session, at float64, before []chat.UserID) error {
	gone := slices.DeleteFunc(before, func(person chat.UserID) bool { return slices.Contains(saved.People, person) })
	var add []string
	if s.client.Cluster {
		add = s.listKeys(saved.Thread, saved.People)
	}
	if len(add)+len(gone) == 0 {
		return nil
	}
	_, err := s.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for _, list := range add {
			pipe.ZAdd(ctx, list, redis.Z{Score: at, Member: string(saved.Thread)})
			pipe.PExpire(ctx, list, s.keep)
		}
		for _, list := range s.listKeys(saved.Thread, gone) {
			pipe.ZRem(ctx, list, string(saved.Thread))
		}
		return nil
	})
	return err
}

// listKeys returns the keys of people's lists of threads.
func (s *Store) listKeys(thread chat.ThreadID, people []chat.UserID) []string {
	lists := make([]string, len(people))
	for i, person := range people {
		lists[i] = s.threadsKey(thread.Adapter(), person)
	}
	return lists
}

// joinPeople encodes people as in a session's value.
func joinPeople(people []chat.UserID) string {
	escaped := make([]string, len(people))
	for i, person := range people {
		escaped[i] = url.QueryEscape(string(person))
	}
	return strings.Join(escaped, ",")
}

// splitPeople decodes the result of joinPeople.
func splitPeople(joined string) ([]chat.UserID, error) {
	if joined == "" {
		return nil, nil
	}
	var people []chat.UserID
	for escaped := range strings.SplitSeq(joined, ",") {
		person, err := url.QueryUnescape(escaped)
		if err != nil {
			return nil, fmt.Errorf("who was in the session: %w", err)
		}
		people = append(people, chat.UserID(person))
	}
	return people, nil
}

// Threads implements session.Store.
func (s *Store) Threads(ctx context.Context, adapter string, by chat.UserID, limit int) ([]chat.ThreadSummary, error) {
	listed, err := s.listThreads(ctx, adapter, by, limit)
	if err != nil {
		return nil, fmt.Errorf("list the threads of %s: %w", adapter, conn.Explain(err))
	}
	return listed, nil
}

func (s *Store) listThreads(ctx context.Context, adapter string, by chat.UserID, limit int) ([]chat.ThreadSummary, error) {
	key := s.threadsKey(adapter, by)
	var listed []chat.ThreadSummary
	for start := 0; len(listed) < limit; {
		threads, err := s.readPage(ctx, key, start, limit)
		if err != nil {
			return nil, err
		}
		if len(threads) == 0 {
			break
		}
		kept, gone, err := s.loadSummaries(ctx, threads)
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

// readPage returns a part of a person's threads. It counts as a use of their list.
func (s *Store) readPage(ctx context.Context, key string, start, limit int) ([]string, error) {
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

// loadSummaries returns the summaries of threads, and the threads that have expired.
func (s *Store) loadSummaries(ctx context.Context, threads []string) (kept []chat.ThreadSummary, gone []any, err error) {
	values := make([]*redis.StringCmd, len(threads))
	_, err = s.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for i, thread := range threads {
			values[i] = pipe.Get(ctx, s.sessionKey(chat.ThreadID(thread)))
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

// summaryOf returns the summary of a session. One that this program can't read, such as a newer
// program's, has no title; loading it gives the error.
func summaryOf(thread chat.ThreadID, value []byte) (chat.ThreadSummary, error) {
	saved, _, err := splitValue(value)
	if err != nil {
		return chat.ThreadSummary{}, err
	}
	summary := chat.ThreadSummary{Thread: thread, Updated: saved}
	if kept, err := decodeSession(thread, value); err == nil {
		summary.Title, summary.Waiting = kept.Title, kept.Waiting != nil
	}
	return summary, nil
}
