package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Time limits of what Slack and Discord deliver; they wait for 3 s themselves.
const (
	deliveryReadTime  = 10 * time.Second
	deliveryWriteTime = 15 * time.Second
	deliveryIdleTime  = 2 * time.Minute
	deliveryStopTime  = 5 * time.Second
)

// deliveries is a server for what a platform delivers.
func deliveries(handler http.Handler, logger *slog.Logger) *http.Server {
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: deliveryReadTime, ReadTimeout: deliveryReadTime, WriteTimeout: deliveryWriteTime,
		IdleTimeout: deliveryIdleTime, MaxHeaderBytes: 64 << 10, ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
}

// serveUntil serves until ctx ends, and then lets the requests that are there end.
func serveUntil(ctx context.Context, server *http.Server, listener net.Listener) error {
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		limited, done := context.WithTimeout(context.WithoutCancel(ctx), deliveryStopTime)
		defer done()
		stopped <- server.Shutdown(limited)
	})
	err := server.Serve(listener)
	if stop() { // ctx goes on: the server failed by itself
		return fmt.Errorf("serve deliveries at %s: %w", listener.Addr(), err)
	}
	if err := <-stopped; err != nil {
		return errors.Join(fmt.Errorf("stop serving deliveries: %w", err), server.Close())
	}
	return nil
}
