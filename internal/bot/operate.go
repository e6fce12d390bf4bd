package bot

import (
	"context"
	"errors"
	"fmt"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/runs"
)

// ErrNotGoingOn is the error for a run that neither works nor waits.
var ErrNotGoingOn = errors.New("this run neither works nor waits for an answer")

// Cancel ends a run that works or waits, as if the person who asked had stopped it.
// chat.ErrUnknownRun, ErrNotGoingOn.
func (b *Bot) Cancel(ctx context.Context, run chat.RunID) error {
	record, err := b.records.Load(ctx, run)
	if err != nil {
		return err
	}
	remembered, err := b.sessions.Load(ctx, record.Thread)
	if err != nil {
		return err
	}
	state, err := b.store.State(ctx, record.Thread)
	if err != nil {
		return err
	}
	work, waiting := remembered.Work, remembered.Waiting
	switch {
	case state.Queued > 0 && (state.Head.Run == run || work != nil && work.Run == run && work.Event == state.Head.Event):
		_, err = b.store.Stop(ctx, record.Thread, state.Head.Event, record.Author)
	case waiting != nil && waiting.Run == run:
		_, err = b.store.Enqueue(ctx, runs.Job{
			Event: newEvent(dropJob), Kind: dropJob, Message: chat.Message{Thread: record.Thread, Author: record.Author, At: b.now()},
		})
	default:
		return fmt.Errorf("cancel run %s, which is %s: %w", run, record.Status(), ErrNotGoingOn)
	}
	return err
}

// Replay has a run gone on with that failed, was cancelled or put aside; a worker sees to
// it. A job without a run, or one that can't be read, is named by its event.
// chat.ErrUnknownRun, chat.ErrRunOver.
func (b *Bot) Replay(ctx context.Context, run chat.RunID) error {
	letter, err := b.store.FindDeadLetter(ctx, run)
	if err == nil {
		return b.store.Replay(ctx, letter.Job.Thread(), letter.Job.Event)
	}
	if !errors.Is(err, runs.ErrUnknownLetter) {
		return err
	}
	record, err := b.records.Load(ctx, run)
	if err != nil {
		return err
	}
	return b.Retry(ctx, run, record.Author, nil)
}

// ErrNotAside is the error for a run that was not put aside, or was replayed since.
var ErrNotAside = errors.New("it is not among what was put aside")

// Discard forgets that a run, or a job, was put aside (see Replay); its record stays.
// ErrNotAside.
func (b *Bot) Discard(ctx context.Context, run chat.RunID) error {
	letter, err := b.store.FindDeadLetter(ctx, run)
	if err == nil {
		err = b.store.Discard(ctx, letter.Job.Thread(), letter.Job.Event)
	}
	if errors.Is(err, runs.ErrUnknownLetter) {
		return ErrNotAside
	}
	return err
}
