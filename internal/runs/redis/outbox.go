package redis

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"cairn/internal/chat"
	"cairn/internal/runs"
)

// storedDelivery is a delivery as it stands in an outbox, behind its number and time.
type storedDelivery struct {
	Version int        `json:"version"`
	Run     chat.RunID `json:"run,omitempty"`
	Body    []byte     `json:"body"`
}

const deliveryVersion = 1

// place is the position of a delivery in the order of recording.
type place struct {
	number int64
	runs.Delivery
}

func readDelivery(key, stored, posted string) (place, error) {
	parts := strings.SplitN(stored, " ", 3)
	if len(parts) != 3 {
		return place{}, fmt.Errorf("read delivery %s: missing number and time", key)
	}
	var body storedDelivery
	if err := json.Unmarshal([]byte(parts[2]), &body); err != nil {
		return place{}, fmt.Errorf("read delivery %s: %w", key, err)
	}
	if body.Version != deliveryVersion {
		return place{}, fmt.Errorf("read delivery %s: it has version %d, this program knows %d; upgrade the program", key, body.Version, deliveryVersion)
	}
	number, err := strconv.ParseInt(parts[0], 10, 64)
	if err != nil {
		return place{}, fmt.Errorf("read delivery %s: %w", key, err)
	}
	return place{number, runs.Delivery{
		Key: runs.DeliveryKey(key), Run: body.Run, Body: body.Body, Recorded: parseTime(parts[1]), Posted: chat.MessageID(posted),
	}}, nil
}

func (s *Store) outboxCall(lease runs.Lease) ([]string, []any) {
	return []string{s.keys.stateKey(lease.Thread), s.keys.outboxKey(lease.Thread)}, s.fenceArgs(lease)
}

// Record implements runs.Outbox.
func (s *Store) Record(ctx context.Context, lease runs.Lease, delivery runs.Delivery, recorded func(runs.Delivery)) error {
	if err := delivery.Check(); err != nil {
		return err
	}
	body, err := json.Marshal(storedDelivery{deliveryVersion, delivery.Run, delivery.Body})
	if err != nil {
		return fmt.Errorf("record delivery %s: %w", delivery.Key, err)
	}
	keys, arguments := s.outboxCall(lease)
	record := recordScript.With(keys, append(arguments, string(delivery.Key), body, formatMillis(s.options.Keep))...)
	err = runScripts(ctx, s.client, record.Then(func(_ context.Context, result *redis.Cmd) error {
		fields, err := readStrings(result)
		if err != nil {
			return err
		}
		kept, err := readDelivery(string(delivery.Key), fields[0], fields[1])
		if err == nil {
			recorded(kept.Delivery)
		}
		return err
	}))
	if err != nil {
		return fmt.Errorf("record delivery %s: %w", delivery.Key, err)
	}
	return nil
}

// Confirm implements runs.Outbox.
func (s *Store) Confirm(ctx context.Context, lease runs.Lease, key runs.DeliveryKey, posted chat.MessageID) error {
	keys, arguments := s.outboxCall(lease)
	confirm := confirmScript.With(keys, append(arguments, string(key), string(posted))...).Then(requireKnown(runs.ErrUnknownDelivery))
	if err := runScripts(ctx, s.client, confirm); err != nil {
		return fmt.Errorf("confirm delivery %s: %w", key, err)
	}
	return nil
}

// Recorded implements runs.Outbox.
func (s *Store) Recorded(ctx context.Context, lease runs.Lease) ([]runs.Delivery, error) {
	keys, arguments := s.outboxCall(lease)
	fields, err := readStrings(recordedScript.With(keys, arguments...).Run(ctx, s.client))
	if err != nil {
		return nil, fmt.Errorf("list the deliveries of thread %s: %w", lease.Thread, err)
	}
	outbox := make(map[string]string)
	for pair := range slices.Chunk(fields, 2) {
		outbox[pair[0]] = pair[1]
	}
	var places []place
	for name, stored := range outbox {
		if key, ok := strings.CutPrefix(name, "b:"); ok {
			kept, err := readDelivery(key, stored, outbox["p:"+key])
			if err != nil {
				return nil, err
			}
			places = append(places, kept)
		}
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Compare(a.number, b.number) })
	var deliveries []runs.Delivery
	for _, kept := range places {
		deliveries = append(deliveries, kept.Delivery)
	}
	return deliveries, nil
}

// Drop implements runs.Outbox.
func (s *Store) Drop(ctx context.Context, lease runs.Lease, key runs.DeliveryKey) error {
	keys, arguments := s.outboxCall(lease)
	if err := runScripts(ctx, s.client, dropScript.With(keys, append(arguments, string(key))...)); err != nil {
		return fmt.Errorf("drop delivery %s: %w", key, err)
	}
	return nil
}
