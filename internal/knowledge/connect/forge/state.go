package forge

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

const (
	stateName    = "state.json"
	stateVersion = 1
	// relistAfter is how old a whole listing may be: what no count and no time tells is found by the
	// next one.
	relistAfter = 24 * time.Hour
	// overlap is how far the clocks of a forge's servers may be apart.
	overlap = 2 * time.Minute
)

// state is what a connector remembers between two syncs. All of it may be lost.
type state struct {
	Version      int                         `json:"version"`
	Repositories map[string]*repositoryState `json:"repositories"`
}

// repositoryState is what is remembered of a repository.
type repositoryState struct {
	Looked time.Time           `json:"looked"` // when it was read to its end
	Lists  map[Part]*listState `json:"lists,omitempty"`
}

// listState is where the listing of a part ended.
type listState struct {
	Since  time.Time `json:"since"`          // what changed before is read
	Listed time.Time `json:"listed"`         // when it was last listed as a whole
	Known  string    `json:"known"`          // digest of what the index then has of the part
	Left   []string  `json:"left,omitempty"` // keys of items that are no documents, in order
}

// loadState reads what is remembered. What can't be read counts as lost.
func loadState(folder string) *state {
	empty := &state{Version: stateVersion, Repositories: make(map[string]*repositoryState)}
	if folder == "" {
		return empty
	}
	text, err := os.ReadFile(filepath.Join(folder, stateName))
	if err != nil {
		return empty
	}
	return parseState(text, empty)
}

func parseState(text []byte, otherwise *state) *state {
	read := &state{}
	if json.Unmarshal(text, read) != nil || read.Version != stateVersion {
		return otherwise
	}
	if read.Repositories == nil {
		read.Repositories = otherwise.Repositories
	}
	maps.DeleteFunc(read.Repositories, func(_ string, r *repositoryState) bool { return r == nil })
	for _, r := range read.Repositories {
		maps.DeleteFunc(r.Lists, func(_ Part, l *listState) bool { return l == nil })
	}
	return read
}

// save writes what is remembered.
func (s *state) save(folder string) error { return saveJSON(folder, stateName, s) }

// saveJSON writes a file of the connector's folder, whole or not at all.
func saveJSON(folder, name string, content any) (err error) {
	if folder == "" {
		return nil
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("keep %s of the forge: %w", name, err)
		}
	}()
	text, err := json.Marshal(content)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(folder, name+".")
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err := errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return os.Rename(file.Name(), filepath.Join(folder, name))
}

// repository gives what is remembered of a repository.
func (s *state) repository(name string) *repositoryState {
	found, ok := s.Repositories[name]
	if !ok {
		found = &repositoryState{}
		s.Repositories[name] = found
	}
	if found.Lists == nil {
		found.Lists = make(map[Part]*listState)
	}
	return found
}

// digest stands for what the index has of a part: the hashes of its documents by their keys. What
// an index has that a sync did not write, as one that was killed, or another process's, does not
// match what the sync remembered.
func digest(hashes map[string]string) string {
	sum := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(hashes)) {
		fmt.Fprintf(sum, "%q %q\n", key, hashes[key])
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}
