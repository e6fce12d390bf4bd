package website

import (
	"context"
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

	"cairn/internal/knowledge/connect"
	"cairn/internal/publicnet"
)

const (
	userAgent   = "cairn/1 (documentation search)"
	agentName   = "cairn" // in robots.txt
	dialTime    = 10 * time.Second
	requestTime = 60 * time.Second
	requests    = 8 // at once, where the site asks for no pause between them

	tries       = 3
	retryPause  = 500 * time.Millisecond
	patience    = 30 * time.Second // the longest pause that a server may ask for in a sync
	defaultRest = 10 * time.Minute // where a server is too busy and does not say how long
	maxCrawl    = 10 * time.Second // the longest pause of robots.txt that is kept to
)

// response is what a server said, whose body was read.
type response struct {
	status   int
	header   http.Header
	body     []byte
	location *url.URL // of a redirect, absolute
}

// fetcher asks one host for pages.
type fetcher struct {
	client *http.Client
	scope  scope
	token  string
	limit  int64

	mu    sync.Mutex
	pause time.Duration // between two requests; 0: none
	next  time.Time     // when the next request may go out
}

func newFetcher(options Options, within scope) *fetcher {
	dialer := &net.Dialer{Timeout: dialTime}
	if !options.AllowPrivate {
		dialer.Control = publicnet.RefusePrivate
	}
	return &fetcher{
		client: &http.Client{
			// Without a proxy: one would look names up by itself, past the check.
			Transport: &http.Transport{
				DialContext: dialer.DialContext, TLSClientConfig: options.TLS, ForceAttemptHTTP2: true,
				TLSHandshakeTimeout: dialTime, ResponseHeaderTimeout: requestTime, MaxIdleConnsPerHost: requests, IdleConnTimeout: time.Minute,
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Timeout:       requestTime,
		},
		scope: within, token: options.Token, limit: options.MaxBytes,
	}
}

// close releases the connections.
func (f *fetcher) close() { f.client.CloseIdleConnections() }

// get asks for an address on the site's host, again where that is of use. What a server says by its
// status is no error; *connect.UnavailableError is that it wants to be left alone.
func (f *fetcher) get(ctx context.Context, address string, known knownPage) (*response, error) {
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval = retryPause
	return backoff.Retry(ctx, func() (*response, error) {
		if err := f.waitTurn(ctx); err != nil {
			return nil, backoff.Permanent(err)
		}
		answer, err := f.getOnce(ctx, address, known)
		switch {
		case err != nil && (ctx.Err() != nil || isFinal(err)):
			return nil, backoff.Permanent(err)
		case err != nil:
			return nil, err
		case answer.status == http.StatusTooManyRequests || answer.status == http.StatusServiceUnavailable && answer.header.Get("Retry-After") != "":
			return nil, f.leaveAlone(answer)
		case answer.status >= http.StatusInternalServerError:
			return answer, &statusError{answer.status}
		}
		return answer, nil
	}, backoff.WithBackOff(pauses), backoff.WithMaxTries(tries))
}

// isFinal reports whether asking again gives the same.
func isFinal(err error) bool {
	var tooLarge *connect.TooLargeError
	return errors.Is(err, publicnet.ErrPrivate) || errors.As(err, &tooLarge)
}

// statusError is a status that tells of a failure.
type statusError struct{ status int }

func (e *statusError) Error() string {
	switch e.status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Sprintf("the server does not let it be read (status %d): give a token that may, or exclude it", e.status)
	}
	return fmt.Sprintf("the server answers with status %d %s", e.status, http.StatusText(e.status))
}

// leaveAlone has all requests wait where a server asks for a short pause, and ends the sync where
// it asks for a long one.
func (f *fetcher) leaveAlone(answer *response) error {
	after, ok := retryAfter(answer.header.Get("Retry-After"), time.Now())
	reason := &statusError{answer.status}
	if ok && after <= patience {
		f.mu.Lock()
		defer f.mu.Unlock()
		if until := time.Now().Add(after); until.After(f.next) {
			f.next = until
		}
		return reason
	}
	if !ok {
		after = defaultRest
	}
	return backoff.Permanent(&connect.UnavailableError{After: after, Reason: reason})
}

// retryAfter reads the header of that name: seconds or a time.
func retryAfter(header string, now time.Time) (time.Duration, bool) {
	const most = 24 * time.Hour
	if seconds, err := strconv.Atoi(header); err == nil && seconds >= 0 {
		return min(time.Duration(seconds)*time.Second, most), true
	}
	if at, err := http.ParseTime(header); err == nil {
		return min(max(at.Sub(now), 0), most), true
	}
	return 0, false
}

// waitTurn waits until the next request may go out.
func (f *fetcher) waitTurn(ctx context.Context) error {
	f.mu.Lock()
	now := time.Now()
	at := now
	if f.next.After(now) {
		at = f.next
	}
	if f.pause > 0 {
		f.next = at.Add(f.pause)
	}
	f.mu.Unlock()
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

func (f *fetcher) getOnce(ctx context.Context, address string, known knownPage) (_ *response, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, backoff.Permanent(err)
	}
	request.Header.Set("User-Agent", userAgent)
	request.Header.Set("Accept", "text/html, text/markdown, text/plain, application/pdf;q=0.9, */*;q=0.5")
	if f.token != "" && f.scope.isHost(request.URL) {
		request.Header.Set("Authorization", "Bearer "+f.token)
	}
	if known.etag != "" {
		request.Header.Set("If-None-Match", known.etag)
	}
	if known.modified != "" {
		request.Header.Set("If-Modified-Since", known.modified)
	}
	answer, err := f.client.Do(request)
	if err != nil {
		return nil, privateError(err)
	}
	defer func() { err = errors.Join(err, answer.Body.Close()) }()
	read := &response{status: answer.StatusCode, header: answer.Header}
	if location, err := answer.Location(); err == nil {
		read.location = location
	}
	if answer.StatusCode != http.StatusOK {
		const drained = 64 << 10 // so that the connection can be used again
		_, err := io.CopyN(io.Discard, answer.Body, drained)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("read the answer: %w", err)
		}
		return read, nil
	}
	if answer.ContentLength > f.limit {
		return nil, &connect.TooLargeError{Size: answer.ContentLength, Limit: f.limit}
	}
	if read.body, err = io.ReadAll(io.LimitReader(answer.Body, f.limit+1)); err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	if int64(len(read.body)) > f.limit {
		return nil, &connect.TooLargeError{Size: int64(len(read.body)), Limit: f.limit}
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
