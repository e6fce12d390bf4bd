package app

import (
	"context"
	"errors"

	"github.com/cairn-bot/cairn/internal/access"
	"github.com/cairn-bot/cairn/internal/bot"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/document"
	"github.com/cairn-bot/cairn/internal/graph/flows"
)

// OpenReading opens a bot that reads what is below a folder, "" for none, and repositories that
// may be fetched. It needs no index, and keeps its threads in a directory of their own, dir.
func OpenReading(ctx context.Context, setup Setup, folder, dir string) (_ *App, err error) {
	a := &App{}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.Close())
		}
	}()
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
	readers, err := newDocumentFlows(document.Options{Roots: roots}, models)
	if err != nil {
		return nil, err
	}
	reports, err := newReports(repositoryOptions{roots: roots, hosts: setup.Config.Flows.Repositories}, models)
	if err != nil {
		return nil, err
	}
	relays, err := openRelays(setup.Config.Inspect)
	if err != nil {
		return nil, err
	}
	a.add(relays.Close)
	looker, err := openBrowser(setup.Config.Inspect)
	if err != nil {
		return nil, err
	}
	if looker != nil {
		a.add(looker.Close)
	}
	screens, err := newScreens(screenOptions{repositoryOptions{roots: roots, hosts: setup.Config.Flows.Repositories}, setup.Config.Inspect, relays, looker}, models)
	if err != nil {
		return nil, err
	}
	a.Bot, err = bot.New(bot.Options{
		// Replies to a draft are all for the flow that asked, which is why it is not the first one.
		Store: storage.Runs, Flows: append([]flows.Flow{reports, screens}, readers...), Logger: setup.Logger, ExpireAfter: WaitingTime,
		Adapters: map[string]chat.Poster{"terminal": nil}, Access: access.NewResolver(access.Options{Logger: setup.Logger}),
	})
	if err != nil {
		return nil, err
	}
	return a, nil
}
