// Package remote asks the servers of sources: patiently where they are busy, never for more than a
// limit, and inside the public internet unless it is told otherwise.
package remote

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/cairn-bot/cairn/internal/knowledge/connect"
	"github.com/cairn-bot/cairn/internal/publicnet"
)

// UserAgent is how Cairn names itself to servers.
const UserAgent = "cairn/1 (documentation search)"

const (
	dialTime    = 10 * time.Second
	requestTime = 60 * time.Second
	connections = 8 // that are kept open

	tries      = 3
	retryPause = 500 * time.Millisecond
	patience   = 30 * time.Second // the longest pause that a server may ask for in a sync
	maxRest    = 24 * time.Hour
)

// DefaultRest is how long a server is left alone that is too busy and does not say for how long.
const DefaultRest = 10 * time.Minute

// Options say how servers are asked.
type Options struct {
	MaxBytes     int64       // of one response
	AllowPrivate bool        // lets addresses be connected to that are not public
	TLS          *tls.Config // nil: the system's certificates
	// LeaveAlone tells that a response asks for a pause by other means than status 429, or 503 with
	// Retry-After, and for how long; nil: none does.
	LeaveAlone func(*Response) (after time.Duration, ok bool)
}

// Response is what a server said, with its body where the status is 200.
type Response struct {
	Status   int
	Header   http.Header
	Body     []byte
	Refusal  []byte   // the beginning of the body of another status, 64 KiB at most
	Location *url.URL // of a redirect, absolute
}

// Client asks one server. Its methods may be called concurrently.
type Client struct {
	options Options
	client  *http.Client

	mu    sync.Mutex
	pause time.Duration // between two requests; 0: none
	next  time.Time     // when the next request may go out
}

// NewClient returns a client. It follows no redirects, and uses no proxy: one would look names up
// by itself, past the check.
func NewClient(options Options) *Client {
	dialer := &net.Dialer{Timeout: dialTime}
	if !options.AllowPrivate {
		dialer.Control = publicnet.RefusePrivate
	}
	return &Client{options: options, client: &http.Client{
		Transport: &http.Transport{
			DialContext: dialer.DialContext, TLSClientConfig: options.TLS, ForceAttemptHTTP2: true,
			TLSHandshakeTimeout: dialTime, ResponseHeaderTimeout: requestTime, MaxIdleConnsPerHost: connections, IdleConnTimeout: time.Minute,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       requestTime,
	}}
}

// Close releases the connections.
func (c *Client) Close() { c.client.CloseIdleConnections() }

// SetPause has requests that Do sends wait for one another.
func (c *Client) SetPause(pause time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pause = pause
}

// Do sends the request that newRequest makes, again where that is of use. A status below 500 is no
// error; *connect.UnavailableError is that the server wants to be left alone.
func (c *Client) Do(ctx context.Context, newRequest func(context.Context) (*http.Request, error)) (*Response, error) {
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval = retryPause
	return backoff.Retry(ctx, func() (*Response, error) {
		if err := c.waitTurn(ctx); err != nil {
			return nil, backoff.Permanent(err)
		}
		answer, err := c.DoOnce(ctx, newRequest)
		if err != nil {
			if ctx.Err() != nil || IsFinal(err) {
				err = backoff.Permanent(err)
			}
			return nil, err
		}
		if after, ok := c.askedPause(answer); ok {
			return nil, c.leaveAlone(after, &StatusError{answer.Status})
		}
		if answer.Status >= http.StatusInternalServerError {
			return answer, &StatusError{answer.Status}
		}
		return answer, nil
	}, backoff.WithBackOff(pauses), backoff.WithMaxTries(tries))
}

// IsFinal reports whether asking again gives the same.
func IsFinal(err error) bool {
	var tooLarge *connect.TooLargeError
	return errors.Is(err, publicnet.ErrPrivate) || errors.As(err, &tooLarge)
}

// StatusError is a status that tells of a failure.
type StatusError struct{ Status int }

func (e *StatusError) Error() string {
	switch e.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Sprintf("the server does not let it be read (status %d): give a token that may, or exclude it", e.Status)
	}
	return fmt.Sprintf("the server answers with status %d %s", e.Status, http.StatusText(e.Status))
}

// askedPause gives the pause that a response asks for; 0 is that it does not say how long.
func (c *Client) askedPause(answer *Response) (time.Duration, bool) {
	header := answer.Header.Get("Retry-After")
	if answer.Status == http.StatusTooManyRequests || answer.Status == http.StatusServiceUnavailable && header != "" {
		after, ok := retryAfter(header, time.Now())
		if !ok {
			return 0, true
		}
		return max(after, time.Millisecond), true
	}
	if c.options.LeaveAlone != nil {
		return c.options.LeaveAlone(answer)
	}
	return 0, false
}

// leaveAlone has all requests wait where a server asks for a short pause, and ends the sync where
// it asks for a long one.
func (c *Client) leaveAlone(after time.Duration, reason error) error {
	switch {
	case after == 0:
		after = DefaultRest
	case after <= patience:
		c.mu.Lock()
		defer c.mu.Unlock()
		if until := time.Now().Add(after); until.After(c.next) {
			c.next = until
		}
		return reason
	}
	return backoff.Permanent(&connect.UnavailableError{After: min(after, maxRest), Reason: reason})
}

// retryAfter reads the header of that name: seconds or a time.
func retryAfter(header string, now time.Time) (time.Duration, bool) {
	if seconds, err := strconv.Atoi(header); err == nil && seconds >= 0 {
		return time.Duration(min(seconds, int(maxRest/time.Second))) * time.Second, true
	}
	if at, err := http.ParseTime(header); err == nil {
		return min(max(at.Sub(now), 0), maxRest), true
	}
	return 0, false
}

// waitTurn waits until the next request may go out.
func (c *Client) waitTurn(ctx context.Context) error {
	c.mu.Lock()
	now := time.Now()
	at := now
	if c.next.After(now) {
		at = c.next
	}
	if c.pause > 0 {
		c.next = at.Add(c.pause)
	}
	c.mu.Unlock()
	if at.Equal(now) {
		return ctx.Err()
	}
	timer := time.NewTimer(at.Sub(now))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// DoOnce sends the request once, at once.
func (c *Client) DoOnce(ctx context.Context, newRequest func(context.Context) (*http.Request, error)) (_ *Response, err error) {
	request, err := newRequest(ctx)
	if err != nil {
		return nil, backoff.Permanent(err)
	}
	request.Header.Set("User-Agent", UserAgent)
	answer, err := c.client.Do(request)
	if err != nil {
		return nil, privateError(err)
	}
	defer func() { err = errors.Join(err, answer.Body.Close()) }()
	read := &Response{Status: answer.StatusCode, Header: answer.Header}
	if location, err := answer.Location(); err == nil {
		read.Location = location
	}
	if answer.StatusCode != http.StatusOK {
		const drained = 64 << 10 // so that the connection can be used again
		if read.Refusal, err = io.ReadAll(io.LimitReader(answer.Body, drained)); err != nil {
			return nil, fmt.Errorf("read the answer: %w", err)
		}
		return read, nil
	}
	limit := c.options.MaxBytes
	if answer.ContentLength > limit {
		return nil, &connect.TooLargeError{Size: answer.ContentLength, Limit: limit}
	}
	if read.Body, err = io.ReadAll(io.LimitReader(answer.Body, limit+1)); err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	if int64(len(read.Body)) > limit {
		return nil, &connect.TooLargeError{Size: int64(len(read.Body)), Limit: limit}
	}
	return read, nil
}

// privateError says what helps where a host is not public.
func privateError(err error) error {
	if errors.Is(err, publicnet.ErrPrivate) {
		return fmt.Errorf("%w: set private_network where the site is inside your own network", err)
	}
	return err
}
