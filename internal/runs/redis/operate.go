package redis

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"cairn/internal/chat"
	"cairn/internal/runs"
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
		more, err := s.lettersOf(ctx, chat.ThreadID(thread))
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

func (s *Store) lettersOf(ctx context.Context, thread chat.ThreadID) ([]runs.DeadLetter, error) {
	stored, err := s.client.HGetAll(ctx, s.keys.deadKey(thread)).Result()
	if err != nil {
		return nil, explainError(err)
	}
	var letters []runs.DeadLetter
	for name, reason := range stored {
		event, ok := strings.CutPrefix(name, "r:")
		if !ok {
			continue
		}
		letters = append(letters, readLetter(thread, runs.EventID(event), stored["b:"+event], reason))
	}
	return letters, nil
}

// readLetter returns a dead letter from its fields of the hash.
func readLetter(thread chat.ThreadID, event runs.EventID, body, reason string) runs.DeadLetter {
	var letter runs.DeadLetter
	at, why, _ := strings.Cut(reason, " ")
	letter.At, letter.Reason = parseTime(at), why
	if job, err := readJob(body); err == nil {
		letter.Job = job
	}
	letter.Job.Event, letter.Job.Message.Thread = event, thread
	return letter
}

// indexLetter notes where the dead letter is to be found that the job of the lease is about
// to become. It comes first: an entry without a letter does no harm.
func (s *Store) indexLetter(ctx context.Context, lease runs.Lease) error {
	now, err := s.client.Time(ctx).Result()
	if err != nil {
		return explainError(err)
	}
	at := float64(now.UnixMilli())
	address, err := encodeAddress(lease.Thread, lease.Job.Event)
	if err != nil {
		return err
	}
	letters := s.keys.lettersKey(runs.DeadLetter{Job: lease.Job}.Name())
	_, err = s.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.ZAdd(ctx, s.keys.globalKey("dead"), redis.Z{Score: at, Member: string(lease.Thread)})
		pipe.ZAdd(ctx, letters, redis.Z{Score: at, Member: address})
		pipe.PExpire(ctx, letters, s.options.Keep)
		return nil
	})
	return explainError(err)
}

// letterAddress is the thread and the event of a dead letter.
type letterAddress [2]string

func encodeAddress(thread chat.ThreadID, event runs.EventID) ([]byte, error) {
	return json.Marshal(letterAddress{string(thread), string(event)})
}

// FindDeadLetter implements runs.Operator.
func (s *Store) FindDeadLetter(ctx context.Context, run chat.RunID) (runs.DeadLetter, error) {
	letter, err := s.findLetter(ctx, run)
	if err != nil {
		return runs.DeadLetter{}, fmt.Errorf("find the dead letter of run %s: %w", run, err)
	}
	return letter, nil
}

func (s *Store) findLetter(ctx context.Context, run chat.RunID) (runs.DeadLetter, error) {
	addresses, err := s.client.ZRevRange(ctx, s.keys.lettersKey(run), 0, -1).Result()
	if err != nil {
		return runs.DeadLetter{}, explainError(err)
	}
	for _, stored := range addresses {
		var address letterAddress
		if err := json.Unmarshal([]byte(stored), &address); err != nil {
			return runs.DeadLetter{}, fmt.Errorf("read where it is: %w", err)
		}
		thread, event := chat.ThreadID(address[0]), address[1]
		fields, err := s.client.HMGet(ctx, s.keys.deadKey(thread), "b:"+event, "r:"+event).Result()
		if err != nil {
			return runs.DeadLetter{}, explainError(err)
		}
		body, _ := fields[0].(string)
		if reason, ok := fields[1].(string); ok {
			return readLetter(thread, runs.EventID(event), body, reason), nil
		}
	}
	return runs.DeadLetter{}, runs.ErrUnknownLetter
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

// chunk is the number of jobs read at a time.
const chunk = 50

// Forget implements runs.Forgetter.
func (s *Store) Forget(ctx context.Context, thread chat.ThreadID, by chat.UserID, of []chat.RunID) error {
	for _, forget := range []func() error{
		func() error { return s.forgetQueues(ctx, thread, by) },
		func() error { return s.forgetDead(ctx, thread, by) },
		func() error { return s.forgetEdits(ctx, thread, by) },
		func() error { return s.forgetRuns(ctx, thread, of) },
		func() error { return explainError(s.client.Del(ctx, s.keys.eventsKey(thread)).Err()) },
	} {
		if err := forget(); err != nil {
			return fmt.Errorf("forget %s in thread %s: %w", by, thread, err)
		}
	}
	return nil
}

// forgetQueues removes a person's jobs from all lanes. Each is announced: its head may be another
// one now.
func (s *Store) forgetQueues(ctx context.Context, thread chat.ThreadID, by chat.UserID) error {
	for _, lane := range runs.Lanes {
		queue := runs.QueueID{Thread: thread, Lane: lane}
		err := s.forgetJobs(ctx, queue, by)
		if err == nil {
			err = s.forgetDelayed(ctx, queue, by)
		}
		if err == nil {
			err = s.announceQueue(ctx, queue)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) forgetJobs(ctx context.Context, queue runs.QueueID, by chat.UserID) error {
	for start := int64(0); ; {
		stored, err := s.client.LRange(ctx, s.keys.jobsKey(queue), start, start+chunk-1).Result()
		if err != nil {
			return explainError(err)
		}
		if len(stored) == 0 {
			return nil
		}
		start += int64(len(stored))
		for _, text := range stored {
			job, err := readJob(text)
			if err != nil || job.Message.Author != by {
				continue // what can't be read tells of nobody
			}
			removed, err := forgetScript.Run(ctx, s.client, []string{s.keys.stateKey(queue), s.keys.jobsKey(queue)}, text).Int64()
			if err != nil {
				return explainError(err)
			}
			start -= removed
		}
	}
}

func (s *Store) forgetDelayed(ctx context.Context, queue runs.QueueID, by chat.UserID) error {
	stored, err := s.client.ZRange(ctx, s.keys.delayedKey(queue), 0, -1).Result()
	if err != nil {
		return explainError(err)
	}
	for _, body := range stored {
		if job, err := runs.DecodeJob([]byte(body)); err == nil && job.Message.Author == by {
			if err := s.client.ZRem(ctx, s.keys.delayedKey(queue), body).Err(); err != nil {
				return explainError(err)
			}
		}
	}
	return nil
}

func (s *Store) forgetDead(ctx context.Context, thread chat.ThreadID, by chat.UserID) error {
	letters, err := s.lettersOf(ctx, thread)
	if err != nil {
		return err
	}
	for _, letter := range letters {
		if letter.Job.Message.Author == by {
			event := string(letter.Job.Event)
			if err := s.client.HDel(ctx, s.keys.deadKey(thread), "b:"+event, "r:"+event).Err(); err != nil {
				return explainError(err)
			}
			address, err := encodeAddress(thread, letter.Job.Event)
			if err != nil {
				return err
			}
			if err := s.client.ZRem(ctx, s.keys.lettersKey(letter.Name()), address).Err(); err != nil {
				return explainError(err)
			}
		}
	}
	return nil
}

// forgetRuns removes checkpoints and recorded deliveries of runs.
func (s *Store) forgetRuns(ctx context.Context, thread chat.ThreadID, of []chat.RunID) error {
	for _, run := range of {
		if err := s.client.Del(ctx, s.keys.checkpointKey(thread, string(run))).Err(); err != nil {
			return explainError(err)
		}
	}
	queue := runs.QueueID{Thread: thread} // no other lane has runs
	state, err := s.client.HGetAll(ctx, s.keys.stateKey(queue)).Result()
	if err != nil {
		return explainError(err)
	}
	deliveries, err := readOutbox(state)
	if err != nil {
		return err
	}
	for _, delivery := range deliveries {
		if slices.Contains(of, delivery.Run) {
			if err := s.dropDelivery(ctx, queue, delivery.Key, ""); err != nil {
				return err
			}
		}
	}
	return nil
}
