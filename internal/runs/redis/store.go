package redis

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/redis/conn"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/session"
	"github.com/cairn-bot/cairn/internal/store"
)

// consumerGroup is the consumer group of the stream of threads to look at.
const consumerGroup = "workers"

// DefaultPrefix begins all keys where Options.Prefix is "".
const DefaultPrefix = "cairn"

// Options are what a store is made of.
type Options struct {
	runs.Options
	// Prefix begins all keys; programs that share a Redis have different ones.
	Prefix string
	Logger *slog.Logger // required
}

func (o Options) withDefaults() (Options, error) {
	var err error
	if o.Options, err = o.Complete(); err != nil {
		return o, fmt.Errorf("options of runs: %w", err)
	}
	if o.Prefix == "" {
		o.Prefix = DefaultPrefix
	}
	if strings.ContainsAny(o.Prefix, `{}*?[]\`) {
		return o, fmt.Errorf("the prefix of keys is %q: take one without { } * ? [ ] and \\", o.Prefix)
	}
	return o, nil
}

// Store is a store.Store in a Redis.
type Store struct {
	client   *conn.Client
	options  Options
	keys     keys
	records  *records
	sessions *sessions
	dead     deadLetters
	hub      runs.Hub
	channel  channel
	upkeep   upkeep

	lastCommit atomic.Int64 // the number of the last commit
}

var _ store.Store = (*Store)(nil)

// Open returns the store in a Redis, which it makes ready. The client stays the caller's,
// to be closed after the store.
func Open(ctx context.Context, client *conn.Client, options Options) (*Store, error) {
	options, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Store{client: client, options: options, keys: keys{options.Prefix}}
	s.records, s.sessions = &records{client, s.keys, options.Keep}, &sessions{client, s.keys, options.Keep}
	s.dead = deadLetters{client, s.keys, options.Keep}
	s.channel.store = s
	s.hub.Changed = s.channel.followersChanged
	if err := s.makeGroup(ctx); err != nil {
		return nil, fmt.Errorf("open the runs in Redis: %w", err)
	}
	if err := s.dropConsumers(ctx); err != nil {
		return nil, fmt.Errorf("open the runs in Redis: %w", err)
	}
	return s, nil
}

// Records implements store.Store.
func (s *Store) Records() store.Records { return s.records }

// Sessions implements store.Store.
func (s *Store) Sessions() session.Store { return s.sessions }

// Close ends what the store does in the background. Claims and followers must have ended.
func (s *Store) Close() error { return s.channel.close() }

func (s *Store) makeGroup(ctx context.Context) error {
	err := s.client.XGroupCreateMkStream(ctx, s.keys.globalKey("ready"), consumerGroup, "0").Err()
	if redis.HasErrorPrefix(err, "BUSYGROUP") {
		return nil
	}
	return explainError(err)
}

// goneAfter is the time after which an idle worker is forgotten.
const goneAfter = time.Hour

// dropConsumers removes the consumers of processes that ended long ago.
func (s *Store) dropConsumers(ctx context.Context) error {
	consumers, err := s.client.XInfoConsumers(ctx, s.keys.globalKey("ready"), consumerGroup).Result()
	if err != nil {
		return explainError(err)
	}
	for _, consumer := range consumers {
		if consumer.Pending == 0 && consumer.Idle > goneAfter {
			if err := s.client.XGroupDelConsumer(ctx, s.keys.globalKey("ready"), consumerGroup, consumer.Name).Err(); err != nil {
				return explainError(err)
			}
		}
	}
	return nil
}

// upkeep schedules the maintenance that waiting claims do for all processes.
type upkeep struct {
	mu                       sync.Mutex
	promote, reclaim, repair time.Time // when each is due again
	since                    time.Time // when the servers began, as far as it was seen to
	afterwards               time.Time // when repair is due once more since they did; zero: it is not
}

// scheduleRepair schedules a repair of the notices that restarted servers may have lost. Workers that do not know yet what was forgotten may settle the wrong ones for
// as long as their leases last; so it is done once more after that.
func (u *upkeep) scheduleRepair(since time.Time, ttl time.Duration) {
	u.mu.Lock()
	defer u.mu.Unlock()
	now := time.Now()
	switch {
	case !since.Equal(u.since):
		u.since, u.repair, u.afterwards = since, time.Time{}, now.Add(ttl+time.Second)
	case !u.afterwards.IsZero() && now.After(u.afterwards):
		u.repair, u.afterwards = time.Time{}, time.Time{}
	}
}

// takeDue reports whether a task is due, and if so schedules it again.
func (u *upkeep) takeDue(due *time.Time, every time.Duration) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	now := time.Now()
	if now.Before(*due) {
		return false
	}
	*due = now.Add(every)
	return true
}

// bringForward moves the time of a task forward.
func (u *upkeep) bringForward(due *time.Time, in time.Duration) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if at := time.Now().Add(in); at.Before(*due) {
		*due = at
	}
}

// formatMillis writes a duration in milliseconds, as scripts take it.
func formatMillis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// parseTime reads a time that a script wrote, "" as the zero time.
func parseTime(text string) time.Time {
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil || ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// readJob reads a job as it stands in a queue.
func readJob(stored string) (runs.Job, error) {
	enqueued, body, found := strings.Cut(stored, " ")
	if !found {
		return runs.Job{}, fmt.Errorf("read job: missing time")
	}
	job, err := runs.DecodeJob([]byte(body))
	job.Enqueued = parseTime(enqueued)
	return job, err
}

func stopOf(by, at string) *runs.Stop {
	if at == "" {
		return nil
	}
	return &runs.Stop{By: chat.UserID(by), At: parseTime(at)}
}
