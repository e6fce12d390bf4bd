package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
)

type searched struct {
	index.Spelling
	t       *Telemetry
	backend string
}

// Index measures the searches of an index. backend is what keeps it: "embedded", "postgres".
func (t *Telemetry) Index(next index.Spelling, backend string) index.Spelling {
	if t == nil {
		return next
	}
	t.metrics.found.WithLabelValues(backend)
	return &searched{next, t, backend}
}

// Search implements index.Reader.
func (s *searched) Search(ctx context.Context, query index.Query) (index.Candidates, error) {
	began := time.Now()
	ctx, span := s.t.beginSpan(ctx, "index.search", trace.WithAttributes(backendKey.String(s.backend)))
	found, err := s.Spelling.Search(ctx, query)
	s.t.metrics.found.WithLabelValues(s.backend).Observe(secondsSince(began))
	if span != nil {
		span.SetAttributes(wordsKey.Int(len(found.Lexical)), meaningKey.Int(len(found.Dense)))
	}
	endSpan(span, err)
	return found, err
}

// Passages implements index.Reader.
func (s *searched) Passages(ctx context.Context, ids []knowledge.PassageID) ([]index.Found, error) {
	ctx, span := s.t.beginSpan(ctx, "index.passages", trace.WithAttributes(backendKey.String(s.backend)))
	found, err := s.Spelling.Passages(ctx, ids)
	endSpan(span, err)
	return found, err
}
