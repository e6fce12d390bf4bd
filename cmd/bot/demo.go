package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"github.com/cairn-bot/cairn/docs"
	"github.com/cairn-bot/cairn/internal/adapters/terminal"
	"github.com/cairn-bot/cairn/internal/app"
	"github.com/cairn-bot/cairn/internal/config"
	"github.com/cairn-bot/cairn/internal/knowledge/ingest"
)

type demoCommand struct {
	Folder string `arg:"" name:"FOLDER" optional:"" help:"Try it on this folder instead of Cairn's own documentation."`
	Model  string `placeholder:"URL|NAME" help:"Have this language model write the answers: the address of a server that speaks OpenAI's wire format, such as http://localhost:11434/v1, of which the first model is taken, or URL#NAME; or the name of a model of the configuration, or of OpenAI's. The key, where one is needed, is that of CAIRN_LLM_KEY."`
	Listen string `placeholder:"ADDRESS" help:"Address of the page; default: a free port of this machine."`
}

// suggestions are questions that Cairn's own documentation answers.
var suggestions = []string{
	"How do I index a folder?",
	"When does Cairn ask back?",
	"What happens if the process is killed during an ingest?",
	"How are the answers made without a language model?",
}

// Run starts everything in one process, over a data directory that goes with it.
func (c *demoCommand) Run(ctx context.Context, in *invocation) (err error) {
	dir, err := os.MkdirTemp("", "cairn-demo-")
	if err != nil {
		return fmt.Errorf("make the demo's directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	configured, err := in.configuration()
	if err != nil {
		return err
	}
	if c.Model != "" {
		if configured.Models, err = demoModels(ctx, c.Model, configured.Models); err != nil {
			return fmt.Errorf("--model %s: %w", printable(c.Model), err)
		}
	}
	configured.DataDir, configured.Postgres.Address = dir, config.Address{}
	if c.Listen != "" {
		configured.Web.Listen = c.Listen
	}
	a, err := app.Open(ctx, app.NewSetup(configured, in.std.Err), app.Options{Index: app.WriteIndex, Ending: ctx.Done(), Pages: true})
	if err != nil {
		return err
	}
	defer func() { err = closeAfter(err, a) }()
	return c.serve(ctx, in, a)
}

// source is the folder to read: the one named, or Cairn's own documentation unpacked.
func (c *demoCommand) source(dir string) (config.Source, error) {
	if c.Folder != "" {
		absolute, err := filepath.Abs(c.Folder)
		return config.Source{Name: filepath.Base(absolute), Path: absolute}, err
	}
	unpacked := filepath.Join(dir, "docs")
	if err := os.CopyFS(unpacked, fs.FS(docs.Files)); err != nil {
		return config.Source{}, fmt.Errorf("unpack the documentation: %w", err)
	}
	return config.Source{Name: "docs", Path: unpacked}, nil
}

// serve reads the documents' text, then answers at once while the vectors are made.
func (c *demoCommand) serve(ctx context.Context, in *invocation, a *app.Cairn) error {
	source, err := c.source(a.Config.DataDir)
	if err != nil {
		return err
	}
	reading := &ingest.Ingester{Index: a.Index}
	report, err := reading.Sync(ctx, app.NewConnector(a.Config.DataDir, source))
	if err != nil {
		return err
	}
	printReport(in.std.Out, source.Name, report)
	fmt.Fprintln(in.std.Out, whoAnswers(a.Config))
	a.StartWork(ctx)
	offered := suggestions
	if c.Folder != "" {
		offered = nil
	}
	page, err := a.ListenForWeb(ctx, offered)
	if err != nil {
		return err
	}
	fmt.Fprintf(in.std.Out, "Ask in your browser at %s\n", page.URL())

	ctx, stop := context.WithCancel(ctx)
	defer stop()
	parts, ctx := errgroup.WithContext(ctx)
	parts.Go(func() error { return page.Run(ctx, a.Bot) })
	parts.Go(func() error { return a.ReportAgents(ctx) })
	parts.Go(func() error {
		_, err := a.Ingester(nil).Embed(ctx)
		return ignoreCanceled(err)
	})
	parts.Go(func() error {
		if !terminal.IsTerminal(in.std.In) {
			<-ctx.Done()
			return nil
		}
		defer stop()
		return talk(ctx, in.std, a.Bot, "Or ask here. /help shows more, /quit ends the demo.")
	})
	return parts.Wait()
}

func ignoreCanceled(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
