// Package atlassiantest is a strict stand-in for a site of Atlassian's: it takes the requests that the
// published descriptions have, with their parameters, and nothing else.
package atlassiantest

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/atlassian"
)

// Object is an object of JSON.
type Object = map[string]any

// Site is a site. Its fields are changed before it is asked, or by Change.
type Site struct {
	t      testing.TB
	Server *httptest.Server
	// Operations are the paths that it takes below Base, such as "/rest/api/3/issue/{issueIdOrKey}",
	// with the names of their parameters.
	Operations map[string][]string
	Base       string
	// Make gives the answer to an operation; variable is the one of its path. false is 404.
	Make func(operation, variable string, query url.Values) (any, bool)
	// Refuse gives the status of an answer to a path, 0 for the usual one; nil never does.
	Refuse func(path string, query url.Values) (status int, header http.Header)
	Asked  []string // paths, in order

	mu sync.Mutex
}

// New starts a site that the test closes.
func New(t testing.TB) *Site {
	s := &Site{t: t}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(s.answer))
	t.Cleanup(s.Server.Close)
	return s
}

// Options are those with which a source reads the site at a path.
func (s *Site) Options(source knowledge.SourceID, path string) atlassian.Options {
	pool := x509.NewCertPool()
	pool.AddCert(s.Server.Certificate())
	return atlassian.Options{
		Source: source, URL: s.Server.URL + path, Token: "bot@example.com:token", AllowPrivate: true, TLS: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
	}
}

// Change changes what the site has while it is not asked.
func (s *Site) Change(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// operation finds what a path asks for, and its variable. A path without a variable goes first.
func (s *Site) operation(path string) (name, variable string, ok bool) {
	if _, ok := s.Operations[path]; ok {
		return path, "", true
	}
	parts := strings.Split(path, "/")
	for name := range s.Operations {
		wanted := strings.Split(name, "/")
		if len(wanted) != len(parts) {
			continue
		}
		same, value := true, ""
		for i, part := range wanted {
			if strings.HasPrefix(part, "{") {
				value = parts[i]
			} else if part != parts[i] {
				same = false
			}
		}
		if same {
			return name, value, true
		}
	}
	return "", "", false
}

func (s *Site) answer(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	query := r.URL.Query()
	path, below := strings.CutPrefix(r.URL.Path, s.Base)
	s.Asked = append(s.Asked, path)
	name, variable, ok := s.operation(path)
	if !ok || !below || r.Method != http.MethodGet {
		s.t.Errorf("there is no operation %s %s", r.Method, r.URL)
		http.NotFound(w, r)
		return
	}
	for parameter := range query {
		if !slices.Contains(s.Operations[name], parameter) {
			s.t.Errorf("%s has no parameter %s", name, parameter)
		}
	}
	if user, password, ok := r.BasicAuth(); !ok || user != "bot@example.com" || password != "token" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if s.Refuse != nil {
		if status, header := s.Refuse(path, query); status != 0 {
			for key, values := range header {
				w.Header()[key] = values
			}
			w.WriteHeader(status)
			return
		}
	}
	made, ok := s.Make(name, variable, query)
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(made); err != nil {
		s.t.Error(err)
	}
}
