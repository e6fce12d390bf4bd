// Package gittest makes repositories and serves them over HTTPS by git's own server, for
// tests. It needs the git program.
package gittest

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/repository/git"
)

// Run runs git without anybody's settings and gives what it says.
func Run(t testing.TB, folder string, arguments ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "git", arguments...)
	command.Dir = folder
	command.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
	}
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v: %s", strings.Join(arguments, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// Write writes files below a folder.
func Write(t testing.TB, folder string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// Origin makes a repository with two commits, a link, a submodule and hooks in its
// settings, below a folder that is served. It gives the newest commit.
func Origin(t testing.TB, served string) string {
	t.Helper()
	folder := filepath.Join(served, "team", "app.git")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	Run(t, folder, "init", "-q", "-b", "main")
	Write(t, folder, map[string]string{"old.txt": "old", "README.md": "# App\n"})
	Run(t, folder, "add", ".")
	Run(t, folder, "commit", "-qm", "one")
	Write(t, folder, map[string]string{"cmd/main.go": "package main\n", "a (b)/ü.txt": "x", "README.md": "# App\n\nnew\n"})
	if err := os.Symlink("/etc/passwd", filepath.Join(folder, "link")); err != nil {
		t.Fatal(err)
	}
	Run(t, folder, "rm", "-q", "old.txt")
	Run(t, folder, "add", ".")
	Run(t, folder, "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("a", 40)+",lib/other")
	Run(t, folder, "commit", "-qm", "two")
	return Run(t, folder, "rev-parse", "HEAD")
}

// Serve serves the repositories of a folder over HTTPS by git's own server.
func Serve(t testing.TB, folder string) *httptest.Server {
	t.Helper()
	backend := filepath.Join(Run(t, folder, "--exec-path"), "git-http-backend")
	server := httptest.NewTLSServer(&cgi.Handler{
		Path: backend, Env: []string{"GIT_PROJECT_ROOT=" + folder, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1", "HOME=" + t.TempDir()},
		Stderr: io.Discard, // what it says of a repository that is not there, its status says too
	})
	t.Cleanup(server.Close)
	return server
}

// Local lets a fetcher reach the server of a test, which no other may.
func Local(server *httptest.Server, options git.Options) git.Options {
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	options.TLS = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	options.Hosts = append(options.Hosts, "127.0.0.1")
	return options
}
