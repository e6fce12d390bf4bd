package bot

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// maxText is how many letters of a message are read.
const maxText = 40_000

// The kinds of jobs that are the bot's own.
const (
	dropJob   runs.Kind = "drop"   // Message.Author wants the waiting question dropped
	forgetJob runs.Kind = "forget" // Message.Author is to be forgotten
)

// The event of each job says what it comes from. Those of messages are told apart by the
// ids of the messages, so that what is delivered twice is worked at once.
func saidEvent(message chat.MessageID) runs.EventID   { return runs.EventID("said:" + message) }
func remindEvent(asked runs.DeliveryKey) runs.EventID { return runs.EventID("remind:" + asked) }
func expireEvent(asked runs.DeliveryKey) runs.EventID { return runs.EventID("expire:" + asked) }

// newEvent is the event of a wish, which may be repeated.
func newEvent(kind runs.Kind) runs.EventID { return runs.EventID(string(kind) + ":" + rand.Text()) }

// Handle implements chat.Handler.
func (b *Bot) Handle(ctx context.Context, message chat.Message, conversation chat.Conversation) error {
	if message.ID == "" || message.Thread == "" {
		return fmt.Errorf("message %q of thread %q: it needs both ids", message.ID, message.Thread)
	}
	message.Text = shorten.Head(message.Text, maxText+1) // the worker says that it is too long
	message.Shared, message.Before = boundSaid(message.Shared), boundSaid(message.Before)
	job := runs.Job{Event: saidEvent(message.ID), Kind: runs.Said, Message: message, Run: chat.RunID(NewRunID())}
	aside, err := b.isSideCommand(ctx, message)
	if err != nil {
		return err
	}
	if aside {
		job.Kind, job.Run, job.Lane = sideCommandJob, "", runs.LaneCommands
	}
	accept := func(ctx context.Context) (bool, error) { return b.acceptJob(ctx, job) }
	if conversation == nil {
		_, err := accept(ctx)
		return err
	}
	return b.followJob(ctx, job, conversation, accept)
}

// boundSaid keeps the last of others' messages, and of each its beginning.
func boundSaid(list []chat.Said) []chat.Said {
	var bounded []chat.Said
	for _, said := range list[max(0, len(list)-chat.MaxSaid):] {
		said.Text = shorten.Head(said.Text, chat.MaxSaidText)
		bounded = append(bounded, said)
	}
	return bounded
}

// acceptJob puts a message into its thread's queue. One that asks to stop also stops what
// works there.
func (b *Bot) acceptJob(ctx context.Context, job runs.Job) (accepted bool, err error) {
	stops := job.Message.Answers == nil && chat.IsStop(job.Message.Text)
	var head runs.Job
	if stops {
		if head, err = b.toStop(ctx, job.Message.Thread, job.Message.Author); err != nil {
			return false, err
		}
	}
	accepted, err = b.store.Enqueue(ctx, job)
	if err != nil || head.Event == "" || head.Event == job.Event {
		return accepted, err
	}
	// A word that comes again must stop no more than it would have stopped at first.
	if !accepted && head.Message.At.After(job.Message.At) {
		return false, nil
	}
	_, err = b.store.Stop(ctx, job.Message.Thread, head.Event, job.Message.Author)
	return accepted, err
}

// toStop gives the job that works in a thread, where the person may stop it. There is
// none where nothing works, where all that is left of the job is to show its outcome, or
// where only somebody else's works while there is a question that the person may drop.
func (b *Bot) toStop(ctx context.Context, thread chat.ThreadID, by chat.UserID) (runs.Job, error) {
	state, err := b.store.State(ctx, thread)
	if err != nil {
		return runs.Job{}, err
	}
	head := state.Head
	if state.Queued == 0 || !startsRun(head.Kind) {
		return runs.Job{}, nil
	}
	remembered, err := b.sessions.Load(ctx, thread)
	if err != nil {
		return runs.Job{}, err
	}
	work := remembered.Work
	isAtWork := work != nil && work.Event == head.Event && work.Came.Equal(head.Enqueued)
	switch {
	case isAtWork && work.Over:
		return runs.Job{}, nil
	case head.Message.Author == by:
		return head, nil
	}
	if isAtWork && work.Run != "" {
		record, err := b.records.Load(ctx, work.Run)
		if err != nil && !errors.Is(err, chat.ErrUnknownRun) {
			return runs.Job{}, err
		}
		if record.Author == by {
			return head, nil
		}
	}
	if waiting := remembered.Waiting; waiting != nil && mayAnswer(waiting.Question, by) {
		return runs.Job{}, nil
	}
	return runs.Job{}, chat.ErrForbidden
}
