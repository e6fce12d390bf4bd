package telemetry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/prometheus/common/expfmt"

	"github.com/cairn-bot/cairn/internal/listen"
)

// Served is what a process tells about itself.
type Served struct {
	Dependencies []Dependency
	Ending       <-chan struct{} // closed when the process is about to end
	Logger       *slog.Logger
}

// readyState is the body of /readyz.
type readyState struct {
	Ready    bool     `json:"ready"`
	Draining bool     `json:"draining,omitempty"` // the process is about to end
	Failing  []string `json:"failing,omitempty"`  // names of what does not answer
}

// Handler returns how the process is: /metrics for Prometheus, /healthz that it lives,
// /readyz whether it is ready, which it is not any more once it is about to end.
func (t *Telemetry) Handler(of Served) (http.Handler, error) {
	ready := newReadiness(of)
	if err := t.registry.Register(ready); err != nil {
		return nil, fmt.Errorf("register the metrics of dependencies: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", t.metricsHandler(of.Logger))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, request *http.Request) {
		writeState(request.Context(), w, of.Logger, http.StatusOK, readyState{Ready: !ready.isEnding(), Draining: ready.isEnding()})
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, request *http.Request) {
		if ready.isEnding() {
			writeState(request.Context(), w, of.Logger, http.StatusServiceUnavailable, readyState{Draining: true})
			return
		}
		status, failing := http.StatusOK, ready.unreadyNames(request.Context())
		if len(failing) > 0 {
			status = http.StatusServiceUnavailable
		}
		writeState(request.Context(), w, of.Logger, status, readyState{Ready: len(failing) == 0, Failing: failing})
	})
	return mux, nil
}

// maxScrapes is the number of scrapes served at the same time.
const maxScrapes = 4

// metricsHandler returns all metrics in Prometheus' text format. What can't be read of them is logged,
// and the others are shown. promhttp would bring compressors along that take 1 MB.
func (t *Telemetry) metricsHandler(logger *slog.Logger) http.HandlerFunc {
	scraping := make(chan struct{}, maxScrapes)
	return func(w http.ResponseWriter, request *http.Request) {
		select {
		case scraping <- struct{}{}:
			defer func() { <-scraping }()
		default:
			http.Error(w, "too many ask for metrics at once", http.StatusServiceUnavailable)
			return
		}
		families, err := t.registry.Gather()
		if err != nil {
			logger.WarnContext(request.Context(), "collect metrics", "error", err)
		}
		format := expfmt.NewFormat(expfmt.TypeTextPlain)
		w.Header().Set("Content-Type", string(format))
		encoder := expfmt.NewEncoder(w, format)
		for _, family := range families {
			if err := encoder.Encode(family); err != nil {
				logger.DebugContext(request.Context(), "write metrics: client gone", "error", err)
				return
			}
		}
	}
}

func writeState(ctx context.Context, w http.ResponseWriter, logger *slog.Logger, status int, what readyState) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(what); err != nil {
		logger.DebugContext(ctx, "write readiness: client gone", "error", err)
	}
}

// Profiles returns those of Go's runtime. They show what is in memory: serve them on the
// loopback interface alone.
func Profiles() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}

// Time limits of who asks. A profile is made for up to profileTime.
const (
	requestTime = 5 * time.Second
	profileTime = 2 * time.Minute
	idleTime    = 2 * time.Minute
)

// Serve answers at a listener until ctx ends, and closes it. One at the loopback interface
// answers under names of this machine alone.
func Serve(ctx context.Context, listener net.Listener, handler http.Handler, logger *slog.Logger) error {
	if listen.IsLoopback(listener.Addr()) {
		handler = listen.RefuseOtherHosts(handler)
	}
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: requestTime, ReadTimeout: requestTime, WriteTimeout: profileTime, IdleTimeout: idleTime,
		MaxHeaderBytes: 16 << 10, ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
	closed := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() { closed <- server.Close() })
	err := server.Serve(listener)
	if stop() { // ctx goes on: the server failed by itself
		return fmt.Errorf("serve telemetry at %s: %w", listener.Addr(), err)
	}
	if err := <-closed; err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("stop serving telemetry: %w", err)
	}
	return nil
}
