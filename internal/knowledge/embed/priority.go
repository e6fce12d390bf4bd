package embed

import "context"

type backgroundKey struct{}

// WithBackground marks work that nobody waits for, such as embedding documents: embedders
// that share their processor let other calls go before it.
func WithBackground(ctx context.Context) context.Context {
	return context.WithValue(ctx, backgroundKey{}, true)
}

// IsBackground says whether WithBackground marked the context.
func IsBackground(ctx context.Context) bool {
	background, _ := ctx.Value(backgroundKey{}).(bool)
	return background
}
