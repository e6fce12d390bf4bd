package curated

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/cairn-bot/cairn/internal/sqlite"
)

// SQLite is a Store in the database of a data directory.
type SQLite struct{ db *sqlite.DB }

var _ Store = (*SQLite)(nil)

// OpenSQLite returns the pinned answers in a database, which stays the caller's.
func OpenSQLite(db *sqlite.DB) *SQLite { return &SQLite{db} }

// nextRevision counts a change.
const nextRevision = `INSERT INTO curated_revision (id, revision) VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET revision = revision + 1`

// Put implements Store.
func (s *SQLite) Put(ctx context.Context, answer Answer) error {
	body, err := Encode(answer)
	if err != nil {
		return err
	}
	err = s.db.Update(ctx, func(tx *sql.Tx) error {
		var others int
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM curated WHERE id <> ?`, answer.ID).Scan(&others); err != nil {
			return err
		}
		if others >= MaxAnswers {
			return ErrFull
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO curated (id, body) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET body = excluded.body`, answer.ID, body)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, nextRevision)
		return err
	})
	if err != nil {
		return fmt.Errorf("keep pinned answer %s: %w", answer.ID, err)
	}
	return nil
}

// Delete implements Store.
func (s *SQLite) Delete(ctx context.Context, id ID) error {
	err := s.db.Update(ctx, func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, `DELETE FROM curated WHERE id = ?`, id)
		if err != nil {
			return err
		}
		if removed, err := done.RowsAffected(); err != nil || removed == 0 {
			return errors.Join(err, ErrUnknown)
		}
		_, err = tx.ExecContext(ctx, nextRevision)
		return err
	})
	if err != nil {
		return fmt.Errorf("remove pinned answer %s: %w", id, err)
	}
	return nil
}

// List implements Store.
func (s *SQLite) List(ctx context.Context) (all []Answer, err error) {
	rows, err := s.db.QueryContext(ctx, `SELECT body FROM curated`)
	if err != nil {
		return nil, fmt.Errorf("list pinned answers: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var body []byte
		if err := rows.Scan(&body); err != nil {
			return nil, fmt.Errorf("list pinned answers: %w", err)
		}
		answer, err := Decode(body)
		if err != nil {
			return nil, err
		}
		all = append(all, answer)
	}
	sortLatest(all)
	return all, rows.Err()
}

// Revision implements Store.
func (s *SQLite) Revision(ctx context.Context) (int64, error) {
	var revision int64
	err := s.db.QueryRowContext(ctx, `SELECT revision FROM curated_revision WHERE id = 1`).Scan(&revision)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("read the revision of pinned answers: %w", err)
	}
	return revision, nil
}
