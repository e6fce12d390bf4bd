package telemetry

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/cairn-bot/cairn/internal/chat"
)

// Platform is an adapter on whose platform messages are posted.
type Platform interface {
	chat.Poster
	chat.Drafter
	chat.Tidier
	chat.FileFinder
	chat.ThreadReader
}

// poster is a platform whose posts are measured.
type poster struct {
	Platform
	t       *Telemetry
	adapter string
}

var _ Platform = (*poster)(nil)

// Platform measures what is posted on the platform of an adapter.
func (t *Telemetry) Platform(next Platform, adapter string) Platform {
	if t == nil {
		return next
	}
	for _, outcome := range postOutcomes {
		t.metrics.posts.WithLabelValues(adapter, outcome)
	}
	t.metrics.retries.WithLabelValues(adapter)
	measured := &poster{next, t, adapter}
	if opener, ok := next.(chat.PrivateOpener); ok {
		return privatePoster{measured, opener}
	}
	return measured
}

// privatePoster is a poster that can talk to one person alone.
type privatePoster struct {
	*poster
	chat.PrivateOpener
}

// beginPost begins the span of a request to the platform.
func (p *poster) beginPost(ctx context.Context, name string, thread chat.ThreadID) (context.Context, trace.Span) {
	return p.t.beginSpan(ctx, name, trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(adapterKey.String(p.adapter), threadKey.String(string(thread))))
}

// endPost counts a post.
func (p *poster) endPost(span trace.Span, err error) {
	outcome := postedAs(err)
	p.t.metrics.posts.WithLabelValues(p.adapter, outcome).Inc()
	if outcome == limited || outcome == failed {
		p.t.metrics.retries.WithLabelValues(p.adapter).Inc()
	}
	if span != nil {
		span.SetAttributes(outcomeKey.String(outcome))
	}
	endSpan(span, err)
}

func postedAs(err error) string {
	_, ok := errors.AsType[*chat.RetryAfterError](err)
	switch {
	case err == nil:
		return posted
	case errors.Is(err, chat.ErrGone):
		return gone
	case errors.Is(err, chat.ErrRefused):
		return refused
	case ok:
		return limited
	}
	return failed
}

// Post implements chat.Poster.
func (p *poster) Post(ctx context.Context, thread chat.ThreadID, key chat.PostKey, post chat.Post) (chat.MessageID, error) {
	ctx, span := p.beginPost(ctx, "post", thread)
	id, err := p.Platform.Post(ctx, thread, key, post)
	p.endPost(span, err)
	return id, err
}

// Find implements chat.Poster.
func (p *poster) Find(ctx context.Context, thread chat.ThreadID, key chat.PostKey) (chat.MessageID, bool, error) {
	ctx, span := p.beginPost(ctx, "post.find", thread)
	id, found, err := p.Platform.Find(ctx, thread, key)
	endSpan(span, err)
	return id, found, err
}

// Edit implements chat.Poster.
func (p *poster) Edit(ctx context.Context, thread chat.ThreadID, message chat.MessageID, post chat.Post) error {
	ctx, span := p.beginPost(ctx, "post.edit", thread)
	err := p.Platform.Edit(ctx, thread, message, post)
	endSpan(span, err)
	return err
}

// Retract implements chat.Poster.
func (p *poster) Retract(ctx context.Context, thread chat.ThreadID, message chat.MessageID) error {
	ctx, span := p.beginPost(ctx, "post.retract", thread)
	err := p.Platform.Retract(ctx, thread, message)
	endSpan(span, err)
	return err
}

// Tidy implements chat.Tidier.
func (p *poster) Tidy(ctx context.Context, thread chat.ThreadID, late chat.Late) error {
	ctx, span := p.beginPost(ctx, "post.tidy", thread)
	err := p.Platform.Tidy(ctx, thread, late)
	endSpan(span, err)
	return err
}

// IsAbsent implements chat.AbsenceChecker, for a platform that does.
func (p *poster) IsAbsent(ctx context.Context, thread chat.ThreadID, to chat.MessageID, age time.Duration) (bool, error) {
	checker, ok := p.Platform.(chat.AbsenceChecker)
	if !ok {
		return false, nil
	}
	ctx, span := p.beginPost(ctx, "post.check", thread)
	absent, err := checker.IsAbsent(ctx, thread, to, age)
	endSpan(span, err)
	return absent, err
}

// Draft implements chat.Drafter.
func (p *poster) Draft(ctx context.Context, work chat.Work) (chat.Draft, error) {
	ctx, span := p.beginPost(ctx, "draft", work.Thread)
	made, err := p.Platform.Draft(ctx, work)
	endSpan(span, err)
	if err != nil {
		return nil, err
	}
	return &draft{made, p, work.Thread}, nil
}

// draft is a draft whose end is measured as a post.
type draft struct {
	chat.Draft
	poster *poster
	thread chat.ThreadID
}

// Finish implements chat.Draft.
func (d *draft) Finish(ctx context.Context, key chat.PostKey, post chat.Post) (chat.MessageID, error) {
	ctx, span := d.poster.beginPost(ctx, "post", d.thread)
	id, err := d.Draft.Finish(ctx, key, post)
	d.poster.endPost(span, err)
	return id, err
}
