// Package postgres keeps pages in PostgreSQL, for several processes and machines.
package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cairn-bot/cairn/internal/pages"
)

const maxConnections = 4

// Store is a pages.Backend in the schema cairn of a database.
type Store struct{ pool *pgxpool.Pool }

var _ pages.Backend = (*Store)(nil)

// Open opens the pages in the database at an address. It connects when they are first used: their
// tables are made with those of the index, by its migrations.
func Open(ctx context.Context, url string) (*Store, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, errors.New("open pages in PostgreSQL: the address can't be read") // pgx quotes it, with its password
	}
	config.MaxConns = maxConnections
	config.ConnConfig.RuntimeParams["application_name"] = "cairn"
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open pages in PostgreSQL: %w", err)
	}
	return &Store{pool}, nil
}

// Close releases the connections.
func (s *Store) Close() error {
	s.pool.Close()
	return nil
}

// update runs change in a transaction.
func (s *Store) update(ctx context.Context, change func(tx pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, s.pool, change)
}

// affected gives none where a statement changed no row.
func affected(done pgconn.CommandTag, err, none error) error {
	if err == nil && done.RowsAffected() == 0 {
		return none
	}
	return err
}

func noRows(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return pages.ErrNotFound
	}
	return err
}

// Create implements pages.Store.
func (s *Store) Create(ctx context.Context, page pages.Page, first pages.Version) error {
	root, err := pages.EncodeRoot(page.Root)
	if err != nil {
		return err
	}
	return s.update(ctx, func(tx pgx.Tx) error {
		done, err := tx.Exec(ctx, `INSERT INTO cairn.written_page (id, title, audience, version, root, created, updated) VALUES ($1, $2, $3, $4, $5, $6, $7)
			ON CONFLICT (id) DO NOTHING`, page.ID, page.Title, page.Audience, page.Version, root, page.Created, page.Updated)
		if err := affected(done, err, pages.ErrStale); err != nil {
			return err
		}
		return insertVersion(ctx, tx, first, root)
	})
}

func insertVersion(ctx context.Context, tx pgx.Tx, v pages.Version, root []byte) error {
	_, err := tx.Exec(ctx, `INSERT INTO cairn.written_page_version (page, number, base, author, at, why, run, key, name, title, root)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`, v.Page, v.Number, v.Base, v.Author, v.At, v.Why, v.Run, v.Key, v.Name, v.Title, root)
	return err
}

// Load implements pages.Store.
func (s *Store) Load(ctx context.Context, id pages.PageID) (pages.Page, error) {
	page := pages.Page{ID: id}
	var root []byte
	err := s.pool.QueryRow(ctx, `SELECT title, audience, version, root, created, updated FROM cairn.written_page WHERE id = $1`, id).
		Scan(&page.Title, &page.Audience, &page.Version, &root, &page.Created, &page.Updated)
	if err != nil {
		return pages.Page{}, noRows(err)
	}
	page.Created, page.Updated = page.Created.UTC(), page.Updated.UTC()
	page.Root, err = pages.DecodeRoot(root)
	return page, err
}

// List implements pages.Store.
func (s *Store) List(ctx context.Context) ([]pages.Summary, error) {
	rows, err := s.pool.Query(ctx, `SELECT id, title, audience, version, updated FROM cairn.written_page ORDER BY updated DESC, id`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (pages.Summary, error) {
		var summary pages.Summary
		err := row.Scan(&summary.ID, &summary.Title, &summary.Audience, &summary.Version, &summary.Updated)
		summary.Updated = summary.Updated.UTC()
		return summary, err
	})
}

// Commit implements pages.Store.
func (s *Store) Commit(ctx context.Context, v pages.Version) error {
	root, err := pages.EncodeRoot(v.Root)
	if err != nil {
		return err
	}
	return s.update(ctx, func(tx pgx.Tx) error {
		var version int
		if err := tx.QueryRow(ctx, `SELECT version FROM cairn.written_page WHERE id = $1 FOR UPDATE`, v.Page).Scan(&version); err != nil {
			return noRows(err)
		}
		if version != v.Number-1 {
			return pages.ErrStale
		}
		if _, err := tx.Exec(ctx, `UPDATE cairn.written_page SET title = $1, version = $2, root = $3, updated = $4 WHERE id = $5`, v.Title, v.Number, root, v.At, v.Page); err != nil {
			return err
		}
		return insertVersion(ctx, tx, v, root)
	})
}

const versionColumns = `number, base, author, at, why, run, key, name, title`

func scanVersion(row pgx.Row, id pages.PageID, more ...any) (pages.Version, error) {
	v := pages.Version{Page: id}
	err := row.Scan(append([]any{&v.Number, &v.Base, &v.Author, &v.At, &v.Why, &v.Run, &v.Key, &v.Name, &v.Title}, more...)...)
	v.At = v.At.UTC()
	return v, err
}

// Versions implements pages.Store.
func (s *Store) Versions(ctx context.Context, id pages.PageID, limit int) ([]pages.Version, error) {
	rows, err := s.pool.Query(ctx, `SELECT `+versionColumns+` FROM cairn.written_page_version WHERE page = $1 ORDER BY number DESC LIMIT $2`, id, limit)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (pages.Version, error) { return scanVersion(row, id) })
}

// LoadVersion implements pages.Store.
func (s *Store) LoadVersion(ctx context.Context, id pages.PageID, number int) (pages.Version, error) {
	var root []byte
	v, err := scanVersion(s.pool.QueryRow(ctx, `SELECT `+versionColumns+`, root FROM cairn.written_page_version WHERE page = $1 AND number = $2`, id, number), id, &root)
	if err != nil {
		return pages.Version{}, noRows(err)
	}
	v.Root, err = pages.DecodeRoot(root)
	return v, err
}

// Delete implements pages.Store.
func (s *Store) Delete(ctx context.Context, id pages.PageID) error {
	return s.update(ctx, func(tx pgx.Tx) error {
		done, err := tx.Exec(ctx, `DELETE FROM cairn.written_page WHERE id = $1`, id)
		if err := affected(done, err, pages.ErrNotFound); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `DELETE FROM cairn.written_page_version WHERE page = $1`, id); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `DELETE FROM cairn.written_page_active WHERE page = $1`, id)
		return err
	})
}

// Activate implements pages.Places.
func (s *Store) Activate(ctx context.Context, place string, id pages.PageID) error {
	var err error
	if id == "" {
		_, err = s.pool.Exec(ctx, `DELETE FROM cairn.written_page_active WHERE place = $1`, place)
	} else {
		_, err = s.pool.Exec(ctx, `INSERT INTO cairn.written_page_active (place, page) VALUES ($1, $2) ON CONFLICT (place) DO UPDATE SET page = excluded.page`, place, id)
	}
	return err
}

// Active implements pages.Places.
func (s *Store) Active(ctx context.Context, place string) (id pages.PageID, err error) {
	err = s.pool.QueryRow(ctx, `SELECT page FROM cairn.written_page_active WHERE place = $1`, place).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	return id, err
}

// FindKey implements pages.Keeper.
func (s *Store) FindKey(ctx context.Context, id pages.PageID, key string) (number int, err error) {
	err = s.pool.QueryRow(ctx, `SELECT number FROM cairn.written_page_version WHERE page = $1 AND key = $2`, id, key).Scan(&number)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	}
	return number, err
}

// NameVersion implements pages.Keeper.
func (s *Store) NameVersion(ctx context.Context, id pages.PageID, number int, name string) error {
	done, err := s.pool.Exec(ctx, `UPDATE cairn.written_page_version SET name = $1 WHERE page = $2 AND number = $3`, name, id, number)
	return affected(done, err, pages.ErrNotFound)
}

// ForgetAuthor implements pages.Keeper.
func (s *Store) ForgetAuthor(ctx context.Context, author string) (int, error) {
	done, err := s.pool.Exec(ctx, `UPDATE cairn.written_page_version SET author = '' WHERE author = $1 AND author <> ''`, author)
	return int(done.RowsAffected()), err
}

// RemoveVersions implements pages.Keeper.
func (s *Store) RemoveVersions(ctx context.Context, id pages.PageID, numbers []int) (int, error) {
	done, err := s.pool.Exec(ctx, `DELETE FROM cairn.written_page_version v USING cairn.written_page p
		WHERE p.id = v.page AND v.page = $1 AND v.number = ANY($2) AND v.name = '' AND v.number < p.version`, id, numbers)
	return int(done.RowsAffected()), err
}
