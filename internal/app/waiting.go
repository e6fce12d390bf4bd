package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
)

const (
	// waitingDir is the folder of the data directory with a folder for each run that a command
	// left waiting for a reply.
	waitingDir = "waiting"
	// waitingFile is the file of a waiting run's folder that says how to go on with it.
	waitingFile = "reply.json"
	// waitingVersion is the version of WaitingRun in that file.
	waitingVersion = 1
	// WaitingTime is how long such a run is kept.
	WaitingTime = 30 * 24 * time.Hour
)

// WaitingRun is a run that a command left waiting for a reply.
type WaitingRun struct {
	Run    chat.RunID
	Thread chat.ThreadID
	Author chat.UserID
	Flow   string
	Where  string // what it reads: an absolute path, an address, or a collection with an @ before it
	// Dir is the folder that it is kept in, with its storage where it reads no collection.
	Dir string
}

// waitingDoc is a WaitingRun as it is stored.
type waitingDoc struct {
	Version int           `json:"version"`
	Thread  chat.ThreadID `json:"thread"`
	Author  chat.UserID   `json:"author"`
	Flow    string        `json:"flow,omitempty"`
	Where   string        `json:"where"`
}

// KeepWaiting keeps a run below the data directory, with the storage in a folder, "" for none,
// which must be closed. Runs that were kept for longer than WaitingTime are removed.
func KeepWaiting(setup Setup, waiting WaitingRun, storage string) error {
	dir, err := waitingFolder(setup, waiting.Run)
	if err != nil {
		return err
	}
	if err := removeOutdated(filepath.Dir(dir)); err != nil {
		return fmt.Errorf("keep run %s: %w", waiting.Run, err)
	}
	content, err := json.Marshal(waitingDoc{Version: waitingVersion, Thread: waiting.Thread, Author: waiting.Author, Flow: waiting.Flow, Where: waiting.Where})
	if err != nil {
		return fmt.Errorf("keep run %s: %w", waiting.Run, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("keep run %s: %w", waiting.Run, err)
	}
	// First, so that a copy that was broken off is outdated, and forgotten, as well.
	if err := os.WriteFile(filepath.Join(dir, waitingFile), content, 0o600); err != nil {
		return fmt.Errorf("keep run %s: %w", waiting.Run, err)
	}
	if storage != "" {
		if err := copyStorage(dir, storage); err != nil {
			return fmt.Errorf("keep run %s: %w", waiting.Run, err)
		}
	}
	return nil
}

// copyStorage copies the files of a storage, which stay readable by nobody else.
func copyStorage(to, from string) error {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return fmt.Errorf("copy its storage: %w", err)
	}
	entries, err := os.ReadDir(to)
	if err != nil {
		return fmt.Errorf("copy its storage: %w", err)
	}
	for _, entry := range entries {
		if err := os.Chmod(filepath.Join(to, entry.Name()), 0o600); err != nil {
			return fmt.Errorf("copy its storage: %w", err)
		}
	}
	return nil
}

// FindWaiting finds a run that was kept. An error says what to do.
func FindWaiting(setup Setup, run chat.RunID) (WaitingRun, error) {
	dir, err := waitingFolder(setup, run)
	if err != nil {
		return WaitingRun{}, err
	}
	content, err := os.ReadFile(filepath.Join(dir, waitingFile))
	if errors.Is(err, fs.ErrNotExist) {
		return WaitingRun{}, fmt.Errorf("no run %s waits for a reply in %s: it was answered, it is too old, or --data names another directory", run, setup.Config.DataDir)
	}
	if err != nil {
		return WaitingRun{}, fmt.Errorf("find run %s: %w", run, err)
	}
	var doc waitingDoc
	if err := json.Unmarshal(content, &doc); err != nil {
		return WaitingRun{}, fmt.Errorf("find run %s: %s: %w", run, waitingFile, err)
	}
	if doc.Version != waitingVersion {
		return WaitingRun{}, fmt.Errorf("find run %s: %s has version %d, this program reads %d: reply with the program that kept it", run, waitingFile, doc.Version, waitingVersion)
	}
	return WaitingRun{Run: run, Thread: doc.Thread, Author: doc.Author, Flow: doc.Flow, Where: doc.Where, Dir: dir}, nil
}

// ForgetWaiting removes the runs of a person from the data directory, with all that they hold.
func ForgetWaiting(setup Setup, author chat.UserID) error {
	entries, err := os.ReadDir(filepath.Join(setup.Config.DataDir, waitingDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget the waiting runs of %s: %w", author, err)
	}
	var failed []error
	for _, entry := range entries {
		file := filepath.Join(setup.Config.DataDir, waitingDir, entry.Name(), waitingFile)
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			continue // nothing is kept in it yet, or no more
		}
		waiting, err := FindWaiting(setup, chat.RunID(entry.Name()))
		switch {
		case err != nil:
			failed = append(failed, err)
		case waiting.Author == author:
			failed = append(failed, waiting.Remove())
		}
	}
	if err := errors.Join(failed...); err != nil {
		return fmt.Errorf("forget the waiting runs of %s: %w", author, err)
	}
	return nil
}

// Remove removes a run that waits no longer.
func (w WaitingRun) Remove() error {
	if err := os.RemoveAll(w.Dir); err != nil {
		return fmt.Errorf("remove run %s: %w", w.Run, err)
	}
	return nil
}

// waitingFolder returns the folder of a run. An id that is no plain name is refused.
func waitingFolder(setup Setup, run chat.RunID) (string, error) {
	name := string(run)
	if name == "" || name == "." || !filepath.IsLocal(name) || filepath.Base(name) != name {
		return "", fmt.Errorf("%q is the id of no run: type it as it was printed", name)
	}
	return filepath.Join(setup.Config.DataDir, waitingDir, name), nil
}

// removeOutdated removes the runs of a folder that were kept long enough.
func removeOutdated(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look for old runs: %w", err)
	}
	for _, entry := range entries {
		info, err := os.Stat(filepath.Join(dir, entry.Name(), waitingFile))
		if err != nil || time.Since(info.ModTime()) < WaitingTime {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, entry.Name())); err != nil {
			return fmt.Errorf("remove an old run: %w", err)
		}
	}
	return nil
}
