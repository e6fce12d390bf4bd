package webhook

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// Reason is why a delivery was refused.
type Reason string

// Reasons of refusals that anybody can cause who finds the address.
const (
	TooLarge       Reason = "too large"
	Unreadable     Reason = "its body could not be read"
	NotConfigured  Reason = "deliveries over HTTP are not configured"
	NoTimestamp    Reason = "no timestamp"
	StaleTimestamp Reason = "a stale timestamp"
	NoSignature    Reason = "no signature"
	WrongSignature Reason = "a wrong signature"
)

// RefusedError is the error for a delivery that was refused before its body was parsed.
type RefusedError struct {
	Reason Reason
	Err    error // with details and a remedy, for logs
}

func (e *RefusedError) Error() string { return e.Err.Error() }
func (e *RefusedError) Unwrap() error { return e.Err }

// newRefusal makes the error of a refusal.
func newRefusal(reason Reason, err error) error { return &RefusedError{reason, err} }

// refusalWindow is the time in which refusals for one reason are logged together.
const refusalWindow = time.Minute

// RefusalLog logs refused deliveries. Of those that anybody can cause it writes the first
// of a reason at once, and what follows as one line a minute and reason, with a count:
// whoever forges deliveries must not fill the log.
type RefusalLog struct {
	logger  *slog.Logger
	message string // of each line: "slack delivery refused"

	mu      sync.Mutex
	windows map[Reason]*refusals
}

// refusals are those of one reason since its last line.
type refusals struct {
	count  int
	status int
	last   error
}

// NewRefusalLog makes a log whose lines have a message. Counts are written while Run runs.
func NewRefusalLog(logger *slog.Logger, message string) *RefusalLog {
	return &RefusalLog{logger: logger, message: message, windows: make(map[Reason]*refusals)}
}

// Refused logs a delivery to a path that was refused with an HTTP status.
func (l *RefusalLog) Refused(ctx context.Context, path string, status int, err error) {
	var refused *RefusedError
	if !errors.As(err, &refused) { // it was the platform's: each is worth a line
		l.logger.WarnContext(ctx, l.message, slog.Int("status", status), slog.String("path", path), slog.Any("error", err)) //nolint:sloglint // constant for each log
		return
	}
	l.mu.Lock()
	window, ok := l.windows[refused.Reason]
	if ok {
		window.count, window.status, window.last = window.count+1, status, err
	} else {
		l.windows[refused.Reason] = &refusals{}
	}
	l.mu.Unlock()
	if !ok {
		l.logRefusals(ctx, refused.Reason, refusals{1, status, err})
	}
}

// Run writes counts, every minute and at the end of ctx.
func (l *RefusalLog) Run(ctx context.Context) {
	ticker := time.NewTicker(refusalWindow)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			l.writeCounts(ctx)
		case <-ctx.Done():
			l.writeCounts(ctx)
			return
		}
	}
}

// writeCounts logs what was refused since the last lines. A reason of which nothing came
// is logged at once again.
func (l *RefusalLog) writeCounts(ctx context.Context) {
	counted := make(map[Reason]refusals)
	l.mu.Lock()
	for reason, window := range l.windows {
		if window.count == 0 {
			delete(l.windows, reason)
			continue
		}
		counted[reason] = *window
		*window = refusals{}
	}
	l.mu.Unlock()
	for reason, window := range counted {
		l.logRefusals(ctx, reason, window)
	}
}

func (l *RefusalLog) logRefusals(ctx context.Context, reason Reason, counted refusals) {
	l.logger.WarnContext(ctx, l.message, slog.Int("status", counted.status), slog.String("reason", string(reason)), //nolint:sloglint // constant for each log
		slog.Int("count", counted.count), slog.Any("error", counted.last))
}
