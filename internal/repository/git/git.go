// Package git reads what git knows of a checkout, and fetches one commit of a repository
// over HTTPS. It is made of go-git, which is Go alone: no program is started, so neither a
// hook nor a setting of a repository or of this machine has any effect, and every
// connection passes the check of addresses in dial.go.
package git

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/config"
	"github.com/go-git/go-git/v5/plumbing/format/index"
)

// State is what git knows of a checkout.
type State struct {
	Commit string // whole hash, "" before the first commit
	Remote string // the address of "origin" as it is configured, "" for none
	// Files are the paths of the tracked files. Links and submodules are not among them.
	Files      []string
	Links      int
	Submodules []string
}

// ErrNone is a folder that is not a git checkout by itself.
var ErrNone = errors.New("not a git checkout")

// maxSmall is the size of files of git that hold a line or a few.
const maxSmall = 1 << 20

// maxIndex is the size of git's list of files that is read, some 500,000 of them.
const maxIndex = 64 << 20

// Read returns the state of the checkout in a folder. Nothing outside of the folder is read:
// one whose .git is elsewhere (a worktree, a submodule) gives ErrNone.
func Read(root *os.Root) (State, error) {
	info, err := root.Lstat(".git")
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return State{}, ErrNone
	}
	if err != nil {
		return State{}, fmt.Errorf("read .git: %w", err)
	}
	var state State
	if state.Commit, err = readHead(root); err != nil {
		return State{}, err
	}
	if state.Remote, err = readOrigin(root); err != nil {
		return State{}, err
	}
	if err := state.readIndex(root); err != nil {
		return State{}, err
	}
	return state, nil
}

var commitHash = regexp.MustCompile(`^[0-9a-f]{40}(?:[0-9a-f]{24})?$`)

// readHead returns the commit that is checked out.
func readHead(root *os.Root) (string, error) {
	text, err := readSmallFile(root, ".git/HEAD")
	if err != nil {
		return "", err
	}
	name, symbolic := strings.CutPrefix(strings.TrimSpace(text), "ref: ")
	if !symbolic {
		return checkCommit(name)
	}
	if !strings.HasPrefix(name, "refs/") || path.Clean(name) != name {
		return "", fmt.Errorf("read .git/HEAD: %q is not a reference", name)
	}
	text, err = readSmallFile(root, ".git/"+name)
	if err == nil {
		return checkCommit(strings.TrimSpace(text))
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	packed, err := readSmallFile(root, ".git/packed-refs")
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(packed) {
		if commit, ref, found := strings.Cut(strings.TrimSpace(line), " "); found && ref == name {
			return checkCommit(commit)
		}
	}
	return "", nil
}

func checkCommit(commit string) (string, error) {
	if !commitHash.MatchString(commit) {
		return "", fmt.Errorf("read the commit of .git/HEAD: %q is not a hash", commit)
	}
	return commit, nil
}

// readOrigin returns the address that a checkout was cloned from.
func readOrigin(root *os.Root) (string, error) {
	text, err := readSmallFile(root, ".git/config")
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	settings := config.New()
	if err := config.NewDecoder(strings.NewReader(text)).Decode(settings); err != nil {
		return "", fmt.Errorf("read .git/config: %w", err)
	}
	return settings.Section("remote").Subsection("origin").Option("url"), nil
}

// readIndex reads the list of tracked files.
func (s *State) readIndex(root *os.Root) error {
	file, err := openRegular(root, ".git/index")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read .git/index: %w", err)
	}
	var list index.Index
	err = index.NewDecoder(bufio.NewReader(io.LimitReader(file, maxIndex))).Decode(&list)
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("read .git/index: %w", err)
	}
	for _, entry := range list.Entries {
		switch {
		case !fs.ValidPath(entry.Name) || entry.Stage != 0: // an unmerged file has three entries
		case entry.Mode == filemode.Symlink:
			s.Links++
		case entry.Mode == filemode.Submodule:
			s.Submodules = append(s.Submodules, entry.Name)
		default:
			s.Files = append(s.Files, entry.Name)
		}
	}
	return nil
}

// readSmallFile reads a file of a few lines.
func readSmallFile(root *os.Root, name string) (string, error) {
	file, err := openRegular(root, name)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	text, err := io.ReadAll(io.LimitReader(file, maxSmall+1))
	if err = errors.Join(err, file.Close()); err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	if len(text) > maxSmall {
		return "", fmt.Errorf("read %s: it has more than %d bytes", name, maxSmall)
	}
	return string(text), nil
}

// openRegular opens a file that is one: opening a pipe would wait for whoever writes to it.
func openRegular(root *os.Root, name string) (*os.File, error) {
	info, err := root.Stat(name)
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller names the file
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	return root.Open(name) //nolint:wrapcheck // as above
}
