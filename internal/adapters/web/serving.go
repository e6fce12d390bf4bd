package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// How long a server gives a client, and itself to end.
const (
	headerTime   = 5 * time.Second
	readTime     = 30 * time.Second
	writeTime    = 30 * time.Second
	idleTime     = 2 * time.Minute
	shutdownTime = 5 * time.Second
)

// Serve serves pages at a listener, which it closes, until ctx ends; the contexts of the
// requests end with it. What answers for longer than 30 seconds sets its own deadline.
func Serve(ctx context.Context, listener net.Listener, handler http.Handler, logger *slog.Logger) error {
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: headerTime,
		ReadTimeout:       readTime,
		WriteTimeout:      writeTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    64 << 10,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
	return ServeUntil(ctx, server, listener)
}

// ServeUntil serves at a listener, which it closes, until ctx ends, and then gives the
// requests that are there 5 seconds to end. What is left after that is cut off.
func ServeUntil(ctx context.Context, server *http.Server, listener net.Listener) error {
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		limited, done := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
		defer done()
		stopped <- server.Shutdown(limited)
	})
	err := server.Serve(listener)
	if stop() { // ctx goes on: the server failed by itself
		return fmt.Errorf("serve at %s: %w", listener.Addr(), err)
	}
	err = <-stopped
	if errors.Is(err, context.DeadlineExceeded) { // such as connections on which nothing was asked yet
		err = server.Close()
	}
	if err != nil {
		return fmt.Errorf("stop serving: %w", err)
	}
	return nil
}

// policy lets a page load its own files and nothing else.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Secure sets the headers of every answer of a page, with what other pages learn of the
// address that a link was on (Referrer-Policy).
func Secure(header http.Header, referrer string) {
	header.Set("Content-Security-Policy", policy)
	header.Set("Referrer-Policy", referrer)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Cache-Control", "no-store")
	header.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=(), browsing-topics=()")
}
