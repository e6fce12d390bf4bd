package bot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/store"
)

// recordedDelivery is what is to be posted, as the outbox has it. No post begins under a lease that
// may have run out: until then the lease is known to be good.
type recordedDelivery struct {
	kept  runs.Delivery
	until time.Time
}

// commitDelivery commits changes and, with them, that something is to be posted.
func (d *delivery) commitDelivery(ctx context.Context, changes store.Commit) error {
	until := time.Now().Add(d.leaseTTL / 2)
	committed, err := d.job.journal.Commit(ctx, changes)
	if err == nil && changes.Delivery != nil {
		d.recorded = &recordedDelivery{committed.Delivery, until}
	}
	return err
}

// encodeDelivery is what is to be posted, to be recorded.
func (d *delivery) encodeDelivery(said chat.Turn) (*runs.Delivery, error) {
	body, err := deliveryOf(said)
	if err != nil {
		return nil, fmt.Errorf("encode what is posted about event %s: %w", d.job.entry.Event, err)
	}
	work := d.conversation.session.Work
	delivery := &runs.Delivery{Key: work.Key, Run: work.Run, Body: body}
	return delivery, delivery.Check()
}

// deliverySoon is what is to be posted where it is posted next, and for the first time; nil:
// there is no such thing.
func (d *delivery) deliverySoon() (*runs.Delivery, error) {
	work := d.conversation.session.Work
	if d.job.poster == nil || work.Message == "" || len(work.Closed) > 0 {
		return nil, nil
	}
	at := lastSaid(d.conversation.session.Turns, work.Message)
	if at < 0 || d.conversation.session.Turns[at].Posted != "" {
		return nil, nil
	}
	delivery, err := d.encodeDelivery(d.conversation.session.Turns[at])
	if errors.Is(err, runs.ErrTooLarge) {
		return nil, nil // what came of the job is kept all the same; to post it fails
	}
	return delivery, err
}

// deliveryOf gives a turn of the bot as the outbox keeps it: what is in its documents the
// session holds until they are posted.
func deliveryOf(said chat.Turn) ([]byte, error) {
	if said.Reply != nil {
		without := said.Reply.WithoutContent()
		said.Reply = &without
	}
	return json.Marshal(postOf(said))
}

// parkUnposted puts a job aside whose outcome nobody can be shown.
func (d *delivery) parkUnposted(ctx context.Context, cause error) (runs.Result, error) {
	work := d.conversation.session.Work
	dead := runs.Result{Next: runs.Dead, Reason: "what came of it could not be posted: " + cause.Error()}
	d.job.logger.ErrorContext(ctx, "a reply could not be posted", "run", string(work.Run), "thread", string(d.job.message.Thread), "error", cause)
	if err := d.store.Drop(ctx, d.job.lease, work.Key); err != nil {
		return runs.Result{}, err
	}
	if work.Run == "" {
		return dead, nil
	}
	record, err := d.records.Load(ctx, work.Run)
	if err != nil {
		return runs.Result{}, err
	}
	if record.Status() == runs.Failed {
		return dead, nil
	}
	record.Move(runs.Failed, d.job.now(), dead.Reason)
	d.final.Records = append(d.final.Records, record)
	return dead, nil
}

// completeJob commits what is left to write with the end of the job. Where the first fails the job
// is tried again.
func (d *delivery) completeJob(ctx context.Context, result runs.Result) error {
	if d.final.IsZero() && !d.hasEvents {
		return d.store.Finish(ctx, d.job.lease, result)
	}
	err := d.commitFinal(ctx, &result)
	if err == nil || errors.Is(err, runs.ErrLost) {
		return err
	}
	if d.store.Finish(ctx, d.job.lease, retryAttempt(d.job.entry.Attempt, err)) != nil {
		return err
	}
	d.job.logger.ErrorContext(ctx, "the job is tried again", "thread", string(d.job.lease.Thread), "event", string(d.job.entry.Event), "error", err)
	return nil
}

// commitFinal commits what is left to write, and ends the job with the result, if there is one.
func (d *delivery) commitFinal(ctx context.Context, result *runs.Result) error {
	changes := d.final
	d.final, d.hasEvents = store.Commit{}, false
	changes.Result = result
	_, err := d.job.journal.Commit(ctx, changes)
	return err
}
