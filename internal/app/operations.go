package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"golang.org/x/sync/errgroup"

	"github.com/cairn-bot/cairn/internal/adapters/discord"
	"github.com/cairn-bot/cairn/internal/adapters/slack"
	"github.com/cairn-bot/cairn/internal/adapters/web/operations"
	"github.com/cairn-bot/cairn/internal/bot"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph/flows/analyze"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer"
	"github.com/cairn-bot/cairn/internal/graph/flows/buildcontext"
	"github.com/cairn-bot/cairn/internal/graph/flows/echo"
	"github.com/cairn-bot/cairn/internal/graph/flows/repo"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/listen"
	"github.com/cairn-bot/cairn/internal/runs"
)

// newOperations makes the page for those who run Cairn.
func (c *Cairn) newOperations() (*operations.Page, error) {
	configured := c.Config.Operations
	threads := c.Storage.Threads
	options := operations.Options{
		Records: threads.Records, Queues: threads.Runs, Sessions: threads.Sessions, Agents: c.Storage.Agents, Control: control{c.Bot}, Graphs: c.Bot, Redactor: c.Bot, Pins: pins{c},
		Audit: c.Audit, Logger: c.Logger, Flows: []string{analyze.Name, answer.Name, buildcontext.Name, echo.Name, repo.Name},
		Adapters: []string{discord.Name, slack.Name, "terminal", "web"},
		SignIn: operations.SignIn{
			Token: configured.Token.Reveal(), Issuer: configured.Issuer, ClientID: configured.ClientID,
			ClientSecret: configured.ClientSecret.Reveal(), Allowed: configured.Allowed,
		},
		URL: configured.URL, Sources: sources{c.Library}.listShown, Channel: askedIn,
	}
	if states, ok := c.Index.(index.IngestStates); ok {
		options.Ingests = states
	}
	switch {
	case c.Storage.Pages == nil:
	case c.Config.OperationsOnWeb():
		options.Pages = "/pages"
	case c.Config.Web.URL != "":
		options.Pages = c.Config.Web.URL + "/pages"
	}
	for _, shown := range c.Config.Shown() {
		options.Settings = append(options.Settings, operations.Setting(shown))
	}
	return operations.New(options)
}

// askedIn names where a run was asked for: "slack T1:C1", "web page".
func askedIn(record runs.Record) string {
	adapter := record.Thread.Adapter()
	switch channel, _ := channelOf(chat.Message{Thread: record.Thread, ID: record.Message}); channel {
	case "":
		return adapter
	case "page":
		return adapter + " page"
	default:
		return adapter + " " + channel
	}
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
func (c *Cairn) operationsOnWeb() (http.Handler, error) {
	if !c.Config.OperationsOnWeb() {
		return nil, nil
	}
	page, err := c.newOperations()
	if err != nil {
		return nil, err // and no page of nil
	}
	return page, nil
}

// startOperations serves the page where it has an address of its own, until ctx ends.
func (c *Cairn) startOperations(ctx context.Context, parts *errgroup.Group, out io.Writer) error {
	address := c.Config.Operations.Listen
	if address == "" {
		return nil
	}
	page, err := c.newOperations()
	if err != nil {
		return err
	}
	server, err := page.Listen(ctx, address)
	if err != nil {
		return listen.WithRemedy(err, "operations.listen")
	}
	parts.Go(func() error { return server.Run(ctx) })
	_, err = fmt.Fprintf(out, "Operations at %s\n", server.URL())
	return err
}
