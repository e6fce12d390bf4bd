//go:build forgecheck

// Package giteatest runs a real Gitea for the checks of `make forge-check`.
package giteatest

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/servertest"
)

// Server is a Gitea with one administrator, "root".
type Server struct {
	URL   string // https://127.0.0.1:PORT
	Cert  string // the file of its certificate
	Token string // of the administrator
	TLS   *tls.Config

	t      testing.TB
	folder string
	client *http.Client
}

// Password is every user's.
const Password = "correct horse battery"

const settings = `
RUN_MODE = prod
WORK_PATH = %[1]s
[database]
DB_TYPE = sqlite3
PATH = %[1]s/gitea.db
[repository]
ROOT = %[1]s/repositories
DEFAULT_BRANCH = main
[server]
PROTOCOL = https
HTTP_ADDR = 127.0.0.1
HTTP_PORT = %[2]d
ROOT_URL = https://127.0.0.1:%[2]d/
CERT_FILE = %[1]s/cert.pem
KEY_FILE = %[1]s/key.pem
STATIC_ROOT_PATH = %[3]s/source
DISABLE_SSH = true
OFFLINE_MODE = true
LFS_START_SERVER = false
[security]
INSTALL_LOCK = true
SECRET_KEY = for-this-test-alone
PASSWORD_HASH_ALGO = pbkdf2_v1
[webhook]
ALLOWED_HOST_LIST = loopback
SKIP_TLS_VERIFY = true
[service]
DISABLE_REGISTRATION = true
[log]
MODE = console
LEVEL = Warn
[cron]
ENABLED = false
[indexer]
ISSUE_INDEXER_TYPE = db
[picture]
DISABLE_GRAVATAR = true
`

// Start starts a Gitea from the folder that scripts/gitea.sh prints, CAIRN_GITEA, until the test ends.
func Start(t testing.TB) *Server {
	t.Helper()
	built := os.Getenv("CAIRN_GITEA")
	if built == "" {
		t.Fatal("CAIRN_GITEA is not set: run `make forge-check`")
	}
	folder := t.TempDir()
	port := servertest.FreePort(t)
	s := &Server{URL: fmt.Sprintf("https://127.0.0.1:%d", port), Cert: filepath.Join(folder, "cert.pem"), t: t, folder: folder}
	write(t, filepath.Join(folder, "app.ini"), fmt.Sprintf(strings.TrimSpace(settings)+"\n", folder, port, built))
	s.run("cert", "--ca", "--host", "127.0.0.1")
	s.run("migrate")
	s.run("admin", "user", "create", "--admin", "--username", "root", "--password", Password, "--email", "root@example.com", "--must-change-password=false")
	words := strings.Fields(s.run("admin", "user", "generate-access-token", "--username", "root", "--token-name", "check", "--scopes", "all", "--raw"))
	s.Token = words[len(words)-1]
	pem, err := os.ReadFile(s.Cert)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	s.TLS = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	s.client = &http.Client{Transport: &http.Transport{TLSClientConfig: s.TLS}, Timeout: 30 * time.Second}
	s.serve()
	return s
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (s *Server) command(ctx context.Context, arguments ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, filepath.Join(os.Getenv("CAIRN_GITEA"), "bin", "gitea"), append(arguments, "--config", filepath.Join(s.folder, "app.ini"))...)
	command.Dir = s.folder
	command.Env = append(os.Environ(), "HOME="+s.folder, "GITEA_WORK_DIR="+s.folder, "GITEA_I_AM_BEING_UNSAFE_RUNNING_AS_ROOT=true")
	return command
}

func (s *Server) run(arguments ...string) string {
	s.t.Helper()
	command := s.command(s.t.Context(), arguments...)
	if arguments[0] == "cert" {
		command.Args = command.Args[:len(command.Args)-2]
	}
	out, err := command.CombinedOutput()
	if err != nil {
		s.t.Fatalf("gitea %s: %v: %s", strings.Join(arguments, " "), err, out)
	}
	return string(out)
}

func (s *Server) serve() {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	command := s.command(ctx, "web")
	var said bytes.Buffer
	command.Stdout, command.Stderr = &said, &said
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = 10 * time.Second
	if err := command.Start(); err != nil {
		s.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	s.t.Cleanup(func() {
		cancel()
		<-ended
		if s.t.Failed() {
			s.t.Logf("Gitea said: %s", said.String())
		}
	})
	for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		answer, err := s.client.Get(s.URL + "/api/v1/version")
		if err == nil {
			err = answer.Body.Close()
		}
		if err == nil && answer.StatusCode == http.StatusOK {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("Gitea does not answer: %v", err)
		}
	}
}

// Do asks the API as the administrator, and decodes what it says into into, which may be nil.
func (s *Server) Do(method, path string, body, into any) {
	s.t.Helper()
	s.do(func(request *http.Request) { request.Header.Set("Authorization", "token "+s.Token) }, method, path, body, into)
}

// DoAs is Do as a user, by the password: tokens are made and deleted so.
func (s *Server) DoAs(user, method, path string, body, into any) {
	s.t.Helper()
	s.do(func(request *http.Request) { request.SetBasicAuth(user, Password) }, method, path, body, into)
}

func (s *Server) do(authorize func(*http.Request), method, path string, body, into any) {
	s.t.Helper()
	content, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.URL+"/api/v1"+path, bytes.NewReader(content))
	if err != nil {
		s.t.Fatal(err)
	}
	authorize(request)
	request.Header.Set("Content-Type", "application/json")
	answer, err := s.client.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	said, err := io.ReadAll(answer.Body)
	if err := answer.Body.Close(); err != nil {
		s.t.Fatal(err)
	}
	if err != nil || answer.StatusCode >= http.StatusMultipleChoices {
		s.t.Fatalf("%s %s: status %d, %v: %s", method, path, answer.StatusCode, err, said)
	}
	if into != nil {
		if err := json.Unmarshal(said, into); err != nil {
			s.t.Fatalf("%s %s: %v: %s", method, path, err, said)
		}
	}
}

// Get reads a page of the server.
func (s *Server) Get(path string) []byte {
	s.t.Helper()
	answer, err := s.client.Get(s.URL + path)
	if err != nil {
		s.t.Fatal(err)
	}
	said, err := io.ReadAll(answer.Body)
	if err := answer.Body.Close(); err != nil {
		s.t.Fatal(err)
	}
	if err != nil || answer.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: status %d, %v", path, answer.StatusCode, err)
	}
	return said
}

// Map is a body of a request.
type Map = map[string]any

// AddUser makes a user with the address NAME@example.com.
func (s *Server) AddUser(name string) {
	s.t.Helper()
	s.Do(http.MethodPost, "/admin/users", Map{"username": name, "email": name + "@example.com", "password": Password, "must_change_password": false}, nil)
}

// AddRepository makes a repository of an organization that is there, "acme/app".
func (s *Server) AddRepository(name string, private bool) {
	s.t.Helper()
	owner, repository, _ := strings.Cut(name, "/")
	s.Do(http.MethodPost, "/orgs/"+owner+"/repos", Map{"name": repository, "private": private, "auto_init": true, "default_branch": "main", "readme": "Default"}, nil)
}

// WriteFile makes a file on the default branch.
func (s *Server) WriteFile(repository, path, text string) {
	s.t.Helper()
	s.Do(http.MethodPost, "/repos/"+repository+"/contents/"+path, Map{"content": encode(text), "message": "add " + path}, nil)
}

// WritePage makes a page of the wiki.
func (s *Server) WritePage(repository, title, text string) {
	s.t.Helper()
	s.Do(http.MethodPost, "/repos/"+repository+"/wiki/new", Map{"title": title, "content_base64": encode(text), "message": "add " + title}, nil)
}

// AddIssue makes an issue, and gives its number.
func (s *Server) AddIssue(repository, title, text string) int {
	s.t.Helper()
	var made struct {
		Number int `json:"number"`
	}
	s.Do(http.MethodPost, "/repos/"+repository+"/issues", Map{"title": title, "body": text}, &made)
	return made.Number
}

func encode(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
