package confluence_test

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge/connect/atlassian"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/atlassian/atlassiantest"
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

type object = atlassiantest.Object

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
	*atlassiantest.Site
	t testing.TB

	pages   []*page
	groups  map[string][]string // accounts of groups
	readers []string            // groups and accounts ("user:…") that may read the space
	emails  map[string]string
	size    int // entries of one response
}

func newFake(t testing.TB) *fake {
	f := &fake{Site: atlassiantest.New(t), t: t, size: 2, groups: map[string][]string{"g1": {"557058:ada", "557058:bob"}}, readers: []string{"g1"}, emails: map[string]string{
		"557058:ada": "ada@example.com", "557058:bob": "bob@example.com",
	}}
	f.Operations, f.Base, f.Make = operations, "/wiki", f.make
	return f
}

func (f *fake) options() atlassian.Options { return f.Options("wiki", "/wiki/spaces/ENG") }

// put makes or replaces a page.
func (f *fake) put(id, title, body string) *page {
	made := &page{id: id}
	f.Change(func() {
		if at := slices.IndexFunc(f.pages, func(p *page) bool { return p.id == id }); at >= 0 {
			made = f.pages[at]
		} else {
			f.pages = append(f.pages, made)
			slices.SortFunc(f.pages, func(a, b *page) int { return strings.Compare(a.id, b.id) })
		}
		made.title, made.body, made.version = title, body, made.version+1
	})
	return made
}

func (f *fake) remove(id string) {
	f.Change(func() { f.pages = slices.DeleteFunc(f.pages, func(p *page) bool { return p.id == id }) })
}

func (f *fake) make(name, variable string, query url.Values) (any, bool) {
	at := slices.IndexFunc(f.pages, func(p *page) bool { return p.id == variable })
	switch name {
	case "/api/v2/spaces":
		if keys := query.Get("keys"); keys != "" && keys != "ENG" {
			return object{"results": []object{}, "_links": object{}}, true
		}
		return object{"results": []object{{"id": "7", "key": "ENG", "name": "Engineering", "type": "global", "status": "current"}}, "_links": object{"base": f.Server.URL + "/wiki"}}, true
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
	links := object{"base": f.Server.URL + "/wiki"}
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
