package embedded

import (
	"context"
	"database/sql"
	"fmt"

	"cairn/internal/chat"
	"cairn/internal/runs"
)

// Record implements runs.Outbox.
func (s *Store) Record(ctx context.Context, lease runs.Lease, delivery runs.Delivery, recorded func(runs.Delivery)) error {
	if err := delivery.Check(); err != nil {
		return err
	}
	err := s.inFencedTransaction(ctx, lease, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO delivery (thread, key, run, body, recorded) VALUES (?, ?, ?, coalesce(?, x''), ?) ON CONFLICT DO NOTHING`,
			string(lease.Thread), string(delivery.Key), string(delivery.Run), delivery.Body, s.nowMillis())
		if err != nil {
			return err
		}
		var at int64
		err = tx.QueryRowContext(ctx, `SELECT run, body, recorded, posted FROM delivery WHERE thread = ? AND key = ?`,
			string(lease.Thread), string(delivery.Key)).Scan(&delivery.Run, &delivery.Body, &at, &delivery.Posted)
		delivery.Recorded = timeFromMillis(at)
		return err
	})
	if err != nil {
		return fmt.Errorf("record delivery %s: %w", delivery.Key, err)
	}
	recorded(delivery)
	return nil
}

// Confirm implements runs.Outbox.
func (s *Store) Confirm(ctx context.Context, lease runs.Lease, key runs.DeliveryKey, posted chat.MessageID) error {
	err := s.inFencedTransaction(ctx, lease, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `UPDATE delivery SET posted = ? WHERE thread = ? AND key = ?`, string(posted), string(lease.Thread), string(key))
		if err != nil {
			return err
		}
		changed, err := result.RowsAffected()
		if err == nil && changed == 0 {
			err = runs.ErrUnknownDelivery
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("confirm delivery %s: %w", key, err)
	}
	return nil
}

// Recorded implements runs.Outbox.
func (s *Store) Recorded(ctx context.Context, lease runs.Lease) ([]runs.Delivery, error) {
	var deliveries []runs.Delivery
	err := s.inFencedTransaction(ctx, lease, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT key, run, body, recorded, posted FROM delivery WHERE thread = ? ORDER BY id`, string(lease.Thread))
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
		_, err := tx.ExecContext(ctx, `DELETE FROM delivery WHERE thread = ? AND key = ?`, string(lease.Thread), string(key))
		return err
	})
	if err != nil {
		return fmt.Errorf("drop delivery %s: %w", key, err)
	}
	return nil
}
