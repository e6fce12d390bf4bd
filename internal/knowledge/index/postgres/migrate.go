package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"

	"github.com/cairn-bot/cairn/internal/knowledge/index"
)

//go:embed migrations/*.sql
var migrations embed.FS

// versionTable is where goose keeps which migrations were applied.
const versionTable = "cairn.migration"

// migrationLock is the advisory lock that a migration holds.
const migrationLock = writerLock + 1

// Migration is what a migration did, or would do.
type Migration struct {
	Database  string // its name
	From, To  int    // versions of the schema; From is 0 where there was none
	Installed bool   // pgvector was created in the database
	Extension string // version of pgvector, "" where there is none yet
}

// IsDue reports whether anything was, or would be, changed.
func (m Migration) IsDue() bool { return m.From != m.To || m.Installed || m.Extension == "" }

// Migrate creates what an index needs in a database, or brings it up to what this
// program expects: the extension, and Cairn's tables in a schema of their own. It waits
// while another process migrates, and fails with index.ErrSchema if the tables are
// newer than this program. Of the options, URL and Logger count.
func Migrate(ctx context.Context, options Options) (Migration, error) {
	var made Migration
	err := onConnection(ctx, options.URL, func(connection *pgx.Conn) (err error) {
		made, err = migrateSchema(ctx, connection, options.Logger)
		return err
	})
	if err != nil {
		return Migration{}, fmt.Errorf("migrate: %w", err)
	}
	return made, nil
}

// DueMigration returns what Migrate would do, and changes nothing.
func DueMigration(ctx context.Context, options Options) (Migration, error) {
	var due Migration
	err := onConnection(ctx, options.URL, func(connection *pgx.Conn) (err error) {
		due, err = dueMigration(ctx, connection)
		return err
	})
	if err != nil {
		return Migration{}, fmt.Errorf("look for due migrations: %w", err)
	}
	return due, nil
}

// onConnection runs something on a connection of its own; again, if it is lost.
func onConnection(ctx context.Context, url string, use func(*pgx.Conn) error) error {
	err := retryConnection(ctx, func() (err error) {
		connection, err := connect(ctx, url)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, connection.Close(context.WithoutCancel(ctx))) }()
		return use(connection)
	})
	return causeOf(ctx, explainError(err))
}

func dueMigration(ctx context.Context, connection *pgx.Conn) (Migration, error) {
	due := Migration{Database: connection.Config().Database, To: newestSchema()}
	var err error
	if due.From, err = schemaVersion(ctx, connection); err != nil {
		return Migration{}, err
	}
	if due.From > due.To {
		return Migration{}, newerSchema(due.From)
	}
	version, err := extensionVersion(ctx, connection)
	if errors.Is(err, pgx.ErrNoRows) {
		return due, nil
	}
	due.Extension = version.String()
	return due, err
}

func migrateSchema(ctx context.Context, connection *pgx.Conn, logger *slog.Logger) (Migration, error) {
	if _, err := connection.Exec(ctx, "SELECT pg_advisory_lock($1)", int64(migrationLock)); err != nil {
		return Migration{}, fmt.Errorf("wait for other migrations: %w", err)
	}
	due, err := dueMigration(ctx, connection)
	if err != nil {
		return Migration{}, err
	}
	due.Installed = due.Extension == ""
	version, err := ensureExtension(ctx, connection, logger)
	if err != nil {
		return Migration{}, err
	}
	due.Extension = version.String()
	if due.From == due.To {
		return due, nil
	}
	if _, err := connection.Exec(ctx, "CREATE SCHEMA IF NOT EXISTS cairn"); err != nil {
		return Migration{}, fmt.Errorf("create schema: %w", err)
	}
	return due, applyMigrations(ctx, connection.Config())
}

// applyMigrations applies the migrations that are due, each in a transaction.
func applyMigrations(ctx context.Context, config *pgx.ConnConfig) error {
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

// newestSchema returns the version that the last migration leads to.
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

// schemaVersion returns what the database's tables were migrated to, 0 if there are none.
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

// checkDatabase refuses a database that has not what this program expects.
func checkDatabase(ctx context.Context, options Options) error {
	return onConnection(ctx, options.URL, func(connection *pgx.Conn) error {
		version, err := schemaVersion(ctx, connection)
		switch {
		case err != nil:
			return err
		case version == 0:
			return fmt.Errorf("%w: there are no tables of Cairn in database %s yet: run `cairn migrate`", index.ErrSchema, connection.Config().Database)
		case version > newestSchema():
			return newerSchema(version)
		case version < newestSchema():
			return fmt.Errorf("%w: the database has version %d, this program needs %d: run `cairn migrate`", index.ErrSchema, version, newestSchema())
		}
		installed, err := extensionVersion(ctx, connection)
		if errors.Is(err, pgx.ErrNoRows) {
			return fmt.Errorf("database %s lacks the extension pgvector: run `cairn migrate`", connection.Config().Database)
		}
		if err != nil {
			return err
		}
		if err := installed.checkVersion(); err != nil {
			return err
		}
		if !options.ReadOnly {
			installed.warnKnownFault(options.Logger)
		}
		return nil
	})
}
