package runs

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
)

// Edit is a change of a person's message that is not dealt with yet. It is no run: it tells
// whoever works at the message, or is about to, that a job with its next text follows.
type Edit struct {
	Thread  chat.ThreadID
	Message chat.MessageID
	Deleted bool // the message is gone; all below is zero
	Author  chat.UserID
	Text    string // the message's new text
	Depth   chat.Depth
	At      time.Time   // when the message was edited
	Files   []chat.File // that come with the message now
}

// Edits keeps one edit for each message, for Options.Keep. Its methods may be called
// concurrently.
type Edits interface {
	// SaveEdit replaces the edit of a message. One without a thread or a message is refused.
	SaveEdit(ctx context.Context, edit Edit) error
	// LoadEdit gives the edit of a message; ok is false where there is none.
	LoadEdit(ctx context.Context, thread chat.ThreadID, message chat.MessageID) (edit Edit, ok bool, err error)
	// EraseEdit removes the edit of a message. One that is not there is no error.
	EraseEdit(ctx context.Context, thread chat.ThreadID, message chat.MessageID) error
}

// editVersion is that of storedEdit, see jobVersion.
const editVersion = 1

// storedEdit is an edit as backends keep it; its thread and message stand beside it.
type storedEdit struct {
	Version int         `json:"version"`
	Deleted bool        `json:"deleted,omitempty"`
	Author  chat.UserID `json:"author,omitempty"`
	Text    string      `json:"text,omitempty"`
	Depth   chat.Depth  `json:"depth,omitempty"`
	At      time.Time   `json:"at,omitzero"`
	Files   []chat.File `json:"files,omitempty"`
}

// EncodeEdit returns an edit, all but its thread and message, as backends store it.
func EncodeEdit(edit Edit) ([]byte, error) {
	if edit.Thread == "" || edit.Message == "" {
		return nil, fmt.Errorf("edit of message %q of thread %q: it needs both ids", edit.Message, edit.Thread)
	}
	return json.Marshal(storedEdit{
		Version: editVersion, Deleted: edit.Deleted, Author: edit.Author, Text: edit.Text, Depth: edit.Depth, At: edit.At, Files: edit.Files,
	})
}

// DecodeEdit reads what EncodeEdit gave.
func DecodeEdit(thread chat.ThreadID, message chat.MessageID, body []byte) (Edit, error) {
	var stored storedEdit
	if err := json.Unmarshal(body, &stored); err != nil {
		return Edit{}, fmt.Errorf("read edit of message %s: %w", message, err)
	}
	if err := checkVersion(stored.Version, editVersion); err != nil {
		return Edit{}, fmt.Errorf("read edit of message %s: %w", message, err)
	}
	return Edit{
		Thread: thread, Message: message, Deleted: stored.Deleted,
		Author: stored.Author, Text: stored.Text, Depth: stored.Depth, At: stored.At, Files: stored.Files,
	}, nil
}
