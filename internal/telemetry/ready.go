package telemetry

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	// readyFor is for how long an answer of the dependencies is given again.
	readyFor = time.Second
	// readyTime is how long a dependency may take to answer.
	readyTime = 2 * time.Second
)

// Dependency is something without which the process is of no use.
type Dependency struct {
	Name string // "redis"; it is a label
	// Ask gives nil where it is there; it is asked at most once a second.
	Ask func(ctx context.Context) error
}

// readiness reports whether a process is ready: all it depends on answers, and it is not
// about to end.
type readiness struct {
	dependencies []Dependency
	ending       <-chan struct{}
	logger       *slog.Logger
	ready        *prometheus.Desc

	mu      sync.Mutex
	asked   time.Time
	failing []string // names, in order
}

var _ prometheus.Collector = (*readiness)(nil)

func newReadiness(of Served) *readiness {
	return &readiness{
		dependencies: of.Dependencies, ending: of.Ending, logger: of.Logger,
		ready: prometheus.NewDesc("cairn_ready", "Whether what the process depends on answers.", []string{"dependency"}, nil),
	}
}

// isEnding reports whether the process is about to end.
func (r *readiness) isEnding() bool {
	select {
	case <-r.ending:
		return true
	default:
		return false
	}
}

// unreadyNames returns the names of what does not answer. Each is given its time, whatever becomes
// of who asks: the next who asks gets the same answer.
func (r *readiness) unreadyNames(ctx context.Context) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.asked.IsZero() && time.Since(r.asked) < readyFor {
		return r.failing
	}
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), readyTime)
	defer done()
	answers := make([]error, len(r.dependencies))
	var asking sync.WaitGroup
	for i, dependency := range r.dependencies {
		asking.Go(func() { answers[i] = dependency.Ask(ctx) })
	}
	asking.Wait()
	var failing []string
	for i, err := range answers {
		name := r.dependencies[i].Name
		was := slices.Contains(r.failing, name)
		switch {
		case err != nil && !was:
			r.logger.WarnContext(ctx, "dependency does not answer", "dependency", name, "error", err)
		case err == nil && was:
			r.logger.InfoContext(ctx, "dependency answers again", "dependency", name)
		}
		if err != nil {
			failing = append(failing, name)
		}
	}
	r.asked, r.failing = time.Now(), failing
	return failing
}

// Describe implements prometheus.Collector.
func (r *readiness) Describe(to chan<- *prometheus.Desc) { to <- r.ready }

// Collect implements prometheus.Collector. A scrape has no context of its own.
func (r *readiness) Collect(to chan<- prometheus.Metric) {
	failing := r.unreadyNames(context.Background())
	for _, dependency := range r.dependencies {
		answers := 1.0
		if slices.Contains(failing, dependency.Name) {
			answers = 0
		}
		to <- newGauge(r.ready, answers, dependency.Name)
	}
}
