package fleet

import (
	"context"
	"sync"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/discord/gateway"
)

// Memory is what the replicas of one bot share.
type Memory struct {
	mu      sync.Mutex
	count   int
	token   int64
	shards  map[int]*shardState
	members map[string]time.Time // when they count as gone

	left  int // identifies of the day
	reset time.Time
	next  map[int]time.Time // when a bucket may identify again

	rates rates
}

// shardState is a shard; the zero owner is nobody.
type shardState struct {
	owner   string
	token   int64
	until   time.Time
	session gateway.Session
}

var (
	_ gateway.Shards = (*Memory)(nil)
	_ gateway.Starts = (*Memory)(nil)
	_ Rates          = (*Memory)(nil)
)

// NewMemory returns an empty store.
func NewMemory() *Memory {
	return &Memory{
		shards: make(map[int]*shardState), members: make(map[string]time.Time), next: make(map[int]time.Time),
		rates: newRates(),
	}
}

func (h *shardState) isFree(now time.Time) bool { return h.owner == "" || !h.until.After(now) }

// Share implements gateway.Shards.
func (s *Memory) Share(ctx context.Context, member gateway.Member) (gateway.Share, error) {
	if err := ctx.Err(); err != nil {
		return gateway.Share{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for replica, until := range s.members {
		if !until.After(now) {
			delete(s.members, replica)
		}
	}
	until := now.Add(member.TTL)
	s.members[member.Replica] = until
	if s.count != member.Shards && s.isIdle(now) {
		s.count = member.Shards
		clear(s.shards)
		for i := range s.count {
			s.shards[i] = &shardState{}
		}
	}
	own := 0
	for _, shard := range s.shards {
		if shard.owner == member.Replica {
			own++
			shard.until = until
		}
	}
	share := gateway.Share{Shards: s.count, Quota: (s.count + len(s.members) - 1) / len(s.members)}
	for i := range s.count {
		shard := s.shards[i]
		if own < share.Quota && shard.isFree(now) {
			s.token++
			shard.owner, shard.token, shard.until = member.Replica, s.token, until
			own++
		}
		if shard.owner == member.Replica {
			share.Leases = append(share.Leases, gateway.Lease{
				Replica: shard.owner, Shard: i, Shards: s.count, Token: shard.token, Session: shard.session,
			})
		}
	}
	return share, nil
}

func (s *Memory) isIdle(now time.Time) bool {
	for _, shard := range s.shards {
		if !shard.isFree(now) {
			return false
		}
	}
	return true
}

// Save implements gateway.Shards.
func (s *Memory) Save(ctx context.Context, lease gateway.Lease, session gateway.Session) error {
	return s.saveSession(ctx, lease, session, false)
}

// Release implements gateway.Shards.
func (s *Memory) Release(ctx context.Context, lease gateway.Lease, session gateway.Session) error {
	return s.saveSession(ctx, lease, session, true)
}

func (s *Memory) saveSession(ctx context.Context, lease gateway.Lease, session gateway.Session, release bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	shard := s.shards[lease.Shard]
	if shard == nil || shard.owner != lease.Replica || shard.token != lease.Token {
		return gateway.ErrLost
	}
	shard.session = session
	if release {
		shard.owner = ""
	}
	return nil
}

// Leave implements gateway.Shards.
func (s *Memory) Leave(ctx context.Context, replica string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.members, replica)
	return nil
}

// Start implements gateway.Starts.
func (s *Memory) Start(ctx context.Context, shard int, limit gateway.StartLimit) (time.Duration, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if told := now.Add(limit.ResetAfter); !now.Before(s.reset) || told.After(s.reset.Add(time.Minute)) {
		s.left, s.reset = limit.Remaining, told
		if limit.ResetAfter <= 0 {
			s.reset = now.Add(24 * time.Hour)
		}
	}
	s.left = min(s.left, limit.Remaining)
	if s.left <= 0 {
		return s.reset.Sub(now), nil
	}
	bucket := shard % max(1, limit.MaxConcurrency)
	if wait := s.next[bucket].Sub(now); wait > 0 {
		return wait, nil
	}
	s.left--
	s.next[bucket] = now.Add(limit.Window)
	return 0, nil
}
