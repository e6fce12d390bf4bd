package redis

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/redis/conn"
	"github.com/cairn-bot/cairn/internal/runs"
)

// records is a runs.Records in a Redis.
type records struct {
	client *conn.Client
	keys   keys
	keep   time.Duration
}

var (
	_ runs.Records  = (*records)(nil)
	_ runs.Registry = (*records)(nil)
)

// Save implements runs.Records.
func (r *records) Save(ctx context.Context, record runs.Record) error {
	if err := r.saveRecord(ctx, record); err != nil {
		return fmt.Errorf("save record of run %s: %w", record.ID, err)
	}
	return nil
}

func (r *records) saveRecord(ctx context.Context, record runs.Record) error {
	if r.client.Cluster {
		if err := r.listRecord(ctx, record); err != nil {
			return err
		}
	}
	to := newArguments()
	header, err := r.keys.addRecord(to, record, r.keep.Milliseconds(), r.client.Cluster)
	if err != nil {
		return err
	}
	keys, arguments, err := to.withHeader(header)
	if err != nil {
		return err
	}
	return explainError(saveRecordScript.Run(ctx, r.client, keys, arguments...).Err())
}

// listRecord writes what finds a record, which in a cluster is on other servers. It comes before
// the record: what is listed and not there is passed over.
func (r *records) listRecord(ctx context.Context, record runs.Record) error {
	now, err := r.client.Time(ctx).Result()
	if err != nil {
		return explainError(err)
	}
	listed := redis.Z{Score: float64(now.UnixMilli()), Member: string(record.ID)}
	_, err = r.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.Set(ctx, r.keys.homeKey(record.ID), string(record.Thread), r.keep+homeLonger)
		pipe.ZAdd(ctx, r.keys.globalKey("runs"), listed)
		pipe.ZAdd(ctx, r.keys.statusKey(record.Status()), listed)
		for _, status := range formerStatuses(record) {
			pipe.ZRem(ctx, r.keys.statusKey(status), string(record.ID))
		}
		return nil
	})
	return explainError(err)
}

// homeLonger is how much longer than a record it is kept of which thread its run is.
const homeLonger = 48 * time.Hour

// Load implements runs.Records.
func (r *records) Load(ctx context.Context, run chat.RunID) (runs.Record, error) {
	record, err := r.loadRecord(ctx, run)
	if err != nil {
		return runs.Record{}, fmt.Errorf("load record of run %s: %w", run, err)
	}
	return record, nil
}

func (r *records) loadRecord(ctx context.Context, run chat.RunID) (runs.Record, error) {
	thread, err := r.homeOf(ctx, run)
	if err != nil {
		return runs.Record{}, err
	}
	pipe := r.client.Pipeline()
	value, ratings := pipe.Get(ctx, r.keys.recordKey(thread, run)), pipe.HGetAll(ctx, r.keys.ratingsKey(thread, run))
	if _, err := pipe.Exec(ctx); err != nil && !errors.Is(err, redis.Nil) {
		return runs.Record{}, explainError(err)
	}
	record, err := readRecord(run, value)
	if err != nil {
		return runs.Record{}, err
	}
	for by, rating := range ratings.Val() {
		var kept storedRating
		if err := json.Unmarshal([]byte(rating), &kept); err != nil {
			return runs.Record{}, fmt.Errorf("rating of %s: %w", by, err)
		}
		record.Ratings = append(record.Ratings, chat.Rating{By: chat.UserID(by), Verdict: kept.Verdict, Reason: kept.Reason, ByReaction: kept.ByReaction, At: kept.At})
	}
	slices.SortFunc(record.Ratings, func(a, b chat.Rating) int { return strings.Compare(string(a.By), string(b.By)) })
	return record, nil
}

// homeOf returns the thread of a run.
func (r *records) homeOf(ctx context.Context, run chat.RunID) (chat.ThreadID, error) {
	thread, err := r.client.Get(ctx, r.keys.homeKey(run)).Result()
	if errors.Is(err, redis.Nil) {
		return "", chat.ErrUnknownRun
	}
	return chat.ThreadID(thread), explainError(err)
}

// readRecord reads a record from its key: its status, the time when it was saved (ms), and its
// packed body in the next line.
func readRecord(run chat.RunID, value *redis.StringCmd) (runs.Record, error) {
	stored, err := value.Bytes()
	if errors.Is(err, redis.Nil) {
		return runs.Record{}, chat.ErrUnknownRun
	}
	if err != nil {
		return runs.Record{}, explainError(err)
	}
	_, packed, ok := bytes.Cut(stored, []byte("\n"))
	if !ok {
		return runs.Record{}, errors.New("missing status and time")
	}
	body, err := unpackJSON(packed)
	if err != nil {
		return runs.Record{}, err
	}
	return runs.DecodeRecord(run, body)
}

type storedRating struct {
	Verdict chat.Verdict `json:"verdict"`
	Reason  string       `json:"reason,omitempty"`
	// ByReaction is chat.Rating.ByReaction.
	ByReaction bool      `json:"by_reaction,omitempty"`
	At         time.Time `json:"at"`
}

// Rate implements runs.Records.
func (r *records) Rate(ctx context.Context, run chat.RunID, rating chat.Rating) error {
	var stored []byte
	if rating.Verdict != chat.Unrated {
		var err error
		if stored, err = json.Marshal(storedRating{rating.Verdict, rating.Reason, rating.ByReaction, rating.At}); err != nil {
			return fmt.Errorf("rate run %s: %w", run, err)
		}
	}
	thread, err := r.homeOf(ctx, run)
	if err == nil {
		keys := []string{r.keys.recordKey(thread, run), r.keys.ratingsKey(thread, run)}
		// A record that is saved again may outlive its ratings, if they are not kept for longer.
		err = requireKnown(rateScript.Run(ctx, r.client, keys, string(rating.By), stored, formatMillis(2*r.keep)), chat.ErrUnknownRun)
	}
	if err != nil {
		return fmt.Errorf("rate run %s: %w", run, err)
	}
	return nil
}

// List implements runs.Registry. It goes through the shortest list that the filter
// allows.
func (r *records) List(ctx context.Context, filter runs.Filter, limit int) ([]runs.Record, error) {
	found, err := r.listRecords(ctx, filter, limit)
	if err != nil {
		return nil, fmt.Errorf("list records: %w", err)
	}
	return found, nil
}

func (r *records) listRecords(ctx context.Context, filter runs.Filter, limit int) ([]runs.Record, error) {
	list := r.keys.globalKey("runs")
	switch {
	case filter.Thread != "":
		list = r.keys.runsKey(filter.Thread)
	case filter.Status != "":
		list = r.keys.statusKey(filter.Status)
	}
	const page = 100
	var chosen []runs.Record
	for start := int64(0); ; start += page {
		ids, err := r.client.ZRevRange(ctx, list, start, start+page-1).Result()
		if err != nil {
			return nil, explainError(err)
		}
		found, err := r.readRecords(ctx, ids, filter.Thread)
		if err != nil {
			return nil, err
		}
		for _, record := range found {
			if !filter.Takes(record) {
				continue
			}
			if chosen = append(chosen, record); len(chosen) == limit {
				return chosen, nil
			}
		}
		if len(ids) < page {
			return chosen, nil
		}
	}
}

// readRecords returns those of the runs' records that are there, without their ratings. The runs
// are of the thread; "": of any.
func (r *records) readRecords(ctx context.Context, ids []string, thread chat.ThreadID) ([]runs.Record, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	homes := make([]string, len(ids))
	for i := range homes {
		homes[i] = string(thread)
	}
	if thread == "" {
		var err error
		if homes, err = r.homesOf(ctx, ids); err != nil {
			return nil, err
		}
	}
	values := make([]*redis.StringCmd, len(ids))
	_, err := r.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for i, id := range ids {
			values[i] = pipe.Get(ctx, r.keys.recordKey(chat.ThreadID(homes[i]), chat.RunID(id)))
		}
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, explainError(err)
	}
	var found []runs.Record
	for i, id := range ids {
		record, err := readRecord(chat.RunID(id), values[i])
		if errors.Is(err, chat.ErrUnknownRun) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("run %s: %w", id, err)
		}
		found = append(found, record)
	}
	return found, nil
}

// homesOf returns the threads of runs, "" for one that is not known.
func (r *records) homesOf(ctx context.Context, ids []string) ([]string, error) {
	found := make([]*redis.StringCmd, len(ids))
	_, err := r.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for i, id := range ids {
			found[i] = pipe.Get(ctx, r.keys.homeKey(chat.RunID(id)))
		}
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, explainError(err)
	}
	homes := make([]string, len(ids))
	for i, thread := range found {
		homes[i] = thread.Val()
	}
	return homes, nil
}

// unlistExpired removes the runs whose records were saved before a time, as ZRANGEBYSCORE takes
// it, from the lists of their threads.
func (r *records) unlistExpired(ctx context.Context, before string) error {
	ids, err := r.client.ZRangeByScore(ctx, r.keys.globalKey("runs"), &redis.ZRangeBy{Min: "-inf", Max: before}).Result()
	if err != nil {
		return explainError(err)
	}
	for some := range slices.Chunk(ids, 1000) {
		homes, err := r.homesOf(ctx, some)
		if err != nil {
			return err
		}
		_, err = r.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
			for i, id := range some {
				pipe.ZRem(ctx, r.keys.runsKey(chat.ThreadID(homes[i])), id)
			}
			return nil
		})
		if err != nil {
			return explainError(err)
		}
	}
	return nil
}

// Erase implements runs.Registry. The record goes first: what is listed and not there is
// passed over.
func (r *records) Erase(ctx context.Context, run chat.RunID) error {
	if err := r.eraseRecord(ctx, run); err != nil {
		return fmt.Errorf("erase record of run %s: %w", run, err)
	}
	return nil
}

func (r *records) eraseRecord(ctx context.Context, run chat.RunID) error {
	thread, err := r.homeOf(ctx, run)
	if err == nil {
		_, err = r.client.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
			pipe.Del(ctx, r.keys.recordKey(thread, run), r.keys.ratingsKey(thread, run))
			pipe.ZRem(ctx, r.keys.runsKey(thread), string(run))
			return nil
		})
	}
	if err != nil && !errors.Is(err, chat.ErrUnknownRun) {
		return explainError(err)
	}
	_, err = r.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for _, list := range r.keys.recordLists() {
			pipe.ZRem(ctx, list, string(run))
		}
		pipe.Del(ctx, r.keys.homeKey(run))
		return nil
	})
	return explainError(err)
}
