package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"cairn/internal/knowledge"
	"cairn/internal/knowledge/index"
)

var _ index.IngestStates = (*Index)(nil)

// SaveIngest replaces the state of a source's ingest.
func (x *Index) SaveIngest(ctx context.Context, state index.IngestState) error {
	if x.options.ReadOnly {
		return fmt.Errorf("save the state of an ingest: %w", errReadOnly)
	}
	body, err := index.EncodeIngest(state)
	if err != nil {
		return fmt.Errorf("save the state of an ingest: %w", err)
	}
	x.writer.mu.Lock()
	defer x.writer.mu.Unlock()
	err = x.writer.retryWrite(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO cairn.ingest (source, complete, state) VALUES ($1, $2, $3)
			ON CONFLICT (source) DO UPDATE SET complete = coalesce(excluded.complete, ingest.complete), state = excluded.state`,
			[]byte(state.Source), nullTime(state.Complete), body)
		return err
	})
	if err != nil {
		return fmt.Errorf("save the state of the ingest of %s: %w", state.Source, err)
	}
	return nil
}

// IngestStates returns the states of all sources' ingests, in the order of their ids.
func (x *Index) IngestStates(ctx context.Context) ([]index.IngestState, error) {
	var states []index.IngestState
	err := x.inReadTransaction(ctx, x.read, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, "SELECT source, complete, state FROM cairn.ingest ORDER BY source")
		if err != nil {
			return err
		}
		states, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (index.IngestState, error) {
			var source, body []byte
			var complete *time.Time
			if err := row.Scan(&source, &complete, &body); err != nil {
				return index.IngestState{}, err
			}
			state, err := index.DecodeIngest(knowledge.SourceID(source), body)
			state.Complete = fromTimestamp(complete)
			return state, err
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the states of ingests: %w", err)
	}
	if len(states) == 0 {
		return nil, nil
	}
	return states, nil
}
