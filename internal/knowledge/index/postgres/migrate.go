package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"

	"cairn/internal/knowledge/index"
)

//go:embed migrations/*.sql
var migrations embed.FS

// versionTable is where goose keeps which migrations were applied.
const versionTable = "cairn.migration"

// migrationLock is the advisory lock that a migration holds.
const migrationLock = writerLock + 1

// Migrate creates what an index needs in a database, or brings it up to what this
// program expects: the extension, and Cairn's tables in a schema of their own. It waits
// while another process migrates, and fails with index.ErrSchema if the tables are
// newer than this program. Of the options, URL and Logger count.
func Migrate(ctx context.Context, options Options) error {
	if err := again(ctx, func() error { return migrate(ctx, options) }); err != nil {
		return causeOf(ctx, fmt.Errorf("migrate: %w", explain(err)))
	}
	return nil
}

func migrate(ctx context.Context, options Options) (err error) {
	connection, err := connect(ctx, options.URL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, connection.Close(context.WithoutCancel(ctx))) }()
	if _, err := connection.Exec(ctx, "SELECT pg_advisory_lock($1)", int64(migrationLock)); err != nil {
		return fmt.Errorf("wait for other migrations: %w", err)
	}
	version, err := schemaVersion(ctx, connection)
	if err != nil {
		return err
	}
	if version > newestSchema() {
		return newerSchema(version)
	}
	if err := ensureExtension(ctx, connection, options.Logger); err != nil {
		return err
	}
	if version == newestSchema() {
		return nil
	}
	if _, err := connection.Exec(ctx, "CREATE SCHEMA IF NOT EXISTS cairn"); err != nil {
		return fmt.Errorf("create schema: %w", err)
	}
	return upgrade(ctx, connection.Config())
}

// upgrade applies the migrations that are due, each in a transaction.
func upgrade(ctx context.Context, config *pgx.ConnConfig) error {
	db := stdlib.OpenDB(*config)
	store, err := database.NewStore(goose.DialectPostgres, versionTable)
	if err != nil {
		return errors.Join(err, db.Close())
	}
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return errors.Join(err, db.Close())
	}
	provider, err := goose.NewProvider(goose.DialectCustom, db, files, goose.WithStore(store), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return errors.Join(err, db.Close())
	}
	_, err = provider.Up(ctx)
	return errors.Join(err, provider.Close())
}

// newestSchema is the version that the last migration leads to.
func newestSchema() int {
	files, err := migrations.ReadDir("migrations")
	if err != nil || len(files) == 0 {
		panic(fmt.Sprintf("embedded migrations: %d, %v", len(files), err))
	}
	number, _, _ := strings.Cut(path.Base(files[len(files)-1].Name()), "_")
	version, err := strconv.Atoi(number)
	if err != nil {
		panic(fmt.Sprintf("embedded migration without a number: %v", err))
	}
	return version
}

// schemaVersion is what the database's tables were migrated to, 0 if there are none.
func schemaVersion(ctx context.Context, connection *pgx.Conn) (int, error) {
	var version int
	err := connection.QueryRow(ctx, "SELECT coalesce(max(version_id), 0) FROM "+versionTable+" WHERE is_applied").Scan(&version)
	if isCode(err, noTable, noSchema) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read schema version: %w", err)
	}
	return version, nil
}

func newerSchema(version int) error {
	return fmt.Errorf("%w: the database has version %d, this program knows %d: use the newer `cairn`, it was migrated with that",
		index.ErrSchema, version, newestSchema())
}

// checkDatabase refuses a database that a reader can't use as it is.
func checkDatabase(ctx context.Context, options Options) error {
	return again(ctx, func() (err error) {
		connection, err := connect(ctx, options.URL)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, connection.Close(context.WithoutCancel(ctx))) }()
		version, err := schemaVersion(ctx, connection)
		switch {
		case err != nil:
			return err
		case version == 0:
			return fmt.Errorf("%w: there is no index in the database yet, run `cairn ingest` first", index.ErrSchema)
		case version > newestSchema():
			return newerSchema(version)
		case version < newestSchema():
			return fmt.Errorf("%w: the database has version %d, this program needs %d: run `cairn migrate`", index.ErrSchema, version, newestSchema())
		}
		installed, err := extensionVersion(ctx, connection)
		if err != nil {
			return err
		}
		return installed.check(options.Logger)
	})
}
