package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/cairn-bot/cairn/internal/app"
	"github.com/cairn-bot/cairn/internal/knowledge/index/postgres"
)

type migrateCommand struct {
	Check bool `help:"Change nothing: say what would be done, with exit code 1 if anything would."`
}

// Run brings the schema of the configured database up to what this program expects.
func (c *migrateCommand) Run(ctx context.Context, in *invocation) error {
	configured, err := in.configuration()
	if err != nil {
		return err
	}
	if configured.Postgres.URL.IsZero() {
		return errors.New("postgres.url names no database: the index in the data directory needs no migration (see docs/postgres.md)")
	}
	options := app.PostgresOptions(configured, nil, app.NewLogger(configured.Log, in.std.Err))
	if c.Check {
		due, err := postgres.DueMigration(ctx, options)
		if err != nil {
			return err
		}
		if due.IsDue() {
			return fmt.Errorf("the database is not up to date: `cairn migrate` would %s", c.describe(due))
		}
		return c.upToDate(in, due)
	}
	made, err := postgres.Migrate(ctx, options)
	if err != nil {
		return err
	}
	if !made.IsDue() {
		return c.upToDate(in, made)
	}
	_, err = fmt.Fprintf(in.std.Out, "Done: %s.\n", c.describe(made))
	return err
}

func (c *migrateCommand) upToDate(in *invocation, made postgres.Migration) error {
	_, err := fmt.Fprintf(in.std.Out, "The database is up to date: schema version %d, pgvector %s.\n", made.To, made.Extension)
	return err
}

// describe says what a migration does, in the imperative.
func (c *migrateCommand) describe(made postgres.Migration) string {
	text := ""
	switch {
	case made.Extension == "":
		text = "create the extension pgvector, "
	case made.Installed:
		text = "create the extension pgvector " + made.Extension + ", "
	}
	if made.From == 0 {
		return fmt.Sprintf("%screate the schema cairn in version %d", text, made.To)
	}
	return fmt.Sprintf("%sbring the schema cairn from version %d to %d", text, made.From, made.To)
}
