package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/store"
)

// deliveryStore is what deliveries need of the store.
type deliveryStore interface {
	Renew(ctx context.Context, lease runs.Lease) (runs.Renewal, error)
	Finish(ctx context.Context, lease runs.Lease, result runs.Result) error
	Drop(ctx context.Context, lease runs.Lease, key runs.DeliveryKey) error
	EnqueueAfter(ctx context.Context, job runs.Job, delay time.Duration) (accepted bool, err error)
}

// delivery shows a job's work and what came of it in the thread, so that it is posted once.
type delivery struct {
	job          *job
	conversation *conversation
	store        deliveryStore
	records      runs.Records

	leaseTTL, lookAfter, tidyAfter time.Duration // of Options

	// drafting shows the run while it works, draft is what is shown once it does not any
	// more; nil where nothing is. leftOver tells that a draft of the job may be in the
	// thread that nobody works at.
	drafting *drafting
	draft    chat.Draft
	leftOver bool
	// uncertain tells that what came of the job may be posted already, by an earlier attempt;
	// sent that this one asked for it, and does not know that nothing was done; late that the
	// platform may do something about the job after its end.
	uncertain, sent, late bool
	// inherited tells that an earlier attempt may have left something that the platform does
	// about the job after its end.
	inherited bool

	offers       bool         // the asker may read more in private
	hadDocuments bool         // files were posted with the answer that is taken back
	posted       chat.PostKey // what was posted under the lease, "" for nothing

	recorded  *recordedDelivery // what is to be posted, where that is committed
	final     store.Commit      // what is left to commit with the end of the job
	hasEvents bool              // events are left for that
}

func (b *Bot) newDelivery(job *job, conversation *conversation) *delivery {
	uncertain := !job.lease.Unsure.IsZero() || job.lease.Restored
	return &delivery{
		job: job, conversation: conversation, store: b.store, records: b.records,
		leaseTTL: b.options.LeaseTTL, lookAfter: b.options.LookAfter, tidyAfter: b.options.TidyAfter,
		uncertain: uncertain, leftOver: uncertain, inherited: uncertain,
	}
}

// maxUnposted is how long a delivery is tried before it is given up.
const maxUnposted = 24 * time.Hour

// deliverOutcome shows what came of the job, which the session holds, and gives what is to become
// of the job.
func (d *delivery) deliverOutcome(ctx context.Context) (runs.Result, error) {
	work := d.conversation.session.Work
	result := work.Result
	if d.job.poster != nil {
		err := errors.Join(d.editClosed(ctx), d.postReply(ctx))
		if errors.Is(err, chat.ErrGone) || errors.Is(err, chat.ErrRefused) || errors.Is(err, errTooLate) {
			result, err = d.parkUnposted(ctx, err)
		}
		if err != nil {
			return runs.Result{}, err
		}
		d.postOffer(ctx)
	}
	told := happened{Message: work.Message}
	if work.Message == "" && startsRun(d.job.entry.Kind) {
		told.Refusal = withdrawn
	}
	if at := lastSaid(d.conversation.session.Turns, work.Message); d.conversation.savedSession() == nil && at >= 0 {
		told.Reply = d.conversation.session.Turns[at].Reply
	}
	return result, d.announceDone(told)
}

// announceDone has those who follow the thread told that the job is dealt with.
func (d *delivery) announceDone(what happened) error {
	what.Job = d.job.entry.Event
	event, err := eventOf(dealtEvent, d.conversation.workedAt(), what)
	if err != nil {
		return err
	}
	d.job.journal.Append(event)
	d.hasEvents = true
	return nil
}

// refuseJob does nothing about the job, and says why to its author alone.
func (d *delivery) refuseJob(ctx context.Context, why refusal) (runs.Result, error) {
	return d.refuseWith(ctx, why, hintText(why))
}

// hintText says why nothing was done.
func hintText(why refusal) string { return "Nothing was done: " + refusals[why].Error() + "." }

// refuseWith is refuseJob in other words.
func (d *delivery) refuseWith(ctx context.Context, why refusal, text string) (runs.Result, error) {
	if d.job.poster != nil && d.job.entry.Kind != dropJob && d.job.entry.Attempt <= 1 {
		d.postHint(ctx, why, text) // one that may have been seen is not given again
	}
	return runs.Result{}, d.announceDone(happened{Refusal: why})
}

func (d *delivery) postHint(ctx context.Context, why refusal, text string) {
	hint := chat.Reply{Outcome: chat.Noticed, Text: text}
	post := chat.Post{To: d.job.message.ID, Reply: &hint, Only: d.job.message.Author, Private: why == tooLate}
	_, err := d.job.poster.Post(ctx, d.job.message.Thread, chat.PostKey(keyOf(d.job.entry)), post)
	if err != nil {
		d.job.logger.WarnContext(ctx, "a hint was not posted", "thread", string(d.job.message.Thread), "error", err)
	}
}

// showClosed shows the questions that the turn closed as closed, at once: their buttons
// go before the run works. What fails is tried again at the end.
func (d *delivery) showClosed(ctx context.Context) {
	if d.job.poster == nil || len(d.conversation.closed) == 0 {
		return
	}
	if err := d.editClosed(ctx); err != nil {
		d.job.logger.WarnContext(ctx, "a question is not shown as closed yet", "thread", string(d.job.message.Thread), "error", err)
	}
}

// editClosed edits the messages of questions that were closed. A message that is gone
// needs no edit.
func (d *delivery) editClosed(ctx context.Context) error {
	if d.conversation.published {
		return nil
	}
	for _, turn := range d.conversation.session.Turns {
		if turn.Question == nil || turn.Posted == "" || !slices.Contains(d.conversation.closed, turn.Question.ID) {
			continue
		}
		err := d.job.poster.Edit(ctx, d.job.message.Thread, turn.Posted, postOf(turn))
		if err != nil && !errors.Is(err, chat.ErrGone) && !errors.Is(err, chat.ErrRefused) {
			return deliveryError(err)
		}
	}
	d.conversation.published = true
	return nil
}

// errTooLate gives up a delivery.
var errTooLate = errors.New("it could not be posted for too long")

// postReply posts the bot's turn about the job, once.
func (d *delivery) postReply(ctx context.Context) error {
	work := d.conversation.session.Work
	if work.Message == "" {
		return nil
	}
	at := lastSaid(d.conversation.session.Turns, work.Message)
	if at < 0 {
		return nil
	}
	said := &d.conversation.session.Turns[at]
	if said.Posted != "" {
		if done, err := d.editPosted(ctx, said); done || err != nil {
			if err == nil && d.conversation.session.DropDocuments(at) {
				d.final.Session = &d.conversation.session
			}
			return err
		}
	}
	if d.recorded == nil {
		delivery, err := d.encodeDelivery(*said)
		if err == nil {
			err = d.commitDelivery(ctx, store.Commit{Delivery: delivery})
		}
		if err != nil {
			return err
		}
	}
	recorded := *d.recorded
	posted := recorded.kept.Posted
	if posted == "" {
		posting, done := context.WithTimeout(ctx, platformTime)
		defer done()
		d.posted = chat.PostKey(work.Key)
		var err error
		if posted, err = d.postOnce(posting, recorded, *said); err != nil {
			if d.sent {
				err = errors.Join(err, d.removeDuplicate(ctx))
			}
			return err
		}
	}
	said.Posted = posted
	d.conversation.session.DropDocuments(at) // the platform has them
	d.final.Confirmed, d.final.Session = &store.Confirmation{Key: work.Key, Posted: posted}, d.conversation.savedSession()
	return nil
}

// platformTime is how long a platform may take to carry out a call. The lease is renewed
// meanwhile, and what is under way ends with it.
const platformTime = 30 * time.Second

// reuniteAfter is between two looks of a worker that stood still for what it posted.
const reuniteAfter = time.Second

// removeDuplicate sees to it that a post is there once which this worker tried under a lease that was
// lost meanwhile: one that stood still may have sent it after another had done so. Its
// error is that of the lease.
func (d *delivery) removeDuplicate(ctx context.Context) error {
	key := d.posted
	if key == "" {
		return nil
	}
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer done()
	_, lost := d.store.Renew(ctx, d.job.lease)
	if !errors.Is(lost, runs.ErrLost) {
		return nil
	}
	d.job.logger.WarnContext(ctx, "the lease was lost while it was posted", "thread", string(d.job.message.Thread), "key", string(key))
	if err := d.tidyLater(ctx); err != nil {
		d.job.logger.WarnContext(ctx, "a thread is not tidied later", "thread", string(d.job.message.Thread), "error", err)
	}
	for range 2 {
		if _, _, err := d.job.poster.Find(ctx, d.job.message.Thread, key); err != nil {
			d.job.logger.WarnContext(ctx, "a post may be there twice", "thread", string(d.job.message.Thread), "key", string(key), "error", err)
		}
		sleepContext(ctx, reuniteAfter)
	}
	return lost
}

// postOnce posts a delivery, unless an earlier attempt turns out to have done so.
func (d *delivery) postOnce(ctx context.Context, recorded recordedDelivery, said chat.Turn) (chat.MessageID, error) {
	thread, key := d.job.message.Thread, chat.PostKey(recorded.kept.Key)
	if d.job.lease.Restored {
		d.closeDraft(ctx)
	}
	if d.uncertain {
		posted, found, err := d.findPosted(ctx, key, said)
		if found || err != nil {
			return posted, err
		}
		d.uncertain = false
		if !recorded.kept.Recorded.IsZero() && d.job.lease.Given.Sub(recorded.kept.Recorded) > maxUnposted {
			return "", errTooLate
		}
	}
	if time.Now().After(recorded.until) {
		if _, err := d.store.Renew(ctx, d.job.lease); err != nil {
			return "", err
		}
	}
	post := d.job.poster.Post
	if draft := d.draft; draft != nil {
		post = func(ctx context.Context, _ chat.ThreadID, key chat.PostKey, post chat.Post) (chat.MessageID, error) {
			return d.finishDraft(ctx, draft, key, post)
		}
	}
	d.sent = true
	posted, err := post(ctx, thread, key, postOf(said))
	if err != nil {
		return "", d.notPosted(ctx, err)
	}
	if posted == "" {
		return "", fmt.Errorf("post in thread %s: the platform gave no id: %w", thread, chat.ErrRefused)
	}
	return posted, nil
}

// notPosted is the error of a post. Where the post was sent it is looked for after a while;
// where its turn has not come, people are shown that it waits.
func (d *delivery) notPosted(ctx context.Context, err error) error {
	if saysNothingWasDone(err) {
		d.sent = false
		if wait, ok := errors.AsType[*chat.RetryAfterError](err); ok {
			d.showWaiting(ctx, wait.After)
		}
		return deliveryError(err)
	}
	d.late = true
	return &platformError{after: d.lookAfter, reason: notPosted, err: err}
}

// releaseDoubt is what is known of that where the job of a lease is released, which was begun or not.
func releaseDoubt(lease runs.Lease, begun bool) runs.Doubt {
	switch {
	case begun:
		return runs.UnsureNow
	case !lease.Unsure.IsZero():
		return runs.UnsureBefore
	}
	return runs.Sure
}

// unconfirmedPost is what is known of what the job asked of the platform, when it is given back.
func (d *delivery) unconfirmedPost() runs.Doubt {
	switch {
	case d.sent:
		return runs.UnsureNow
	case d.uncertain:
		return runs.UnsureBefore
	}
	return runs.Sure
}

// findPosted asks the platform for what an earlier attempt posted. Where the store has forgotten
// that attempt, what is said now was made anew, and is shown in its place.
func (d *delivery) findPosted(ctx context.Context, key chat.PostKey, said chat.Turn) (chat.MessageID, bool, error) {
	if checker, ok := d.job.poster.(chat.AbsenceChecker); ok {
		absent, err := checker.IsAbsent(ctx, d.job.message.Thread, said.Message, d.job.lease.Given.Sub(d.job.lease.Unsure))
		if absent || err != nil {
			return "", false, deliveryError(err)
		}
	}
	posted, found, err := d.job.poster.Find(ctx, d.job.message.Thread, key)
	if found && err == nil && !d.job.again {
		err = d.job.poster.Edit(ctx, d.job.message.Thread, posted, postOf(said))
		if errors.Is(err, chat.ErrGone) || errors.Is(err, chat.ErrRefused) {
			err = nil
		}
	}
	if err != nil {
		return "", false, deliveryError(err)
	}
	return posted, found, nil
}

const notPosted = "it could not be posted"

// deliveryError is the error of a delivery that is to be tried again.
func deliveryError(err error) error {
	if err == nil {
		return nil
	}
	if wait, ok := errors.AsType[*chat.RetryAfterError](err); ok {
		return &platformError{after: wait.After, turn: true, reason: notPosted, err: err}
	}
	return &platformError{reason: notPosted, err: err}
}

// postOf gives a turn of the bot as it is posted.
func postOf(turn chat.Turn) chat.Post {
	return chat.Post{To: turn.Message, Reply: turn.Reply, Question: turn.Question, Answer: turn.Answer, AnsweredBy: turn.AnsweredBy}
}

// editPosted edits a message of the bot that what came of an edit takes the place of; it
// may do so again. done is false where there is no such message any more: what came of it
// is posted.
func (d *delivery) editPosted(ctx context.Context, said *chat.Turn) (done bool, err error) {
	if !replacesAnswer(d.job.entry.Kind) && d.job.entry.Kind != withdrawJob {
		return true, nil
	}
	editing, stop := context.WithTimeout(ctx, d.leaseTTL)
	defer stop()
	if d.hadDocuments { // an edit would leave them
		err = d.retractPosted(editing, said.Posted)
	} else {
		err = d.job.poster.Edit(editing, d.job.message.Thread, said.Posted, postOf(*said))
	}
	if errors.Is(err, chat.ErrRefused) { // it is too old to be edited, as platforms see it
		err = d.retractPosted(editing, said.Posted)
	}
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, chat.ErrGone):
		said.Posted = ""
		return false, nil
	}
	return false, deliveryError(err)
}

// retractPosted retracts a message of the bot, so that it is gone.
func (d *delivery) retractPosted(ctx context.Context, posted chat.MessageID) error {
	if err := d.job.poster.Retract(ctx, d.job.message.Thread, posted); err != nil && !errors.Is(err, chat.ErrRefused) {
		return err
	}
	return chat.ErrGone
}

// retractTurn retracts a message of the bot's, if it was posted, and calls its run off.
func (d *delivery) retractTurn(ctx context.Context, turn chat.Turn) error {
	if turn.Posted != "" && d.job.poster != nil {
		err := d.job.poster.Retract(ctx, d.job.message.Thread, turn.Posted)
		if err != nil && !errors.Is(err, chat.ErrGone) && !errors.Is(err, chat.ErrRefused) {
			return deliveryError(err)
		}
		if err != nil {
			d.job.logger.WarnContext(ctx, "a message can't be retracted", "thread", string(d.job.message.Thread), "error", err)
		}
	}
	run := runOf(turn)
	if run == "" {
		return nil
	}
	var err error
	if d.job.record, err = d.records.Load(ctx, run); errors.Is(err, chat.ErrUnknownRun) {
		return nil
	} else if err != nil {
		return err
	}
	d.conversation.cancelRun("its message was deleted")
	return nil
}

// removeEmptyThread takes away the thread of a conversation of which nothing is left, where the
// platform has such threads. It is a convenience.
func (d *delivery) removeEmptyThread(ctx context.Context) {
	remover, ok := d.job.poster.(chat.ThreadRemover)
	if !ok {
		return
	}
	if err := remover.RemoveEmptyThread(ctx, d.job.message.Thread); err != nil {
		d.job.logger.WarnContext(ctx, "remove an empty thread", "thread", string(d.job.message.Thread), "error", err)
	}
}

// postOffer offers the asker the rest in private. It is a convenience: an answer whose
// offer fails stands all the same.
func (d *delivery) postOffer(ctx context.Context) {
	if !d.offers {
		return
	}
	offer := chat.Reply{Outcome: chat.Noticed, Text: offerText, Offer: d.job.record.ID}
	key := chat.PostKey(keyOf(d.job.entry)[:20] + "OFFR")
	_, err := d.job.poster.Post(ctx, d.job.message.Thread, key, chat.Post{To: d.job.message.ID, Reply: &offer, Only: d.job.record.Author, Private: true})
	if err != nil {
		d.job.logger.WarnContext(ctx, "post the offer of a private answer", "run", string(d.job.record.ID), "error", err)
	}
}
