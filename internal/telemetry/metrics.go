package telemetry

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// The values of labels. Those that come from elsewhere are names of the program (adapters,
// flows, nodes, roles of models) or of the configuration (sources).
const (
	accepted  = "accepted"  // of events: it is in the queue
	duplicate = "duplicate" // it was there already
	refused   = "refused"   // it is for somebody else, or the platform never takes it
	failed    = "failed"

	posted  = "posted"
	gone    = "gone"
	limited = "limited"

	answered  = "answered"
	abstained = "abstained"
	asked     = "asked"
	cancelled = "cancelled"
	expired   = "expired"

	succeeded = "ok"
)

var (
	eventOutcomes = []string{accepted, duplicate, refused, failed}
	postOutcomes  = []string{posted, gone, refused, limited, failed}
	runOutcomes   = []string{answered, abstained, asked, failed, cancelled, expired}
	tokenKinds    = []string{"prompt", "completion"}
	ratings       = []string{"up", "down", "none"}
)

// metrics are the counters and histograms of events.
type metrics struct {
	events, runs, tokens, cost   *prometheus.CounterVec
	posts, retries, rated        *prometheus.CounterVec
	ack, ran, node, model, found *prometheus.HistogramVec
	lost, unsourced              prometheus.Counter
}

// Seconds in which things are expected to be done.
var (
	quick = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5}
	slow  = []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300}
)

func newMetrics() *metrics {
	return &metrics{
		events:    newCounters("cairn_events_total", "Messages that adapters handed over.", "adapter", "outcome"),
		ack:       newHistograms("cairn_ack_seconds", "From the hand-over of a message until it is durable and the platform is told so.", quick, "adapter"),
		runs:      newCounters("cairn_runs_total", "Runs that ended, or stopped to ask.", "flow", "outcome"),
		ran:       newHistograms("cairn_run_seconds", "From a run's message to its end, without waits for people.", slow, "flow", "outcome"),
		node:      newHistograms("cairn_node_seconds", "One attempt of a node.", slow, "flow", "node"),
		model:     newHistograms("cairn_model_seconds", "One call of a language model, retries included.", slow, "role", "outcome"),
		tokens:    newCounters("cairn_model_tokens_total", "Tokens that language models used.", "role", "kind"),
		cost:      newCounters("cairn_model_cost_total", "What they cost, in the currency of the configured prices.", "role"),
		posts:     newCounters("cairn_posts_total", "Replies and questions handed to a platform.", "adapter", "outcome"),
		retries:   newCounters("cairn_post_retries_total", "Posts that failed and are tried again.", "adapter"),
		lost:      newCounter("cairn_lease_losses_total", "Jobs that another worker took over while this one worked at them."),
		found:     newHistograms("cairn_search_seconds", "One search of the index.", quick, "backend"),
		unsourced: newCounter("cairn_answers_without_sources_total", "Answers from documents that name none."),
		rated:     newCounters("cairn_ratings_total", "What people thought of answers; none takes a rating back.", "rating"),
	}
}

// registerMetrics adds all metrics to the registry, also those of the Go runtime and the process.
func (t *Telemetry) registerMetrics(options Options) error {
	info := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "cairn_build_info", Help: "The program that runs."}, []string{"version", "commit"})
	info.WithLabelValues(options.Version, options.Commit).Set(1)
	m := t.metrics
	var errs []error
	for _, collector := range []prometheus.Collector{
		m.events, m.ack, m.runs, m.ran, m.node, m.model, m.tokens, m.cost, m.posts, m.retries, m.lost, m.found,
		m.unsourced, m.rated, info, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	} {
		errs = append(errs, t.registry.Register(collector))
	}
	for _, rating := range ratings {
		m.rated.WithLabelValues(rating)
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("register the metrics: %w", err)
	}
	return nil
}

// expectAdapter starts the counters of an adapter at 0, so that rates include the first event.
func (m *metrics) expectAdapter(adapter string) {
	for _, outcome := range eventOutcomes {
		m.events.WithLabelValues(adapter, outcome)
	}
	m.ack.WithLabelValues(adapter)
}

func newCounter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
}

func newCounters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func newHistograms(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
}
