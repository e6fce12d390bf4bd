package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
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
)

// tidyLater has the thread tidied once the platform has had time to do what the job asked of
// it. It needs no lease.
func (t *turn) tidyLater(ctx context.Context) error {
	if _, ok := t.poster.(chat.Tidier); !ok {
		return nil
	}
	key := keyOf(t.job)
	// What an earlier attempt left is tidied once, however many attempts find it still unknown.
	doubt := fmt.Sprint("since-", t.lease.Unsure.UnixMilli())
	if t.late || t.sent {
		doubt = fmt.Sprint(t.lease.Token)
	}
	job := runs.Job{
		Event: tidyEvent(key, doubt, 1), Kind: tidyJob,
		Message: chat.Message{ID: cmp.Or(t.message.ID, t.job.Message.ID), Thread: t.message.Thread, Text: string(key), At: t.now()},
	}
	_, err := t.store.EnqueueAfter(ctx, job, t.options.TidyAfter)
	return err
}

func tidyEvent(key runs.DeliveryKey, doubt string, try int) runs.EventID {
	return runs.EventID(fmt.Sprintf("tidy-%s-%s-%d", key, doubt, try))
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
	late := chat.Late{To: t.message.ID, Key: chat.PostKey(t.message.Text), Age: t.now().Sub(t.job.Message.At), Known: t.knownMessages()}
	if at := lastSaid(t.session.Turns, t.message.ID); at >= 0 {
		late.Posted = t.session.Turns[at].Posted
	}
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
	event, try := string(t.job.Event), 1
	if at := strings.LastIndexByte(event, '-'); at >= 0 {
		if n, err := strconv.Atoi(event[at+1:]); err == nil {
			event, try = event[:at], n
		}
	}
	age := t.now().Sub(t.job.Message.At)
	if age > maxTidyAge {
		t.logger.ErrorContext(ctx, "a thread was not tidied: a message may be there twice, or a draft left over",
			"thread", string(t.message.Thread), "key", t.message.Text, "error", why)
		return runs.Result{}, nil
	}
	after = max(after, min(time.Duration(tidyBackoff*float64(age)), longestTidyPause))
	job := t.job
	job.Event = runs.EventID(fmt.Sprintf("%s-%d", event, try+1))
	_, err := t.store.EnqueueAfter(ctx, job, after+rand.N(after/2+1))
	return runs.Result{}, err
}
