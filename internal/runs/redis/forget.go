package redis

import (
	"context"
	"fmt"
	"slices"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/runs"
)

// eraser erases what a thread keeps of a person.
type eraser struct {
	store  *Store
	thread chat.ThreadID
	by     chat.UserID
}

// Forget implements runs.Forgetter.
func (s *Store) Forget(ctx context.Context, thread chat.ThreadID, by chat.UserID, of []chat.RunID) error {
	e := eraser{s, thread, by}
	for _, forget := range []func() error{
		func() error { return e.forgetQueues(ctx) },
		func() error { return e.forgetDead(ctx) },
		func() error { return e.forgetEdits(ctx) },
		func() error { return e.forgetRuns(ctx, of) },
		func() error { return explainError(s.client.Del(ctx, s.keys.eventsKey(thread)).Err()) },
	} {
		if err := forget(); err != nil {
			return fmt.Errorf("forget %s in thread %s: %w", by, thread, err)
		}
	}
	return nil
}

// chunk is the number of jobs read at a time.
const chunk = 50

// forgetQueues removes a person's jobs from all lanes. Each is announced: its head may be another
// one now.
func (e eraser) forgetQueues(ctx context.Context) error {
	for _, lane := range runs.Lanes {
		queue := runs.QueueID{Thread: e.thread, Lane: lane}
		err := e.forgetJobs(ctx, queue)
		if err == nil {
			err = e.forgetDelayed(ctx, queue)
		}
		if err == nil {
			err = e.store.announceQueue(ctx, queue)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (e eraser) forgetJobs(ctx context.Context, queue runs.QueueID) error {
	for start := int64(0); ; {
		stored, err := e.store.client.LRange(ctx, e.store.keys.jobsKey(queue), start, start+chunk-1).Result()
		if err != nil {
			return explainError(err)
		}
		if len(stored) == 0 {
			return nil
		}
		start += int64(len(stored))
		for _, text := range stored {
			job, err := readJob(text)
			if err != nil || job.Message.Author != e.by {
				continue // what can't be read tells of nobody
			}
			removed, err := forgetScript.Run(ctx, e.store.client, []string{e.store.keys.stateKey(queue), e.store.keys.jobsKey(queue)}, text).Int64()
			if err != nil {
				return explainError(err)
			}
			start -= removed
		}
	}
}

func (e eraser) forgetDelayed(ctx context.Context, queue runs.QueueID) error {
	stored, err := e.store.client.ZRange(ctx, e.store.keys.delayedKey(queue), 0, -1).Result()
	if err != nil {
		return explainError(err)
	}
	for _, body := range stored {
		if job, err := runs.DecodeJob([]byte(body)); err == nil && job.Message.Author == e.by {
			if err := e.store.client.ZRem(ctx, e.store.keys.delayedKey(queue), body).Err(); err != nil {
				return explainError(err)
			}
		}
	}
	return nil
}

func (e eraser) forgetDead(ctx context.Context) error {
	letters, err := e.store.dead.listLetters(ctx, e.thread)
	if err != nil {
		return err
	}
	for _, letter := range letters {
		if letter.Job.Message.Author == e.by {
			event := string(letter.Job.Event)
			if err := e.store.client.HDel(ctx, e.store.keys.deadKey(e.thread), "b:"+event, "r:"+event).Err(); err != nil {
				return explainError(err)
			}
			address, err := encodeAddress(e.thread, letter.Job.Event)
			if err != nil {
				return err
			}
			if err := e.store.client.ZRem(ctx, e.store.keys.lettersKey(letter.Name()), address).Err(); err != nil {
				return explainError(err)
			}
		}
	}
	return nil
}

// forgetRuns removes checkpoints and recorded deliveries of runs.
func (e eraser) forgetRuns(ctx context.Context, of []chat.RunID) error {
	for _, run := range of {
		if err := e.store.client.Del(ctx, e.store.keys.checkpointKey(e.thread, string(run))).Err(); err != nil {
			return explainError(err)
		}
	}
	queue := runs.QueueID{Thread: e.thread} // no other lane has runs
	state, err := e.store.client.HGetAll(ctx, e.store.keys.stateKey(queue)).Result()
	if err != nil {
		return explainError(err)
	}
	deliveries, err := readOutbox(state)
	if err != nil {
		return err
	}
	for _, delivery := range deliveries {
		if slices.Contains(of, delivery.Run) {
			if err := e.store.dropDelivery(ctx, queue, delivery.Key, ""); err != nil {
				return err
			}
		}
	}
	return nil
}

// forgetEdits removes the edits of a person's messages. What can't be read tells of nobody.
func (e eraser) forgetEdits(ctx context.Context) error {
	stored, err := e.store.client.HGetAll(ctx, e.store.keys.editsKey(e.thread)).Result()
	if err != nil {
		return explainError(err)
	}
	for message, body := range stored {
		edit, err := runs.DecodeEdit(e.thread, chat.MessageID(message), []byte(body))
		if err != nil || edit.Author != e.by {
			continue
		}
		if err := e.store.client.HDel(ctx, e.store.keys.editsKey(e.thread), message).Err(); err != nil {
			return explainError(err)
		}
	}
	return nil
}
