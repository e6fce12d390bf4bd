package app

import (
	"context"
	"errors"
	"fmt"
	"github.com/cairn-bot/cairn/internal/sqlite"
	"io/fs"
	"log/slog"
	"os"
	"slices"
)

// makeDataDir makes the directory of what no server keeps, where it is not there yet.
func makeDataDir(ctx context.Context, dir string, logger *slog.Logger) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the data directory: %w", err)
	}
	return closeDataDir(ctx, dir, logger)
}

// closeDataDir takes the rights of all other users of the machine from the data directory,
// and says so. A folder that holds files of others stays as it is, and is refused. Where the
// folder belongs to another user, as volumes of Kubernetes do, a warning has to do: the files
// in it are readable by nobody else. A directory that is not there is no error.
func closeDataDir(ctx context.Context, dir string, logger *slog.Logger) error {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().Perm()&0o007 == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at the data directory: %w", err)
	}
	mode := fmt.Sprintf("%o", info.Mode().Perm())
	ours, err := isDataDir(dir)
	if err != nil {
		return fmt.Errorf("look at the data directory: %w", err)
	}
	if !ours || info.Mode()&fs.ModeSticky != 0 {
		return fmt.Errorf("the data directory %s is open to all users of the machine (mode %s) and holds other files than Cairn's: "+
			"name a folder that is Cairn's alone with --data, or run chmod 700 %s", dir, mode, dir)
	}
	if err := os.Chmod(dir, info.Mode().Perm()&^0o077); err != nil {
		logger.WarnContext(ctx, "data directory is open to all users of the machine and belongs to another one; its files are readable by Cairn alone",
			"dir", dir, "mode", mode, "error", err)
		return nil
	}
	logger.WarnContext(ctx, "closed the data directory, which was open to all users of the machine", "dir", dir, "mode", mode)
	return nil
}

// AuditFile is the audit log of commands in the data directory, where audit.file names none.
const AuditFile = "audit.jsonl"

// dataFiles are names that tell a data directory.
var dataFiles = []string{"index.db", sqlite.DataFile, AuditFile, "eval", waitingDir}

// isDataDir tells whether a directory is empty or has files of Cairn.
func isDataDir(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false, err
	}
	entries = slices.DeleteFunc(entries, func(entry fs.DirEntry) bool { return entry.Name() == "lost+found" }) // of a volume's root
	return len(entries) == 0 || slices.ContainsFunc(entries, func(entry fs.DirEntry) bool {
		return slices.Contains(dataFiles, entry.Name())
	}), nil
}
