package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"golang.org/x/sync/errgroup"

	"cairn/internal/adapters/web"
	"cairn/internal/bot"
	"cairn/internal/chat"
	"cairn/internal/config"
)

type webCommand struct {
	Listen string `long:"listen" value-name:"ADDRESS" description:"Address to listen at; default: the configuration's, else a free port of this machine."`
}

// Run serves until it is stopped.
func (c *webCommand) Run(ctx context.Context, in *invocation) (err error) {
	a, err := in.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = closing(err, a) }()
	handler, err := a.bot(ctx, ctx.Done())
	if err != nil {
		return err
	}
	a.work(ctx, handler)
	if c.Listen != "" {
		a.config.Web.Listen = c.Listen
	}
	page, err := a.web(ctx, handler, nil)
	if err != nil {
		return err
	}
	fmt.Fprintf(in.std.Out, "Ask at %s\n", page.URL())
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	parts, ctx := errgroup.WithContext(ctx)
	parts.Go(func() error { return page.Run(ctx, handler) })
	err = a.operationsApart(in.std.Out, handler, func(run func(context.Context, chat.Handler) error) {
		parts.Go(func() error { return run(ctx, handler) })
	})
	if err != nil {
		stop()
	}
	return errors.Join(err, parts.Wait())
}

// web listens for the page over what is indexed.
func (a *app) web(ctx context.Context, handler *bot.Bot, suggestions []string) (*web.Web, error) {
	stats, err := a.index.Stats(ctx)
	if err != nil {
		return nil, err
	}
	operations, err := a.operationsOnWeb(handler)
	if err != nil {
		return nil, err
	}
	options := web.Options{
		Addr: a.config.Web.Listen, Transcripts: handler, Controls: handler, Graphs: handler, Threads: handler,
		Logger: a.logger, Suggestions: suggestions, Everything: a.config.Access.Web == config.WebEverything, Operations: operations,
		Stats: fmt.Sprintf("%s, %s", count(stats.Documents, "document"), count(stats.Passages, "passage")),
	}
	if address, err := url.Parse(a.config.Web.URL); err == nil && address.Host != "" {
		options.Hosts = []string{address.Hostname()}
	}
	if a.config.Access.Web == config.WebSignIn {
		log, err := a.audit()
		if err != nil {
			return nil, err
		}
		provider := a.config.Operations
		options.SignIn = &web.SignIn{
			Issuer: provider.Issuer, ClientID: provider.ClientID, ClientSecret: provider.ClientSecret.Reveal(), URL: a.config.Web.URL,
			Changed: auditor{log}.webSigned,
		}
	}
	return web.New(options)
}
