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

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/runs"
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
func (d *delivery) tidyLater(ctx context.Context) error {
	if _, ok := d.job.poster.(chat.Tidier); !ok {
		return nil
	}
	// What an earlier attempt left is tidied once, however many attempts find it still unknown.
	doubt := d.job.lease.Unsure
	if d.late || d.sent || doubt.IsZero() {
		doubt = d.job.now()
	}
	message := chat.Message{ID: cmp.Or(d.job.message.ID, d.job.entry.Message.ID), Thread: d.job.message.Thread, At: d.job.now()}
	return d.scheduleTidying(ctx, message, ceilTime(d.job.message.Thread, doubt.Add(d.tidyAfter), d.tidyStep()))
}

// scheduleTidying has the thread of the message tidied at a time of ceilTime, unless that was or
// is to be done.
func (d *delivery) scheduleTidying(ctx context.Context, message chat.Message, at time.Time) error {
	job := runs.Job{Event: runs.EventID(fmt.Sprintf("tidy-%s-%d", message.Thread, at.UnixMilli())), Kind: tidyJob, Message: message}
	_, err := d.store.EnqueueAfter(ctx, job, max(at.Sub(d.job.now()), 0))
	return err
}

// tidyStep is the time between two looks at threads.
func (d *delivery) tidyStep() time.Duration { return d.tidyAfter / stepsInTidyAfter }

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
func (d *delivery) removeLatePosts(ctx context.Context) (runs.Result, error) {
	tidier, ok := d.job.poster.(chat.Tidier)
	if !ok {
		return runs.Result{}, nil
	}
	if d.job.lease.Behind {
		return d.tidyAgain(ctx, tidyPause, errors.New("other messages of the thread go first"))
	}
	// No job asks for a look at a time that is less than TidyAfter away.
	unknown := tidyTime(d.job.entry.Event).Add(-d.tidyAfter)
	late := chat.Late{To: d.conversation.firstInDoubt(), Age: d.job.now().Sub(unknown), Known: d.conversation.knownMessages()}
	calling, done := context.WithTimeout(ctx, platformTime)
	defer done()
	err := tidier.Tidy(calling, d.job.message.Thread, late)
	wait, limited := errors.AsType[*chat.RetryAfterError](err)
	switch {
	case err == nil, errors.Is(err, chat.ErrGone), errors.Is(err, chat.ErrRefused):
		return runs.Result{}, nil
	case limited:
		// The line may be shorter soon: who stands in it now goes first in any case.
		return d.tidyAgain(ctx, min(max(wait.After, tidyPause), longestTidyPause), err)
	}
	return d.tidyAgain(ctx, d.tidyAfter, err)
}

// tidyAgain puts the tidying off, behind what is in the thread by then.
func (d *delivery) tidyAgain(ctx context.Context, after time.Duration, why error) (runs.Result, error) {
	age := d.job.now().Sub(d.job.entry.Message.At)
	if age > maxTidyAge {
		d.job.logger.ErrorContext(ctx, "a thread was not tidied: a message may be there twice, or a draft left over",
			"thread", string(d.job.message.Thread), "error", why)
		return runs.Result{}, nil
	}
	after = max(after, min(time.Duration(tidyBackoff*float64(age)), longestTidyPause))
	return runs.Result{}, d.scheduleTidying(ctx, d.job.entry.Message, ceilTime(d.job.message.Thread, d.job.now().Add(after), stepsTillAgain*d.tidyStep()))
}
