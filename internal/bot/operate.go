package bot

import (
	"context"
	"errors"
	"fmt"

	"cairn/internal/chat"
	"cairn/internal/runs"
)

// mostLetters is how many dead letters are looked at to find that of a run.
const mostLetters = 10_000

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
// it. chat.ErrUnknownRun, chat.ErrRunOver.
func (b *Bot) Replay(ctx context.Context, run chat.RunID) error {
	letters, err := b.store.DeadLetters(ctx, mostLetters)
	if err != nil {
		return err
	}
	for _, letter := range letters {
		if letter.Job.Run == run {
			return b.store.Replay(ctx, letter.Job.Thread(), letter.Job.Event)
		}
	}
	record, err := b.records.Load(ctx, run)
	if err != nil {
		return err
	}
	return b.Retry(ctx, run, record.Author, nil)
}
