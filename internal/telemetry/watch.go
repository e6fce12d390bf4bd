package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/runs"
)

// What is looked at when the metrics are asked for.
const (
	// lookEvery is for how long what was seen is shown again: several scrapers ask the
	// stores no more often than one.
	lookEvery = 10 * time.Second
	lookTime  = 3 * time.Second
	// maxThreads, maxQuestions and maxLetters bound what is looked at: more is not counted.
	maxThreads   = 1000
	maxQuestions = 1000
	maxLetters   = 1000
	maxSources   = 200
)

// Watched are the stores that gauges are read from.
type Watched struct {
	Queue   runs.Operator
	Records runs.Registry
	Ingests index.IngestStates // nil: there are none
	Logger  *slog.Logger
	Now     func() time.Time // nil: time.Now
}

// watcher shows how the stores stand. What can't be looked at is not shown.
type watcher struct {
	of        Watched
	depth     *prometheus.Desc
	oldest    *prometheus.Desc
	questions *prometheus.Desc
	lag       *prometheus.Desc
	failures  *prometheus.Desc

	mu     sync.Mutex
	looked time.Time
	seen   []prometheus.Metric
}

var _ prometheus.Collector = (*watcher)(nil)

// Watch has the metrics tell how stores stand. They are the same in all processes that
// share the stores.
func (t *Telemetry) Watch(of Watched) error {
	if t == nil {
		return nil
	}
	if of.Now == nil {
		of.Now = time.Now
	}
	describe := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, labels, nil)
	}
	w := &watcher{
		of:        of,
		depth:     describe("cairn_queue_depth", "Jobs by how they stand.", "state"),
		oldest:    describe("cairn_queue_oldest_seconds", "How long the oldest job that may be worked at waits for a worker."),
		questions: describe("cairn_questions_open", "Questions that wait for a person."),
		lag:       describe("cairn_ingest_lag_seconds", "Since a source was last read to its end.", "source"),
		failures:  describe("cairn_ingest_failures", "Documents of a source that the last ingest could not read.", "source"),
	}
	if err := t.registry.Register(w); err != nil {
		return fmt.Errorf("register the metrics of the stores: %w", err)
	}
	return nil
}

// Describe implements prometheus.Collector.
func (w *watcher) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{w.depth, w.oldest, w.questions, w.lag, w.failures} {
		to <- desc
	}
}

// Collect implements prometheus.Collector.
func (w *watcher) Collect(to chan<- prometheus.Metric) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now := w.of.Now(); w.looked.IsZero() || now.Sub(w.looked) >= lookEvery {
		w.looked = now
		w.seen = w.collectStores(now)
	}
	for _, metric := range w.seen {
		to <- metric
	}
}

// collectStores collects the gauges of all stores. A scrape has no context of its own.
func (w *watcher) collectStores(now time.Time) []prometheus.Metric {
	ctx, done := context.WithTimeout(context.Background(), lookTime)
	defer done()
	queue, err := w.collectQueue(ctx, now)
	ingests, ingestErr := w.collectIngests(ctx, now)
	if err := errors.Join(err, ingestErr); err != nil {
		w.of.Logger.WarnContext(ctx, "collect metrics of store", "error", err)
	}
	return append(queue, ingests...)
}

func newGauge(of *prometheus.Desc, value float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(of, prometheus.GaugeValue, value, labels...)
}

func (w *watcher) collectQueue(ctx context.Context, now time.Time) ([]prometheus.Metric, error) {
	threads, err := w.of.Queue.Threads(ctx, maxThreads)
	if err != nil {
		return nil, err
	}
	open, err := w.of.Records.List(ctx, runs.Filter{Status: runs.Waiting}, maxQuestions)
	if err != nil {
		return nil, err
	}
	letters, err := w.of.Queue.DeadLetters(ctx, maxLetters)
	if err != nil {
		return nil, err
	}
	all := runs.Stand(threads, now)
	questions := float64(len(open))
	return []prometheus.Metric{
		newGauge(w.depth, float64(all.Waiting), "waiting"), newGauge(w.depth, float64(all.Running), "running"),
		newGauge(w.depth, float64(all.Later), "delayed"), newGauge(w.depth, questions, "asked"),
		newGauge(w.depth, float64(len(letters)), "dead"),
		newGauge(w.oldest, all.Oldest.Seconds()), newGauge(w.questions, questions),
	}, nil
}

func (w *watcher) collectIngests(ctx context.Context, now time.Time) ([]prometheus.Metric, error) {
	if w.of.Ingests == nil {
		return nil, nil
	}
	states, err := w.of.Ingests.IngestStates(ctx)
	if err != nil {
		return nil, err
	}
	var shown []prometheus.Metric
	for _, state := range states[:min(len(states), maxSources)] {
		source := string(state.Source)
		shown = append(shown, newGauge(w.failures, float64(state.Failed), source))
		read := state.Complete
		if read.IsZero() { // it never was: since the first time it was tried, as far as is known
			read = state.Began
		}
		shown = append(shown, newGauge(w.lag, max(0, now.Sub(read)).Seconds(), source))
	}
	return shown, nil
}
