package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/cairn-bot/cairn/internal/app"
	"github.com/cairn-bot/cairn/internal/config"
	"github.com/cairn-bot/cairn/internal/knowledge/index/postgres"
)

type configCheckCommand struct {
	Models   bool `help:"Also send one small request to each configured model, and say how long it took or what is wrong."`
	Postgres bool `help:"Also connect to the database of postgres.url and to its replica, and say what they have or what is wrong."`
}

// Run loads the configuration; its errors are the command's.
func (c *configCheckCommand) Run(ctx context.Context, in *invocation) error {
	configured, err := in.configuration()
	if err != nil {
		return err
	}
	from := "There is no file: these are the defaults and the environment's settings."
	if configured.File != "" {
		from = "It comes from " + configured.File + " and the environment:"
	}
	if _, err := fmt.Fprintf(in.std.Out, "The configuration is sound. %s\n\n%s", from, configured); err != nil {
		return err
	}
	if c.Models {
		err = checkConfiguredModels(ctx, in.std.Out, configured.Models)
	}
	if c.Postgres {
		err = errors.Join(err, checkPostgres(ctx, in, configured))
	}
	return err
}

func checkConfiguredModels(ctx context.Context, out io.Writer, models []config.Model) error {
	if len(models) == 0 {
		return errors.New("no model is configured, so there is none to check: see docs/configuration.md")
	}
	fmt.Fprintln(out)
	failed := 0
	for _, result := range checkModels(ctx, models) {
		if result.err != nil {
			failed++
		}
		if _, err := fmt.Fprintln(out, result); err != nil {
			return err
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %s gave no reply", failed, count(len(models), "model"))
	}
	return nil
}

// checkPostgres looks into the database, and into its replica if there is one.
func checkPostgres(ctx context.Context, in *invocation, configured config.Config) error {
	if configured.Postgres.URL.IsZero() {
		return errors.New("postgres.url names no database, so there is none to check: see docs/postgres.md")
	}
	options := app.PostgresOptions(configured, nil, app.NewLogger(configured.Log, in.std.Err))
	err := checkDatabase(ctx, in.std.Out, "postgres.url", options)
	if options.ReadURL != "" {
		options.URL = options.ReadURL
		err = errors.Join(err, checkDatabase(ctx, in.std.Out, "postgres.read_url", options))
	}
	return err
}

// checkDatabase says what the database that a setting names has.
func checkDatabase(ctx context.Context, out io.Writer, setting string, options postgres.Options) error {
	due, err := postgres.DueMigration(ctx, options)
	if err != nil {
		fmt.Fprintf(out, "\n%s: FAILED: %s\n", setting, printable(err.Error()))
		return fmt.Errorf("the database of %s can't be used as it is", setting)
	}
	if due.IsDue() {
		fmt.Fprintf(out, "\n%s: database %s: schema version %d of %d: run `cairn migrate`\n", setting, due.Database, due.From, due.To)
		return fmt.Errorf("the database of %s is not up to date", setting)
	}
	_, err = fmt.Fprintf(out, "\n%s: database %s: schema version %d, pgvector %s, up to date\n", setting, due.Database, due.To, due.Extension)
	return err
}

type configExampleCommand struct{}

// Run prints the example.
func (c *configExampleCommand) Run(_ context.Context, in *invocation) error {
	_, err := fmt.Fprint(in.std.Out, config.Example())
	return err
}
