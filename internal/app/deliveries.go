package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/web"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/listen"
)

// Time limits of what Slack and Discord deliver; they wait for 3 s themselves.
const (
	deliveryReadTime  = 10 * time.Second
	deliveryWriteTime = 15 * time.Second
	deliveryIdleTime  = 2 * time.Minute
)

// deliveries is a server for what a platform delivers.
func deliveries(handler http.Handler, logger *slog.Logger) *http.Server {
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: deliveryReadTime, ReadTimeout: deliveryReadTime, WriteTimeout: deliveryWriteTime,
		IdleTimeout: deliveryIdleTime, MaxHeaderBytes: 64 << 10, ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
}

// delivered is an adapter whose platform delivers over HTTP.
type delivered struct {
	platform string // its name, for people
	listen   string // address, "host:port"
	setting  string // that listen is from
	path     string // that the platform is given
	server   *http.Server
	out      io.Writer // is told the address
	adapter  interface {
		chat.Adapter
		Ready() <-chan struct{}
	}
}

// takeDeliveries runs the adapter and serves what is delivered to it, until ctx ends.
func takeDeliveries(ctx context.Context, to delivered, handler chat.Handler) error {
	listener, err := listen.TCP(ctx, to.listen)
	if err != nil {
		return fmt.Errorf("%s: %w", to.platform, listen.WithRemedy(err, to.setting))
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() {
		defer stop()
		ended <- to.adapter.Run(running, handler)
	}()
	select {
	case <-to.adapter.Ready():
	case err := <-ended:
		return errors.Join(err, listener.Close())
	}
	fmt.Fprintf(to.out, "Listening to %s at http://%s%s\n", to.platform, listener.Addr(), to.path)
	err = web.ServeUntil(running, to.server, listener)
	stop()
	return errors.Join(err, <-ended)
}
