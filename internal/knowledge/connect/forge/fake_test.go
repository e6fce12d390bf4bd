package forge_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge/connect/forge"
	"github.com/cairn-bot/cairn/internal/repository/git"
	"github.com/cairn-bot/cairn/internal/repository/git/gittest"
)

// operations are the requests that a forge takes, below its API, with the parameters that its
// published description has for them and that are used: GitHub's OpenAPI description (api.github.com
// 2022-11-28), GitLab's API documentation (v4) and Gitea's Swagger description (1.23).
var operations = map[forge.Kind]map[string][]string{
	forge.GitHub: {
		"GET /repos/{owner}/{repo}": nil, "GET /orgs/{org}/repos": {"page", "per_page"}, "GET /users/{username}/repos": {"page", "per_page"},
		"GET /repos/{owner}/{repo}/issues":              {"state", "sort", "direction", "since", "page", "per_page"},
		"GET /repos/{owner}/{repo}/issues/{number}":     nil,
		"GET /repos/{owner}/{repo}/issues/comments":     {"since", "page", "per_page"},
		"GET /repos/{owner}/{repo}/issues/{n}/comments": {"page", "per_page"},
		"GET /repos/{owner}/{repo}/releases":            {"page", "per_page"},
		"GET /repos/{owner}/{repo}/releases/tags/{tag}": nil,
		"GET /repos/{owner}/{repo}/collaborators":       {"affiliation", "page", "per_page"},
		"GET /users/{username}":                         nil,
		"POST /graphql":                                 nil,
	},
	forge.GitLab: {
		"GET /projects/{id}": nil, "GET /groups/{id}/projects": {"include_subgroups", "page", "per_page"}, "GET /users/{id}/projects": {"page", "per_page"},
		"GET /projects/{id}/issues":           {"scope", "order_by", "sort", "confidential", "updated_after", "page", "per_page"},
		"GET /projects/{id}/issues/{iid}":     nil,
		"GET /projects/{id}/issues/{n}/notes": {"sort", "order_by", "page", "per_page"},
		"GET /projects/{id}/releases":         {"page", "per_page"},
		"GET /projects/{id}/releases/{tag}":   nil,
		"GET /projects/{id}/members/all":      {"page", "per_page"},
		"GET /users/{id}":                     nil,
	},
	forge.Gitea: {
		"GET /repos/{owner}/{repo}": nil, "GET /orgs/{org}/repos": {"page", "limit"}, "GET /users/{username}/repos": {"page", "limit"},
		"GET /repos/{owner}/{repo}/issues":                  {"state", "type", "since", "page", "limit"},
		"GET /repos/{owner}/{repo}/issues/{index}":          nil,
		"GET /repos/{owner}/{repo}/issues/comments":         {"since", "page", "limit"},
		"GET /repos/{owner}/{repo}/issues/{index}/comments": nil,
		"GET /repos/{owner}/{repo}/releases":                {"draft", "page", "limit"},
		"GET /repos/{owner}/{repo}/releases/tags/{tag}":     nil,
		"GET /repos/{owner}/{repo}/collaborators":           {"page", "limit"},
		"GET /repos/{owner}/{repo}/teams":                   nil,
		"GET /teams/{id}/members":                           {"page", "limit"},
	},
}

// issue is an issue of the stand-in.
type issue struct {
	number   int
	title    string
	body     string
	closed   bool
	pull     bool // or confidential
	updated  time.Time
	comments []string
}

// fake is a strict stand-in for a forge of any kind, with the repository acme/app and its owner.
type fake struct {
	t      testing.TB
	kind   forge.Kind
	server *httptest.Server
	folder string       // of served repositories
	git    http.Handler // nil: there are none

	mu       sync.Mutex
	private  bool
	issues   []*issue
	releases []string
	members  []string
	now      time.Time
	asked    []string // path and query of each request
	// refuse gives the status of an answer to a path, 0 for the usual one; nil never does.
	refuse func(path string, query url.Values) (status int, header http.Header)
}

func newFake(t testing.TB, kind forge.Kind) *fake {
	f := &fake{t: t, kind: kind, folder: t.TempDir(), now: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)}
	f.server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/acme/") {
			f.git.ServeHTTP(w, r)
			return
		}
		f.answer(w, r)
	}))
	t.Cleanup(f.server.Close)
	return f
}

// serveGit makes the repository and its wiki, and serves them. Without it the stand-in has neither.
func (f *fake) serveGit() *fake {
	t := f.t
	for _, name := range []string{"acme/app.git", "acme/app.wiki.git"} {
		folder := filepath.Join(f.folder, name)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		gittest.Run(t, folder, "init", "-q", "-b", "main")
		gittest.Write(t, folder, map[string]string{".keep": ""})
		f.commit(name)
	}
	f.git = &cgi.Handler{
		Path: filepath.Join(gittest.Run(t, f.folder, "--exec-path"), "git-http-backend"),
		Env:  []string{"GIT_PROJECT_ROOT=" + f.folder, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1", "HOME=" + t.TempDir()}, Stderr: discard{},
	}
	return f
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

func (f *fake) commit(name string) {
	folder := filepath.Join(f.folder, name)
	gittest.Run(f.t, folder, "add", "-A")
	gittest.Run(f.t, folder, "commit", "-qm", "change", "--allow-empty")
}

func (f *fake) options(t testing.TB) forge.Options {
	pool := x509.NewCertPool()
	pool.AddCert(f.server.Certificate())
	options := forge.Options{
		Source: "code", Kind: f.kind, URL: f.server.URL + "/acme/app", Token: "secret-token", Folder: t.TempDir(),
		Git: git.Options{AllowPrivate: true, TLS: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}},
		Now: func() time.Time { f.mu.Lock(); defer f.mu.Unlock(); return f.now },
	}
	if f.git == nil {
		options.Parts = []forge.Part{forge.Issues, forge.Discussions, forge.Releases}
	}
	return options
}

// change does something as a person would a minute later.
func (f *fake) change(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = f.now.Add(time.Minute)
	do()
}

func (f *fake) open(title, body string) *issue {
	made := &issue{number: len(f.issues) + 1, title: title, body: body}
	f.change(func() {
		if len(f.issues) > 0 {
			made.number = f.issues[len(f.issues)-1].number + 1
		}
		made.updated = f.now
		f.issues = append(f.issues, made)
	})
	return made
}

func (f *fake) touch(i *issue, do func()) {
	f.change(func() {
		do()
		i.updated = f.now
	})
}

func (f *fake) remove(i *issue) {
	f.change(func() { f.issues = slices.DeleteFunc(f.issues, func(other *issue) bool { return other == i }) })
}

var prefixes = map[forge.Kind]string{forge.GitHub: "/api/v3", forge.GitLab: "/api/v4", forge.Gitea: "/api/v1"}

// answer answers a request of the API, after it was found to be one that is described.
func (f *fake) answer(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	path := strings.TrimPrefix(r.URL.EscapedPath(), prefixes[f.kind])
	if r.URL.Path == "/api/graphql" && f.kind == forge.GitHub {
		path = "/graphql"
	} else if !strings.HasPrefix(r.URL.Path, prefixes[f.kind]) {
		f.t.Errorf("%s %s is not of the API", r.Method, r.URL)
	}
	query := r.URL.Query()
	f.asked = append(f.asked, path+"?"+query.Encode())
	parameters, ok := describe(operations[f.kind], r.Method, path)
	if !ok {
		f.t.Errorf("%s %s is not described", r.Method, path)
	}
	for name := range query {
		paging := name == "page" || name == "limit" // which lists without pages leave alone
		if !slices.Contains(parameters, name) && (f.kind != forge.Gitea || !paging) {
			f.t.Errorf("%s %s has no parameter %s", r.Method, path, name)
		}
	}
	token := map[forge.Kind]string{forge.GitHub: "Bearer secret-token", forge.GitLab: r.Header.Get("Private-Token"), forge.Gitea: "token secret-token"}[f.kind]
	if given := r.Header.Get("Authorization"); f.kind == forge.GitLab && token != "secret-token" || f.kind != forge.GitLab && given != token {
		http.Error(w, "{}", http.StatusUnauthorized)
		return
	}
	if f.refuse != nil {
		if status, header := f.refuse(path, query); status != 0 {
			for name, values := range header {
				w.Header()[name] = values
			}
			http.Error(w, "{}", status)
			return
		}
	}
	f.respond(w, path, query)
}

// describe finds the operation of a path.
func describe(described map[string][]string, method, path string) ([]string, bool) {
	segments := strings.Split(path, "/")
	var found []string
	ok := false
	for operation, parameters := range described {
		name, template, _ := strings.Cut(operation, " ")
		parts := strings.Split(template, "/")
		if name != method || len(parts) != len(segments) {
			continue
		}
		matches, exact := true, 0
		for i, part := range parts {
			if part == segments[i] {
				exact++
			} else if !strings.HasPrefix(part, "{") {
				matches = false
			}
		}
		if matches && (!ok || exact == len(parts)-2) {
			found, ok = parameters, true
		}
	}
	return found, ok
}

func (f *fake) respond(w http.ResponseWriter, path string, query url.Values) {
	if path == "/graphql" {
		f.write(w, f.discussions())
		return
	}
	repository := "/repos/acme/app"
	if f.kind == forge.GitLab {
		repository = "/projects/acme%2Fapp"
	}
	rest, ok := strings.CutPrefix(path, repository)
	segments := strings.Split(strings.Trim(rest, "/"), "/")
	switch {
	case path == "/orgs/acme/repos" || path == "/groups/acme/projects":
		f.page(w, query, []any{f.repository()})
	case !ok && strings.HasPrefix(path, "/users/"):
		name := path[len("/users/"):]
		f.write(w, map[string]any{"login": name, "username": name, "email": nil, "public_email": name + "-public@example.com"})
	case !ok && strings.HasPrefix(path, "/teams/"):
		f.page(w, query, []any{f.person("bob")})
	case !ok:
		http.Error(w, "{}", http.StatusNotFound)
	case rest == "":
		f.write(w, f.repository())
	case segments[0] == "collaborators" || segments[0] == "members":
		var people []any
		for _, name := range f.members {
			people = append(people, f.person(name))
		}
		f.page(w, query, people)
	case segments[0] == "teams":
		f.write(w, []any{map[string]any{"id": 1, "permission": "read", "units": []string{"repo.code", "repo.issues"}}, map[string]any{"id": 2, "permission": "read", "units": []string{"repo.wiki"}}})
	case segments[0] == "releases":
		f.respondReleases(w, query, segments)
	default:
		f.respondIssues(w, query, segments)
	}
}

func (f *fake) person(name string) map[string]any {
	return map[string]any{"id": len(name), "login": name, "username": name, "email": name + "@example.com", "state": "active", "access_level": 20, "active": false}
}

func (f *fake) repository() map[string]any {
	visibility := "public"
	if f.private {
		visibility = "private"
	}
	if f.kind == forge.GitLab {
		return map[string]any{
			"path_with_namespace": "acme/app", "visibility": visibility, "default_branch": "main", "http_url_to_repo": f.server.URL + "/acme/app.git",
			"web_url": f.server.URL + "/acme/app", "issues_access_level": "enabled", "wiki_access_level": "enabled",
		}
	}
	return map[string]any{
		"full_name": "acme/app", "private": f.private, "visibility": visibility, "default_branch": "main", "clone_url": f.server.URL + "/acme/app.git",
		"html_url": f.server.URL + "/acme/app", "has_issues": true, "has_wiki": true, "has_discussions": true, "owner": f.person("acme"),
	}
}

func (f *fake) respondReleases(w http.ResponseWriter, query url.Values, segments []string) {
	release := func(tag string) map[string]any {
		return map[string]any{"id": 1, "tag_name": tag, "name": "Release " + tag, "body": "Notes.", "description": "Notes.", "html_url": f.server.URL + "/r/" + tag, "created_at": f.now.Truncate(24 * time.Hour), "_links": map[string]any{"self": f.server.URL + "/r/" + tag}}
	}
	if len(segments) == 1 {
		all := []any{}
		for _, tag := range f.releases {
			all = append(all, release(tag))
		}
		f.page(w, query, all)
		return
	}
	tag := segments[len(segments)-1]
	if !slices.Contains(f.releases, tag) {
		http.Error(w, "{}", http.StatusNotFound)
		return
	}
	f.write(w, release(tag))
}

func (f *fake) respondIssues(w http.ResponseWriter, query url.Values, segments []string) {
	since, _ := time.Parse(time.RFC3339, query.Get("since")+query.Get("updated_after")) //nolint:errcheck // the zero time is for all
	switch {
	case len(segments) == 1:
		all := []any{}
		for _, i := range f.issues {
			confidential := f.kind == forge.GitLab && i.pull && query.Get("confidential") == "false"
			if !i.updated.Before(since) && !confidential && (f.kind != forge.Gitea || !i.pull) {
				all = append(all, f.issue(i))
			}
		}
		f.page(w, query, all)
	case segments[1] == "comments":
		f.page(w, query, nil) // an issue's own time tells of its comments here
	default:
		number, err := strconv.Atoi(segments[1])
		at := slices.IndexFunc(f.issues, func(i *issue) bool { return i.number == number })
		switch {
		case err != nil || at < 0:
			http.Error(w, "{}", http.StatusNotFound)
		case len(segments) == 2:
			f.write(w, f.issue(f.issues[at]))
		default:
			comments := []any{}
			for n, text := range f.issues[at].comments {
				comments = append(comments, map[string]any{"id": 100*number + n, "body": text, "created_at": f.now, "user": f.person("ada"), "author": f.person("ada"), "system": strings.HasPrefix(text, "system:")})
			}
			if f.kind == forge.Gitea {
				f.write(w, comments) // it has no pages here
				return
			}
			f.page(w, query, comments)
		}
	}
}

func (f *fake) issue(i *issue) map[string]any {
	made := map[string]any{
		"number": i.number, "iid": i.number, "title": i.title, "body": i.body, "description": i.body, "state": "open", "created_at": i.updated, "updated_at": i.updated, "comments": len(i.comments),
		"user_notes_count": len(i.comments), "html_url": fmt.Sprintf("%s/i/%d", f.server.URL, i.number), "web_url": fmt.Sprintf("%s/i/%d", f.server.URL, i.number), "user": f.person("ada"), "author": f.person("ada"),
	}
	if f.kind == forge.GitLab {
		made["labels"], made["state"], made["confidential"] = []string{"bug"}, "opened", i.pull
	} else {
		made["labels"] = []any{map[string]any{"name": "bug"}}
		if i.pull {
			made["pull_request"] = map[string]any{}
		}
	}
	if i.closed {
		made["state"], made["closed_at"] = "closed", i.updated
	}
	return made
}

func (f *fake) discussions() map[string]any {
	return map[string]any{"data": map[string]any{"repository": map[string]any{"discussions": map[string]any{
		"totalCount": 1, "pageInfo": map[string]any{"hasNextPage": false, "endCursor": "x"}, "nodes": []any{map[string]any{
			"number": 7, "title": "How to begin?", "body": "Where?", "url": f.server.URL + "/d/7", "createdAt": "2026-01-01T00:00:00Z", "updatedAt": "2026-01-02T00:00:00Z",
			"author": nil, "category": map[string]any{"name": "Q&A"}, "comments": map[string]any{"totalCount": 1, "nodes": []any{map[string]any{
				"databaseId": 5, "body": "With the guide.", "createdAt": "2026-01-02T00:00:00Z", "isAnswer": true, "author": map[string]any{"login": "ada"},
				"replies": map[string]any{"nodes": []any{}},
			}}},
		}},
	}}}}
}

// page writes a page of a list, as this kind of forge says where it ends.
func (f *fake) page(w http.ResponseWriter, query url.Values, all []any) {
	number, _ := strconv.Atoi(query.Get("page"))                        //nolint:errcheck // 0 is seen below
	size, _ := strconv.Atoi(query.Get("per_page") + query.Get("limit")) //nolint:errcheck // likewise
	if number < 1 || size < 1 {
		f.t.Errorf("a list is asked for by %v", query)
		return
	}
	from, to := min((number-1)*size, len(all)), min(number*size, len(all))
	switch f.kind {
	case forge.GitLab:
		w.Header().Set("X-Total", strconv.Itoa(len(all)))
	case forge.Gitea:
		w.Header().Set("X-Total-Count", strconv.Itoa(len(all)))
	case forge.GitHub:
		if to < len(all) {
			w.Header().Set("Link", fmt.Sprintf(`<https://h/x?page=%d>; rel="next", <https://h/x?page=%d>; rel="last"`, number+1, (len(all)+size-1)/size))
		}
	}
	some := all[from:to]
	if some == nil {
		some = []any{}
	}
	f.write(w, some)
}

func (f *fake) write(w http.ResponseWriter, body any) {
	_ = json.NewEncoder(w).Encode(body) //nolint:errcheck // the client may have read enough
}
