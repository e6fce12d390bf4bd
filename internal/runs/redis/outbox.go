package redis

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/runs"
)

// storedDelivery is a delivery as it stands in a thread's state, behind its number and time.
type storedDelivery struct {
	Version int        `json:"version"`
	Run     chat.RunID `json:"run,omitempty"`
	Body    []byte     `json:"body"`
}

const deliveryVersion = 1

// numbered is a delivery with its place in the order of recording.
type numbered struct {
	number int64
	runs.Delivery
}

func readDelivery(key, stored, posted string) (numbered, error) {
	parts := strings.SplitN(stored, " ", 3)
	if len(parts) != 3 {
		return numbered{}, fmt.Errorf("read delivery %s: missing number and time", key)
	}
	var body storedDelivery
	if err := json.Unmarshal([]byte(parts[2]), &body); err != nil {
		return numbered{}, fmt.Errorf("read delivery %s: %w", key, err)
	}
	if body.Version != deliveryVersion {
		return numbered{}, fmt.Errorf("read delivery %s: it has version %d, this program knows %d; upgrade the program", key, body.Version, deliveryVersion)
	}
	number, err := strconv.ParseInt(parts[0], 10, 64)
	if err != nil {
		return numbered{}, fmt.Errorf("read delivery %s: %w", key, err)
	}
	return numbered{number, runs.Delivery{
		Key: runs.DeliveryKey(key), Run: body.Run, Body: body.Body, Recorded: parseTime(parts[1]), Posted: chat.MessageID(posted),
	}}, nil
}

// Recorded implements runs.Outbox.
func (s *Store) Recorded(ctx context.Context, lease runs.Lease) ([]runs.Delivery, error) {
	fields, err := readStrings(recordedScript.Run(ctx, s.client, []string{s.keys.stateKey(lease.Queue())}, formatToken(lease.Token), formatMillis(s.options.LeaseTTL)))
	if err != nil {
		return nil, fmt.Errorf("list the deliveries of thread %s: %w", lease.Thread, err)
	}
	state := make(map[string]string)
	for pair := range slices.Chunk(fields, 2) {
		state[pair[0]] = pair[1]
	}
	return readOutbox(state)
}

// readOutbox returns the deliveries in a thread's state, in order.
func readOutbox(state map[string]string) ([]runs.Delivery, error) {
	var kept []numbered
	for name, stored := range state {
		if key, ok := strings.CutPrefix(name, "b:"); ok {
			delivery, err := readDelivery(key, stored, state["p:"+key])
			if err != nil {
				return nil, err
			}
			kept = append(kept, delivery)
		}
	}
	slices.SortFunc(kept, func(a, b numbered) int { return cmp.Compare(a.number, b.number) })
	var deliveries []runs.Delivery
	for _, delivery := range kept {
		deliveries = append(deliveries, delivery.Delivery)
	}
	return deliveries, nil
}

// Drop implements runs.Outbox.
func (s *Store) Drop(ctx context.Context, lease runs.Lease, key runs.DeliveryKey) error {
	if err := s.dropDelivery(ctx, lease.Queue(), key, formatToken(lease.Token)); err != nil {
		return fmt.Errorf("drop delivery %s: %w", key, err)
	}
	return nil
}

// dropDelivery removes a delivery under the lease with the token; "": under none.
func (s *Store) dropDelivery(ctx context.Context, queue runs.QueueID, key runs.DeliveryKey, token string) error {
	dropped := dropScript.Run(ctx, s.client, []string{s.keys.stateKey(queue)}, string(key), token, formatMillis(s.options.LeaseTTL))
	return explainError(dropped.Err())
}
