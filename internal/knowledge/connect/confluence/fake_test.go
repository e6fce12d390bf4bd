package confluence_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge/connect/atlassian"
)

// operations are the requests that the stand-in takes, below /wiki, with the parameters that the
// published descriptions have for them and that are used: Confluence Cloud's REST API v2
// (/api/v2) and v1 (/rest/api).
var operations = map[string][]string{
	"/api/v2/spaces":                                      {"keys", "type", "status", "cursor", "limit"},
	"/api/v2/spaces/{id}/permissions":                     {"cursor", "limit"},
	"/api/v2/pages/{id}":                                  {"body-format"},
	"/api/v2/blogposts/{id}":                              {"body-format"},
	"/rest/api/content/search":                            {"cql", "expand", "cursor", "limit"},
	"/rest/api/content/{id}":                              {"expand"},
	"/rest/api/content/{id}/restriction/byOperation/read": {"expand", "limit"},
	"/rest/api/group/{groupId}/membersByGroupId":          {"start", "limit"},
	"/rest/api/user/bulk":                                 {"accountId", "limit"},
}

type object = map[string]any

// page is a page of the stand-in.
type page struct {
	id, title, body string
	blog            bool
	version         int
	parents         []string
	users, groups   []string // restrictions
	hidden          bool     // content can't be read
}

// fake is a strict stand-in for a site with the space ENG.
type fake struct {
	t      testing.TB
	server *httptest.Server

	mu      sync.Mutex
	pages   []*page
	groups  map[string][]string // accounts of groups
	readers []string            // groups and accounts ("user:…") that may read the space
	emails  map[string]string
	size    int // entries of one response
	asked   []string
	// refuse gives the status of an answer to a path, 0 for the usual one; nil never does.
	refuse func(path string, query url.Values) (status int, header http.Header)
}

func newFake(t testing.TB) *fake {
	f := &fake{t: t, size: 2, groups: map[string][]string{"g1": {"557058:ada", "557058:bob"}}, readers: []string{"g1"}, emails: map[string]string{
		"557058:ada": "ada@example.com", "557058:bob": "bob@example.com",
	}}
	f.server = httptest.NewTLSServer(http.HandlerFunc(f.answer))
	t.Cleanup(f.server.Close)
	return f
}

func (f *fake) options() atlassian.Options {
	pool := x509.NewCertPool()
	pool.AddCert(f.server.Certificate())
	return atlassian.Options{
		Source: "wiki", URL: f.server.URL + "/wiki/spaces/ENG", Token: "bot@example.com:token", AllowPrivate: true, TLS: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
	}
}

// put makes or replaces a page.
func (f *fake) put(id, title, body string) *page {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.pages {
		if p.id == id {
			p.title, p.body, p.version = title, body, p.version+1
			return p
		}
	}
	made := &page{id: id, title: title, body: body, version: 1}
	f.pages = append(f.pages, made)
	slices.SortFunc(f.pages, func(a, b *page) int { return strings.Compare(a.id, b.id) })
	return made
}

func (f *fake) remove(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pages = slices.DeleteFunc(f.pages, func(p *page) bool { return p.id == id })
}

func (f *fake) change(what func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	what()
}

// operation finds what a path asks for, and its variable.
func operation(path string) (name, variable string, ok bool) {
	parts := strings.Split(path, "/")
	for name := range operations {
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
		if same && (value != "search") {
			return name, value, true
		}
	}
	return "", "", false
}

func (f *fake) answer(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	query := r.URL.Query()
	path, below := strings.CutPrefix(r.URL.Path, "/wiki")
	f.asked = append(f.asked, path)
	name, variable, ok := operation(path)
	if !ok || !below || r.Method != http.MethodGet {
		f.t.Errorf("there is no operation %s %s", r.Method, r.URL)
		http.NotFound(w, r)
		return
	}
	for parameter := range query {
		if !slices.Contains(operations[name], parameter) {
			f.t.Errorf("%s has no parameter %s", name, parameter)
		}
	}
	if user, password, ok := r.BasicAuth(); !ok || user != "bot@example.com" || password != "token" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if f.refuse != nil {
		if status, header := f.refuse(path, query); status != 0 {
			for key, values := range header {
				w.Header()[key] = values
			}
			w.WriteHeader(status)
			return
		}
	}
	made, ok := f.make(name, variable, query)
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(made); err != nil {
		f.t.Error(err)
	}
}

func (f *fake) make(name, variable string, query url.Values) (any, bool) {
	at := slices.IndexFunc(f.pages, func(p *page) bool { return p.id == variable })
	switch name {
	case "/api/v2/spaces":
		if keys := query.Get("keys"); keys != "" && keys != "ENG" {
			return object{"results": []object{}, "_links": object{}}, true
		}
		return object{"results": []object{{"id": "7", "key": "ENG", "name": "Engineering", "type": "global", "status": "current"}}, "_links": object{"base": f.server.URL + "/wiki"}}, true
	case "/api/v2/spaces/{id}/permissions":
		var results []object
		for i, reader := range f.readers {
			kind, id := "group", reader
			if account, ok := strings.CutPrefix(reader, "user:"); ok {
				kind, id = "user", account
			}
			for j, target := range []string{"space", "page"} {
				operation := []string{"read", "create"}[j]
				results = append(results, object{"id": fmt.Sprint(10*i + j), "principal": object{"type": kind, "id": id}, "operation": object{"key": operation, "targetType": target}})
			}
		}
		return f.paged("/wiki/api/v2/spaces/7/permissions", results, query), variable == "7"
	case "/rest/api/content/search":
		if want := `space = "ENG" and type in (page, blogpost) order by created`; query.Get("cql") != want {
			f.t.Errorf("cql %s", query.Get("cql"))
		}
		var results []object
		for _, p := range f.pages {
			results = append(results, p.content(f.emails))
		}
		answer := f.paged("/rest/api/content/search", results, query)
		answer["start"], answer["limit"], answer["size"] = 0, f.size, len(answer["results"].([]object))
		return answer, true
	case "/rest/api/content/{id}":
		if at < 0 {
			return nil, false
		}
		return f.pages[at].content(f.emails), true
	case "/rest/api/content/{id}/restriction/byOperation/read":
		return object{"operation": "read", "restrictions": object{"user": object{"results": []object{}}, "group": object{"results": []object{}, "start": 0, "limit": 200, "size": 0}}, "_expandable": object{}, "_links": object{}}, true
	case "/api/v2/pages/{id}", "/api/v2/blogposts/{id}":
		if at < 0 || f.pages[at].hidden || f.pages[at].blog != strings.Contains(name, "blog") {
			return nil, false
		}
		return object{"id": variable, "status": "current", "title": f.pages[at].title, "spaceId": "7", "body": object{"storage": object{"representation": "storage", "value": f.pages[at].body}}}, true
	case "/rest/api/group/{groupId}/membersByGroupId":
		members, ok := f.groups[variable]
		start, _ := strconv.Atoi(query.Get("start")) //nolint:errcheck // 0 then
		results := []object{}
		for _, account := range members[min(start, len(members)):] {
			results = append(results, object{"type": "known", "accountId": account, "email": "", "displayName": account})
		}
		return object{"results": results, "start": start, "limit": 200, "size": len(results)}, ok
	case "/rest/api/user/bulk":
		results := []object{}
		for _, account := range query["accountId"] {
			results = append(results, object{"type": "known", "accountId": account, "email": f.emails[account], "displayName": account})
		}
		return object{"results": results, "start": 0, "limit": 100, "size": len(results)}, true
	}
	return nil, false
}

// paged gives one page of a list.
func (f *fake) paged(path string, results []object, query url.Values) object {
	start, _ := strconv.Atoi(query.Get("cursor")) //nolint:errcheck // 0 then
	end := min(start+f.size, len(results))
	links := object{"base": f.server.URL + "/wiki"}
	if end < len(results) {
		next := url.Values{"cursor": {strconv.Itoa(end)}, "limit": {query.Get("limit")}}
		links["next"] = path + "?" + next.Encode()
	}
	return object{"results": append([]object{}, results[min(start, end):end]...), "_links": links}
}

func (p *page) content(map[string]string) object {
	kind := "page"
	if p.blog {
		kind = "blogpost"
	}
	users, groups, ancestors := []object{}, []object{}, []object{}
	for _, account := range p.users {
		users = append(users, object{"type": "known", "accountId": account, "displayName": account})
	}
	for _, group := range p.groups {
		groups = append(groups, object{"type": "group", "name": group, "id": group})
	}
	for _, parent := range p.parents {
		ancestors = append(ancestors, object{"id": parent, "type": "page", "status": "current", "title": parent})
	}
	when := time.Date(2026, 5, 1, 12, 0, p.version, 0, time.UTC)
	return object{
		"id": p.id, "type": kind, "status": "current", "title": p.title, "space": object{"id": 7, "key": "ENG", "name": "Engineering"},
		"version":   object{"number": p.version, "when": when.Format("2006-01-02T15:04:05.000Z"), "minorEdit": false},
		"history":   object{"latest": true, "createdBy": object{"type": "known", "accountId": "557058:ada", "displayName": "Ada"}},
		"ancestors": ancestors,
		"restrictions": object{"read": object{"operation": "read", "_expandable": object{}, "_links": object{}, "restrictions": object{
			"user": object{"results": users, "start": 0, "limit": 200, "size": len(users)}, "group": object{"results": groups, "start": 0, "limit": 200, "size": len(groups)},
		}}},
		"_links": object{"webui": "/spaces/ENG/pages/" + p.id + "/" + url.PathEscape(p.title)},
	}
}
