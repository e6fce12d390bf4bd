package git_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/publicnet"
	"github.com/cairn-bot/cairn/internal/repository/git"
	"github.com/cairn-bot/cairn/internal/repository/git/gittest"
)

func address(t testing.TB, text string) *url.URL {
	t.Helper()
	parsed, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func target(t testing.TB) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}

func TestFetch(t *testing.T) {
	served := t.TempDir()
	commit := gittest.Origin(t, served)
	server := gittest.Serve(t, served)
	root := target(t)
	state, err := git.NewFetcher(gittest.Local(server, git.Options{AllowPrivate: true})).Fetch(t.Context(), address(t, server.URL+"/team/app.git"), root)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(state.Files)
	if want := []string{"README.md", "a (b)/ü.txt", "cmd/main.go"}; !slices.Equal(state.Files, want) || state.Commit != commit ||
		state.Links != 1 || !slices.Equal(state.Submodules, []string{"lib/other"}) {
		t.Errorf("%+v, want the files %v of commit %s", state, want, commit)
	}
	text, err := root.ReadFile("README.md")
	if err != nil || string(text) != "# App\n\nnew\n" {
		t.Errorf("README.md has %q: %v", text, err)
	}
	if _, err := root.Lstat("link"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the link was written: %v", err)
	}
}

func TestFetchIsRefused(t *testing.T) {
	served := t.TempDir()
	gittest.Origin(t, served)
	server := gittest.Serve(t, served)
	elsewhere := httptest.NewTLSServer(http.RedirectHandler("https://other.example/x", http.StatusFound))
	t.Cleanup(elsewhere.Close)
	app := server.URL + "/team/app.git"
	for name, test := range map[string]struct {
		address string
		options git.Options
		want    string
		as      error
	}{
		"plain http":        {strings.Replace(app, "https", "http", 1), git.Options{AllowPrivate: true}, "only https", nil},
		"a file":            {"file:///etc/passwd", git.Options{AllowPrivate: true}, "only https", nil},
		"a password":        {strings.Replace(app, "https://", "https://u:secret@", 1), git.Options{AllowPrivate: true}, "name or password", nil},
		"another host":      {"https://other.example/x", git.Options{AllowPrivate: true}, "not on the list", nil},
		"a private address": {app, git.Options{}, "not public", publicnet.ErrPrivate},
		"its name":          {strings.Replace(app, "127.0.0.1", "localhost", 1), git.Options{Hosts: []string{"localhost"}}, "not public", publicnet.ErrPrivate},
		"too much received": {app, git.Options{AllowPrivate: true, Received: 100}, "too large", git.ErrTooLarge},
		"too much written":  {app, git.Options{AllowPrivate: true, Written: 5}, "too large", git.ErrTooLarge},
		"too many files":    {app, git.Options{AllowPrivate: true, Files: 2}, "more than 2 files", git.ErrTooLarge},
		"no repository":     {server.URL + "/none.git", git.Options{AllowPrivate: true}, "no public repository", git.ErrAbsent},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := git.NewFetcher(gittest.Local(server, test.options)).Fetch(t.Context(), address(t, test.address), target(t))
			if err == nil || !strings.Contains(err.Error(), test.want) || test.as != nil && !errors.Is(err, test.as) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
	t.Run("a redirect to another host", func(t *testing.T) {
		_, err := git.NewFetcher(gittest.Local(elsewhere, git.Options{AllowPrivate: true})).Fetch(t.Context(), address(t, elsewhere.URL+"/x"), target(t))
		if refused, ok := errors.AsType[*git.AddressError](err); !ok || refused.Address != "https://other.example/x/info/refs?service=git-upload-pack" && !strings.HasPrefix(refused.Address, "https://other.example/x") {
			t.Errorf("%v", err)
		}
	})
}

// TestFetchEnds has a server that accepts and says nothing.
func TestFetchEnds(t *testing.T) {
	hung := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(hung.Close)
	fetcher := git.NewFetcher(gittest.Local(hung, git.Options{AllowPrivate: true, Time: 50 * time.Millisecond}))
	_, err := fetcher.Fetch(t.Context(), address(t, hung.URL+"/x"), target(t))
	if err == nil || !strings.Contains(err.Error(), "longer than 50ms") {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := fetcher.Fetch(ctx, address(t, hung.URL+"/x"), target(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestRead(t *testing.T) {
	served := t.TempDir()
	commit := gittest.Origin(t, served)
	folder := filepath.Join(served, "team", "app.git")
	gittest.Run(t, folder, "remote", "add", "origin", "git@github.com:team/app.git")
	gittest.Write(t, folder, map[string]string{"untracked.txt": "x"})
	check := func() {
		t.Helper()
		root, err := os.OpenRoot(folder)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		state, err := git.Read(root)
		if err != nil || state.Commit != commit || state.Remote != "git@github.com:team/app.git" || state.Links != 1 ||
			!slices.Equal(state.Files, []string{"README.md", "a (b)/ü.txt", "cmd/main.go"}) || !slices.Equal(state.Submodules, []string{"lib/other"}) {
			t.Errorf("%+v, %v", state, err)
		}
	}
	check()
	gittest.Run(t, folder, "pack-refs", "--all")
	check()
	gittest.Run(t, folder, "checkout", "-q", "--detach")
	check()
	root, err := os.OpenRoot(served)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if _, err := git.Read(root); !errors.Is(err, git.ErrNone) {
		t.Errorf("%v", err)
	}
}

// TestReadStaysInside has a .git whose HEAD and list of files lead out of the folder.
func TestReadStaysInside(t *testing.T) {
	outside := t.TempDir()
	gittest.Write(t, outside, map[string]string{"secret": strings.Repeat("a", 40)})
	for _, name := range []string{"HEAD", "index", "config"} {
		folder := t.TempDir()
		gittest.Write(t, folder, map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/config": ""})
		if err := errors.Join(os.RemoveAll(filepath.Join(folder, ".git", name)), os.Symlink(filepath.Join(outside, "secret"), filepath.Join(folder, ".git", name))); err != nil {
			t.Fatal(err)
		}
		root, err := os.OpenRoot(folder)
		if err != nil {
			t.Fatal(err)
		}
		if state, err := git.Read(root); err == nil {
			t.Errorf("%s: %+v", name, state)
		}
		root.Close()
	}
	pipe := t.TempDir()
	gittest.Write(t, pipe, map[string]string{".git/config": ""})
	if err := syscall.Mkfifo(filepath.Join(pipe, ".git", "HEAD"), 0o600); err != nil {
		t.Fatal(err)
	}
	piped, err := os.OpenRoot(pipe)
	if err != nil {
		t.Fatal(err)
	}
	defer piped.Close()
	if _, err := git.Read(piped); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("%v", err)
	}
	folder := t.TempDir()
	gittest.Write(t, folder, map[string]string{".git/HEAD": "ref: refs/../../secret\n"})
	root, err := os.OpenRoot(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if _, err := git.Read(root); err == nil || !strings.Contains(err.Error(), "is not a reference") {
		t.Errorf("%v", err)
	}
}
