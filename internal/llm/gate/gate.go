// Package gate stands between a model and its server: a budget, a rate limit, a circuit
// breaker and retries. It knows no wire format: what is sent is a function.
package gate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/sony/gobreaker/v2"
	"golang.org/x/time/rate"

	"github.com/cairn-bot/cairn/internal/llm"
)

// Options are the gate's settings; the zero value is of use.
type Options struct {
	Budget            *Budget       // may be shared by models; nil: none
	RequestsPerMinute int           // 0: as many as come
	TokensPerMinute   int           // of prompts and longest replies; 0: as many as come
	MaxWait           time.Duration // the longest wait before a try; 0: 10 s
	Retries           int           // beyond the first try; 0: 2, negative: none
	BackOff           time.Duration // before the first retry, doubled for each; 0: 500 ms
	Failures          int           // in a row that open the breaker; 0: 5
	OpenFor           time.Duration // until the breaker lets one request try again; 0: 30 s
	Logger            *slog.Logger  // nil: nothing is logged
}

func (o Options) withDefaults() Options {
	if o.MaxWait == 0 {
		o.MaxWait = 10 * time.Second
	}
	switch {
	case o.Retries == 0:
		o.Retries = 2
	case o.Retries < 0:
		o.Retries = 0
	}
	if o.BackOff == 0 {
		o.BackOff = 500 * time.Millisecond
	}
	if o.Failures == 0 {
		o.Failures = 5
	}
	if o.OpenFor == 0 {
		o.OpenFor = 30 * time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Gate lets the requests of one model pass. Its methods may be called concurrently.
type Gate struct {
	model    string
	options  Options
	requests *rate.Limiter // nil: no limit
	tokens   *rate.Limiter // nil: no limit
	breaker  *gobreaker.CircuitBreaker[Try]
}

// Need is what a request may take at most.
type Need struct {
	Run    string // "": only the day pays
	Tokens int
	Cost   float64
	Once   bool // it is not tried again where it fails
}

// Try is what one attempt gave beside its error.
type Try struct {
	Usage llm.Usage
	Again bool // the failure may pass, and nothing of the reply was handed out
}

// New gives the gate of a model, by the name that the log calls it.
func New(model string, options Options) *Gate {
	g := &Gate{model: model, options: options.withDefaults()}
	if n := g.options.RequestsPerMinute; n > 0 {
		// A sixth of a minute's at once keeps the worst minute near the limit.
		g.requests = rate.NewLimiter(rate.Limit(n)/60, max(1, n/6))
	}
	if n := g.options.TokensPerMinute; n > 0 {
		// One request may need most of a minute's tokens.
		g.tokens = rate.NewLimiter(rate.Limit(n)/60, n)
	}
	g.breaker = gobreaker.NewCircuitBreaker[Try](gobreaker.Settings{
		Name:         model,
		Timeout:      g.options.OpenFor,
		ReadyToTrip:  func(counts gobreaker.Counts) bool { return int(counts.ConsecutiveFailures) >= g.options.Failures },
		IsSuccessful: func(err error) bool { return !failed(err, llm.Unavailable, llm.Slow) },
		IsExcluded:   func(err error) bool { return failed(err, llm.Cancelled, llm.Limited) },
		OnStateChange: func(_ string, from, to gobreaker.State) {
			g.options.Logger.Warn("language model's circuit breaker changes",
				slog.String("model", model), slog.String("from", from.String()), slog.String("to", to.String()))
		},
	})
	return g
}

func failed(err error, as ...llm.Failure) bool {
	var failure *llm.Error
	if !errors.As(err, &failure) {
		return false
	}
	for _, kind := range as {
		if failure.Failure == kind {
			return true
		}
	}
	return false
}

// Longest is how long a request may take of which one try takes at most so long.
func (g *Gate) Longest(try time.Duration) time.Duration {
	return time.Duration(g.options.Retries+1) * (try + g.options.MaxWait)
}

// Pass sends a request when budget, rate limit and breaker let it, and again while it
// fails for a moment. The usage is that of all tries; its time is that of the whole
// call. An error is an *llm.Error, which holds the same usage.
func (g *Gate) Pass(ctx context.Context, need Need, try func(context.Context) (Try, *llm.Error)) (llm.Usage, error) {
	start := time.Now()
	settle, overBudget := g.options.Budget.reserve(need)
	if overBudget != nil {
		return llm.Usage{}, &llm.Error{Failure: llm.OverBudget, Cause: overBudget}
	}
	usage, failure := g.repeat(ctx, need, try)
	usage.Took = time.Since(start)
	settle(usage)
	if failure == nil {
		return usage, nil
	}
	failure.Usage = usage
	return usage, failure
}

func (g *Gate) repeat(ctx context.Context, need Need, try func(context.Context) (Try, *llm.Error)) (llm.Usage, *llm.Error) {
	intervals := &backoff.ExponentialBackOff{
		InitialInterval:     g.options.BackOff,
		RandomizationFactor: backoff.DefaultRandomizationFactor,
		Multiplier:          2,
		MaxInterval:         g.options.MaxWait,
	}
	var usage llm.Usage
	for retries := 0; ; retries++ {
		if err := g.throttle(ctx, need); err != nil {
			return usage, err
		}
		tried, failure := g.attempt(ctx, try)
		usage = usage.Plus(tried.Usage)
		if failure == nil || !tried.Again || need.Once || retries == g.options.Retries {
			return usage, failure
		}
		wait := intervals.NextBackOff()
		if failure.RetryAfter > 0 {
			wait = failure.RetryAfter + rand.N(failure.RetryAfter/10+1) // so that those who wait do not come all at once
		}
		if deadline, ok := ctx.Deadline(); wait > g.options.MaxWait || ok && time.Until(deadline) < wait {
			return usage, failure
		}
		g.options.Logger.WarnContext(ctx, "language model failed, asking again", slog.String("model", g.model),
			slog.Any("error", failure), slog.Duration("wait", wait), slog.Int("retry", retries+1))
		if err := sleep(ctx, wait); err != nil {
			return usage, err
		}
	}
}

// attempt sends once, if the breaker lets it.
func (g *Gate) attempt(ctx context.Context, try func(context.Context) (Try, *llm.Error)) (Try, *llm.Error) {
	if ctx.Err() != nil {
		return Try{}, llm.Ended(ctx)
	}
	tried, err := g.breaker.Execute(func() (Try, error) {
		tried, failure := try(ctx)
		if failure == nil {
			return tried, nil
		}
		return tried, failure
	})
	var failure *llm.Error
	switch {
	case err == nil:
		return tried, nil
	case errors.As(err, &failure):
		return tried, failure
	}
	return Try{}, &llm.Error{Failure: llm.Unavailable, Cause: fmt.Errorf("it failed too often, is tried again within %s: %w", g.options.OpenFor, err)}
}

// throttle waits until the rate limits let a request pass, or fails if that is too long.
func (g *Gate) throttle(ctx context.Context, need Need) *llm.Error {
	var wait time.Duration
	now := time.Now()
	var reserved []*rate.Reservation
	if g.requests != nil {
		reserved = append(reserved, g.requests.ReserveN(now, 1))
	}
	if g.tokens != nil {
		reserved = append(reserved, g.tokens.ReserveN(now, min(need.Tokens, g.tokens.Burst())))
	}
	for _, reservation := range reserved {
		wait = max(wait, reservation.DelayFrom(now))
	}
	if wait == 0 {
		return nil
	}
	if deadline, ok := ctx.Deadline(); wait > g.options.MaxWait || ok && deadline.Sub(now) < wait {
		for _, reservation := range reserved {
			reservation.CancelAt(now)
		}
		return &llm.Error{Failure: llm.Limited, RetryAfter: wait, Cause: errors.New("the configured rate is used up")}
	}
	return sleep(ctx, wait)
}

func sleep(ctx context.Context, wait time.Duration) *llm.Error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return llm.Ended(ctx)
	}
}
