package embedded

import (
	"context"
	"database/sql"
	"fmt"

	"cairn/internal/knowledge/index"
)

var _ index.IngestStates = (*Index)(nil)

// ingestSchema is apart from the schema: a program that does not know the table reads and
// writes the index all the same, so that an index made before needs not be built anew.
const ingestSchema = `CREATE TABLE IF NOT EXISTS ingest (
	source TEXT PRIMARY KEY,
	complete INTEGER, -- when the source was last read to its end, in microseconds since 1970; NULL: never
	state BLOB NOT NULL -- JSON with a version
) WITHOUT ROWID`

// SaveIngest replaces the state of a source's ingest.
func (x *Index) SaveIngest(ctx context.Context, state index.IngestState) error {
	body, err := index.EncodeIngest(state)
	if err != nil {
		return fmt.Errorf("save the state of an ingest: %w", err)
	}
	if x.write == nil {
		return fmt.Errorf("save the state of an ingest: %w", errReadOnly)
	}
	x.writing.Lock()
	defer x.writing.Unlock()
	_, err = x.write.ExecContext(ctx, `INSERT INTO ingest (source, complete, state) VALUES (?, ?, ?)
		ON CONFLICT (source) DO UPDATE SET complete = coalesce(excluded.complete, complete), state = excluded.state`,
		state.Source, nullMicros(state.Complete), body)
	if err != nil {
		return fmt.Errorf("save the state of the ingest of %s: %w", state.Source, explainError(err))
	}
	return nil
}

// IngestStates returns the states of all sources' ingests, in the order of their ids.
func (x *Index) IngestStates(ctx context.Context) ([]index.IngestState, error) {
	var states []index.IngestState
	err := x.readTransaction(ctx, func(tx *sql.Tx) error {
		var kept bool
		err := tx.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master WHERE name = 'ingest'").Scan(&kept)
		if err != nil || !kept { // no ingest was run by a program that keeps states
			return err
		}
		rows, err := tx.QueryContext(ctx, "SELECT source, complete, state FROM ingest ORDER BY source")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			state, err := scanIngest(rows)
			if err != nil {
				return err
			}
			states = append(states, state)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("read the states of ingests: %w", explainError(err))
	}
	return states, nil
}

func scanIngest(rows *sql.Rows) (index.IngestState, error) {
	var state index.IngestState
	var complete sql.NullInt64
	var body []byte
	if err := rows.Scan(&state.Source, &complete, &body); err != nil {
		return index.IngestState{}, err
	}
	state, err := index.DecodeIngest(state.Source, body)
	state.Complete = fromMicros(complete)
	return state, err
}
