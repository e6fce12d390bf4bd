package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/terminal"
	"github.com/cairn-bot/cairn/internal/app"
	"github.com/cairn-bot/cairn/internal/config"
	"github.com/cairn-bot/cairn/internal/knowledge/connect"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/ingest"
)

type ingestCommand struct {
	Folders []string `arg:"" name:"FOLDER" optional:"" help:"Folders to read; default: the configured sources."`
	Name    string   `placeholder:"NAME" help:"Name of the source; default: the folder's."`
	URLBase string   `placeholder:"URL" help:"Address that the documents' links begin with, instead of the file's own."`
	Rebuild bool     `help:"Throw the index away first and build it anew."`
	DropOld bool     `name:"drop-old-vectors" help:"At the end, remove the vectors of embedding models that are not configured any more (PostgreSQL alone)."`
	Prune   bool     `help:"Remove what is gone, even where it is more than a fifth of a source."`
	Quiet   bool     `short:"q" help:"Print the summary alone."`
}

// Run brings the index up to date with each folder in turn.
func (c *ingestCommand) Run(ctx context.Context, in *invocation) error {
	configured, err := in.configuration()
	if err != nil {
		return err
	}
	sources, err := c.sources(configured)
	if err != nil {
		return err
	}
	return c.syncSources(ctx, in, configured, sources)
}

// syncSources brings the index up to date with each source in turn. One that fails does not keep
// the others from being read.
func (c *ingestCommand) syncSources(ctx context.Context, in *invocation, configured config.Config, sources []config.Source) (err error) {
	mode := app.WriteIndex
	if c.Rebuild {
		mode = app.RebuildIndex
	}
	library, err := app.OpenLibrary(ctx, app.NewSetup(configured, in.std.Err), mode)
	if err != nil {
		return err
	}
	defer func() { err = closeAfter(err, library) }()
	defer app.LimitSyncMemory()()
	if in.std.OwnProcess {
		if err := lowerPriority(); err != nil {
			library.Logger.DebugContext(ctx, "lower priority", "error", err)
		}
	}
	groups, closeGroups, err := app.OpenGrants(ctx, library.Setup, sources)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeGroups()) }()
	options := app.SyncOptions{Prune: c.Prune, Groups: groups}
	var failed []error
	for _, source := range sources {
		if ctx.Err() == nil {
			failed = append(failed, c.sync(ctx, library, in, source, options))
		}
	}
	if err := errors.Join(failed...); err != nil {
		return err
	}
	if c.DropOld {
		return dropOldVectors(ctx, library.Index, in)
	}
	return nil
}

// dropOldVectors removes the vectors that a change of the embedder left behind.
func dropOldVectors(ctx context.Context, opened index.Index, in *invocation) error {
	keeper, ok := opened.(index.EmbedderKeeper)
	if !ok {
		return errors.New("--drop-old-vectors: the index in the data directory holds the vectors of one embedding model alone")
	}
	dropped, err := keeper.DropOtherEmbedders(ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(in.std.Out, "Removed the vectors of %s.\n", count(dropped, "other embedding model"))
	return err
}

// sources gives what to read: the folders named, or else what is configured.
func (c *ingestCommand) sources(configured config.Config) ([]config.Source, error) {
	if len(c.Folders) == 0 && len(configured.Sources) == 0 {
		return nil, errors.New("nothing to read: name a folder, or configure sources (see docs/configuration.md)")
	}
	if len(c.Folders) == 0 {
		return skipPaused(configured.Sources), nil
	}
	if c.Name != "" && len(c.Folders) > 1 {
		return nil, errors.New("--name names one source: give one folder with it")
	}
	var sources []config.Source
	for _, folder := range c.Folders {
		absolute, err := filepath.Abs(folder)
		if err != nil {
			return nil, fmt.Errorf("folder %s: %w", folder, err)
		}
		name := c.Name
		if name == "" {
			name = filepath.Base(absolute)
		}
		sources = append(sources, config.Source{Name: name, Kind: config.SourceFiles, Path: absolute, URLBase: c.URLBase})
	}
	return sources, nil
}

func (c *ingestCommand) sync(ctx context.Context, library *app.Library, in *invocation, source config.Source, options app.SyncOptions) error {
	bar := newBar(in.std.Err, source.Name, !c.Quiet && terminal.IsTerminal(in.std.Err))
	options.Observe = bar.observe
	report, err := app.SyncSource(ctx, library, source, options)
	bar.finish()
	if err == nil || report.Passages > 0 {
		printReport(in.std.Out, source.Name, report.Report)
		printSkipped(in.std.Out, report.Skipped)
	}
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted: what was read is kept; run the command again to go on")
	}
	return err
}

// printReport says what a sync did, and lists what could not be read and why.
func printReport(out io.Writer, source string, report ingest.Report) {
	rate := ""
	if seconds := report.Took.Seconds(); report.Passages > 0 && seconds > 0 {
		rate = fmt.Sprintf(" (%.0f a second)", float64(report.Passages)/seconds)
	}
	fmt.Fprintf(out, "%s: %s added, %d updated, %d unchanged, %d removed; %s written%s, %d embedded; took %s\n",
		source, count(report.Added, "document"), report.Updated, report.Unchanged, report.Deleted,
		count(report.Passages, "passage"), rate, report.Embedded, report.Took.Round(10*time.Millisecond))
	if report.Held > 0 {
		fmt.Fprintf(out, "%s gone at the source, more than a fifth of it: they are kept until you confirm it with --prune\n", count(report.Held, "document"))
	}
	if report.Drafts > 0 {
		fmt.Fprintf(out, "%s left out: the front matter says that they are drafts\n", count(report.Drafts, "page"))
	}
	if len(report.Failures) == 0 {
		return
	}
	fmt.Fprintf(out, "%s could not be read:\n", count(len(report.Failures), "document"))
	for _, failure := range report.Failures {
		fmt.Fprintf(out, "  %s: %s\n", printable(failure.Path), printable(failure.Reason.Error()))
	}
}

// printSkipped says what was passed over without a look, by reason.
func printSkipped(out io.Writer, skipped []connect.Skipped) {
	if len(skipped) == 0 {
		return
	}
	reasons := make([]string, len(skipped))
	for i, s := range skipped {
		reasons[i] = fmt.Sprintf("%d %s", s.Count, s.Reason)
	}
	fmt.Fprintf(out, "passed over: %s\n", strings.Join(reasons, ", "))
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// printable keeps control characters of file names off the terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
}
