package pages

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/cairn-bot/cairn/internal/sqlite"
)

// SQLite is a Backend in the database of a data directory.
type SQLite struct{ db *sqlite.DB }

var _ Backend = (*SQLite)(nil)

// OpenSQLite returns the pages in a database, which stays the caller's.
func OpenSQLite(db *sqlite.DB) *SQLite { return &SQLite{db} }

// Create implements Store.
func (s *SQLite) Create(ctx context.Context, page Page, first Version) error {
	return s.db.Update(ctx, func(tx *sql.Tx) error {
		root, err := EncodeRoot(page.Root)
		if err != nil {
			return err
		}
		done, err := tx.ExecContext(ctx, `INSERT INTO page (id, title, audience, version, root, created, updated) VALUES (?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (id) DO NOTHING`, page.ID, page.Title, page.Audience, page.Version, root, page.Created.UnixMilli(), page.Updated.UnixMilli())
		if err := affected(done, err, ErrStale); err != nil {
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

func insertVersion(ctx context.Context, tx *sql.Tx, v Version, root []byte) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO page_version (page, number, base, author, at, why, run, key, name, title, root)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, v.Page, v.Number, v.Base, v.Author, v.At.UnixMilli(), v.Why, v.Run, v.Key, v.Name, v.Title, root)
	return err
}

// Load implements Store.
func (s *SQLite) Load(ctx context.Context, id PageID) (Page, error) {
	page := Page{ID: id}
	var root []byte
	var created, updated int64
	err := s.db.QueryRowContext(ctx, `SELECT title, audience, version, root, created, updated FROM page WHERE id = ?`, id).
		Scan(&page.Title, &page.Audience, &page.Version, &root, &created, &updated)
	if err != nil {
		return Page{}, noRows(err)
	}
	page.Created, page.Updated = time.UnixMilli(created).UTC(), time.UnixMilli(updated).UTC()
	page.Root, err = DecodeRoot(root)
	return page, err
}

func noRows(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	}
	return err
}

// List implements Store.
func (s *SQLite) List(ctx context.Context) (all []Summary, err error) {
	rows, err := s.db.QueryContext(ctx, `SELECT id, title, audience, version, updated FROM page ORDER BY updated DESC, id`)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var summary Summary
		var updated int64
		if err := rows.Scan(&summary.ID, &summary.Title, &summary.Audience, &summary.Version, &updated); err != nil {
			return nil, err
		}
		summary.Updated = time.UnixMilli(updated).UTC()
		all = append(all, summary)
	}
	return all, rows.Err()
}

// Commit implements Store.
func (s *SQLite) Commit(ctx context.Context, v Version) error {
	return s.db.Update(ctx, func(tx *sql.Tx) error {
		root, err := EncodeRoot(v.Root)
		if err != nil {
			return err
		}
		var version int
		if err := tx.QueryRowContext(ctx, `SELECT version FROM page WHERE id = ?`, v.Page).Scan(&version); err != nil {
			return noRows(err)
		}
		if version != v.Number-1 {
			return ErrStale
		}
		if _, err := tx.ExecContext(ctx, `UPDATE page SET title = ?, version = ?, root = ?, updated = ? WHERE id = ?`, v.Title, v.Number, root, v.At.UnixMilli(), v.Page); err != nil {
			return err
		}
		return insertVersion(ctx, tx, v, root)
	})
}

const versionColumns = `number, base, author, at, why, run, key, name, title`

func scanVersion(scan func(...any) error, id PageID, more ...any) (Version, error) {
	v := Version{Page: id}
	var at int64
	err := scan(append([]any{&v.Number, &v.Base, &v.Author, &at, &v.Why, &v.Run, &v.Key, &v.Name, &v.Title}, more...)...)
	v.At = time.UnixMilli(at).UTC()
	return v, err
}

// Versions implements Store.
func (s *SQLite) Versions(ctx context.Context, id PageID, limit int) (all []Version, err error) {
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

// LoadVersion implements Store.
func (s *SQLite) LoadVersion(ctx context.Context, id PageID, number int) (Version, error) {
	var root []byte
	row := s.db.QueryRowContext(ctx, `SELECT `+versionColumns+`, root FROM page_version WHERE page = ? AND number = ?`, id, number)
	v, err := scanVersion(row.Scan, id, &root)
	if err != nil {
		return Version{}, noRows(err)
	}
	v.Root, err = DecodeRoot(root)
	return v, err
}

// Delete implements Store.
func (s *SQLite) Delete(ctx context.Context, id PageID) error {
	return s.db.Update(ctx, func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, `DELETE FROM page WHERE id = ?`, id)
		if err := affected(done, err, ErrNotFound); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM page_version WHERE page = ?`, id); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM page_active WHERE page = ?`, id)
		return err
	})
}

// Activate implements Places.
func (s *SQLite) Activate(ctx context.Context, place string, id PageID) error {
	statement, arguments := `DELETE FROM page_active WHERE place = ?`, []any{place}
	if id != "" {
		statement = `INSERT INTO page_active (place, page) VALUES (?, ?) ON CONFLICT (place) DO UPDATE SET page = excluded.page`
		arguments = append(arguments, id)
	}
	_, err := s.db.ExecContext(ctx, statement, arguments...)
	return err
}

// Active implements Places.
func (s *SQLite) Active(ctx context.Context, place string) (id PageID, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT page FROM page_active WHERE place = ?`, place).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return id, err
}

// FindKey implements Keeper.
func (s *SQLite) FindKey(ctx context.Context, id PageID, key string) (number int, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT number FROM page_version WHERE page = ? AND key = ?`, id, key).Scan(&number)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return number, err
}

// NameVersion implements Keeper.
func (s *SQLite) NameVersion(ctx context.Context, id PageID, number int, name string) error {
	rows, err := s.change(ctx, `UPDATE page_version SET name = ? WHERE page = ? AND number = ?`, name, id, number)
	if err == nil && rows == 0 {
		return ErrNotFound
	}
	return err
}

// ForgetAuthor implements Keeper.
func (s *SQLite) ForgetAuthor(ctx context.Context, author string) (int, error) {
	return s.change(ctx, `UPDATE page_version SET author = '' WHERE author = ? AND author <> ''`, author)
}

// RemoveVersions implements Keeper.
func (s *SQLite) RemoveVersions(ctx context.Context, id PageID, numbers []int) (int, error) {
	list, err := json.Marshal(numbers)
	if err != nil {
		return 0, fmt.Errorf("write the numbers of versions: %w", err)
	}
	return s.change(ctx, `DELETE FROM page_version WHERE page = ? AND number IN (SELECT value FROM json_each(?)) AND name = ''
		AND number < (SELECT version FROM page WHERE id = page_version.page)`, id, string(list))
}

func (s *SQLite) change(ctx context.Context, statement string, arguments ...any) (int, error) {
	done, err := s.db.ExecContext(ctx, statement, arguments...)
	if err != nil {
		return 0, fmt.Errorf("change versions of pages: %w", err)
	}
	rows, err := done.RowsAffected()
	return int(rows), err
}
