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

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/redis/conn"
	"github.com/cairn-bot/cairn/internal/session"
)

// sessions is a session.Store in a Redis.
type sessions struct {
	client *conn.Client
	keys   keys
	keep   time.Duration
}

var _ session.Store = (*sessions)(nil)

// Load implements session.Store. It counts as a use.
func (s *sessions) Load(ctx context.Context, thread chat.ThreadID) (session.Session, error) {
	loaded := session.Session{Thread: thread}
	value, err := s.client.GetEx(ctx, s.keys.sessionKey(thread), s.keep).Bytes()
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
	saved, body, err := unpackSession(value)
	if err != nil {
		return session.Session{}, err
	}
	loaded, err := session.Decode(thread, body)
	loaded.Updated = saved
	return loaded, err
}

// unpackSession returns what session.Encode gave of the value of a session's key, and when it was
// saved.
func unpackSession(value []byte) (saved time.Time, body []byte, err error) {
	saved, packed, err := splitValue(value)
	if err == nil {
		body, err = unpackJSON(packed)
	}
	return saved, body, err
}

// splitValue splits the value of a session into the time of its save and its packed body.
func splitValue(value []byte) (saved time.Time, packed []byte, err error) {
	head, packed, found := bytes.Cut(value, []byte("\n"))
	at, _, _ := strings.Cut(string(head), " ")
	ms, err := strconv.ParseInt(at, 10, 64)
	if !found || err != nil {
		return time.Time{}, nil, errors.New("missing time")
	}
	return time.UnixMilli(ms), packed, nil
}

// Save implements session.Store.
func (s *sessions) Save(ctx context.Context, saved session.Session) error {
	if err := s.saveSession(ctx, saved); err != nil {
		return fmt.Errorf("save session %s: %w", saved.Thread, conn.Explain(err))
	}
	return nil
}

// saveSession writes the session, adds it to the lists of the people in it, and removes it from
// those of people who left. If it is interrupted in between, the next save corrects the lists.
func (s *sessions) saveSession(ctx context.Context, saved session.Session) error {
	to := newArguments()
	header, err := s.keys.addSession(to, saved, s.keep.Milliseconds(), s.client.Cluster)
	if err != nil {
		return err
	}
	keys, arguments, err := to.withHeader(header)
	if err != nil {
		return err
	}
	fields, err := readStrings(saveSessionScript.Run(ctx, s.client, keys, arguments...))
	if err != nil {
		return err
	}
	if len(fields) != 2 {
		return fmt.Errorf("unexpected script result of %d values: want a time and people", len(fields))
	}
	return s.updateLists(ctx, saved, fields[0], fields[1])
}

// updateLists updates the lists that a script that saved a session at a time (ms; "": it had done
// so before) could not: in a cluster those of all people in the session, else those of people who
// were in it before and left.
func (s *sessions) updateLists(ctx context.Context, saved session.Session, at, before string) error {
	if at == "" {
		return nil
	}
	score, err := strconv.ParseFloat(at, 64)
	if err != nil {
		return fmt.Errorf("unexpected script result %q: want a time", at)
	}
	gone, err := splitPeople(before)
	if err != nil {
		return err
	}
	gone = slices.DeleteFunc(gone, func(person chat.UserID) bool { return slices.Contains(saved.People, person) })
	var add []string
	if s.client.Cluster {
		add = s.keys.listKeys(saved.Thread, saved.People)
	}
	if len(add)+len(gone) == 0 {
		return nil
	}
	_, err = s.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for _, list := range add {
			pipe.ZAdd(ctx, list, redis.Z{Score: score, Member: string(saved.Thread)})
			pipe.PExpire(ctx, list, s.keep)
		}
		for _, list := range s.keys.listKeys(saved.Thread, gone) {
			pipe.ZRem(ctx, list, string(saved.Thread))
		}
		return nil
	})
	return err
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
func (s *sessions) Threads(ctx context.Context, adapter string, by chat.UserID, limit int) ([]chat.ThreadSummary, error) {
	listed, err := s.listThreads(ctx, adapter, by, limit)
	if err != nil {
		return nil, fmt.Errorf("list the threads of %s: %w", adapter, conn.Explain(err))
	}
	return listed, nil
}

func (s *sessions) listThreads(ctx context.Context, adapter string, by chat.UserID, limit int) ([]chat.ThreadSummary, error) {
	key := s.keys.threadsKey(adapter, by)
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
func (s *sessions) readPage(ctx context.Context, key string, start, limit int) ([]string, error) {
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
func (s *sessions) loadSummaries(ctx context.Context, threads []string) (kept []chat.ThreadSummary, gone []any, err error) {
	values := make([]*redis.StringCmd, len(threads))
	_, err = s.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for i, thread := range threads {
			values[i] = pipe.Get(ctx, s.keys.sessionKey(chat.ThreadID(thread)))
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
