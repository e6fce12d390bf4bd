package bot

import (
	"context"
	"errors"
	"fmt"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/runs"
)

// pageOfThreads is how many threads are forgotten between two looks at the list.
const pageOfThreads = 100

// Forget erases what is kept of a person in the threads of the adapters named: what they
// wrote and what was said to it, their runs with records, traces, checkpoints and
// ratings, and what waits of theirs. It is done by workers, thread by thread, after what
// is before it in each; Forget waits for them, and gives how many threads there were.
func (b *Bot) Forget(ctx context.Context, by chat.UserID, adapters ...string) (threads int, err error) {
	for _, adapter := range adapters {
		for {
			listed, err := b.sessions.Threads(ctx, adapter, by, pageOfThreads)
			if err != nil {
				return threads, err
			}
			for _, thread := range listed {
				job := runs.Job{Event: newEvent(forgetJob), Kind: forgetJob, Message: chat.Message{Thread: thread.Thread, Author: by, At: b.now()}}
				if err := b.awaitControl(ctx, job, nil); err != nil {
					return threads, fmt.Errorf("forget %s in thread %s: %w", by, thread.Thread, err)
				}
				threads++
			}
			if len(listed) < pageOfThreads {
				break
			}
		}
	}
	return threads, nil
}

// forgetAuthor erases what the thread keeps of the job's author. Each part can be done again.
func (t *turn) forgetAuthor(ctx context.Context) (runs.Result, error) {
	by := t.job.entry.Message.Author
	forgotten, err := t.eraseRecords(ctx, by)
	if err != nil {
		return runs.Result{}, err
	}
	if err := t.bot.store.Forget(ctx, t.job.entry.Thread(), by, forgotten); err != nil {
		return runs.Result{}, err
	}
	if keeper, ok := t.job.files.(chat.FileForgetter); ok {
		if err := keeper.ForgetFiles(ctx, t.job.entry.Thread(), by); err != nil {
			return runs.Result{}, err
		}
	}
	t.conversation.session.Forget(by)
	t.job.message.ID = ""
	return t.conclusion.commitAndShow(ctx, runs.Result{})
}

// pageOfRuns is how many records are looked at at a time.
const pageOfRuns = 1000

// eraseRecords erases the person's runs and gives their ids, and takes the person's
// thumbs back from the others of the thread.
func (t *turn) eraseRecords(ctx context.Context, by chat.UserID) ([]chat.RunID, error) {
	var erased []chat.RunID
	for listed := pageOfRuns; listed == pageOfRuns; {
		records, err := t.bot.records.List(ctx, runs.Filter{Thread: t.job.entry.Thread(), Author: by}, pageOfRuns)
		if err != nil {
			return nil, err
		}
		for _, record := range records {
			if err := t.bot.records.Erase(ctx, record.ID); err != nil {
				return nil, err
			}
			erased = append(erased, record.ID)
		}
		listed = len(records)
	}
	others, err := t.bot.records.List(ctx, runs.Filter{Thread: t.job.entry.Thread()}, pageOfRuns)
	if err != nil {
		return nil, err
	}
	for _, record := range others {
		if err := t.bot.records.Rate(ctx, record.ID, chat.Rating{By: by, At: t.job.now()}); err != nil && !errors.Is(err, chat.ErrUnknownRun) {
			return nil, err
		}
	}
	return erased, nil
}
