// Package embedded keeps pages in SQLite, with no server.
package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"cairn/internal/pages"
	"cairn/internal/sqlite"
)

// Store is a pages.Backend in the database of a data directory.
type Store struct{ db *sqlite.DB }

var _ pages.Backend = (*Store)(nil)

// Open returns the pages in a database, which stays the caller's.
func Open(db *sqlite.DB) *Store { return &Store{db} }

// Create implements pages.Store.
func (s *Store) Create(ctx context.Context, page pages.Page, first pages.Version) error {
	return s.db.Update(ctx, func(tx *sql.Tx) error {
		root, err := pages.EncodeRoot(page.Root)
		if err != nil {
			return err
		}
		done, err := tx.ExecContext(ctx, `INSERT INTO page (id, title, audience, version, root, created, updated) VALUES (?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (id) DO NOTHING`, page.ID, page.Title, page.Audience, page.Version, root, page.Created.UnixMilli(), page.Updated.UnixMilli())
		if err := affected(done, err, pages.ErrStale); err != nil {
			return err
		}
		return insertVersion(ctx, tx, first, root)
	})
}

// affected gives none where a statement changed no row.
func affected(done sql.Result, err, none error) error {
	if err != nil {
		return err
	}
	rows, err := done.RowsAffected()
	if err == nil && rows == 0 {
		return none
	}
	return err
}

func insertVersion(ctx context.Context, tx *sql.Tx, v pages.Version, root []byte) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO page_version (page, number, base, author, at, why, run, key, name, title, root)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, v.Page, v.Number, v.Base, v.Author, v.At.UnixMilli(), v.Why, v.Run, v.Key, v.Name, v.Title, root)
	return err
}

// Load implements pages.Store.
func (s *Store) Load(ctx context.Context, id pages.PageID) (pages.Page, error) {
	page := pages.Page{ID: id}
	var root []byte
	var created, updated int64
	err := s.db.QueryRowContext(ctx, `SELECT title, audience, version, root, created, updated FROM page WHERE id = ?`, id).
		Scan(&page.Title, &page.Audience, &page.Version, &root, &created, &updated)
	if err != nil {
		return pages.Page{}, noRows(err)
	}
	page.Created, page.Updated = time.UnixMilli(created).UTC(), time.UnixMilli(updated).UTC()
	page.Root, err = pages.DecodeRoot(root)
	return page, err
}

func noRows(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return pages.ErrNotFound
	}
	return err
}

// List implements pages.Store.
func (s *Store) List(ctx context.Context) (all []pages.Summary, err error) {
	rows, err := s.db.QueryContext(ctx, `SELECT id, title, audience, version, updated FROM page ORDER BY updated DESC, id`)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var summary pages.Summary
		var updated int64
		if err := rows.Scan(&summary.ID, &summary.Title, &summary.Audience, &summary.Version, &updated); err != nil {
			return nil, err
		}
		summary.Updated = time.UnixMilli(updated).UTC()
		all = append(all, summary)
	}
	return all, rows.Err()
}

// Commit implements pages.Store.
func (s *Store) Commit(ctx context.Context, v pages.Version) error {
	return s.db.Update(ctx, func(tx *sql.Tx) error {
		root, err := pages.EncodeRoot(v.Root)
		if err != nil {
			return err
		}
		var version int
		if err := tx.QueryRowContext(ctx, `SELECT version FROM page WHERE id = ?`, v.Page).Scan(&version); err != nil {
			return noRows(err)
		}
		if version != v.Number-1 {
			return pages.ErrStale
		}
		if _, err := tx.ExecContext(ctx, `UPDATE page SET title = ?, version = ?, root = ?, updated = ? WHERE id = ?`, v.Title, v.Number, root, v.At.UnixMilli(), v.Page); err != nil {
			return err
		}
		return insertVersion(ctx, tx, v, root)
	})
}

const versionColumns = `number, base, author, at, why, run, key, name, title`

func scanVersion(scan func(...any) error, id pages.PageID, more ...any) (pages.Version, error) {
	v := pages.Version{Page: id}
	var at int64
	err := scan(append([]any{&v.Number, &v.Base, &v.Author, &at, &v.Why, &v.Run, &v.Key, &v.Name, &v.Title}, more...)...)
	v.At = time.UnixMilli(at).UTC()
	return v, err
}

// Versions implements pages.Store.
func (s *Store) Versions(ctx context.Context, id pages.PageID, limit int) (all []pages.Version, err error) {
	rows, err := s.db.QueryContext(ctx, `SELECT `+versionColumns+` FROM page_version WHERE page = ? ORDER BY number DESC LIMIT ?`, id, limit)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		v, err := scanVersion(rows.Scan, id)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, rows.Err()
}

// LoadVersion implements pages.Store.
func (s *Store) LoadVersion(ctx context.Context, id pages.PageID, number int) (pages.Version, error) {
	var root []byte
	row := s.db.QueryRowContext(ctx, `SELECT `+versionColumns+`, root FROM page_version WHERE page = ? AND number = ?`, id, number)
	v, err := scanVersion(row.Scan, id, &root)
	if err != nil {
		return pages.Version{}, noRows(err)
	}
	v.Root, err = pages.DecodeRoot(root)
	return v, err
}

// Delete implements pages.Store.
func (s *Store) Delete(ctx context.Context, id pages.PageID) error {
	return s.db.Update(ctx, func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, `DELETE FROM page WHERE id = ?`, id)
		if err := affected(done, err, pages.ErrNotFound); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM page_version WHERE page = ?`, id); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM page_active WHERE page = ?`, id)
		return err
	})
}

// Activate implements pages.Places.
func (s *Store) Activate(ctx context.Context, place string, id pages.PageID) error {
	statement, arguments := `DELETE FROM page_active WHERE place = ?`, []any{place}
	if id != "" {
		statement = `INSERT INTO page_active (place, page) VALUES (?, ?) ON CONFLICT (place) DO UPDATE SET page = excluded.page`
		arguments = append(arguments, id)
	}
	_, err := s.db.ExecContext(ctx, statement, arguments...)
	return err
}

// Active implements pages.Places.
func (s *Store) Active(ctx context.Context, place string) (id pages.PageID, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT page FROM page_active WHERE place = ?`, place).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return id, err
}

// FindKey implements pages.Keeper.
func (s *Store) FindKey(ctx context.Context, id pages.PageID, key string) (number int, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT number FROM page_version WHERE page = ? AND key = ?`, id, key).Scan(&number)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return number, err
}

// ForgetAuthor implements pages.Keeper.
func (s *Store) ForgetAuthor(ctx context.Context, author string) (int, error) {
	return s.change(ctx, `UPDATE page_version SET author = '' WHERE author = ? AND author <> ''`, author)
}

// Prune implements pages.Keeper.
func (s *Store) Prune(ctx context.Context, before time.Time, keep int) (int, error) {
	return s.change(ctx, `DELETE FROM page_version WHERE at < ? AND name = ''
		AND number <= (SELECT version FROM page WHERE id = page_version.page) - max(?, 1)`, before.UnixMilli(), keep)
}

func (s *Store) change(ctx context.Context, statement string, arguments ...any) (int, error) {
	done, err := s.db.ExecContext(ctx, statement, arguments...)
	if err != nil {
		return 0, fmt.Errorf("change versions of pages: %w", err)
	}
	rows, err := done.RowsAffected()
	return int(rows), err
}
