package embedded

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/store"
)

// recordDelivery records a delivery, and returns what is recorded under its key.
func (w writer) recordDelivery(ctx context.Context, delivery runs.Delivery) (runs.Delivery, error) {
	_, err := w.tx.ExecContext(ctx, `INSERT INTO delivery (thread, key, run, body, recorded) VALUES (?, ?, ?, coalesce(?, x''), ?) ON CONFLICT DO NOTHING`,
		w.queue.Key(), string(delivery.Key), string(delivery.Run), delivery.Body, w.now.UnixMilli())
	if err != nil {
		return runs.Delivery{}, err
	}
	var at int64
	err = w.tx.QueryRowContext(ctx, `SELECT run, body, recorded, posted FROM delivery WHERE thread = ? AND key = ?`,
		w.queue.Key(), string(delivery.Key)).Scan(&delivery.Run, &delivery.Body, &at, &delivery.Posted)
	delivery.Recorded = timeFromMillis(at)
	return delivery, err
}

// confirmDelivery notes the platform's id of a delivery.
func (w writer) confirmDelivery(ctx context.Context, confirmed store.Confirmation) error {
	result, err := w.tx.ExecContext(ctx, `UPDATE delivery SET posted = ? WHERE thread = ? AND key = ?`,
		string(confirmed.Posted), w.queue.Key(), string(confirmed.Key))
	if err != nil {
		return err
	}
	changed, err := result.RowsAffected()
	if err == nil && changed == 0 {
		err = runs.ErrUnknownDelivery
	}
	return err
}

// Recorded implements runs.Outbox.
func (s *Store) Recorded(ctx context.Context, lease runs.Lease) ([]runs.Delivery, error) {
	var deliveries []runs.Delivery
	err := s.inFencedTransaction(ctx, lease, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT key, run, body, recorded, posted FROM delivery WHERE thread = ? ORDER BY id`, lease.Queue().Key())
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var delivery runs.Delivery
			var recorded int64
			if err := rows.Scan(&delivery.Key, &delivery.Run, &delivery.Body, &recorded, &delivery.Posted); err != nil {
				return err
			}
			delivery.Recorded = timeFromMillis(recorded)
			deliveries = append(deliveries, delivery)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("list the deliveries of thread %s: %w", lease.Thread, err)
	}
	return deliveries, nil
}

// Drop implements runs.Outbox.
func (s *Store) Drop(ctx context.Context, lease runs.Lease, key runs.DeliveryKey) error {
	err := s.inFencedTransaction(ctx, lease, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM delivery WHERE thread = ? AND key = ?`, lease.Queue().Key(), string(key))
		return err
	})
	if err != nil {
		return fmt.Errorf("drop delivery %s: %w", key, err)
	}
	return nil
}
