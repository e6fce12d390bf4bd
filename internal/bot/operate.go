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
// it. A job without a run, or one that can't be read, is named by its event.
// chat.ErrUnknownRun, chat.ErrRunOver.
func (b *Bot) Replay(ctx context.Context, run chat.RunID) error {
	letter, found, err := b.letterOf(ctx, run)
	if err != nil {
		return err
	}
	if found {
		return b.store.Replay(ctx, letter.Job.Thread(), letter.Job.Event)
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
	letter, found, err := b.letterOf(ctx, run)
	if err != nil {
		return err
	}
	if found {
		err = b.store.Discard(ctx, letter.Job.Thread(), letter.Job.Event)
	}
	if !found || errors.Is(err, runs.ErrUnknownLetter) {
		return ErrNotAside
	}
	return err
}

// letterOf finds the dead letter of a run, or of the job of an event that has none.
func (b *Bot) letterOf(ctx context.Context, run chat.RunID) (runs.DeadLetter, bool, error) {
	letters, err := b.store.DeadLetters(ctx, mostLetters)
	if err != nil {
		return runs.DeadLetter{}, false, err
	}
	for _, letter := range letters {
		named := letter.Job.Run
		if named == "" {
			named = chat.RunID(letter.Job.Event)
		}
		if named == run {
			return letter, true, nil
		}
	}
	return runs.DeadLetter{}, false, nil
}
