package redis

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

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
	key := s.keys.editsKey(edit.Thread)
	_, err = s.client.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.HSet(ctx, key, string(edit.Message), body)
		pipe.PExpire(ctx, key, s.options.Keep)
		return nil
	})
	if err != nil {
		return fmt.Errorf("save edit of message %s: %w", edit.Message, explainError(err))
	}
	return nil
}

// LoadEdit implements runs.Edits.
func (s *Store) LoadEdit(ctx context.Context, thread chat.ThreadID, message chat.MessageID) (edit runs.Edit, ok bool, err error) {
	body, err := s.client.HGet(ctx, s.keys.editsKey(thread), string(message)).Bytes()
	if errors.Is(err, redis.Nil) {
		return runs.Edit{}, false, nil
	}
	if err == nil {
		edit, err = runs.DecodeEdit(thread, message, body)
	}
	if err != nil {
		return runs.Edit{}, false, fmt.Errorf("load edit of message %s: %w", message, explainError(err))
	}
	return edit, true, nil
}

// EraseEdit implements runs.Edits.
func (s *Store) EraseEdit(ctx context.Context, thread chat.ThreadID, message chat.MessageID) error {
	if err := s.client.HDel(ctx, s.keys.editsKey(thread), string(message)).Err(); err != nil {
		return fmt.Errorf("erase edit of message %s: %w", message, explainError(err))
	}
	return nil
}
