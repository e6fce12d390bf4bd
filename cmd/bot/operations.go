package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"cairn/internal/adapters/discord"
	"cairn/internal/adapters/slack"
	"cairn/internal/adapters/web/operations"
	"cairn/internal/bot"
	"cairn/internal/chat"
	"cairn/internal/graph/flows/analyze"
	"cairn/internal/graph/flows/answer"
	"cairn/internal/graph/flows/buildcontext"
	"cairn/internal/graph/flows/echo"
	"cairn/internal/graph/flows/repo"
	"cairn/internal/knowledge/index"
)

// operations makes the page for those who run Cairn, over the stores that the bot opened.
func (a *app) operations(handler *bot.Bot) (*operations.Page, error) {
	log, err := a.audit()
	if err != nil {
		return nil, err
	}
	configured := a.config.Operations
	options := operations.Options{
		Records: a.opened.records, Queues: a.opened.runs, Sessions: a.opened.sessions, Control: control{handler}, Graphs: handler, Redactor: handler,
		Audit: log, Logger: a.logger, Flows: []string{analyze.Name, answer.Name, buildcontext.Name, echo.Name, repo.Name},
		Adapters: []string{discord.Name, slack.Name, "terminal", "web"},
		SignIn: operations.SignIn{
			Token: configured.Token.Reveal(), Issuer: configured.Issuer, ClientID: configured.ClientID,
			ClientSecret: configured.ClientSecret.Reveal(), Allowed: configured.Allowed,
		},
		URL: configured.URL,
	}
	if states, ok := a.index.(index.IngestStates); ok {
		options.Ingests = states
	}
	for _, source := range a.config.Sources {
		options.Sources = append(options.Sources, source.Name)
	}
	for _, shown := range a.config.Shown() {
		options.Settings = append(options.Settings, operations.Setting(shown))
	}
	return operations.New(options)
}

// control does what operators ask of runs.
type control struct{ *bot.Bot }

// Cancel implements operations.Control.
func (c control) Cancel(ctx context.Context, run chat.RunID) error {
	err := c.Bot.Cancel(ctx, run)
	if errors.Is(err, bot.ErrNotGoingOn) {
		return fmt.Errorf("%w (%w)", operations.ErrNotGoingOn, err)
	}
	return err
}

// operationsOnWeb gives the page where it is on the web page's address, else nil.
func (a *app) operationsOnWeb(handler *bot.Bot) (http.Handler, error) {
	if !a.config.OperationsOnWeb() {
		return nil, nil
	}
	page, err := a.operations(handler)
	if err != nil {
		return nil, err // and no page of nil
	}
	return page, nil
}

// operationsApart begins to serve the page where it has an address of its own.
func (a *app) operationsApart(out io.Writer, handler *bot.Bot, begin func(run func(context.Context, chat.Handler) error)) error {
	address := a.config.Operations.Listen
	if address == "" {
		return nil
	}
	page, err := a.operations(handler)
	if err != nil {
		return err
	}
	server, err := page.Listen(address)
	if err != nil {
		return err
	}
	begin(func(ctx context.Context, _ chat.Handler) error { return server.Run(ctx) })
	_, err = fmt.Fprintf(out, "Operations at %s\n", server.URL())
	return err
}
