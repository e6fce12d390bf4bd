package git_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/publicnet"
	"github.com/cairn-bot/cairn/internal/repository/git"
	"github.com/cairn-bot/cairn/internal/repository/git/gittest"
)

// mirrored is a repository that is served, and a mirror of it.
type mirrored struct {
	t       *testing.T
	origin  string // its folder
	options git.MirrorOptions
}

func newMirrored(t *testing.T) *mirrored {
	served := t.TempDir()
	gittest.Origin(t, served)
	server := gittest.Serve(t, served)
	return &mirrored{t, filepath.Join(served, "team", "app.git"), git.MirrorOptions{
		Options: gittest.Local(server, git.Options{AllowPrivate: true}), Address: server.URL + "/team/app.git", Folder: filepath.Join(t.TempDir(), "mirror"),
	}}
}

func (m *mirrored) commit(files map[string]string, removed ...string) {
	m.t.Helper()
	for _, name := range removed {
		gittest.Run(m.t, m.origin, "rm", "-rq", name)
	}
	gittest.Write(m.t, m.origin, files)
	for name := range files {
		gittest.Run(m.t, m.origin, "add", name)
	}
	gittest.Run(m.t, m.origin, "commit", "-qm", "change")
}

// wants updates the mirror, and compares its files with those of the repository.
func (m *mirrored) wants(files map[string]string) git.Checkout {
	m.t.Helper()
	checkout, err := git.NewMirror(m.options).Update(m.t.Context())
	if err != nil {
		m.t.Fatal(err)
	}
	found := make(map[string]string)
	err = filepath.WalkDir(checkout.Folder, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, readErr := os.ReadFile(path)
		name, err := filepath.Rel(checkout.Folder, path)
		found[name] = string(text)
		return errors.Join(readErr, err)
	})
	if err != nil {
		m.t.Fatal(err)
	}
	for name, text := range files {
		if found[name] != text {
			m.t.Errorf("%s has %q, want %q", name, found[name], text)
		}
	}
	if len(found) != len(files) {
		m.t.Errorf("the mirror has %v, want %d files", found, len(files))
	}
	return checkout
}

func TestAMirrorFollowsABranch(t *testing.T) {
	m := newMirrored(t)
	files := map[string]string{"README.md": "# App\n\nnew\n", "a (b)/ü.txt": "x", "cmd/main.go": "package main\n"}
	first := m.wants(files)
	untouched, err := os.Stat(filepath.Join(first.Folder, "cmd", "main.go"))
	if err != nil || !untouched.ModTime().Equal(first.At) {
		t.Errorf("committed at %s, written as %v: %v", first.At, untouched.ModTime(), err)
	}
	if again := m.wants(files); again != first {
		t.Errorf("nothing changed: %+v, then %+v", first, again)
	}
	// A change, a new file, a folder in the place of a file and a file in that of a folder.
	m.commit(map[string]string{"README.md/x.md": "in a folder", "new.md": "new", "a (b)": "a file"}, "README.md", "a (b)")
	delete(files, "a (b)/ü.txt")
	delete(files, "README.md")
	files["README.md/x.md"], files["new.md"], files["a (b)"] = "in a folder", "new", "a file"
	if second := m.wants(files); second.Commit == first.Commit {
		t.Error("the commit did not change")
	}
	if now, err := os.Stat(filepath.Join(first.Folder, "cmd", "main.go")); err != nil || !os.SameFile(now, untouched) {
		t.Errorf("a file that did not change was written again: %v", err)
	}
	// History that was rewritten, and forgotten by the server.
	gittest.Run(t, m.origin, "commit", "-q", "--amend", "-m", "other")
	gittest.Run(t, m.origin, "reflog", "expire", "--expire=now", "--all")
	gittest.Run(t, m.origin, "gc", "-q", "--prune=now")
	m.wants(files)
	// Another branch.
	gittest.Run(t, m.origin, "branch", "stable", "HEAD~1")
	m.options.Branch = "stable"
	m.wants(map[string]string{"README.md": "# App\n\nnew\n", "a (b)/ü.txt": "x", "cmd/main.go": "package main\n"})
	m.options.Branch = "none"
	if _, err := git.NewMirror(m.options).Update(t.Context()); !errors.Is(err, git.ErrAbsent) || !strings.Contains(err.Error(), "no branch none") {
		t.Errorf("a branch that is not there: %v", err)
	}
}

func TestADamagedMirrorIsMadeAnew(t *testing.T) {
	files := map[string]string{"README.md": "# App\n\nnew\n", "a (b)/ü.txt": "x", "cmd/main.go": "package main\n", "new.md": "new"}
	for name, damage := range map[string]func(folder string) error{
		"objects are lost": func(folder string) error { return os.RemoveAll(filepath.Join(folder, "objects")) },
		"all is lost":      os.RemoveAll,
		"its state is none": func(folder string) error {
			return os.WriteFile(filepath.Join(folder, "mirror.json"), []byte("{"), 0o600)
		},
		"it was killed while it wrote": func(folder string) error {
			return errors.Join(os.Remove(filepath.Join(folder, "mirror.json")), os.Remove(filepath.Join(folder, "files", "cmd", "main.go")),
				os.WriteFile(filepath.Join(folder, "received.pack"), []byte("PACK"), 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMirrored(t)
			if _, err := git.NewMirror(m.options).Update(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := damage(m.options.Folder); err != nil {
				t.Fatal(err)
			}
			m.commit(map[string]string{"new.md": "new"})
			m.wants(files)
		})
	}
}

func TestAMirrorRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*git.MirrorOptions)
		want   error
	}{
		"a private address": {func(o *git.MirrorOptions) { o.AllowPrivate = false }, publicnet.ErrPrivate},
		"too much":          {func(o *git.MirrorOptions) { o.Received = 100 }, git.ErrTooLarge},
		"too many files":    {func(o *git.MirrorOptions) { o.Files = 2 }, git.ErrTooLarge},
		"no repository":     {func(o *git.MirrorOptions) { o.Address += "x" }, git.ErrAbsent},
	} {
		m := newMirrored(t)
		m.options.Token = "secret-token"
		test.change(&m.options)
		if _, err := git.NewMirror(m.options).Update(t.Context()); !errors.Is(err, test.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
	}
}
