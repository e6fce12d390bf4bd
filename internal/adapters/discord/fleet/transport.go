package fleet

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"time"
)

const (
	// tellLimit is for telling the store of an answer, after the request's own context.
	tellLimit = 5 * time.Second
	// maxRefusal bounds what is read of the body of a 429.
	maxRefusal = 64 << 10
)

// Transport is an http.RoundTripper for Discord's REST API that waits for its turn. All
// fields but the first three may be left out.
type Transport struct {
	Next   http.RoundTripper // what sends
	Rates  Rates
	Logger *slog.Logger
	// MaxWait is the longest Retry-After of a 429 that is waited for; one with a longer one
	// is given to the caller. 30 s, or what the request's Turn has patience for.
	MaxWait time.Duration
	// Limits are 50 in a second, and 5,000 invalid in ten minutes, which is half of what
	// Discord bans for, as windows that begin by themselves can overlap in one of its.
	Limits Limits
}

// RoundTrip implements http.RoundTripper. A request waits as long as its turn has patience
// and its context lets it; one that would wait longer fails at once, with a *TurnError.
// One that Discord refused with a 429 is sent again where its body can be read again.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	for attempt := r; ; {
		request := requestOf(attempt)
		if err := t.awaitPlace(attempt.Context(), request); err != nil {
			closeBody(attempt)
			return nil, fmt.Errorf("%s: %w", request.Route, err)
		}
		response, err := t.Next.RoundTrip(attempt)
		said := Said{}
		if err == nil {
			said = parseLimits(response)
		}
		t.reportResponse(attempt.Context(), request, said)
		if err != nil || said.Status != http.StatusTooManyRequests || said.RetryAfter > t.maxWait(attempt.Context()) {
			return response, err
		}
		again, possible, err := cloneRequest(attempt)
		if !possible {
			return response, nil
		}
		response.Body.Close() //nolint:errcheck // it was read
		if err != nil {
			return nil, fmt.Errorf("%s: %w", request.Route, err)
		}
		if err := sleepContext(attempt.Context(), said.RetryAfter); err != nil {
			closeBody(again)
			return nil, fmt.Errorf("%s: wait %s as Discord asked: %w", request.Route, said.RetryAfter, err)
		}
		attempt = again
	}
}

// maxWait returns the longest Retry-After that is waited for under a context.
func (t *Transport) maxWait(ctx context.Context) time.Duration {
	longest := 30 * time.Second
	if t.MaxWait > 0 {
		longest = t.MaxWait
	}
	return min(longest, waitLimit(ctx))
}

// waitLimit returns how long a request may wait under a context.
func waitLimit(ctx context.Context) time.Duration {
	patience := time.Duration(math.MaxInt64)
	if turn, ok := turnOf(ctx); ok {
		patience = turn.Patience
	}
	if deadline, ok := ctx.Deadline(); ok {
		patience = min(patience, time.Until(deadline))
	}
	return patience
}

func (t *Transport) currentLimits() Limits {
	limits := t.Limits
	if limits.PerSecond == 0 {
		limits.PerSecond = 50
	}
	if limits.Invalid == 0 {
		limits.Invalid = 5000
	}
	return limits
}

// awaitPlace waits until the request may be sent.
func (t *Transport) awaitPlace(ctx context.Context, request Request) error {
	begun, patience := time.Now(), waitLimit(ctx)
	for {
		wait, err := t.Rates.Ask(ctx, request, t.currentLimits())
		if err != nil {
			return err
		}
		if wait.For <= 0 {
			return nil
		}
		if time.Since(begun)+wait.For > patience {
			return &TurnError{After: wait.For, Why: wait.Why}
		}
		if err := sleepContext(ctx, wait.For); err != nil {
			return fmt.Errorf("%s: %w", wait.Why, err)
		}
	}
}

// reportResponse reports the limits in a response, even where the caller has gone: the request
// counted.
func (t *Transport) reportResponse(ctx context.Context, request Request, said Said) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tellLimit)
	defer cancel()
	if err := t.Rates.Tell(ctx, request, said); err != nil {
		t.Logger.WarnContext(ctx, "store discord rate limits", "error", err)
	}
}

func sleepContext(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// cloneRequest returns the same request once more, where its body can be read again.
func cloneRequest(r *http.Request) (*http.Request, bool, error) {
	again := r.Clone(r.Context())
	if r.Body == nil || r.Body == http.NoBody {
		return again, true, nil
	}
	if r.GetBody == nil {
		return nil, false, nil
	}
	body, err := r.GetBody()
	if err != nil {
		return nil, true, fmt.Errorf("read the body again: %w", err)
	}
	again.Body = body
	return again, true, nil
}

func closeBody(r *http.Request) {
	if r.Body != nil {
		r.Body.Close() //nolint:errcheck // it was not sent
	}
}

func requestOf(r *http.Request) Request {
	request := routeOf(r.Method, r.URL.EscapedPath())
	request.ID = rand.Text()
	turn, ok := turnOf(r.Context())
	request.Turn, request.Behind = turn, ok && turn.Key == ""
	return request
}

// parseLimits reads what an answer says of limits. Headers that are not as they should be
// count as missing. The body of a 429 can be read again.
func parseLimits(response *http.Response) Said {
	header := response.Header
	said := Said{Status: response.StatusCode}
	limit, errLimit := strconv.Atoi(header.Get("X-RateLimit-Limit"))
	remaining, errRemaining := strconv.Atoi(header.Get("X-RateLimit-Remaining"))
	reset, errReset := parseSeconds(header.Get("X-RateLimit-Reset"))
	after, errAfter := parseSeconds(header.Get("X-RateLimit-Reset-After"))
	if errors.Join(errLimit, errRemaining, errReset, errAfter) == nil && limit > 0 && remaining >= 0 {
		said.Bucket = header.Get("X-RateLimit-Bucket")
		said.Limit, said.Remaining, said.Reset, said.ResetAfter = limit, remaining, reset.Milliseconds(), after
	}
	if said.Status == http.StatusTooManyRequests {
		said.Global = header.Get("X-RateLimit-Global") == "true" || header.Get("X-RateLimit-Scope") == "global"
		said.Shared = header.Get("X-RateLimit-Scope") == "shared"
		said.RetryAfter = retryAfter(response)
	}
	return said
}

// parseSeconds reads a number of seconds; the longest is a century.
func parseSeconds(text string) (time.Duration, error) {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, err
	}
	if math.IsNaN(value) || value < 0 || value > 100*365*24*3600 {
		return 0, fmt.Errorf("%q is no number of seconds", text)
	}
	return time.Duration(value * float64(time.Second)), nil
}

// retryAfter returns how long a 429 wants one to wait. The body is more exact than the header;
// where neither says it, a second.
func retryAfter(response *http.Response) time.Duration {
	raw, err := io.ReadAll(io.LimitReader(response.Body, maxRefusal))
	response.Body = &readAgain{raw: raw, rest: response.Body}
	var body struct {
		RetryAfter float64 `json:"retry_after"`
	}
	if err == nil && json.Unmarshal(raw, &body) == nil && body.RetryAfter > 0 {
		if exact, err := parseSeconds(strconv.FormatFloat(body.RetryAfter, 'f', -1, 64)); err == nil {
			return exact
		}
	}
	if rough, err := parseSeconds(response.Header.Get("Retry-After")); err == nil && rough > 0 {
		return rough
	}
	return time.Second
}

// readAgain is a body of which the beginning was read.
type readAgain struct {
	raw  []byte
	rest io.ReadCloser
}

func (b *readAgain) Read(p []byte) (int, error) {
	if len(b.raw) > 0 {
		n := copy(p, b.raw)
		b.raw = b.raw[n:]
		return n, nil
	}
	return b.rest.Read(p)
}

func (b *readAgain) Close() error { return b.rest.Close() }
