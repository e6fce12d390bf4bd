package git_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge/connect"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/connecttest"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/files"
	connectgit "github.com/cairn-bot/cairn/internal/knowledge/connect/git"
	"github.com/cairn-bot/cairn/internal/repository/git"
	"github.com/cairn-bot/cairn/internal/repository/git/gittest"
)

// origin is a repository that a test fills, and a connector to it.
type origin struct {
	t       testing.TB
	folder  string
	options connectgit.Options
}

func newOrigin(t testing.TB) *origin {
	served := t.TempDir()
	folder := filepath.Join(served, "app.git")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	gittest.Run(t, folder, "init", "-q", "-b", "main")
	server := gittest.Serve(t, served)
	return &origin{t: t, folder: folder, options: connectgit.Options{
		Mirror: git.MirrorOptions{
			Options: gittest.Local(server, git.Options{AllowPrivate: true}), Address: server.URL + "/app.git", Folder: filepath.Join(t.TempDir(), "mirror"),
		},
		Files: files.Options{Source: "code"},
	}}
}

func (o *origin) Connector() connect.Connector { return connectgit.New(o.options) }

func (o *origin) Put(path, content string) {
	o.t.Helper()
	gittest.Write(o.t, o.folder, map[string]string{path: content})
	o.commit()
}

func (o *origin) Remove(path string) {
	o.t.Helper()
	gittest.Run(o.t, o.folder, "rm", "-q", path)
	o.commit()
}

func (o *origin) commit() string {
	o.t.Helper()
	gittest.Run(o.t, o.folder, "add", "-A")
	gittest.Run(o.t, o.folder, "commit", "-qm", "change")
	return gittest.Run(o.t, o.folder, "rev-parse", "HEAD")
}

func (o *origin) sync(known connect.Known) map[string]connect.Change {
	o.t.Helper()
	changes := make(map[string]connect.Change)
	for change, err := range o.Connector().Sync(o.t.Context(), known) {
		if err != nil {
			o.t.Fatal(err)
		}
		changes[change.Document.Path] = change
	}
	return changes
}

func knownAfter(changes map[string]connect.Change) connect.Known {
	known := connect.Known{}
	for _, change := range changes {
		known[change.Document.ID] = change.Document.Hash
	}
	return known
}

func TestSuite(t *testing.T) {
	connecttest.Run(t, func(t *testing.T) connecttest.Place { return newOrigin(t) })
}

func TestLinksLeadToTheCommit(t *testing.T) {
	o := newOrigin(t)
	o.Put("docs/a b.md", "# A\n\nSee [b](b.md).\n")
	first := gittest.Run(t, o.folder, "rev-parse", "HEAD")
	changes := o.sync(nil)
	a := changes["docs/a b.md"]
	base := strings.TrimSuffix(o.options.Mirror.Address, ".git") + "/src/commit/"
	if want := base + first + "/docs/a%20b.md"; a.Document.URL != want {
		t.Errorf("the address is %s, want %s", a.Document.URL, want)
	}
	if want := base + first + "/docs/b.md"; a.Link("b.md") != want {
		t.Errorf("a link leads to %s, want %s", a.Link("b.md"), want)
	}
	o.Put("docs/b.md", "# B\n")
	second := gittest.Run(t, o.folder, "rev-parse", "HEAD")
	changes = o.sync(knownAfter(changes))
	if changes["docs/a b.md"].Kind != connect.Unchanged || changes["docs/b.md"].Document.URL != base+second+"/docs/b.md" {
		t.Errorf("after the second commit: %+v", changes)
	}
	o.options.Files.URLBase = "https://docs.example/"
	if got := o.sync(nil)["docs/b.md"].Document.URL; got != "https://docs.example/docs/b.md" {
		t.Errorf("the address is %s", got)
	}
}

func TestCodeownersAreOwners(t *testing.T) {
	o := newOrigin(t)
	gittest.Write(t, o.folder, map[string]string{
		".github/CODEOWNERS": "* @acme/all\n/docs/ @acme/docs @ada # comment\n[bad ( pattern @x\n*.txt\n", "docs/a.md": "# A\n", "b.md": "# B\n", "c.txt": "c\n",
		"owned/.cairn.yaml": "owner: Legal\n", "owned/d.md": "# D\n",
	})
	o.commit()
	changes := o.sync(nil)
	for path, want := range map[string]string{"docs/a.md": "@acme/docs, @ada", "b.md": "@acme/all", "owned/d.md": "Legal"} {
		if got := changes[path].Document.Owner; got != want {
			t.Errorf("%s is owned by %q, want %q", path, got, want)
		}
	}
	gittest.Write(t, o.folder, map[string]string{".github/CODEOWNERS": "/docs/ @acme/writers\n* @acme/all\n/docs/ @acme/writers\n"})
	o.commit()
	changes = o.sync(knownAfter(changes))
	if a := changes["docs/a.md"]; a.Kind != connect.Upserted || a.Document.Owner != "@acme/writers" || changes["b.md"].Kind != connect.Unchanged {
		t.Errorf("new owners: %+v", changes)
	}
}

func TestAnAbsentRepositorySaysWhatHelps(t *testing.T) {
	o := newOrigin(t)
	o.options.Mirror.Address += "x"
	for _, err := range o.Connector().Sync(t.Context(), connect.Known{"code:a.md": "x"}) {
		if err == nil || !strings.Contains(err.Error(), "check the address") {
			t.Errorf("%v", err)
		}
	}
}

// BenchmarkSync measures a sync of 5,000 files of which 10 changed.
func BenchmarkSync(b *testing.B) {
	o := newOrigin(b)
	texts := make(map[string]string)
	for i := range 5000 {
		texts[fmt.Sprintf("docs/%02d/page%d.md", i%50, i)] = fmt.Sprintf("# Page %d\n\n%s\n", i, strings.Repeat("Some text of it. ", 100))
	}
	gittest.Write(b, o.folder, texts)
	o.commit()
	sync := func(known connect.Known) (connect.Known, int) {
		next, upserted := connect.Known{}, 0
		for change, err := range o.Connector().Sync(b.Context(), known) {
			if err != nil {
				b.Fatal(err)
			}
			if change.Kind == connect.Upserted {
				upserted++
			}
			next[change.Document.ID] = change.Document.Hash
		}
		return next, upserted
	}
	known, _ := sync(nil)
	round := 0
	for b.Loop() {
		b.StopTimer()
		round++
		changed := make(map[string]string)
		for i := range 10 {
			changed[fmt.Sprintf("docs/%02d/page%d.md", i, i)] = fmt.Sprintf("# Page %d\n\nround %d\n", i, round)
		}
		gittest.Write(b, o.folder, changed)
		o.commit()
		b.StartTimer()
		var upserted int
		if known, upserted = sync(known); upserted != 10 {
			b.Fatalf("%d documents changed, want 10", upserted)
		}
	}
}
