package repository_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/repository"
	"github.com/cairn-bot/cairn/internal/repository/git"
	"github.com/cairn-bot/cairn/internal/repository/git/gittest"
)

func paths(c *repository.Checkout) string {
	var all []string
	for _, file := range c.Files {
		all = append(all, file.Path)
	}
	return strings.Join(all, " ")
}

func open(t *testing.T, options repository.Options, name string) *repository.Checkout {
	t.Helper()
	checkout, err := repository.NewOpener(options).Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return checkout
}

func TestOpenAFolder(t *testing.T) {
	root := t.TempDir()
	gittest.Write(t, root, map[string]string{
		"app/b.go": "b", "app/a/x.go": "x", "app/node_modules/m/i.js": "", "app/web/vendor/v.go": "", "secret": "root only",
	})
	if err := errors.Join(os.Symlink("../secret", filepath.Join(root, "app", "link")), os.Symlink("/", filepath.Join(root, "app", "all"))); err != nil {
		t.Fatal(err)
	}
	c := open(t, repository.Options{Roots: []string{filepath.Join(root, "none"), root}}, "./app")
	if paths(c) != "a/x.go b.go" || c.Links != 2 || strings.Join(c.Skipped, " ") != "node_modules web/vendor" || c.Name != "app" || c.Commit != "" {
		t.Errorf("%s, %+v", paths(c), c)
	}
	if content, err := c.Read("b.go"); err != nil || string(content) != "b" {
		t.Errorf("%q, %v", content, err)
	}
	for _, outside := range []string{"link", "../secret", "all/etc/passwd", "/etc/passwd"} {
		if content, err := c.Read(outside); err == nil {
			t.Errorf("%s has %q", outside, content)
		}
	}
	if !c.Has("a/x.go") || c.Has("link") {
		t.Error("files are not told from others")
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// TestRemotesLeadToTheWeb opens a checkout whose remote is written in each of git's ways.
func TestRemotesLeadToTheWeb(t *testing.T) {
	root := t.TempDir()
	commit := gittest.Origin(t, root)
	folder := filepath.Join(root, "team", "app.git")
	gittest.Run(t, folder, "remote", "add", "origin", "x")
	for remote, want := range map[string]string{
		"git@github.com:team/app.git": "https://github.com/team/app/blob/" + commit + "/", "https://github.com/team/app": "https://github.com/team/app/blob/" + commit + "/",
		"ssh://git@gitlab.com:22/a/b/c.git": "https://gitlab.com/a/b/c/-/blob/" + commit + "/", "https://user:token@github.com/team/app.git": "https://github.com/team/app/blob/" + commit + "/",
		"/srv/git/app": "", "https://git.example.com/team/app": "",
	} {
		gittest.Run(t, folder, "remote", "set-url", "origin", remote)
		c := open(t, repository.Options{Roots: []string{root}}, "team/app.git")
		if c.Web != want {
			t.Errorf("%s leads to %q, want %q", remote, c.Web, want)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestList names checkouts and described folders, for those who may read them.
func TestList(t *testing.T) {
	root := t.TempDir()
	gittest.Write(t, root, map[string]string{
		"a/x.go": "", "group/b/main.go": "", "c/go.mod": "module c\n", "c/sub/package.json": "{}", "group/d/.cairn.yaml": "audience: [group:legal]", "group/d/go.mod": "module d\n",
		"node_modules/e/package.json": "{}", "notes/a.md": "", "1/2/3/4/5/go.mod": "module deep\n",
	})
	for _, folder := range []string{"a", "group/b"} {
		gittest.Run(t, filepath.Join(root, folder), "init", "-q")
	}
	opener := repository.NewOpener(repository.Options{
		Roots: []string{root}, Fetcher: git.NewFetcher(git.Options{Hosts: []string{"github.com", "github.com/acme", "github.com/acme/shop"}}),
	})
	for want, viewers := range map[string]knowledge.Viewers{
		"a c group/b https://github.com/acme/shop":         {},
		"a c group/b group/d https://github.com/acme/shop": knowledge.Unrestricted(),
	} {
		found, err := opener.List(knowledge.WithViewers(t.Context(), viewers))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.ReplaceAll(strings.Join(found, " "), root+"/", ""); got != want {
			t.Errorf("listed are %s, want %s", got, want)
		}
	}
}

// TestALinkInPlaceOfAFile has a file replaced by a link after the files were listed.
func TestALinkInPlaceOfAFile(t *testing.T) {
	root := t.TempDir()
	gittest.Write(t, root, map[string]string{"app/a": "a", "secret": "s"})
	c := open(t, repository.Options{Roots: []string{root}}, "app")
	if err := errors.Join(os.Remove(filepath.Join(root, "app", "a")), os.Symlink(filepath.Join(root, "secret"), filepath.Join(root, "app", "a"))); err != nil {
		t.Fatal(err)
	}
	if content, err := c.Read("a"); err == nil {
		t.Errorf("%q", content)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func TestOpenACheckout(t *testing.T) {
	root := t.TempDir()
	commit := gittest.Origin(t, root)
	folder := filepath.Join(root, "team", "app.git")
	gittest.Run(t, folder, "remote", "add", "origin", "git@github.com:team/app.git")
	gittest.Write(t, folder, map[string]string{"untracked": ""})
	c := open(t, repository.Options{Roots: []string{root}}, "team/app.git")
	if paths(c) != "README.md a (b)/ü.txt cmd/main.go" || c.Commit != commit || c.Name != "github.com/team/app" {
		t.Errorf("%s, %+v", paths(c), c)
	}
	if got, want := repository.Link(c.Web, "a (b)/ü.txt", 3), "https://github.com/team/app/blob/"+commit+"/a%20%28b%29/%C3%BC.txt#L3"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func TestOpenAnAddress(t *testing.T) {
	served := t.TempDir()
	commit := gittest.Origin(t, served)
	server := gittest.Serve(t, served)
	t.Setenv("TMPDIR", t.TempDir())
	options := repository.Options{Fetcher: git.NewFetcher(gittest.Local(server, git.Options{AllowPrivate: true}))}
	c := open(t, options, server.URL+"/team/app.git")
	if paths(c) != "README.md a (b)/ü.txt cmd/main.go" || c.Commit != commit || c.Name != "127.0.0.1/team/app" || c.Web != "" {
		t.Errorf("%s, %+v", paths(c), c)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	guarded := repository.Options{Fetcher: git.NewFetcher(gittest.Local(server, git.Options{}))}
	for address, want := range map[string]string{
		server.URL + "/team/app.git":   "not on the public internet",
		"http://127.0.0.1/x":           "only https addresses are fetched",
		"https://example.com/team/app": "fetched over https from 127.0.0.1",
		"https://":                     "I can't read the address",
		"https://u:secret@127.0.0.1/x": "name or password",
		"ext::sh://x":                  "I can't read the address",
		"file:///etc":                  "I can't read the address",
		"ssh://git@127.0.0.1/team/a":   "only https",
	} {
		_, err := repository.NewOpener(guarded).Open(t.Context(), address)
		refused, ok := errors.AsType[*repository.RefusedError](err)
		if !ok || !strings.Contains(refused.Text, want) || strings.Contains(refused.Text, "secret") {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
	small := repository.Options{Fetcher: git.NewFetcher(gittest.Local(server, git.Options{AllowPrivate: true, Received: 10}))}
	if _, err := repository.NewOpener(small).Open(t.Context(), server.URL+"/team/app.git"); err == nil || !strings.Contains(err.Error(), "too large to fetch") {
		t.Errorf("%v", err)
	}
	if _, err := repository.NewOpener(options).Open(t.Context(), server.URL+"/team/none.git"); err == nil || !strings.Contains(err.Error(), "There is no repository at that address") {
		t.Errorf("%v", err)
	}
	// Nothing is left behind, whatever happened.
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

func TestRefusalsNameTheSetting(t *testing.T) {
	for name, want := range map[string]string{
		"https://github.com/team/app": "No repository may be fetched here: name a folder, as in `./backend`, or have the host listed in the setting `flows.repositories`.",
		"./backend":                   "No folder may be read here: name a repository by its https address, or have the folder listed in the setting `flows.folders`.",
	} {
		_, err := repository.NewOpener(repository.Options{}).Open(t.Context(), name)
		if refused, ok := errors.AsType[*repository.RefusedError](err); !ok || refused.Text != want {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

func TestTooManyFiles(t *testing.T) {
	root := t.TempDir()
	gittest.Write(t, root, map[string]string{"a": "", "b": "", "c": ""})
	_, err := repository.NewOpener(repository.Options{Roots: []string{root}, Limits: repository.Limits{Files: 2}}).Open(t.Context(), ".")
	if refused, ok := errors.AsType[*repository.RefusedError](err); !ok || !strings.Contains(refused.Text, "more than 2 files") {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := repository.NewOpener(repository.Options{Roots: []string{root}}).Open(ctx, "."); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestLink(t *testing.T) {
	for web, want := range map[string]string{
		"":                                       "",
		"https://gitlab.com/a/b/-/blob/c/":       "https://gitlab.com/a/b/-/blob/c/x.go#L2",
		"https://bitbucket.org/a/b/src/c/":       "https://bitbucket.org/a/b/src/c/x.go#lines-2",
		"https://codeberg.org/a/b/src/commit/c/": "https://codeberg.org/a/b/src/commit/c/x.go#L2",
	} {
		if got := repository.Link(web, "x.go", 2); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := repository.Link("https://github.com/a/b/blob/c/", "d:e", 0); got != "https://github.com/a/b/blob/c/d:e" {
		t.Error(got)
	}
}

// TestACloneIsReadAsItsRemoteHasItNow has a clone that is older than its remote, for somebody who
// may read all of it and for one who may not, with the remote there and gone.
func TestACloneIsReadAsItsRemoteHasItNow(t *testing.T) {
	served := t.TempDir()
	newest := gittest.Origin(t, served)
	server := gittest.Serve(t, served)
	root := t.TempDir()
	for name, files := range map[string]map[string]string{
		"app": {"go.mod": "module old\n"}, "closed": {"go.mod": "module old\n", "private/.cairn.yaml": "audience: [group:legal]", "private/a.md": "a"}, "elsewhere": {"go.mod": "module old\n"},
	} {
		folder := filepath.Join(root, name)
		gittest.Write(t, folder, files)
		gittest.Run(t, folder, "init", "-q")
		gittest.Run(t, folder, "add", ".")
		gittest.Run(t, folder, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a")
		remote := server.URL + "/team/app.git"
		if name == "elsewhere" {
			remote = "https://elsewhere.example/team/app.git"
		}
		gittest.Run(t, folder, "remote", "add", "origin", remote)
	}
	opener := repository.NewOpener(repository.Options{
		Roots: []string{root}, Fetcher: git.NewFetcher(gittest.Local(server, git.Options{AllowPrivate: true})),
	})
	look := func(name string) (isNewest bool, outdated string) {
		t.Helper()
		c, err := opener.OpenNewest(knowledge.WithViewers(t.Context(), knowledge.Viewers{}), name)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if c.Has("go.mod") == (c.Commit == newest) {
			t.Errorf("%s at %s has %v", name, c.Commit, c.Files)
		}
		return c.Commit == newest, c.Outdated
	}
	for name, want := range map[string]bool{"app": true, "closed": false, "elsewhere": false} {
		if isNewest, outdated := look(name); isNewest != want || outdated != "" {
			t.Errorf("%s: newest %v, %q", name, isNewest, outdated)
		}
	}
	if text, err := os.ReadFile(filepath.Join(root, "app", "go.mod")); err != nil || string(text) != "module old\n" {
		t.Errorf("the clone was changed: %q, %v", text, err)
	}
	server.Close()
	if isNewest, outdated := look("app"); isNewest || outdated == "" {
		t.Errorf("without its remote: newest %v, %q", isNewest, outdated)
	}
}
