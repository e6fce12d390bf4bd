package bot

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"

	"cairn/internal/chat"
	"cairn/internal/runs"
)

// The kinds of jobs that changes of messages are. Message is the changed one; of a deleted
// one it has no more than the id and the thread.
const (
	editedJob  runs.Kind = "edited"
	deletedJob runs.Kind = "deleted"
)

func isChange(kind runs.Kind) bool { return kind == editedJob || kind == deletedJob }

// A change is a job like others, behind those that came before it. So that what waits or
// works before it need not do so in vain, the change is marked first: the mark is found by
// the message, it is a record that stands for the run that the change asks for, and it is
// erased with the change's job. Whoever works at the message looks for it while other jobs
// wait behind (heed.go): a change whose job is not there yet comes after the answer.

// Edited implements chat.Changes. Message.At is when it was edited: an edit that brings
// back an earlier text has another one.
func (b *Bot) Edited(ctx context.Context, message chat.Message) error {
	message.Text = cut(message.Text, maxText+1)
	event := runs.EventID(fmt.Sprintf("edited:%s:%s", message.ID, digest("%q %d", message.Text, message.At.UnixNano())))
	mark := runs.Record{
		ID: markOf(message.Thread, message.ID), Thread: message.Thread, Author: message.Author,
		Message: message.ID, Request: message.Text, Depth: message.Depth,
	}
	mark.Move(runs.Queued, message.At, "its message was edited")
	return b.change(ctx, mark, runs.Job{
		Event: event, Kind: editedJob, Message: message, Run: chat.RunID("run-" + digest("%q %q", message.Thread, event)),
	})
}

// Deleted implements chat.Changes.
func (b *Bot) Deleted(ctx context.Context, thread chat.ThreadID, message chat.MessageID) error {
	mark := runs.Record{ID: markOf(thread, message), Thread: thread, Message: message}
	mark.Move(runs.Cancelled, b.now(), "its message was deleted")
	return b.change(ctx, mark, runs.Job{
		Event: runs.EventID("deleted:" + message), Kind: deletedJob, Message: chat.Message{ID: message, Thread: thread},
	})
}

// change makes a change durable: its mark, and then its job. A message that the thread
// does not know needs neither.
func (b *Bot) change(ctx context.Context, mark runs.Record, job runs.Job) error {
	if mark.Message == "" || mark.Thread == "" {
		return fmt.Errorf("change of message %q of thread %q: it needs both ids", mark.Message, mark.Thread)
	}
	known, err := b.knows(ctx, mark.Thread, mark.Message)
	if err != nil || !known {
		return err
	}
	before, marked, err := b.markAt(ctx, mark.ID)
	if err != nil {
		return err
	}
	if !marked || replacesMark(before, mark) {
		if err := b.records.Save(ctx, mark); err != nil {
			return err
		}
	}
	accepted, err := b.store.Enqueue(ctx, job)
	if err != nil || accepted || marked {
		return err
	}
	return b.records.Erase(ctx, mark.ID) // the change is delivered again, and was made before
}

// knows tells whether a message is, or may be, part of what was said in a thread. What is
// queued is looked at first: it is in the session once it is not queued any more.
func (b *Bot) knows(ctx context.Context, thread chat.ThreadID, message chat.MessageID) (bool, error) {
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

// replacesMark tells whether a change is another one than that which is marked, and comes
// after it: nothing comes after the end of a message, and an edit after those that were
// made before it.
func replacesMark(before, mark runs.Record) bool {
	if isDeletion(before) {
		return false
	}
	made, then := mark.Transitions[0].At, before.Transitions[0].At
	return isDeletion(mark) || made.After(then) || made.Equal(then) && mark.Request != before.Request
}

func isDeletion(mark runs.Record) bool { return mark.Status() == runs.Cancelled }

// markAt gives a mark; false where there is none.
func (b *Bot) markAt(ctx context.Context, id chat.RunID) (mark runs.Record, marked bool, err error) {
	mark, err = b.records.Load(ctx, id)
	if errors.Is(err, chat.ErrUnknownRun) {
		return runs.Record{}, false, nil
	}
	return mark, err == nil, err
}

// markOf names the mark of a message.
func markOf(thread chat.ThreadID, message chat.MessageID) chat.RunID {
	return chat.RunID("change-" + digest("%q %q", thread, message))
}

// digest gives a short name for what has the same parts.
func digest(format string, parts ...any) string {
	sum := sha256.Sum256(fmt.Appendf(nil, format, parts...))
	return base32.StdEncoding.EncodeToString(sum[:])[:16]
}
