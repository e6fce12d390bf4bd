package bot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/runs"
)

// rollout is how long a job is left to workers that know what this one does not, counted
// from when the job came: an upgrade that goes from worker to worker is over by then.
const rollout = 5 * time.Minute

// leftForOthers leaves a job to workers of another kind; it was no attempt.
func leftForOthers(reason string) runs.Result {
	return runs.Result{Next: runs.Left, After: runs.LeftFor, Reason: reason}
}

// leaveToNewer leaves the job to a newer program, if there may be one. false: there is none.
func (j *job) leaveToNewer(ctx context.Context, err error) (runs.Result, bool) {
	if !isAhead(err) || j.lease.Given.Sub(j.entry.Enqueued) > rollout {
		return runs.Result{}, false
	}
	j.logger.InfoContext(ctx, "a job is left to a newer program", "thread", string(j.entry.Thread()), "event", string(j.entry.Event), "error", err)
	return leftForOthers("a newer program is needed: " + err.Error()), true
}

// deferToNewer gives the error, or leaves the job where that is for a newer program.
func (j *job) deferToNewer(ctx context.Context, err error) (runs.Result, error) {
	if !errors.Is(err, runs.ErrNewer) {
		return runs.Result{}, err
	}
	if result, ok := j.leaveToNewer(ctx, err); ok {
		return result, nil
	}
	return runs.Result{}, err
}

// aheadError is something that this program does not know, and a newer one may.
type aheadError struct{ what, remedy string }

func (e *aheadError) Error() string {
	return fmt.Sprintf("this program knows no %s: %s, and replay the job", e.what, e.remedy)
}

// isAhead tells of what may come from a newer program than this one.
func isAhead(err error) bool {
	if schema, ok := errors.AsType[*graph.SchemaError](err); ok {
		return schema.Got > schema.Want
	}
	if _, ok := errors.AsType[*graph.UnknownNodeError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*graph.UnknownFieldError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*aheadError](err); ok {
		return true
	}
	return errors.Is(err, runs.ErrNewer)
}
