package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"

	"github.com/cairn-bot/cairn/internal/app"
	"github.com/cairn-bot/cairn/internal/audit"
	"github.com/cairn-bot/cairn/internal/config"
	"github.com/cairn-bot/cairn/internal/transfer"
)

type exportCommand struct {
	File string `arg:"" help:"File to write, which must not be there yet; - is the standard output."`
}

// Run writes what is kept beside the index to a file that its user alone can read.
func (c *exportCommand) Run(ctx context.Context, in *invocation) (err error) {
	configured, storage, err := openStorage(ctx, in)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, storage.Close()) }()
	var counts transfer.Counts
	err = recordAction(ctx, configured, audit.Entry{Action: audit.ExportData, Target: c.File}, func() (err error) {
		program, _ := buildVersion()
		source := transfer.Source{Program: program, At: time.Now(), Configuration: shownConfiguration(configured)}
		counts, err = c.write(in.std.Out, func(to io.Writer) (transfer.Counts, error) {
			return transfer.Export(ctx, storesOf(storage), source, to)
		})
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(in.std.Err, "Exported %s.\n", describeCounts(counts))
	if counts.Open > 0 {
		fmt.Fprintf(in.std.Err, "%s still open and left out: nothing could go on with them.\n", isOrAre(counts.Open, "run"))
	}
	return nil
}

// write opens the file and has it written.
func (c *exportCommand) write(out io.Writer, export func(io.Writer) (transfer.Counts, error)) (counts transfer.Counts, err error) {
	if c.File != "-" {
		file, err := os.OpenFile(c.File, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return counts, fmt.Errorf("write the export: %w", err)
		}
		defer func() {
			if closed := file.Close(); err == nil {
				err = closed
			}
		}()
		out = file
	}
	buffered := bufio.NewWriter(out)
	if counts, err = export(buffered); err != nil {
		return counts, err
	}
	return counts, buffered.Flush()
}

type importCommand struct {
	File string `arg:"" help:"File that export wrote; - is the standard input."`
}

// Run reads an export into the configured stores.
func (c *importCommand) Run(ctx context.Context, in *invocation) (err error) {
	from := in.std.In
	if c.File != "-" {
		file, err := os.Open(c.File)
		if err != nil {
			return fmt.Errorf("read the export: %w", err)
		}
		defer file.Close() //nolint:errcheck // it was only read
		from = file
	}
	configured, storage, err := openStorage(ctx, in)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, storage.Close()) }()
	var counts transfer.Counts
	err = recordAction(ctx, configured, audit.Entry{Action: audit.ImportData, Target: c.File}, func() (err error) {
		counts, err = transfer.Import(ctx, storesOf(storage), from)
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(in.std.Out, "Imported %s.\n", describeCounts(counts))
	if counts.Kept > 0 {
		fmt.Fprintf(in.std.Out, "%s there already and left as before.\n", isOrAre(counts.Kept, "entry"))
	}
	if counts.Pageless > 0 {
		fmt.Fprintf(in.std.Out, "%s left out: beside Redis, pages need a PostgreSQL (postgres.url).\n", isOrAre(counts.Pageless, "page"))
	}
	_, err = fmt.Fprintln(in.std.Out, "The configuration and its secrets are not imported: compare the line \"configuration\" of the file with yours.")
	return err
}

// openStorage opens the configured stores without the index.
func openStorage(ctx context.Context, in *invocation) (config.Config, *app.Storage, error) {
	configured, err := in.configuration()
	if err != nil {
		return config.Config{}, nil, err
	}
	if err := os.MkdirAll(configured.DataDir, 0o700); err != nil {
		return config.Config{}, nil, fmt.Errorf("make the data directory: %w", err)
	}
	storage, err := app.OpenStorage(ctx, app.NewSetup(configured, in.std.Err))
	return configured, storage, err
}

func storesOf(storage *app.Storage) transfer.Stores {
	stores := transfer.Stores{Records: storage.Records, Sessions: storage.Sessions, Settings: storage.Settings, Pinned: storage.Pinned}
	if storage.Pages != nil {
		stores.Pages = storage.Pages.Store()
	}
	return stores
}

// shownConfiguration is the configuration without its secrets.
func shownConfiguration(configured config.Config) []transfer.Shown {
	var shown []transfer.Shown
	for _, setting := range configured.Shown() {
		if !setting.Secret {
			shown = append(shown, transfer.Shown{Key: setting.Key, Value: setting.Value})
		}
	}
	return shown
}

func describeCounts(counts transfer.Counts) string {
	return strings.Join([]string{
		fmt.Sprintf("%s in %s", count(counts.Pages, "page"), count(counts.Versions, "version")), count(counts.Threads, "thread"), count(counts.Runs, "run"),
		count(counts.Ratings, "rating"), count(counts.Pinned, "pinned answer"), count(counts.Settings, "setting"),
	}, ", ")
}

// isOrAre says "1 page is", "2 pages are".
func isOrAre(n int, noun string) string {
	verb := "are"
	if n == 1 {
		verb = "is"
	}
	return english.Plural(n, noun, "") + " " + verb
}
