package redis

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/redis/conn"
	"github.com/cairn-bot/cairn/internal/runs"
)

// deadLetters finds dead letters.
type deadLetters struct {
	client *conn.Client
	keys   keys
	keep   time.Duration // Options.Keep
}

func (l deadLetters) listLetters(ctx context.Context, thread chat.ThreadID) ([]runs.DeadLetter, error) {
	stored, err := l.client.HGetAll(ctx, l.keys.deadKey(thread)).Result()
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

// indexLetter notes where the dead letter is to be found that the job of the lease is about
// to become. It comes first: an entry without a letter does no harm.
func (l deadLetters) indexLetter(ctx context.Context, lease runs.Lease) error {
	now, err := l.client.Time(ctx).Result()
	if err != nil {
		return explainError(err)
	}
	at := float64(now.UnixMilli())
	address, err := encodeAddress(lease.Thread, lease.Job.Event)
	if err != nil {
		return err
	}
	letters := l.keys.lettersKey(runs.DeadLetter{Job: lease.Job}.Name())
	_, err = l.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.ZAdd(ctx, l.keys.globalKey("dead"), redis.Z{Score: at, Member: string(lease.Thread)})
		pipe.ZAdd(ctx, letters, redis.Z{Score: at, Member: address})
		pipe.PExpire(ctx, letters, l.keep)
		return nil
	})
	return explainError(err)
}

func (l deadLetters) findLetter(ctx context.Context, run chat.RunID) (runs.DeadLetter, error) {
	addresses, err := l.client.ZRevRange(ctx, l.keys.lettersKey(run), 0, -1).Result()
	if err != nil {
		return runs.DeadLetter{}, explainError(err)
	}
	for _, stored := range addresses {
		var address letterAddress
		if err := json.Unmarshal([]byte(stored), &address); err != nil {
			return runs.DeadLetter{}, fmt.Errorf("read where it is: %w", err)
		}
		thread, event := chat.ThreadID(address[0]), address[1]
		fields, err := l.client.HMGet(ctx, l.keys.deadKey(thread), "b:"+event, "r:"+event).Result()
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

// letterAddress is the thread and the event of a dead letter.
type letterAddress [2]string

func encodeAddress(thread chat.ThreadID, event runs.EventID) ([]byte, error) {
	return json.Marshal(letterAddress{string(thread), string(event)})
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
