package app

import (
	"context"

	"github.com/cairn-bot/cairn/internal/bot"
	"github.com/cairn-bot/cairn/internal/knowledge/suggest"
)

// Examples returns what finds example questions in the index.
func (l *Library) Examples() func(ctx context.Context, language string, limit int) ([]bot.Example, error) {
	suggester := suggest.New(l.Index)
	return func(ctx context.Context, language string, limit int) ([]bot.Example, error) {
		found, err := suggester.Suggest(ctx, language, limit)
		examples := make([]bot.Example, len(found))
		for i, suggestion := range found {
			examples[i] = bot.Example(suggestion)
		}
		return examples, err
	}
}
