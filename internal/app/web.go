package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"

	"github.com/dustin/go-humanize/english"
	"golang.org/x/sync/errgroup"

	"github.com/cairn-bot/cairn/internal/adapters/web"
	"github.com/cairn-bot/cairn/internal/bot"
	"github.com/cairn-bot/cairn/internal/config"
	"github.com/cairn-bot/cairn/internal/listen"
)

// ServeWeb answers on the web page, in one process, until ctx ends.
func ServeWeb(ctx context.Context, setup Setup, out io.Writer) (err error) {
	c, err := Open(ctx, setup, Options{Index: ReadIndex, Ending: ctx.Done(), Pages: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	c.StartWork(ctx)
	page, err := c.ListenForWeb(ctx, nil)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Ask at %s\n", page.URL())
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	parts, ctx := errgroup.WithContext(ctx)
	parts.Go(func() error { return page.Run(ctx, c.Bot) })
	parts.Go(func() error { return c.ReportAgents(ctx) })
	if err := c.startOperations(ctx, parts, out); err != nil {
		stop()
		return errors.Join(err, parts.Wait())
	}
	return parts.Wait()
}

// newViewer says where people read cited passages.
func newViewer(configured config.Config) bot.Viewer {
	return bot.Viewer{URL: configured.Web.URL, Restricted: configured.Access.Web != config.WebPublic}
}

// ListenForWeb listens for the web page, which offers suggestions as first questions.
func (c *Cairn) ListenForWeb(ctx context.Context, suggestions []string) (*web.Web, error) {
	stats, err := c.Index.Stats(ctx)
	if err != nil {
		return nil, err
	}
	operations, err := c.operationsOnWeb()
	if err != nil {
		return nil, err
	}
	written, err := newEditor(ctx, c)
	if err != nil {
		return nil, err
	}
	managed := bot.NewManager(c.Bot)
	options := web.Options{
		Addr: c.Config.Web.Listen, Transcripts: c.Bot, Controls: c.Bot, Graphs: c.Bot, Threads: c.Bot, Sources: c.Bot,
		Manager: managed, Rewriter: managed, Offers: managed, Pages: written, Uploads: c.Storage.Uploads, Pins: c.Bot.Curator(),
		Logger: c.Logger, Suggestions: suggestions, Everything: c.Config.Access.Web == config.WebEverything, Operations: operations,
		Stats: fmt.Sprintf("%s, %s", english.Plural(stats.Documents, "document", ""), english.Plural(stats.Passages, "passage", "")),
	}
	if address, err := url.Parse(c.Config.Web.URL); err == nil && address.Host != "" {
		options.Hosts = []string{address.Hostname()}
	}
	if c.Config.Access.Web == config.WebSignIn {
		provider := c.Config.Operations
		options.SignIn = &web.SignIn{
			Issuer: provider.Issuer, ClientID: provider.ClientID, ClientSecret: provider.ClientSecret.Reveal(), URL: c.Config.Web.URL,
			Changed: auditor{c.Audit}.webSigned,
		}
	}
	page, err := web.New(ctx, options)
	if err != nil {
		return nil, listen.WithRemedy(err, "--listen or web.listen")
	}
	return page, nil
}
