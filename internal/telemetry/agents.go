package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/trace"

	"github.com/cairn-bot/cairn/internal/agent"
)

// Agents traces the work of agents at requests: agent.Options.OnRequest. nil without traces.
func (t *Telemetry) Agents() func(ctx context.Context, name agent.Name, request agent.Type) (context.Context, func(err error)) {
	if t == nil || t.tracer == nil {
		return nil
	}
	return func(ctx context.Context, name agent.Name, request agent.Type) (context.Context, func(err error)) {
		ctx, span := t.beginSpan(ctx, "invoke_agent "+string(name), trace.WithAttributes(
			genOperation.String("invoke_agent"), genAgent.String(string(name)), requestKey.String(string(request))))
		return ctx, func(err error) { endSpan(span, err) }
	}
}
