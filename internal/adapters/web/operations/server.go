package operations

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Server serves the page at an address of its own.
type Server struct {
	page     *Page
	listener net.Listener
}

// Listen listens at an address, "host:port". Run must follow: it serves and closes.
func (p *Page) Listen(address string) (*Server, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("operations page: listen at %s: %w", address, err)
	}
	return &Server{p, listener}, nil
}

// URL is where the page is.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() + Root }

// How long the server gives a client, and itself to end.
const (
	requestTime  = 30 * time.Second
	idleTime     = 2 * time.Minute
	shutdownTime = 5 * time.Second
)

// Run serves until ctx ends.
func (s *Server) Run(ctx context.Context) error {
	mux := http.NewServeMux()
	mux.Handle("/", s.page)
	mux.HandleFunc("GET /{$}", func(out http.ResponseWriter, request *http.Request) {
		http.Redirect(out, request, Root, http.StatusSeeOther)
	})
	server := &http.Server{
		Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: requestTime, WriteTimeout: requestTime,
		IdleTimeout: idleTime, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog:    slog.NewLogLogger(s.page.options.Logger.Handler(), slog.LevelDebug),
	}
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		limited, done := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
		defer done()
		stopped <- server.Shutdown(limited)
	})
	err := server.Serve(s.listener)
	if stop() { // ctx goes on: the server failed by itself
		return fmt.Errorf("operations page: serve at %s: %w", s.listener.Addr(), err)
	}
	if err := <-stopped; err != nil {
		return errors.Join(fmt.Errorf("operations page: stop serving: %w", err), server.Close())
	}
	return nil
}
