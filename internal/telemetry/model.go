package telemetry

import (
	"context"
	"errors"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/cairn-bot/cairn/internal/llm"
)

// Called is a language model as it is called.
type Called struct {
	Role     string // that it plays by the configuration: "understand", "answer", "verify", "embed"
	Name     string // as the server is asked for it
	Provider string // by OpenTelemetry's conventions: "openai", "azure.ai.openai"
}

// Model measures the calls of a model that plays a role.
func (t *Telemetry) Model(next llm.Model, as Called) llm.Model {
	if t == nil {
		return next
	}
	t.expectModel(as)
	return &model{next, caller{t, as}}
}

// Embedder measures the calls of a model that makes vectors.
func (t *Telemetry) Embedder(next llm.Embedder, as Called) llm.Embedder {
	if t == nil {
		return next
	}
	t.expectModel(as)
	return &embedder{next, caller{t, as}}
}

func (t *Telemetry) expectModel(as Called) {
	for _, kind := range tokenKinds {
		t.metrics.tokens.WithLabelValues(as.Role, kind)
	}
	t.metrics.cost.WithLabelValues(as.Role)
	t.metrics.model.WithLabelValues(as.Role, succeeded)
}

type model struct {
	llm.Model
	caller
}

// Chat implements llm.Model. Of what is said to the model, and by it, nothing is kept.
func (m *model) Chat(ctx context.Context, request llm.Request, onToken func(text string)) (llm.Reply, error) {
	output := "text"
	if request.Schema != nil {
		output = "json"
	}
	attributes := []attribute.KeyValue{genOutputType.String(output)}
	if request.MaxReply > 0 {
		attributes = append(attributes, genMaxTokens.Int(request.MaxReply))
	}
	ctx, call := m.beginCall(ctx, "chat", attributes...)
	reply, err := m.Model.Chat(ctx, request, onToken)
	if reply.Finish != "" && call.span != nil {
		call.span.SetAttributes(genFinish.StringSlice([]string{finishOf(reply.Finish)}))
	}
	call.endCall(reply.Usage, err)
	return reply, err
}

// finishOf returns why a reply ended, as OpenTelemetry's conventions call it.
func finishOf(finish llm.Finish) string {
	if finish == llm.Calls {
		return "tool_calls"
	}
	return string(finish)
}

type embedder struct {
	llm.Embedder
	caller
}

// Embed implements llm.Embedder.
func (e *embedder) Embed(ctx context.Context, texts []string) ([][]float32, llm.Usage, error) {
	ctx, call := e.beginCall(ctx, "embeddings")
	vectors, usage, err := e.Embedder.Embed(ctx, texts)
	call.endCall(usage, err)
	return vectors, usage, err
}

// caller measures the calls of one model in one role.
type caller struct {
	t  *Telemetry
	as Called
}

// call is a model call in progress.
type call struct {
	caller
	began time.Time
	span  trace.Span // nil without traces
}

func (c caller) beginCall(ctx context.Context, operation string, attributes ...attribute.KeyValue) (context.Context, *call) {
	made := &call{caller: c, began: time.Now()}
	ctx, made.span = c.t.beginSpan(ctx, operation+" "+c.as.Name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attributes...),
		trace.WithAttributes(genOperation.String(operation), genProvider.String(c.as.Provider), genRequested.String(c.as.Name), roleKey.String(c.as.Role)))
	return ctx, made
}

// endCall counts what the call took; a failed one took something too.
func (c *call) endCall(usage llm.Usage, err error) {
	outcome := succeeded
	if err != nil {
		outcome = failed
		if failure, ok := errors.AsType[*llm.Error](err); ok {
			outcome, usage = strings.ReplaceAll(string(failure.Failure), " ", "_"), failure.Usage
		}
	}
	m, role := c.t.metrics, c.as.Role
	m.model.WithLabelValues(role, outcome).Observe(secondsSince(c.began))
	m.tokens.WithLabelValues(role, tokenKinds[0]).Add(float64(max(0, usage.Prompt)))
	m.tokens.WithLabelValues(role, tokenKinds[1]).Add(float64(max(0, usage.Completion)))
	m.cost.WithLabelValues(role).Add(max(0, usage.Cost))
	if c.span == nil {
		return
	}
	c.span.SetAttributes(genInputTokens.Int(usage.Prompt), genOutputTokens.Int(usage.Completion), outcomeKey.String(outcome))
	if usage.Model != "" {
		c.span.SetAttributes(genResponded.String(usage.Model))
	}
	endSpan(c.span, err)
}
