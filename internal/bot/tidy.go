package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"time"

	"cairn/internal/chat"
	"cairn/internal/runs"
)

// tidyJob looks at a thread once more, some time after a job of which a call to the platform
// ended unknown: the platform may have carried the call out since. It is in the queue of the
// thread, so that nothing works there meanwhile, and lets other jobs go first.
const tidyJob runs.Kind = "tidy"

const (
	// maxTidyAge is how long a thread is tried to be tidied.
	maxTidyAge = time.Hour
	// tidyPause is how long tidying waits for other jobs of the thread, at least. Each pause
	// is tidyBackoff of the time that it took so far, if that is more, up to longestTidyPause:
	// where a platform is slow for long, many threads wait.
	tidyPause        = 5 * time.Second
	tidyBackoff      = .25
	longestTidyPause = time.Minute
	// A thread is tidied at multiples of a part of TidyAfter, and again at multiples of longer
	// steps: one look is enough for all that came to be unknown before, however many jobs ask for
	// it.
	stepsInTidyAfter = 3
	stepsTillAgain   = 4
)

// tidyLater has the thread tidied once the platform has had time to do what the job asked of
// it. It needs no lease.
func (t *turn) tidyLater(ctx context.Context) error {
	if _, ok := t.poster.(chat.Tidier); !ok {
		return nil
	}
	// What an earlier attempt left is tidied once, however many attempts find it still unknown.
	doubt := t.lease.Unsure
	if t.late || t.sent || doubt.IsZero() {
		doubt = t.now()
	}
	message := chat.Message{ID: cmp.Or(t.message.ID, t.job.Message.ID), Thread: t.message.Thread, At: t.now()}
	return t.scheduleTidying(ctx, message, ceilTime(t.message.Thread, doubt.Add(t.options.TidyAfter), t.tidyStep()))
}

// scheduleTidying has the thread of the message tidied at a time of ceilTime, unless that was or
// is to be done.
func (t *turn) scheduleTidying(ctx context.Context, message chat.Message, at time.Time) error {
	job := runs.Job{Event: runs.EventID(fmt.Sprintf("tidy-%s-%d", message.Thread, at.UnixMilli())), Kind: tidyJob, Message: message}
	_, err := t.store.EnqueueAfter(ctx, job, max(at.Sub(t.now()), 0))
	return err
}

func (t *turn) tidyStep() time.Duration { return t.options.TidyAfter / stepsInTidyAfter }

// ceilTime is the first time at or after another that is a multiple of step, moved by a part of it
// that differs from thread to thread.
func ceilTime(thread chat.ThreadID, at time.Time, step time.Duration) time.Time {
	hash := fnv.New64a()
	hash.Write([]byte(thread))
	phase := time.Duration(hash.Sum64()%uint64(step/time.Millisecond)) * time.Millisecond
	floor := at.Add(-phase).Truncate(step).Add(phase)
	if floor.Before(at) {
		return floor.Add(step)
	}
	return floor
}

// tidyTime is when a job of scheduleTidying was to be done.
func tidyTime(event runs.EventID) time.Time {
	millis, err := strconv.ParseInt(string(event[strings.LastIndexByte(string(event), '-')+1:]), 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(millis)
}

// removeLatePosts takes away what came late, unless there is something better to do in the thread.
func (t *turn) removeLatePosts(ctx context.Context) (runs.Result, error) {
	tidier, ok := t.poster.(chat.Tidier)
	if !ok {
		return runs.Result{}, nil
	}
	if t.lease.Behind {
		return t.tidyAgain(ctx, tidyPause, errors.New("other messages of the thread go first"))
	}
	// No job asks for a look at a time that is less than TidyAfter away.
	unknown := tidyTime(t.job.Event).Add(-t.options.TidyAfter)
	late := chat.Late{To: t.firstInDoubt(), Age: t.now().Sub(unknown), Known: t.knownMessages()}
	calling, done := context.WithTimeout(ctx, platformTime)
	defer done()
	err := tidier.Tidy(calling, t.message.Thread, late)
	wait, limited := errors.AsType[*chat.RetryAfterError](err)
	switch {
	case err == nil, errors.Is(err, chat.ErrGone), errors.Is(err, chat.ErrRefused):
		return runs.Result{}, nil
	case limited:
		// The line may be shorter soon: who stands in it now goes first in any case.
		return t.tidyAgain(ctx, min(max(wait.After, tidyPause), longestTidyPause), err)
	}
	return t.tidyAgain(ctx, t.options.TidyAfter, err)
}

// firstInDoubt is the message that the tidying begins at: the oldest that the session tells of,
// for the job stands for all of the thread, or its own where the session does not tell of it.
func (t *turn) firstInDoubt() chat.MessageID {
	if lastSaid(t.session.Turns, t.message.ID) < 0 {
		return t.message.ID
	}
	for _, turn := range t.session.Turns {
		if turn.Role == chat.Person && turn.Message != "" {
			return turn.Message
		}
	}
	return t.message.ID
}

// knownMessages are those of the thread that its session tells of.
func (t *turn) knownMessages() []chat.MessageID {
	var known []chat.MessageID
	for _, turn := range t.session.Turns {
		if turn.Role == chat.Person && turn.Message != "" {
			known = append(known, turn.Message)
		}
		if turn.Posted != "" {
			known = append(known, turn.Posted)
		}
	}
	return known
}

// tidyAgain puts the tidying off, behind what is in the thread by then.
func (t *turn) tidyAgain(ctx context.Context, after time.Duration, why error) (runs.Result, error) {
	age := t.now().Sub(t.job.Message.At)
	if age > maxTidyAge {
		t.logger.ErrorContext(ctx, "a thread was not tidied: a message may be there twice, or a draft left over",
			"thread", string(t.message.Thread), "error", why)
		return runs.Result{}, nil
	}
	after = max(after, min(time.Duration(tidyBackoff*float64(age)), longestTidyPause))
	return runs.Result{}, t.scheduleTidying(ctx, t.job.Message, ceilTime(t.message.Thread, t.now().Add(after), stepsTillAgain*t.tidyStep()))
}
