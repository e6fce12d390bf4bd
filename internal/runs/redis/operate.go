package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/runs"
)

// State implements runs.Operator.
func (s *Store) State(ctx context.Context, thread chat.ThreadID) (runs.ThreadState, error) {
	state, err := s.readState(ctx, runs.QueueID{Thread: thread})
	if err != nil {
		return runs.ThreadState{}, fmt.Errorf("look into thread %s: %w", thread, err)
	}
	return state, nil
}

func (s *Store) readState(ctx context.Context, queue runs.QueueID) (runs.ThreadState, error) {
	pipe := s.client.TxPipeline()
	fields := pipe.HGetAll(ctx, s.keys.stateKey(queue))
	queued := pipe.LLen(ctx, s.keys.jobsKey(queue))
	delayed := pipe.ZCard(ctx, s.keys.delayedKey(queue))
	head := pipe.LIndex(ctx, s.keys.jobsKey(queue), 0)
	if _, err := pipe.Exec(ctx); err != nil && !errors.Is(err, redis.Nil) {
		return runs.ThreadState{}, explainError(err)
	}
	state := runs.ThreadState{Thread: queue.Thread, Lane: queue.Lane, Queued: int(queued.Val()), Delayed: int(delayed.Val())}
	if state.Queued == 0 {
		return state, nil
	}
	f := fields.Val()
	state.Worker, state.Until = runs.WorkerID(f["worker"]), parseTime(f["until"])
	state.NotBefore, state.Reason = parseTime(f["notbefore"]), f["reason"]
	state.Stopped = stopOf(f["stopby"], f["stopat"])
	if job, err := readJob(head.Val()); err == nil {
		state.Head = job
		state.Head.Attempt, _ = strconv.Atoi(f["attempt"]) //nolint:errcheck // not claimed yet: 0
	}
	return state, nil
}

// withWork returns all queues that have jobs, in order.
func (s *Store) withWork(ctx context.Context) ([]runs.QueueID, error) {
	var mu sync.Mutex
	found := make(map[runs.QueueID]struct{})
	add := func(queue runs.QueueID) {
		mu.Lock()
		defer mu.Unlock()
		found[queue] = struct{}{}
	}
	err := s.client.EachServer(ctx, func(ctx context.Context, server *redis.Client) error {
		for _, lane := range runs.Lanes {
			for _, what := range []string{laneKey(lane, "jobs"), laneKey(lane, "delayed")} {
				scan := server.Scan(ctx, 0, s.keys.prefix+":{*}:"+what, 1000).Iterator()
				for scan.Next(ctx) {
					if thread, ok := s.keys.parseThread(scan.Val(), what); ok {
						add(runs.QueueID{Thread: thread, Lane: lane})
					}
				}
				if err := scan.Err(); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, explainError(err)
	}
	return slices.SortedFunc(maps.Keys(found), func(a, b runs.QueueID) int {
		return cmp.Or(cmp.Compare(a.Thread, b.Thread), cmp.Compare(a.Lane, b.Lane))
	}), nil
}

// Threads implements runs.Operator. It looks through all keys.
func (s *Store) Threads(ctx context.Context, limit int) ([]runs.ThreadState, error) {
	queues, err := s.withWork(ctx)
	if err != nil {
		return nil, fmt.Errorf("list threads with work: %w", err)
	}
	var states []runs.ThreadState
	for _, queue := range queues[:min(limit, len(queues))] {
		state, err := s.readState(ctx, queue)
		if err != nil {
			return nil, fmt.Errorf("look into thread %s: %w", queue, err)
		}
		states = append(states, state)
	}
	return states, nil
}

// DeadLetters implements runs.Operator.
func (s *Store) DeadLetters(ctx context.Context, limit int) ([]runs.DeadLetter, error) {
	threads, err := s.client.ZRevRange(ctx, s.keys.globalKey("dead"), 0, -1).Result()
	if err != nil {
		return nil, fmt.Errorf("list dead letters: %w", explainError(err))
	}
	var letters []runs.DeadLetter
	for _, thread := range threads {
		if len(letters) >= limit {
			break // the last letter of every thread to come is older than those
		}
		more, err := s.dead.listLetters(ctx, chat.ThreadID(thread))
		if err != nil {
			return nil, fmt.Errorf("list dead letters: %w", err)
		}
		if len(more) == 0 {
			if err := s.client.ZRem(ctx, s.keys.globalKey("dead"), thread).Err(); err != nil {
				return nil, fmt.Errorf("list dead letters: %w", explainError(err))
			}
		}
		letters = append(letters, more...)
	}
	slices.SortStableFunc(letters, func(a, b runs.DeadLetter) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Job.Event, b.Job.Event))
	})
	return letters[:min(limit, len(letters))], nil
}

// FindDeadLetter implements runs.Operator.
func (s *Store) FindDeadLetter(ctx context.Context, run chat.RunID) (runs.DeadLetter, error) {
	letter, err := s.dead.findLetter(ctx, run)
	if err != nil {
		return runs.DeadLetter{}, fmt.Errorf("find the dead letter of run %s: %w", run, err)
	}
	return letter, nil
}

// Replay implements runs.Operator.
func (s *Store) Replay(ctx context.Context, thread chat.ThreadID, event runs.EventID) error {
	if err := s.replayLetter(ctx, thread, event); err != nil {
		return fmt.Errorf("replay event %s of thread %s: %w", event, thread, err)
	}
	return nil
}

func (s *Store) replayLetter(ctx context.Context, thread chat.ThreadID, event runs.EventID) error {
	body, err := s.client.HGet(ctx, s.keys.deadKey(thread), "b:"+string(event)).Result()
	if errors.Is(err, redis.Nil) {
		return runs.ErrUnknownLetter
	}
	if err != nil {
		return explainError(err)
	}
	queue := runs.QueueID{Thread: thread}
	if job, err := readJob(body); err == nil {
		queue.Lane = job.Lane
	}
	if err := s.scheduleNotice(ctx, queue, s.options.ClaimInterval); err != nil {
		return err
	}
	keys := []string{s.keys.jobsKey(queue), s.keys.deadKey(thread), s.keys.stateKey(queue)}
	if err := requireKnown(replayScript.Run(ctx, s.client, keys, string(event)), runs.ErrUnknownLetter); err != nil {
		return err
	}
	return s.announceQueue(ctx, queue)
}

// Discard implements runs.Operator.
func (s *Store) Discard(ctx context.Context, thread chat.ThreadID, event runs.EventID) error {
	gone, err := s.client.HDel(ctx, s.keys.deadKey(thread), "b:"+string(event), "r:"+string(event)).Result()
	if err = explainError(err); err == nil && gone == 0 {
		err = runs.ErrUnknownLetter
	}
	if err != nil {
		return fmt.Errorf("discard event %s of thread %s: %w", event, thread, err)
	}
	return nil
}
