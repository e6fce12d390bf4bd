package bot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"cairn/internal/chat"
	"cairn/internal/runs"
	"cairn/internal/store"
)

// maxUnposted is how long a delivery is tried before it is given up.
const maxUnposted = 24 * time.Hour

// deliver shows what came of the job, which the session holds, and gives what is to become
// of the job.
func (t *turn) deliver(ctx context.Context) (runs.Result, error) {
	work := t.session.Work
	result := work.Result
	if t.poster != nil {
		err := errors.Join(t.editClosed(ctx), t.postReply(ctx))
		if errors.Is(err, chat.ErrGone) || errors.Is(err, chat.ErrRefused) || errors.Is(err, errTooLate) {
			result, err = t.parkUnposted(ctx, err)
		}
		if err != nil {
			return runs.Result{}, err
		}
		t.postOffer(ctx)
	}
	told := happened{Message: work.Message}
	if work.Message == "" && startsRun(t.job.Kind) {
		told.Refusal = withdrawn
	}
	if at := lastSaid(t.session.Turns, work.Message); t.savedSession() == nil && at >= 0 {
		told.Reply = t.session.Turns[at].Reply
	}
	return result, t.announceDone(told)
}

// announceDone has those who follow the thread told that the job is dealt with.
func (t *turn) announceDone(what happened) error {
	what.Job = t.job.Event
	event, err := eventOf(dealtEvent, t.workedAt(), what)
	if err != nil {
		return err
	}
	t.journal.Append(event)
	t.told = true
	return nil
}

// workedAt is the run that the job was about, "" for none.
func (t *turn) workedAt() chat.RunID {
	if t.session.Work == nil {
		return ""
	}
	return t.session.Work.Run
}

// refuseJob does nothing about the job, and says why to its author alone.
func (t *turn) refuseJob(ctx context.Context, why refusal) (runs.Result, error) {
	if t.poster != nil && t.job.Kind != dropJob && t.job.Attempt <= 1 {
		t.postHint(ctx, why) // one that may have been seen is not given again
	}
	return runs.Result{}, t.announceDone(happened{Refusal: why})
}

func (t *turn) postHint(ctx context.Context, why refusal) {
	hint := chat.Reply{Outcome: chat.Noticed, Text: "Nothing was done: " + refusals[why].Error() + "."}
	post := chat.Post{To: t.message.ID, Reply: &hint, Only: t.message.Author, Private: why == tooLate}
	_, err := t.poster.Post(ctx, t.message.Thread, chat.PostKey(keyOf(t.job)), post)
	if err != nil {
		t.logger.WarnContext(ctx, "a hint was not posted", "thread", string(t.message.Thread), "error", err)
	}
}

// showClosed shows the questions that the turn closed as closed, at once: their buttons
// go before the run works. What fails is tried again at the end.
func (t *turn) showClosed(ctx context.Context) {
	if t.poster == nil || len(t.closed) == 0 {
		return
	}
	if err := t.editClosed(ctx); err != nil {
		t.logger.WarnContext(ctx, "a question is not shown as closed yet", "thread", string(t.message.Thread), "error", err)
	}
}

// editClosed edits the messages of questions that were closed. A message that is gone
// needs no edit.
func (t *turn) editClosed(ctx context.Context) error {
	if t.published {
		return nil
	}
	for _, turn := range t.session.Turns {
		if turn.Question == nil || turn.Posted == "" || !slices.Contains(t.closed, turn.Question.ID) {
			continue
		}
		err := t.poster.Edit(ctx, t.message.Thread, turn.Posted, postOf(turn))
		if err != nil && !errors.Is(err, chat.ErrGone) && !errors.Is(err, chat.ErrRefused) {
			return deliveryError(err)
		}
	}
	t.published = true
	return nil
}

// errTooLate gives up a delivery.
var errTooLate = errors.New("it could not be posted for too long")

// postReply posts the bot's turn about the job, once.
func (t *turn) postReply(ctx context.Context) error {
	work := t.session.Work
	if work.Message == "" {
		return nil
	}
	at := lastSaid(t.session.Turns, work.Message)
	if at < 0 {
		return nil
	}
	said := &t.session.Turns[at]
	if said.Posted != "" {
		if done, err := t.editPosted(ctx, said); done || err != nil {
			if err == nil && t.session.DropDocuments(at) {
				t.final.Session = &t.session
			}
			return err
		}
	}
	if t.recorded == nil {
		delivery, err := t.newDelivery(*said)
		if err == nil {
			err = t.commitDelivery(ctx, store.Commit{Delivery: delivery})
		}
		if err != nil {
			return err
		}
	}
	recorded := *t.recorded
	posted := recorded.Posted
	if posted == "" {
		posting, done := context.WithTimeout(ctx, platformTime)
		defer done()
		t.posted = chat.PostKey(work.Key)
		var err error
		if posted, err = t.postOnce(posting, recorded, *said); err != nil {
			if t.sent {
				err = errors.Join(err, t.removeDuplicate(ctx))
			}
			return err
		}
	}
	said.Posted = posted
	t.session.DropDocuments(at) // the platform has them
	t.final.Confirmed, t.final.Session = &store.Confirmation{Key: work.Key, Posted: posted}, t.savedSession()
	return nil
}

// platformTime is how long a platform may take to carry out a call. The lease is renewed
// meanwhile, and what is under way ends with it.
const platformTime = 30 * time.Second

// delivery is what is to be posted, as the outbox has it. No post begins under a lease that
// may have run out: until then the lease is known to be good.
type delivery struct {
	runs.Delivery
	until time.Time
}

// commitDelivery commits changes and, with them, that something is to be posted.
func (t *turn) commitDelivery(ctx context.Context, changes store.Commit) error {
	until := time.Now().Add(t.options.LeaseTTL / 2)
	committed, err := t.journal.Commit(ctx, changes)
	if err == nil && changes.Delivery != nil {
		t.recorded = &delivery{committed.Delivery, until}
	}
	return err
}

// newDelivery is what is to be posted, to be recorded.
func (t *turn) newDelivery(said chat.Turn) (*runs.Delivery, error) {
	body, err := deliveryOf(said)
	if err != nil {
		return nil, fmt.Errorf("encode what is posted about event %s: %w", t.job.Event, err)
	}
	work := t.session.Work
	delivery := &runs.Delivery{Key: work.Key, Run: work.Run, Body: body}
	return delivery, delivery.Check()
}

// deliverySoon is what is to be posted where it is posted next, and for the first time; nil:
// there is no such thing.
func (t *turn) deliverySoon() (*runs.Delivery, error) {
	work := t.session.Work
	if t.poster == nil || work.Message == "" || len(work.Closed) > 0 {
		return nil, nil
	}
	at := lastSaid(t.session.Turns, work.Message)
	if at < 0 || t.session.Turns[at].Posted != "" {
		return nil, nil
	}
	delivery, err := t.newDelivery(t.session.Turns[at])
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

// reuniteAfter is between two looks of a worker that stood still for what it posted.
const reuniteAfter = time.Second

// removeDuplicate sees to it that a post is there once which this worker tried under a lease that was
// lost meanwhile: one that stood still may have sent it after another had done so. Its
// error is that of the lease.
func (t *turn) removeDuplicate(ctx context.Context) error {
	key := t.posted
	if key == "" {
		return nil
	}
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer done()
	_, lost := t.store.Renew(ctx, t.lease)
	if !errors.Is(lost, runs.ErrLost) {
		return nil
	}
	t.logger.WarnContext(ctx, "the lease was lost while it was posted", "thread", string(t.message.Thread), "key", string(key))
	if err := t.tidyLater(ctx); err != nil {
		t.logger.WarnContext(ctx, "a thread is not tidied later", "thread", string(t.message.Thread), "error", err)
	}
	for range 2 {
		if _, _, err := t.poster.Find(ctx, t.message.Thread, key); err != nil {
			t.logger.WarnContext(ctx, "a post may be there twice", "thread", string(t.message.Thread), "key", string(key), "error", err)
		}
		sleepContext(ctx, reuniteAfter)
	}
	return lost
}

// postOnce posts a delivery, unless an earlier attempt turns out to have done so.
func (t *turn) postOnce(ctx context.Context, delivery delivery, said chat.Turn) (chat.MessageID, error) {
	thread, key := t.message.Thread, chat.PostKey(delivery.Key)
	if t.lease.Restored {
		t.closeDraft(ctx)
	}
	if t.uncertain {
		posted, found, err := t.findPosted(ctx, key, said)
		if found || err != nil {
			return posted, err
		}
		t.uncertain = false
		if !delivery.Recorded.IsZero() && t.lease.Given.Sub(delivery.Recorded) > maxUnposted {
			return "", errTooLate
		}
	}
	if time.Now().After(delivery.until) {
		if _, err := t.store.Renew(ctx, t.lease); err != nil {
			return "", err
		}
	}
	post := t.poster.Post
	if draft := t.draft; draft != nil {
		post = func(ctx context.Context, _ chat.ThreadID, key chat.PostKey, post chat.Post) (chat.MessageID, error) {
			return t.finishDraft(ctx, draft, key, post)
		}
	}
	t.sent = true
	posted, err := post(ctx, thread, key, postOf(said))
	if err != nil {
		return "", t.notPosted(ctx, err)
	}
	if posted == "" {
		return "", fmt.Errorf("post in thread %s: the platform gave no id: %w", thread, chat.ErrRefused)
	}
	return posted, nil
}

// notPosted is the error of a post. Where the post was sent it is looked for after a while;
// where its turn has not come, people are shown that it waits.
func (t *turn) notPosted(ctx context.Context, err error) error {
	if saysNothingWasDone(err) {
		t.sent = false
		if wait, ok := errors.AsType[*chat.RetryAfterError](err); ok {
			t.showWaiting(ctx, wait.After)
		}
		return deliveryError(err)
	}
	t.late = true
	return &platformError{after: t.options.LookAfter, reason: notPosted, err: err}
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
func (t *turn) unconfirmedPost() runs.Doubt {
	switch {
	case t.sent:
		return runs.UnsureNow
	case t.uncertain:
		return runs.UnsureBefore
	}
	return runs.Sure
}

// findPosted asks the platform for what an earlier attempt posted. Where the store has forgotten
// that attempt, what is said now was made anew, and is shown in its place.
func (t *turn) findPosted(ctx context.Context, key chat.PostKey, said chat.Turn) (chat.MessageID, bool, error) {
	if checker, ok := t.poster.(chat.AbsenceChecker); ok {
		absent, err := checker.IsAbsent(ctx, t.message.Thread, said.Message, t.lease.Given.Sub(t.lease.Unsure))
		if absent || err != nil {
			return "", false, deliveryError(err)
		}
	}
	posted, found, err := t.poster.Find(ctx, t.message.Thread, key)
	if found && err == nil && !t.again {
		err = t.poster.Edit(ctx, t.message.Thread, posted, postOf(said))
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

// parkUnposted puts a job aside whose outcome nobody can be shown.
func (t *turn) parkUnposted(ctx context.Context, cause error) (runs.Result, error) {
	work := t.session.Work
	dead := runs.Result{Next: runs.Dead, Reason: "what came of it could not be posted: " + cause.Error()}
	t.logger.ErrorContext(ctx, "a reply could not be posted", "run", string(work.Run), "thread", string(t.message.Thread), "error", cause)
	if err := t.store.Drop(ctx, t.lease, work.Key); err != nil {
		return runs.Result{}, err
	}
	if work.Run == "" {
		return dead, nil
	}
	record, err := t.records.Load(ctx, work.Run)
	if err != nil {
		return runs.Result{}, err
	}
	if record.Status() == runs.Failed {
		return dead, nil
	}
	record.Move(runs.Failed, t.now(), dead.Reason)
	t.final.Records = append(t.final.Records, record)
	return dead, nil
}

// postOf gives a turn of the bot as it is posted.
func postOf(turn chat.Turn) chat.Post {
	return chat.Post{To: turn.Message, Reply: turn.Reply, Question: turn.Question, Answer: turn.Answer, AnsweredBy: turn.AnsweredBy}
}
