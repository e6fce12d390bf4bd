package gate_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/llm/gate"
)

// server is a scripted function to send with: each failure once, then none.
type server struct {
	failures []*llm.Error
	again    bool
	sent     []time.Duration // since the start
	start    time.Time
}

func newServer(failures ...*llm.Error) *server {
	return &server{failures: failures, again: true, start: time.Now()}
}

func (s *server) try(context.Context) (gate.Try, *llm.Error) {
	s.sent = append(s.sent, time.Since(s.start))
	try := gate.Try{Usage: llm.Usage{Prompt: 10, Completion: 5, Cost: .5, Requests: 1}}
	if len(s.failures) == 0 {
		return try, nil
	}
	failure := s.failures[0]
	s.failures = s.failures[1:]
	try.Again = s.again
	return try, failure
}

func of(kind llm.Failure, retryAfter time.Duration) *llm.Error {
	return &llm.Error{Failure: kind, Cause: errors.New("scripted"), RetryAfter: retryAfter}
}

func wantFailure(t *testing.T, err error, want llm.Failure) llm.Error {
	t.Helper()
	var failure *llm.Error
	if !errors.As(err, &failure) || failure.Failure != want {
		t.Fatalf("error %v, want %s", err, want)
	}
	return *failure
}

func TestRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		g := gate.New("m", gate.Options{BackOff: time.Second, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		s := newServer(of(llm.Unavailable, 0), of(llm.Limited, 5*time.Second))
		usage, err := g.Pass(t.Context(), gate.Need{}, s.try)
		if err != nil || usage.Requests != 3 || usage.Prompt != 30 || usage.Took != s.sent[2] {
			t.Fatalf("usage %+v, %v", usage, err)
		}
		if first := s.sent[1]; first < time.Second/2 || first > 3*time.Second/2 {
			t.Errorf("the first retry waits %s, want a second, more or less", first)
		}
		if second := s.sent[2] - s.sent[1]; second < 5*time.Second || second > 5500*time.Millisecond {
			t.Errorf("the second retry waits %s, want what the server asks for", second)
		}
		if strings.Count(log.String(), "asking again") != 2 {
			t.Errorf("log %q", log.String())
		}
	})
}

func TestNoRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		soon, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for name, of := range map[string]struct {
			ctx     context.Context
			options gate.Options
			failure *llm.Error
			again   bool
		}{
			"handed out":   {t.Context(), gate.Options{}, of(llm.Unavailable, 0), false},
			"long wait":    {t.Context(), gate.Options{}, of(llm.Limited, time.Minute), true},
			"deadline":     {soon, gate.Options{}, of(llm.Limited, 5*time.Second), true},
			"switched off": {t.Context(), gate.Options{Retries: -1}, of(llm.Unavailable, 0), true},
		} {
			s := newServer(of.failure)
			s.again = of.again
			_, err := gate.New("m", of.options).Pass(of.ctx, gate.Need{}, s.try)
			if failure := wantFailure(t, err, of.failure.Failure); len(s.sent) != 1 || failure.Usage.Requests != 1 || failure.Usage.Took != 0 {
				t.Errorf("%s: sent at %v, usage %+v", name, s.sent, failure.Usage)
			}
		}
	})
}

func TestCancelledWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		s := newServer(of(llm.Limited, 5*time.Second))
		usage, err := gate.New("m", gate.Options{}).Pass(ctx, gate.Need{}, s.try)
		if wantFailure(t, err, llm.Cancelled); !errors.Is(err, context.Canceled) || usage.Took != time.Second {
			t.Errorf("error %v after %s", err, usage.Took)
		}
	})
}

func TestBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gate.New("m", gate.Options{Failures: 2, OpenFor: time.Minute, Retries: -1})
		s := newServer(of(llm.Limited, 0), of(llm.Cancelled, 0), of(llm.Slow, 0), of(llm.Rejected, 0), of(llm.Slow, 0), of(llm.Unavailable, 0), of(llm.Unavailable, 0))
		for _, want := range []llm.Failure{llm.Limited, llm.Cancelled, llm.Slow, llm.Rejected, llm.Slow, llm.Unavailable} {
			_, err := g.Pass(t.Context(), gate.Need{}, s.try)
			wantFailure(t, err, want)
		}
		sent := len(s.sent)
		_, err := g.Pass(t.Context(), gate.Need{}, s.try)
		if wantFailure(t, err, llm.Unavailable); len(s.sent) != sent {
			t.Fatal("a request passes the open breaker")
		}
		advance(t, time.Minute+1)
		_, err = g.Pass(t.Context(), gate.Need{}, s.try)
		if wantFailure(t, err, llm.Unavailable); len(s.sent) != sent+1 {
			t.Fatal("no request tries again")
		}
		advance(t, time.Minute+1)
		for range 2 {
			if _, err := g.Pass(t.Context(), gate.Need{}, s.try); err != nil {
				t.Fatalf("the breaker stays open: %v", err)
			}
		}
	})
}

// advance moves the bubble's clock.
func advance(t *testing.T, by time.Duration) {
	ctx, cancel := context.WithTimeout(t.Context(), by)
	defer cancel()
	<-ctx.Done()
}

func TestRates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		g := gate.New("m", gate.Options{RequestsPerMinute: 60, MaxWait: 2 * time.Second})
		for range 12 { // ten at once, then one a second
			if _, err := g.Pass(t.Context(), gate.Need{}, s.try); err != nil {
				t.Fatal(err)
			}
		}
		if s.sent[9] != 0 || s.sent[11] < 1900*time.Millisecond || s.sent[11] > 2100*time.Millisecond {
			t.Errorf("sent at %v", s.sent)
		}
		s = newServer()
		g = gate.New("m", gate.Options{TokensPerMinute: 600, MaxWait: 2 * time.Second})
		if _, err := g.Pass(t.Context(), gate.Need{Tokens: 10_000}, s.try); err != nil {
			t.Fatalf("more than a minute's tokens never pass: %v", err)
		}
		_, err := g.Pass(t.Context(), gate.Need{Tokens: 100}, s.try)
		if failure := wantFailure(t, err, llm.Limited); failure.RetryAfter != 10*time.Second || len(s.sent) != 1 {
			t.Errorf("retry after %s", failure.RetryAfter)
		}
		advance(t, 9*time.Second)
		if _, err := g.Pass(t.Context(), gate.Need{Tokens: 100}, s.try); err != nil || s.sent[1] != 10*time.Second {
			t.Errorf("what was not let pass used up tokens: sent at %v, %v", s.sent, err)
		}
	})
}
