package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/jackc/pgx/v5"
)

// extension is a version of pgvector.
type extension [3]int

var (
	// oldestExtension is the first with iterative scans, without which a filtered
	// search loses what it should find.
	oldestExtension = extension{0, 8, 0}
	// safeExtension is the first that builds HNSW indexes in parallel without writing
	// past the end of a buffer. With older ones Cairn does not build in parallel.
	safeExtension = extension{0, 8, 2}
)

func (e extension) String() string { return fmt.Sprintf("%d.%d.%d", e[0], e[1], e[2]) }

func (e extension) olderThan(other extension) bool { return slices.Compare(e[:], other[:]) < 0 }

// checkVersion refuses a version that does not serve.
func (e extension) checkVersion() error {
	if e.olderThan(oldestExtension) {
		return fmt.Errorf("the database has pgvector %s, needed is %s or later: install it on the server, then run ALTER EXTENSION vector UPDATE", e, oldestExtension)
	}
	return nil
}

// warnKnownFault logs the known fault of a version.
func (e extension) warnKnownFault(logger *slog.Logger) {
	if e.olderThan(safeExtension) {
		logger.Warn("pgvector has a known security fault in parallel index builds; cairn does without them, other users of the server may not: update it",
			"version", e.String(), "fixed_in", safeExtension.String())
	}
}

// extensionVersion returns the version of pgvector that the database has.
func extensionVersion(ctx context.Context, connection *pgx.Conn) (extension, error) {
	var text string
	err := connection.QueryRow(ctx, "SELECT extversion FROM pg_extension WHERE extname = 'vector'").Scan(&text)
	if err != nil {
		return extension{}, fmt.Errorf("read version of pgvector: %w", err)
	}
	var version extension
	if _, err := fmt.Sscanf(text, "%d.%d.%d", &version[0], &version[1], &version[2]); err != nil {
		return extension{}, fmt.Errorf("read version of pgvector %q: %w", text, err)
	}
	return version, nil
}

// ensureExtension creates the extension if it is not there, and gives its version.
func ensureExtension(ctx context.Context, connection *pgx.Conn, logger *slog.Logger) (extension, error) {
	version, err := extensionVersion(ctx, connection)
	if errors.Is(err, pgx.ErrNoRows) {
		if err := createExtension(ctx, connection); err != nil {
			return extension{}, err
		}
		version, err = extensionVersion(ctx, connection)
	}
	if err != nil {
		return extension{}, err
	}
	if err := version.checkVersion(); err != nil {
		return extension{}, err
	}
	version.warnKnownFault(logger)
	return version, nil
}

func createExtension(ctx context.Context, connection *pgx.Conn) error {
	var available bool
	err := connection.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector')").Scan(&available)
	if err != nil {
		return fmt.Errorf("look for pgvector: %w", err)
	}
	if !available {
		return errors.New("the server has no pgvector: install its package there (Debian: postgresql-17-pgvector) or use an image that has it, then run `cairn migrate`")
	}
	_, err = connection.Exec(ctx, "CREATE EXTENSION vector")
	if isCode(err, noPrivilege) {
		return fmt.Errorf("the user of the URL may not create the extension pgvector: have an administrator run CREATE EXTENSION vector in database %s (%w)",
			connection.Config().Database, err)
	}
	if err != nil {
		return fmt.Errorf("create the extension pgvector: %w", err)
	}
	return nil
}
