package app

import (
	"context"
	"errors"

	"github.com/cairn-bot/cairn/internal/bot"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer"
)

// PlayOptions say how conversations are played.
type PlayOptions struct {
	Dir     string // that threads and runs are kept in
	Adapter string // that the threads are of
	Tuning  Tuning
}

// Played is a bot that conversations are played with, to measure what it says.
type Played struct {
	App
	Threads Threads
	Answers flows.Flow // the flow of plain messages
}

// OpenPlayed opens a bot over a library, which stays the caller's.
func OpenPlayed(ctx context.Context, l *Library, options PlayOptions) (_ *Played, err error) {
	p := &Played{}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
		}
	}()
	storage, err := openData(ctx, options.Dir)
	if err != nil {
		return nil, err
	}
	p.add(storage.Close)
	p.Threads = storage.Threads
	models, err := NewModels(l.Setup)
	if err != nil {
		return nil, err
	}
	var answers *answer.Flow
	if answers, err = NewAnswers(l, models.Models, options.Tuning); err != nil {
		return nil, err
	}
	p.add(func() error { return CloseAnswers(ctx, answers) })
	registered, err := NewFlows(l, storage.Pages, models, answers)
	if err != nil {
		return nil, err
	}
	p.Answers = registered[0]
	router, err := NewRouter(l.Setup, registered, models)
	if err != nil {
		return nil, err
	}
	p.Bot, err = bot.New(bot.Options{
		Store: storage.Runs, Flows: registered, Router: router,
		Examples: l.Examples(), Logger: l.Logger, Adapters: map[string]chat.Poster{options.Adapter: nil}, Catalog: l, ReadFile: l.recognizer.ReadAttached,
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}
