package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/runs"
)

var _ runs.Edits = (*Store)(nil)

// SaveEdit implements runs.Edits.
func (s *Store) SaveEdit(ctx context.Context, edit runs.Edit) error {
	body, err := runs.EncodeEdit(edit)
	if err != nil {
		return err
	}
	_, err = s.db.ExecContext(ctx, `INSERT INTO edit (thread, message, author, body, saved) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (thread, message) DO UPDATE SET author = excluded.author, body = excluded.body, saved = excluded.saved`,
		string(edit.Thread), string(edit.Message), string(edit.Author), body, s.nowMillis())
	if err != nil {
		return fmt.Errorf("save edit of message %s: %w", edit.Message, err)
	}
	return nil
}

// LoadEdit implements runs.Edits.
func (s *Store) LoadEdit(ctx context.Context, thread chat.ThreadID, message chat.MessageID) (edit runs.Edit, ok bool, err error) {
	var body []byte
	err = s.db.QueryRowContext(ctx, `SELECT body FROM edit WHERE thread = ? AND message = ?`, string(thread), string(message)).Scan(&body)
	if errors.Is(err, sql.ErrNoRows) {
		return runs.Edit{}, false, nil
	}
	if err == nil {
		edit, err = runs.DecodeEdit(thread, message, body)
	}
	if err != nil {
		return runs.Edit{}, false, fmt.Errorf("load edit of message %s: %w", message, err)
	}
	return edit, true, nil
}

// EraseEdit implements runs.Edits.
func (s *Store) EraseEdit(ctx context.Context, thread chat.ThreadID, message chat.MessageID) error {
	if _, err := s.db.ExecContext(ctx, `DELETE FROM edit WHERE thread = ? AND message = ?`, string(thread), string(message)); err != nil {
		return fmt.Errorf("erase edit of message %s: %w", message, err)
	}
	return nil
}
