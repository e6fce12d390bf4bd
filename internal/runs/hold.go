package runs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
)

// heartbeat is the longest time between two renewals: a stop reaches a worker within it.
const heartbeat = 400 * time.Millisecond

// StoppedError is the cause of a context that Hold ended because a person wished it.
type StoppedError struct{ Stop Stop }

func (e *StoppedError) Error() string { return fmt.Sprintf("%s stopped the work", e.Stop.By) }

// Hold renews a lease while its job is worked at. The context it gives is ctx, and ends
// sooner, with a cause (context.Cause): ErrLost when the lease was lost, or could not be
// renewed for its TTL; a *StoppedError when a person stopped the work, in which case the
// lease is renewed further. release ends the renewals and waits for the last one; it must
// be called, before Finish or Release of the lease.
func Hold(ctx context.Context, leases Leases, lease Lease) (held context.Context, release func()) {
	held, cancel := context.WithCancelCause(ctx)
	// A worker that is asked to give up (ctx) still needs the lease to write down how far it came.
	renewing, finish := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		renewLease(renewing, leases, lease, cancel)
	}()
	if lease.Stopped != nil {
		cancel(&StoppedError{*lease.Stopped})
	}
	return held, func() {
		finish()
		<-done
		cancel(context.Canceled)
	}
}

func renewLease(ctx context.Context, leases Leases, lease Lease, cancel context.CancelCauseFunc) {
	every := min(heartbeat, lease.TTL/3)
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	// What the store had not confirmed for a whole TTL may be another worker's by now.
	expiry := time.AfterFunc(lease.TTL, func() { cancel(ErrLost) })
	defer expiry.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		began := time.Now()
		limited, stop := context.WithTimeout(ctx, lease.TTL)
		renewal, err := leases.Renew(limited, lease)
		stop()
		switch {
		case errors.Is(err, ErrLost):
			cancel(ErrLost)
			return
		case err != nil:
			continue // tried again at the next tick, until expiry
		case renewal.Stop != nil:
			cancel(&StoppedError{*renewal.Stop})
		}
		expiry.Reset(lease.TTL - time.Since(began))
	}
}

// Stopped tells who stopped the work that a context from Hold was for.
func Stopped(ctx context.Context) (by chat.UserID, stopped bool) {
	if wish, ok := errors.AsType[*StoppedError](context.Cause(ctx)); ok {
		return wish.Stop.By, true
	}
	return "", false
}
