package bot

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"slices"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// The kinds of jobs that changes of messages are. Message is the changed one; of a deleted
// one it has no more than the id and the thread.
const (
	editedJob  runs.Kind = "edited"
	deletedJob runs.Kind = "deleted"
)

// A change is a job like others, behind those that came before it. So that what waits or
// works before it need not do so in vain, the change is first kept as an edit of the message
// (runs.Edits), which is erased with the change's job. Whoever works at the message looks for
// it while other jobs wait behind (edits.go): a change whose job is not there yet comes after
// the answer.

// Edited implements chat.Changes. Message.At is when it was edited: an edit that brings
// back an earlier text has another one.
func (b *Bot) Edited(ctx context.Context, message chat.Message) error {
	message.Text = shorten.Head(message.Text, maxText+1)
	event := runs.EventID(fmt.Sprintf("edited:%s:%s", message.ID, shortDigest("%q %d %q", message.Text, message.At.UnixNano(), fileIDs(message.Files))))
	edit := runs.Edit{
		Thread: message.Thread, Message: message.ID, Author: message.Author, Text: message.Text, Depth: message.Depth, At: message.At,
		Files: message.Files,
	}
	return b.acceptEdit(ctx, edit, runs.Job{
		Event: event, Kind: editedJob, Message: message, Run: chat.RunID("run-" + shortDigest("%q %q", message.Thread, event)),
	})
}

// Deleted implements chat.Changes.
func (b *Bot) Deleted(ctx context.Context, thread chat.ThreadID, message chat.MessageID) error {
	edit := runs.Edit{Thread: thread, Message: message, Deleted: true}
	return b.acceptEdit(ctx, edit, runs.Job{
		Event: runs.EventID("deleted:" + message), Kind: deletedJob, Message: chat.Message{ID: message, Thread: thread},
	})
}

// acceptEdit makes a change durable: the edit, and then its job. A message that the thread does
// not know needs neither.
func (b *Bot) acceptEdit(ctx context.Context, edit runs.Edit, job runs.Job) error {
	if edit.Message == "" || edit.Thread == "" {
		return fmt.Errorf("change of message %q of thread %q: it needs both ids", edit.Message, edit.Thread)
	}
	known, err := b.hasMessage(ctx, edit.Thread, edit.Message)
	if err != nil || !known {
		return err
	}
	before, ok, err := b.store.LoadEdit(ctx, edit.Thread, edit.Message)
	if err != nil {
		return err
	}
	if !ok || replacesEdit(before, edit) {
		if err := b.store.SaveEdit(ctx, edit); err != nil {
			return err
		}
	}
	accepted, err := b.store.Enqueue(ctx, job)
	if err != nil || accepted || ok {
		return err
	}
	return b.store.EraseEdit(ctx, edit.Thread, edit.Message) // the change is delivered again, and was made before
}

// hasMessage tells whether a message is, or may be, part of what was said in a thread. What is
// queued is looked at first: it is in the session once it is not queued any more.
func (b *Bot) hasMessage(ctx context.Context, thread chat.ThreadID, message chat.MessageID) (bool, error) {
	state, err := b.store.State(ctx, thread)
	if err != nil || state.Queued > 0 {
		return err == nil, err
	}
	remembered, err := b.sessions.Load(ctx, thread)
	return personTurn(remembered.Turns, message) >= 0, err
}

// personTurn finds the turn that a person's message is, -1 where there is none.
func personTurn(turns []chat.Turn, message chat.MessageID) int {
	for i, turn := range turns {
		if turn.Role == chat.Person && turn.Message == message {
			return i
		}
	}
	return -1
}

// replacesEdit tells whether a change is another one than that which is kept, and comes
// after it: nothing comes after the end of a message, and an edit after those that were
// made before it.
func replacesEdit(before, edit runs.Edit) bool {
	if before.Deleted {
		return false
	}
	return edit.Deleted || edit.At.After(before.At) || edit.At.Equal(before.At) && (edit.Text != before.Text || addsFiles(before.Files, edit.Files))
}

// addsFiles tells whether a change of a message brings files that it did not have before. A
// platform may tell of a message first without its files.
func addsFiles(before, now []chat.File) bool {
	known := fileIDs(before)
	return slices.ContainsFunc(fileIDs(now), func(id string) bool { return !slices.Contains(known, id) })
}

func fileIDs(files []chat.File) []string {
	var ids []string
	for _, file := range files {
		ids = append(ids, file.ID)
	}
	return ids
}

// shortDigest gives a short name for what has the same parts.
func shortDigest(format string, parts ...any) string {
	sum := sha256.Sum256(fmt.Appendf(nil, format, parts...))
	return base32.StdEncoding.EncodeToString(sum[:])[:16]
}
