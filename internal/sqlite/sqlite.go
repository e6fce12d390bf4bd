// Package sqlite opens the files that Cairn keeps in the data directory: readable by the
// user that Cairn runs as and nobody else, and with deleted content overwritten.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	driver "modernc.org/sqlite" // pure Go
)

// fileMode is that of every file. SQLite gives the files beside a database its mode.
const fileMode fs.FileMode = 0o600

// The ends of the names of the files that SQLite keeps beside a database.
var suffixes = []string{"", "-wal", "-shm"}

// Open opens or makes a database with the driver's parameters, joined by "&".
func Open(path, parameters string) (*sql.DB, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, fileMode)
	switch {
	case err == nil:
		err = file.Close()
	case errors.Is(err, fs.ErrExist):
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("make the database: %w", err)
	}
	return OpenExisting(path, parameters)
}

// OpenExisting is Open for a database that must be there. It fails with fs.ErrNotExist.
func OpenExisting(path, parameters string) (*sql.DB, error) {
	if err := closeToOthers(path); err != nil {
		return nil, err
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	escaped := strings.ReplaceAll((&url.URL{Path: filepath.ToSlash(absolute)}).EscapedPath(), "?", "%3f")
	connector, err := driver.NewConnector("file:" + escaped + "?" + parameters)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(compilingConnector{connector}), nil
}

// closeToOthers takes the rights of other users from a database and the files beside it.
func closeToOthers(path string) error {
	for _, suffix := range suffixes {
		info, err := os.Stat(path + suffix)
		if suffix != "" && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		mode := info.Mode().Perm()
		if mode&^fileMode == 0 {
			continue
		}
		err = os.Chmod(path+suffix, mode&fileMode)
		if err != nil && (suffix == "" || !errors.Is(err, fs.ErrNotExist)) {
			return fmt.Errorf("other users may read the database (mode %o): have its owner run chmod 600 %s: %w", mode, path+suffix, err)
		}
	}
	return nil
}

// PurgeDeleted removes what is left of deleted rows from the files of a database: it builds
// the file anew, which leaves out parts of pages that rows were moved from, and empties the
// write-ahead log. Other processes may have the database open; they wait meanwhile.
func PurgeDeleted(ctx context.Context, db *sql.DB) error {
	if _, err := db.ExecContext(ctx, "VACUUM"); err != nil {
		return fmt.Errorf("build the database anew: %w", err)
	}
	var busy, logged, moved int
	if err := db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &logged, &moved); err != nil {
		return fmt.Errorf("empty the write-ahead log: %w", err)
	}
	if busy != 0 {
		return errors.New("empty the write-ahead log: another process uses the database: try again later")
	}
	return nil
}
