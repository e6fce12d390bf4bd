package redis

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"cairn/internal/chat"
	"cairn/internal/redis/conn"
	"cairn/internal/redis/pack"
	"cairn/internal/runs"
)

// Records is a runs.Records in a Redis.
type Records struct {
	client *conn.Client
	keys   keys
	keep   time.Duration
}

var (
	_ runs.Records  = (*Records)(nil)
	_ runs.Registry = (*Records)(nil)
)

// OpenRecords returns the records in a Redis; of the options it heeds Prefix and Keep. The
// client stays the caller's.
func OpenRecords(client *conn.Client, options Options) (*Records, error) {
	options, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Records{client: client, keys: keys{options.Prefix}, keep: options.Keep}, nil
}

// Save implements runs.Records. It lists the record before it writes it: what is listed
// and not there is passed over.
func (r *Records) Save(ctx context.Context, record runs.Record) error {
	body, err := runs.EncodeRecord(record)
	if err == nil {
		body, err = pack.Pack(body)
	}
	if err != nil {
		return fmt.Errorf("save record of run %s: %w", record.ID, err)
	}
	keep := formatMillis(r.keep)
	err = runScripts(ctx, r.client,
		listScript.With(r.listKeys(record), string(record.ID), 2, ""),
		listScript.With([]string{r.keys.runsKey(record.Thread)}, string(record.ID), 1, keep),
		saveScript.With([]string{r.keys.recordKey(record.ID)}, strconv.FormatInt(int64(record.Fence), 10), body, keep))
	if err != nil {
		return fmt.Errorf("save record of run %s: %w", record.ID, err)
	}
	return nil
}

// listKeys returns the keys of the lists of all records and of those with the record's status, and
// of those with a status that it had.
func (r *Records) listKeys(record runs.Record) []string {
	lists := []string{r.keys.globalKey("runs"), r.keys.statusKey(record.Status())}
	for _, transition := range record.Transitions {
		if list := r.keys.statusKey(transition.To); !slices.Contains(lists, list) {
			lists = append(lists, list)
		}
	}
	return lists
}

// Load implements runs.Records.
func (r *Records) Load(ctx context.Context, run chat.RunID) (runs.Record, error) {
	record, err := r.loadRecord(ctx, run)
	if err != nil {
		return runs.Record{}, fmt.Errorf("load record of run %s: %w", run, err)
	}
	return record, nil
}

func (r *Records) loadRecord(ctx context.Context, run chat.RunID) (runs.Record, error) {
	stored, err := r.client.HGetAll(ctx, r.keys.recordKey(run)).Result()
	if err != nil {
		return runs.Record{}, explainError(err)
	}
	body, ok := stored["body"]
	if !ok {
		return runs.Record{}, chat.ErrUnknownRun
	}
	unpacked, err := pack.Unpack([]byte(body))
	if err != nil {
		return runs.Record{}, err
	}
	record, err := runs.DecodeRecord(run, unpacked)
	if err != nil {
		return runs.Record{}, err
	}
	for name, rating := range stored {
		by, ok := strings.CutPrefix(name, "r:")
		if !ok {
			continue
		}
		var kept storedRating
		if err := json.Unmarshal([]byte(rating), &kept); err != nil {
			return runs.Record{}, fmt.Errorf("rating of %s: %w", by, err)
		}
		record.Ratings = append(record.Ratings, chat.Rating{By: chat.UserID(by), Verdict: kept.Verdict, Reason: kept.Reason, At: kept.At})
	}
	slices.SortFunc(record.Ratings, func(a, b chat.Rating) int { return strings.Compare(string(a.By), string(b.By)) })
	return record, nil
}

type storedRating struct {
	Verdict chat.Verdict `json:"verdict"`
	Reason  string       `json:"reason,omitempty"`
	At      time.Time    `json:"at"`
}

// Rate implements runs.Records.
func (r *Records) Rate(ctx context.Context, run chat.RunID, rating chat.Rating) error {
	var stored []byte
	if rating.Verdict != chat.Unrated {
		var err error
		if stored, err = json.Marshal(storedRating{rating.Verdict, rating.Reason, rating.At}); err != nil {
			return fmt.Errorf("rate run %s: %w", run, err)
		}
	}
	rate := rateScript.With([]string{r.keys.recordKey(run)}, string(rating.By), stored).Then(requireKnown(chat.ErrUnknownRun))
	if err := runScripts(ctx, r.client, rate); err != nil {
		return fmt.Errorf("rate run %s: %w", run, err)
	}
	return nil
}

// List implements runs.Registry. It goes through the shortest list that the filter
// allows.
func (r *Records) List(ctx context.Context, filter runs.Filter, limit int) ([]runs.Record, error) {
	records, err := r.listRecords(ctx, filter, limit)
	if err != nil {
		return nil, fmt.Errorf("list records: %w", err)
	}
	return records, nil
}

func (r *Records) listRecords(ctx context.Context, filter runs.Filter, limit int) ([]runs.Record, error) {
	list := r.keys.globalKey("runs")
	switch {
	case filter.Thread != "":
		list = r.keys.runsKey(filter.Thread)
	case filter.Status != "":
		list = r.keys.statusKey(filter.Status)
	}
	const page = 100
	var records []runs.Record
	for start := int64(0); ; start += page {
		ids, err := r.client.ZRevRange(ctx, list, start, start+page-1).Result()
		if err != nil {
			return nil, explainError(err)
		}
		for _, id := range ids {
			record, err := r.loadRecord(ctx, chat.RunID(id))
			if errors.Is(err, chat.ErrUnknownRun) {
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("run %s: %w", id, err)
			}
			if !filter.Takes(record) {
				continue
			}
			record.Ratings = nil
			if records = append(records, record); len(records) == limit {
				return records, nil
			}
		}
		if len(ids) < page {
			return records, nil
		}
	}
}

// Erase implements runs.Registry. The record goes first: what is listed and not there is
// passed over.
func (r *Records) Erase(ctx context.Context, run chat.RunID) error {
	record, err := r.loadRecord(ctx, run)
	if err != nil && !errors.Is(err, chat.ErrUnknownRun) {
		return fmt.Errorf("erase record of run %s: %w", run, err)
	}
	if err := r.client.Del(ctx, r.keys.recordKey(run)).Err(); err != nil {
		return fmt.Errorf("erase record of run %s: %w", run, explainError(err))
	}
	lists := r.keys.recordLists()
	if record.Thread != "" {
		lists = append(lists, r.keys.runsKey(record.Thread))
	}
	for _, list := range lists {
		if err := r.client.ZRem(ctx, list, string(run)).Err(); err != nil {
			return fmt.Errorf("erase record of run %s: %w", run, explainError(err))
		}
	}
	return nil
}
