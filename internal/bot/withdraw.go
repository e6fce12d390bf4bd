package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/runs"
)

// withdrawJob takes back the answer of the job's run, because of what it rests on.
const withdrawJob runs.Kind = "withdraw"

// Withdrawal says which loss of a document takes back the answers that rest on it.
type Withdrawal int

// Answers stay; go with a document that was deleted; or go, too, where somebody who sees
// them may not read the document any more.
const (
	KeepAnswers Withdrawal = iota
	WithdrawDeleted
	WithdrawClosed
)

const (
	// withdrawEvery is how often answers are looked at, withdrawLast how many of the latest.
	withdrawEvery = time.Minute
	withdrawLast  = 1000
)

// Gone tells whether a document that is not in the index is gone for good: while its source is
// being read in, it may be about to come.
type Gone func(document string) bool

// WatchCitations looks every minute, until ctx ends, whether answers rest on documents that
// are lost, and has them taken back. settled gives what can be told of lost documents now.
func (b *Bot) WatchCitations(ctx context.Context, settled func(ctx context.Context) (Gone, error)) {
	if b.options.Withdraw == KeepAnswers || b.options.Library == nil {
		return
	}
	every := time.NewTicker(withdrawEvery)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
		gone, err := settled(ctx)
		if err == nil {
			err = b.WithdrawLost(ctx, gone)
		}
		if err != nil && ctx.Err() == nil {
			b.logger.WarnContext(ctx, "look for answers that rest on lost documents", "error", err)
		}
	}
}

// WithdrawLost queues the withdrawal of those of the latest answers that rest on lost
// documents. Done again, it changes nothing: an answer is taken back once.
func (b *Bot) WithdrawLost(ctx context.Context, gone Gone) error {
	records, err := b.records.List(ctx, runs.Filter{Status: runs.Done}, withdrawLast)
	if err != nil {
		return err
	}
	var all []string
	for _, record := range records {
		all = append(all, citedIn(record.Trace)...)
	}
	slices.Sort(all)
	audiences, err := b.documents.documentAudiences(ctx, slices.Compact(all))
	if err != nil {
		return err
	}
	for _, record := range records {
		if !b.isLost(ctx, record, audiences, gone) {
			continue
		}
		_, err := b.store.Enqueue(ctx, runs.Job{
			Event: runs.EventID("withdraw:" + string(record.ID)), Kind: withdrawJob, Run: record.ID,
			Message: chat.Message{Thread: record.Thread, Author: record.Author, At: b.now()},
		})
		if err != nil {
			return fmt.Errorf("queue the withdrawal of run %s: %w", record.ID, err)
		}
	}
	return nil
}

// citedIn gives the documents of the index that an answer was made from.
func citedIn(trace chat.Trace) []string {
	var cited []string
	for _, evidence := range trace.Evidence {
		document, _, ok := knowledge.PassageID(evidence.Passage).Split()
		if ok && evidence.Kept && evidence.Access != "" && !slices.Contains(cited, string(document)) {
			cited = append(cited, string(document))
		}
	}
	return cited
}

// isLost tells whether an answer rests on a document that was deleted, or is closed to
// somebody who sees the answer where that counts.
func (b *Bot) isLost(ctx context.Context, record runs.Record, audiences map[string]knowledge.Audience, gone Gone) bool {
	var cited []string
	for _, id := range citedIn(record.Trace) {
		if _, ok := audiences[id]; ok {
			cited = append(cited, id)
		} else if gone(id) {
			return true
		}
	}
	restricted := slices.ContainsFunc(cited, func(id string) bool { return audiences[id] != knowledge.PublicAudience })
	if b.options.Withdraw != WithdrawClosed || !restricted {
		return false
	}
	here := b.documents.resolveAccess(ctx, record.Thread, record.Author, record.Asker)
	if here.Uncertain { // a platform that can't be asked now closes nothing
		return false
	}
	return slices.ContainsFunc(cited, func(id string) bool { return !here.Here.MaySee(audiences[id]) })
}

const withdrawnText = "I took this answer back: a document that it rests on was deleted, or is not for everybody here any more. Ask again for what the documents say now."

// withdrawAnswer takes back the answer of the job's run. Each part can be done again.
func (t *turn) withdrawAnswer(ctx context.Context) (runs.Result, error) {
	record, err := t.bot.records.Load(ctx, t.job.entry.Run)
	if errors.Is(err, chat.ErrUnknownRun) {
		return runs.Result{}, t.delivery.announceDone(happened{Refusal: nothing})
	}
	if err != nil {
		return runs.Result{}, err
	}
	record.Trace.Evidence = nil
	record.Trace.Notes = append(record.Trace.Notes, "access: it was taken back, as a document that it rests on was deleted or closed")
	t.job.record, t.job.message.ID = record, ""
	for i, turn := range t.conversation.session.Turns {
		if turn.Reply == nil || turn.Reply.Run != record.ID {
			continue
		}
		t.delivery.hadDocuments = len(turn.Reply.Documents) > 0
		t.conversation.session.Turns[i].Reply = &chat.Reply{Run: record.ID, Outcome: chat.Noticed, Text: withdrawnText}
		t.job.message.ID = turn.Message
	}
	for i := range t.conversation.session.Earlier {
		if topic := &t.conversation.session.Earlier[i]; topic.Message == record.Message {
			topic.Answered, topic.Documents, topic.Cited = "", nil, nil
		}
	}
	return t.conclusion.commitAndShow(ctx, runs.Result{}, t.job.record)
}
