// Package otlp sends spans to a collector by OTLP over HTTP, in protocol buffers.
//
// OpenTelemetry's own exporter brings gRPC and its descriptors with it, also for HTTP: 2.4
// MB of the program, and more of its memory, whether anything is traced or not. What Cairn
// sends is small: spans with attributes and a status; they have no events and no links.
package otlp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/cenkalti/backoff/v5"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// maxResponse bounds what is read of a response, in bytes.
const maxResponse = 64 << 10

// Exporter is a sdktrace.SpanExporter.
type Exporter struct {
	url     string
	headers http.Header
	client  *http.Client
}

var _ sdktrace.SpanExporter = (*Exporter)(nil)

// New returns an exporter to a collector's URL, with its path ("https://host:4318/v1/traces"),
// that sends these headers along. It connects when there are spans.
func New(url string, headers http.Header) *Exporter {
	return &Exporter{url: url, headers: headers, client: &http.Client{
		// A redirect could take the headers' secrets elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// answeredError is an answer that says that nothing was taken.
type answeredError int

func (e answeredError) Error() string { return "the collector answers " + strconv.Itoa(int(e)) }

// ExportSpans implements sdktrace.SpanExporter. It tries again, until ctx ends, where the
// collector can't be reached or says that it is busy.
func (e *Exporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if len(spans) == 0 {
		return nil
	}
	body := encodeSpans(spans)
	_, err := backoff.Retry(ctx, func() (struct{}, error) { return struct{}{}, e.send(ctx, body) },
		backoff.WithBackOff(&backoff.ExponentialBackOff{
			InitialInterval: 200 * time.Millisecond, Multiplier: 2, MaxInterval: 5 * time.Second,
			RandomizationFactor: backoff.DefaultRandomizationFactor,
		}))
	if err != nil {
		return fmt.Errorf("send %d spans: %w", len(spans), err)
	}
	return nil
}

// Shutdown implements sdktrace.SpanExporter.
func (e *Exporter) Shutdown(context.Context) error {
	e.client.CloseIdleConnections()
	return nil
}

// send posts a request once. Errors that need no second try are permanent to backoff.
func (e *Exporter) send(ctx context.Context, body []byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return backoff.Permanent(err)
	}
	request.Header = e.headers.Clone()
	if request.Header == nil {
		request.Header = make(http.Header)
	}
	request.Header.Set("Content-Type", "application/x-protobuf")
	response, err := e.client.Do(request)
	if err != nil {
		return err
	}
	read, err := io.ReadAll(io.LimitReader(response.Body, maxResponse))
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return fmt.Errorf("read the collector's answer: %w", err)
	}
	switch status := response.StatusCode; {
	case status == http.StatusTooManyRequests || status == http.StatusBadGateway ||
		status == http.StatusServiceUnavailable || status == http.StatusGatewayTimeout:
		if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds > 0 {
			return backoff.RetryAfter(seconds)
		}
		return answeredError(status)
	case status/100 != 2:
		return backoff.Permanent(answeredError(status))
	}
	if refused := countRejected(read); refused > 0 {
		return backoff.Permanent(fmt.Errorf("the collector refuses %d of them", refused))
	}
	return nil
}
