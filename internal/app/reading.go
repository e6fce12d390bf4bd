package app

import (
	"context"
	"errors"
	"fmt"
	"os"

	"cairn/internal/access"
	"cairn/internal/bot"
	"cairn/internal/chat"
	"cairn/internal/document"
)

// OpenReading opens a bot that reads what is below a folder, "" for none, and repositories that
// may be fetched. It needs no index, and its threads are forgotten when it is closed.
func OpenReading(ctx context.Context, setup Setup, folder string) (_ *App, err error) {
	a := &App{}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.Close())
		}
	}()
	dir, err := os.MkdirTemp("", "cairn-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for what is worked at: %w", err)
	}
	a.add(func() error { return os.RemoveAll(dir) })
	storage, err := openData(ctx, dir)
	if err != nil {
		return nil, err
	}
	a.add(storage.Close)
	models, err := NewModels(setup)
	if err != nil {
		return nil, err
	}
	var roots []string
	if folder != "" {
		roots = []string{folder}
	}
	readers, err := newDocumentFlows(document.Options{Roots: roots}, models.Answer)
	if err != nil {
		return nil, err
	}
	reports, err := newReports(repositoryOptions{roots: roots, hosts: setup.Config.Flows.Repositories}, models.Answer)
	if err != nil {
		return nil, err
	}
	a.Bot, err = bot.New(bot.Options{
		Store: storage.Runs, Flows: append(readers, reports), Logger: setup.Logger,
		Adapters: map[string]chat.Poster{"terminal": nil}, Access: access.NewResolver(access.Options{Logger: setup.Logger}),
	})
	if err != nil {
		return nil, err
	}
	return a, nil
}
