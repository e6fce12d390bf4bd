package forge_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/forge"
	"github.com/cairn-bot/cairn/internal/repository/git"
)

// mergeForge is a stand-in for the part of Gitea's API by which changes are proposed. What it is
// asked otherwise than the API's description has it fails the test.
type mergeForge struct {
	t        *testing.T
	server   *httptest.Server
	files    map[string]string // of the default branch
	branches map[string]map[string]string
	requests map[string]string // bodies of merge requests, by branch
	lose     bool              // the answer to the next write is lost
}

func newMergeForge(t *testing.T) *mergeForge {
	f := &mergeForge{t: t, files: map[string]string{"docs/install.md": "It takes 30s.\n", "docs/a b#c.md": "Port 80.\n"}, branches: map[string]map[string]string{}, requests: map[string]string{}}
	mux := http.NewServeMux()
	const at = "/api/v1/repos/acme/app"
	mux.HandleFunc("GET "+at, func(w http.ResponseWriter, _ *http.Request) {
		f.write(w, http.StatusOK, map[string]any{"full_name": "acme/app", "default_branch": "main"})
	})
	mux.HandleFunc("GET "+at+"/contents/{path...}", func(w http.ResponseWriter, r *http.Request) {
		content, ok := f.files[r.PathValue("path")]
		if r.URL.Query().Get("ref") != "main" || !ok {
			http.NotFound(w, r)
			return
		}
		f.write(w, http.StatusOK, map[string]any{"type": "file", "sha": "sha of " + content, "encoding": "base64", "content": base64.StdEncoding.EncodeToString([]byte(content))})
	})
	mux.HandleFunc("GET "+at+"/branches/{branch}", func(w http.ResponseWriter, r *http.Request) {
		if f.branches[r.PathValue("branch")] == nil {
			http.NotFound(w, r)
			return
		}
		f.write(w, http.StatusOK, map[string]any{"name": r.PathValue("branch")})
	})
	mux.HandleFunc("POST "+at+"/contents", f.commit)
	mux.HandleFunc("GET "+at+"/pulls/{base}/{head}", func(w http.ResponseWriter, r *http.Request) {
		if _, ok := f.requests[r.PathValue("head")]; !ok || r.PathValue("base") != "main" {
			http.NotFound(w, r)
			return
		}
		f.write(w, http.StatusOK, map[string]any{"html_url": f.server.URL + "/acme/app/pulls/1"})
	})
	mux.HandleFunc("POST "+at+"/pulls", f.open)
	f.server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "token secret-token" {
			t.Errorf("%s %s has no token", r.Method, r.URL)
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(f.server.Close)
	return f
}

func (f *mergeForge) write(w http.ResponseWriter, status int, body any) {
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		f.t.Error(err)
	}
}

// answer ends a write, whose answer may be lost.
func (f *mergeForge) answer(w http.ResponseWriter) {
	if f.lose {
		f.lose = false
		panic(http.ErrAbortHandler)
	}
	f.write(w, http.StatusCreated, map[string]any{})
}

func (f *mergeForge) read(r *http.Request, into any) {
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil || r.Header.Get("Content-Type") != "application/json" {
		f.t.Errorf("%s %s: %v", r.Method, r.URL, err)
	}
}

func (f *mergeForge) commit(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Branch    string `json:"branch"`
		NewBranch string `json:"new_branch"`
		Message   string `json:"message"`
		Files     []struct {
			Operation, Path, SHA, Content string
		} `json:"files"`
	}
	f.read(r, &asked)
	if f.branches[asked.NewBranch] != nil {
		http.Error(w, "{}", http.StatusConflict)
		return
	}
	branch := make(map[string]string)
	for _, file := range asked.Files {
		content, err := base64.StdEncoding.DecodeString(file.Content)
		if err != nil || file.Operation != "update" || asked.Branch != "main" || asked.Message == "" {
			f.t.Errorf("committed %+v: %v", asked, err)
		}
		if file.SHA != "sha of "+f.files[file.Path] {
			http.Error(w, "{}", http.StatusUnprocessableEntity)
			return
		}
		branch[file.Path] = string(content)
	}
	f.branches[asked.NewBranch] = branch
	f.answer(w)
}

func (f *mergeForge) open(w http.ResponseWriter, r *http.Request) {
	var asked struct{ Head, Base, Title, Body string }
	f.read(r, &asked)
	switch _, open := f.requests[asked.Head]; {
	case f.branches[asked.Head] == nil || asked.Base != "main" || asked.Title == "":
		f.t.Errorf("opened %+v", asked)
		http.NotFound(w, r)
		return
	case open:
		http.Error(w, "{}", http.StatusConflict)
		return
	}
	f.requests[asked.Head] = asked.Title + ": " + asked.Body
	f.answer(w)
}

func (f *mergeForge) proposer(change func(*forge.Options)) *forge.Proposer {
	pool := x509.NewCertPool()
	pool.AddCert(f.server.Certificate())
	options := forge.Options{
		Source: "code", Kind: forge.Gitea, URL: f.server.URL + "/acme", Token: "secret-token",
		Git: git.Options{AllowPrivate: true, TLS: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}},
	}
	change(&options)
	return forge.NewProposer(options)
}

func TestPropose(t *testing.T) {
	for _, lost := range []string{"", "commit", "request"} {
		t.Run("lost "+lost, func(t *testing.T) {
			f := newMergeForge(t)
			p := f.proposer(func(*forge.Options) {})
			original, err := p.ReadFile(t.Context(), "code:acme/app//files/docs/install.md")
			if err != nil || string(original.Content) != "It takes 30s.\n" {
				t.Fatalf("%+v, %v", original, err)
			}
			change := forge.MergeRequest{
				Branch: "cairn/a1b2", Title: "Correct install.md", Body: "It is 45s.",
				Files: []forge.FileChange{{Original: original, Content: []byte("It takes 45s.\n")}},
			}
			if lost == "commit" {
				f.lose = true
				if _, err := p.Propose(t.Context(), change); err == nil {
					t.Error("a commit whose answer is lost succeeds")
				}
			}
			if lost == "request" {
				f.branches[change.Branch] = map[string]string{"docs/install.md": "It takes 45s.\n"}
				f.lose = true
				if _, err := p.Propose(t.Context(), change); err == nil {
					t.Error("a request whose answer is lost succeeds")
				}
			}
			for range 2 {
				address, err := p.Propose(t.Context(), change)
				if want := f.server.URL + "/acme/app/pulls/1"; err != nil || address != want {
					t.Errorf("the merge request is at %q, %v, want %s", address, err, want)
				}
			}
			if got := fmt.Sprint(f.requests, f.branches); got != "map[cairn/a1b2:Correct install.md: It is 45s.] map[cairn/a1b2:map[docs/install.md:It takes 45s.\n]]" {
				t.Errorf("the forge has %s", got)
			}
		})
	}
}

func TestProposeRefuses(t *testing.T) {
	f := newMergeForge(t)
	p := f.proposer(func(*forge.Options) {})
	for _, id := range []knowledge.DocumentID{
		"code:acme/app//files/none.md", "code:acme/app//issues/1", "other:acme/app//files/docs/install.md", "code:acme/app//files/../../x", "code:acme//files/x",
		"code:acme/app//wiki/Home.md", "code:acme/app//files//etc/passwd", "code:acme/app//files/docs\\install.md",
	} {
		if _, err := p.ReadFile(t.Context(), id); !errors.Is(err, forge.ErrNoFile) {
			t.Errorf("%s: %v", id, err)
		}
	}
	if odd, err := p.ReadFile(t.Context(), "code:acme/app//files/docs/a b#c.md"); err != nil || string(odd.Content) != "Port 80.\n" {
		t.Errorf("%+v, %v", odd, err)
	}
	original, err := p.ReadFile(t.Context(), "code:acme/app//files/docs/install.md")
	if err != nil {
		t.Fatal(err)
	}
	f.files["docs/install.md"] = "It takes 60s.\n"
	change := forge.MergeRequest{Branch: "cairn/a1b2", Title: "Correct", Files: []forge.FileChange{{Original: original, Content: []byte("x")}}}
	if _, err := p.Propose(t.Context(), change); !errors.Is(err, forge.ErrOutdated) {
		t.Errorf("a change of an older version: %v", err)
	}
	change.Branch = "main --force"
	if _, err := p.Propose(t.Context(), change); err == nil || len(f.branches) > 0 {
		t.Errorf("a branch that is none: %v, %v", err, f.branches)
	}
	inside := f.proposer(func(o *forge.Options) { o.Git.AllowPrivate = false })
	if _, err := inside.ReadFile(t.Context(), "code:acme/app//files/docs/install.md"); err == nil {
		t.Error("an address of a private network was asked")
	}
	if _, err := f.proposer(func(o *forge.Options) { o.Kind = forge.GitHub }).ReadFile(t.Context(), "code:acme/app//files/docs/install.md"); err == nil {
		t.Error("GitHub is asked")
	}
}
