package operations

import (
	"context"
	"fmt"
	"net"
	"net/http"

	"github.com/cairn-bot/cairn/internal/adapters/web"
	"github.com/cairn-bot/cairn/internal/listen"
)

// Server serves the page at an address of its own.
type Server struct {
	page     *Page
	listener net.Listener
}

// Listen listens at an address, "host:port". Run must follow: it serves and closes.
func (p *Page) Listen(ctx context.Context, address string) (*Server, error) {
	listener, err := listen.TCP(ctx, address)
	if err != nil {
		return nil, fmt.Errorf("operations page: %w", err)
	}
	return &Server{p, listener}, nil
}

// URL is where the page is.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() + Root }

// Run serves until ctx ends.
func (s *Server) Run(ctx context.Context) error {
	mux := http.NewServeMux()
	mux.Handle("/", s.page)
	mux.HandleFunc("GET /{$}", func(out http.ResponseWriter, request *http.Request) {
		http.Redirect(out, request, Root, http.StatusSeeOther)
	})
	if err := web.Serve(ctx, s.listener, mux, s.page.options.Logger); err != nil {
		return fmt.Errorf("operations page: %w", err)
	}
	return nil
}
