package uploads

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/sqlite"
)

// SQLite is a Store in the database of a data directory.
type SQLite struct {
	db  *sqlite.DB
	now func() time.Time
	all int64 // bytes that are kept
}

var _ Store = (*SQLite)(nil)

// OpenSQLite returns the files in a database, which stays the caller's.
func OpenSQLite(db *sqlite.DB) *SQLite { return &SQLite{db, time.Now, maxAll} }

// Keep implements Store. It also removes what is too old, and what makes room.
func (s *SQLite) Keep(ctx context.Context, thread chat.ThreadID, by chat.UserID, file chat.File, content []byte) error {
	now := s.now()
	err := s.db.Update(ctx, func(tx *sql.Tx) error {
		var there int64
		if err := tx.QueryRowContext(ctx, `SELECT coalesce(sum(size), 0) FROM upload WHERE thread = ?`, thread).Scan(&there); err != nil {
			return err
		}
		if there+int64(len(content)) > MaxThread {
			return ErrFull
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO upload (id, thread, author, name, media_type, size, at, used, content) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			file.ID, thread, by, file.Name, file.MediaType, len(content), now.UnixMilli(), now.UnixMilli(), content)
		if err != nil {
			return err
		}
		return s.makeRoom(ctx, tx, now)
	})
	if err != nil {
		return fmt.Errorf("keep file %s: %w", file.ID, err)
	}
	return nil
}

// makeRoom removes what is too old, and of the rest what was read longest ago, as far as there is too
// much.
func (s *SQLite) makeRoom(ctx context.Context, tx *sql.Tx, now time.Time) error {
	if _, err := tx.ExecContext(ctx, pruneUploads, now.Add(-keepTime).UnixMilli()); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM upload WHERE id IN (
		SELECT id FROM (SELECT id, sum(size) OVER (ORDER BY used DESC, at DESC, id) AS newer FROM upload) WHERE newer > ?)`, s.all)
	return err
}

const pruneUploads = `DELETE FROM upload WHERE used <= ?`

// Prune implements Store.
func (s *SQLite) Prune(ctx context.Context) error {
	if _, err := s.db.ExecContext(ctx, pruneUploads, s.now().Add(-keepTime).UnixMilli()); err != nil {
		return fmt.Errorf("remove old files: %w", err)
	}
	return nil
}

// Remove implements Store.
func (s *SQLite) Remove(ctx context.Context, thread chat.ThreadID, id string) error {
	if _, err := s.db.ExecContext(ctx, `DELETE FROM upload WHERE id = ? AND thread = ?`, id, thread); err != nil {
		return fmt.Errorf("remove file %s: %w", id, err)
	}
	return nil
}

// ForgetFiles implements chat.FileForgetter.
func (s *SQLite) ForgetFiles(ctx context.Context, thread chat.ThreadID, by chat.UserID) error {
	if _, err := s.db.ExecContext(ctx, `DELETE FROM upload WHERE thread = ? AND author = ?`, thread, by); err != nil {
		return fmt.Errorf("remove the files of thread %s: %w", thread, err)
	}
	return nil
}

// Fetch implements chat.Fetcher.
func (s *SQLite) Fetch(ctx context.Context, thread chat.ThreadID, file chat.File, limit int64) ([]byte, error) {
	now := s.now()
	content := []byte{}
	err := s.db.QueryRowContext(ctx, `SELECT substr(content, 1, ?) FROM upload WHERE id = ? AND thread = ? AND used > ?`,
		limit, file.ID, thread, now.Add(-keepTime).UnixMilli()).Scan(&content)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("fetch file %s: %w", file.ID, chat.ErrGone)
	}
	if err == nil {
		_, err = s.db.ExecContext(ctx, `UPDATE upload SET used = ? WHERE id = ?`, now.UnixMilli(), file.ID)
	}
	if err != nil {
		return nil, fmt.Errorf("fetch file %s: %w", file.ID, err)
	}
	return content, nil
}

// Files implements chat.FileFinder. Documents of the bot are kept with its answers, not here.
func (s *SQLite) Files(ctx context.Context, thread chat.ThreadID, _ bool) (files []chat.File, err error) {
	rows, err := s.db.QueryContext(ctx, `SELECT id, name, media_type, size FROM upload WHERE thread = ? AND used > ? ORDER BY at DESC, rowid DESC LIMIT ?`,
		thread, s.now().Add(-keepTime).UnixMilli(), chat.MaxFiles)
	if err != nil {
		return nil, fmt.Errorf("list the files of thread %s: %w", thread, err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var file chat.File
		if err := rows.Scan(&file.ID, &file.Name, &file.MediaType, &file.Size); err != nil {
			return nil, fmt.Errorf("list the files of thread %s: %w", thread, err)
		}
		files = append(files, file)
	}
	return files, rows.Err()
}
