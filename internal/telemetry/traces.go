package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// The attributes of spans: those of OpenTelemetry's conventions by their names there.
const (
	errorType = attribute.Key("error.type")

	genOperation    = attribute.Key("gen_ai.operation.name")
	genProvider     = attribute.Key("gen_ai.provider.name")
	genRequested    = attribute.Key("gen_ai.request.model")
	genMaxTokens    = attribute.Key("gen_ai.request.max_tokens")
	genResponded    = attribute.Key("gen_ai.response.model")
	genFinish       = attribute.Key("gen_ai.response.finish_reasons")
	genInputTokens  = attribute.Key("gen_ai.usage.input_tokens")
	genOutputTokens = attribute.Key("gen_ai.usage.output_tokens")
	genOutputType   = attribute.Key("gen_ai.output.type")
	genAgent        = attribute.Key("gen_ai.agent.name")

	adapterKey  = attribute.Key("cairn.adapter")
	threadKey   = attribute.Key("cairn.thread")
	runKey      = attribute.Key("cairn.run")
	flowKey     = attribute.Key("cairn.flow")
	nodeKey     = attribute.Key("cairn.node")
	visitKey    = attribute.Key("cairn.visit")
	attemptKey  = attribute.Key("cairn.attempt")
	roleKey     = attribute.Key("cairn.role")
	kindKey     = attribute.Key("cairn.kind")
	outcomeKey  = attribute.Key("cairn.outcome")
	acceptedKey = attribute.Key("cairn.accepted")
	backendKey  = attribute.Key("cairn.backend")
	wordsKey    = attribute.Key("cairn.found.words")
	meaningKey  = attribute.Key("cairn.found.meaning")
	requestKey  = attribute.Key("cairn.request")
)

const (
	exportTime = 10 * time.Second // one attempt to send spans, retries included
	// maxQueued is how many spans wait to be sent; more are dropped. maxBatch go at once.
	maxQueued = 16_384
	maxBatch  = 2_048
	// complainEvery is the least time between two log lines about spans that are not sent.
	complainEvery = time.Minute
)

// openTraces sends spans to a collector, in batches and in the background. It connects to
// nothing before there are some.
func openTraces(ctx context.Context, options Options) (*sdktrace.TracerProvider, error) {
	of := resource.NewSchemaless(
		attribute.String("service.name", "cairn"), attribute.String("service.version", options.Version),
		attribute.String("service.instance.id", options.Traces.Instance),
	)
	exporter, err := openExporter(ctx, options.Traces)
	if err != nil {
		return nil, err
	}
	sends := &errorReporter{SpanExporter: exporter, logger: options.Logger}
	// What the SDK complains of by itself, such as spans that a collector refused, it would
	// write to standard error in a form of its own.
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { sends.logError(context.WithoutCancel(ctx), err) }))
	return sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(sends, sdktrace.WithExportTimeout(exportTime), sdktrace.WithMaxQueueSize(maxQueued), sdktrace.WithMaxExportBatchSize(maxBatch)),
		sdktrace.WithResource(of), sdktrace.WithIDGenerator(generator{}), sdktrace.WithSampler(sdktrace.AlwaysSample()),
	), nil
}

// openExporter returns OpenTelemetry's exporter by OTLP over HTTP, in protocol buffers. It tries
// again where the collector says that it is busy.
func openExporter(ctx context.Context, traces *Traces) (sdktrace.SpanExporter, error) {
	headers := make(map[string]string, len(traces.Headers))
	for name := range traces.Headers {
		headers[name] = traces.Headers.Get(name)
	}
	exporter, err := otlptracehttp.New(ctx,
		otlptracehttp.WithEndpointURL(traces.URL), otlptracehttp.WithHeaders(headers),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{
			Enabled: true, InitialInterval: 200 * time.Millisecond, MaxInterval: 5 * time.Second, MaxElapsedTime: exportTime,
		}),
		otlptracehttp.WithHTTPClient(&http.Client{
			Timeout: exportTime,
			// A redirect could take the headers' secrets elsewhere.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}))
	if err != nil {
		return nil, fmt.Errorf("open the exporter of traces: %w", err)
	}
	return exporter, nil
}

// errorReporter logs what becomes of spans that can't be sent; they are lost.
type errorReporter struct {
	sdktrace.SpanExporter
	logger     *slog.Logger
	complained atomic.Int64 // when it was logged last, in Unix nanoseconds
}

// ExportSpans implements sdktrace.SpanExporter.
func (c *errorReporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if err := c.SpanExporter.ExportSpans(ctx, spans); err != nil {
		c.logError(ctx, err)
	}
	return nil // it is told of here, and nowhere else
}

func (c *errorReporter) logError(ctx context.Context, err error) {
	now, last := time.Now().UnixNano(), c.complained.Load()
	if (last == 0 || now-last >= int64(complainEvery)) && c.complained.CompareAndSwap(last, now) {
		c.logger.WarnContext(ctx, "send traces", "error", err)
	}
}
