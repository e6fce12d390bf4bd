package measure

import (
	_ "github.com/cairn-bot/cairn/internal/telemetry"  // want "only app imports telemetry"
	_ "github.com/prometheus/client_golang/prometheus" // want "the Prometheus client is imported by telemetry alone"
	_ "go.opentelemetry.io/otel/trace"                 // want "OpenTelemetry is imported by telemetry alone"
)
