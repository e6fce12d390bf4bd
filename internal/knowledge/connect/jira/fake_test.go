package jira_test

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge/connect/atlassian"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/atlassian/atlassiantest"
)

// operations are the requests that the stand-in takes with the parameters that the published
// description of Jira Cloud's REST API v3 has for them and that are used.
var operations = map[string][]string{
	"/rest/api/3/myself":                       {"expand"},
	"/rest/api/3/project/search":               {"startAt", "maxResults", "orderBy", "action"},
	"/rest/api/3/search/jql":                   {"jql", "nextPageToken", "maxResults", "fields"},
	"/rest/api/3/issue/{issueIdOrKey}":         {"fields"},
	"/rest/api/3/issue/{issueIdOrKey}/comment": {"startAt", "maxResults", "orderBy"},
	"/rest/api/3/user/permission/search":       {"query", "accountId", "permissions", "issueKey", "projectKey", "startAt", "maxResults"},
}

type object = atlassiantest.Object

// ticket is an issue of the stand-in.
type ticket struct {
	id, key, summary string
	version          int
	description      any    // ADF
	security         string // the name of a level
	restricted       bool   // as a project that its team manages has it
	comments         []object
	hidden           bool // can't be read
	forgotten        bool // by the search
	readers          []string
}

func (i *ticket) project() string {
	project, _, _ := strings.Cut(i.key, "-")
	return project
}

// fake is a strict stand-in for a site with the projects ENG and OPS.
type fake struct {
	*atlassiantest.Site
	t testing.TB

	tickets []*ticket
	readers map[string][]string // accounts that may read a project
	emails  map[string]string
	size    int // entries of one response
}

func newFake(t testing.TB) *fake {
	f := &fake{Site: atlassiantest.New(t), t: t, size: 2, readers: map[string][]string{"ENG": {"557058:ada", "557058:bob"}, "OPS": {"557058:bob"}}, emails: map[string]string{
		"557058:ada": "ada@example.com", "557058:bob": "bob@example.com",
	}}
	f.Operations, f.Make = operations, f.make
	return f
}

func (f *fake) options() atlassian.Options { return f.Options("tracker", "/projects/ENG") }

// adf writes a text as a document of one paragraph.
func adf(text string) object {
	return object{"type": "doc", "version": 1, "content": []object{{"type": "paragraph", "content": []object{{"type": "text", "text": text}}}}}
}

// put makes or changes an issue. Its id is 1001 and the number of its key.
func (f *fake) put(key, summary, text string) *ticket {
	_, number, _ := strings.Cut(key, "-")
	made := &ticket{key: key, id: "1001" + number}
	f.Change(func() {
		if at := slices.IndexFunc(f.tickets, func(i *ticket) bool { return i.key == key }); at >= 0 {
			made = f.tickets[at]
		} else {
			f.tickets = append(f.tickets, made)
			slices.SortFunc(f.tickets, func(a, b *ticket) int { return strings.Compare(a.id, b.id) })
		}
		made.summary, made.description, made.version = summary, adf(text), made.version+1
	})
	return made
}

func (f *fake) remove(key string) {
	f.Change(func() { f.tickets = slices.DeleteFunc(f.tickets, func(i *ticket) bool { return i.key == key }) })
}

func (f *fake) user(account string) object {
	return object{"self": f.Server.URL + "/rest/api/3/user?accountId=" + account, "accountId": account, "accountType": "atlassian", "active": true, "displayName": strings.ToUpper(account[7:8]) + account[8:], "emailAddress": f.emails[account], "timeZone": "Europe/Berlin"}
}

func (f *fake) make(name, variable string, query url.Values) (any, bool) {
	at := slices.IndexFunc(f.tickets, func(i *ticket) bool { return i.id == variable || i.key == variable })
	switch name {
	case "/rest/api/3/myself":
		return f.user("557058:bot"), true
	case "/rest/api/3/project/search":
		projects := []object{{"id": "1", "key": "ENG", "name": "Engineering", "style": "classic"}, {"id": "2", "key": "OPS", "name": "Operations", "style": "next-gen"}}
		start, end := f.part(query, "startAt", len(projects), 1)
		return object{"startAt": start, "maxResults": 1, "total": len(projects), "isLast": end == len(projects), "values": projects[start:end]}, true
	case "/rest/api/3/search/jql":
		return f.search(query)
	case "/rest/api/3/issue/{issueIdOrKey}":
		if at < 0 || f.tickets[at].hidden && strings.Contains(query.Get("fields"), "description") {
			return nil, false
		}
		return f.issue(f.tickets[at], query), true
	case "/rest/api/3/issue/{issueIdOrKey}/comment":
		if at < 0 {
			return nil, false
		}
		said := f.tickets[at].comments
		start, end := f.part(query, "startAt", len(said), f.size)
		return object{"startAt": start, "maxResults": f.size, "total": len(said), "comments": append([]object{}, said[start:end]...)}, true
	case "/rest/api/3/user/permission/search":
		return f.permitted(query)
	}
	return nil, false
}

// part gives where a page of a list of so many entries begins and ends.
func (f *fake) part(query url.Values, parameter string, count, size int) (start, end int) {
	start, _ = strconv.Atoi(query.Get(parameter)) //nolint:errcheck // 0 then
	start = min(start, count)
	return start, min(start+size, count)
}

func (f *fake) search(query url.Values) (any, bool) {
	var found []object
	project, ok := strings.CutPrefix(query.Get("jql"), `project = "`)
	project, ordered := strings.CutSuffix(project, `" order by created`)
	if !ok || !ordered {
		f.t.Errorf("jql %s", query.Get("jql"))
	}
	for _, one := range f.tickets {
		if one.project() == project && !one.forgotten {
			found = append(found, f.issue(one, query))
		}
	}
	start, end := f.part(query, "nextPageToken", len(found), f.size)
	answer := object{"issues": append([]object{}, found[start:end]...), "isLast": end == len(found)}
	if end < len(found) {
		answer["nextPageToken"] = strconv.Itoa(end)
	}
	return answer, true
}

// permitted gives those who may read a project or an issue.
func (f *fake) permitted(query url.Values) (any, bool) {
	if query.Get("permissions") != "BROWSE_PROJECTS" || !query.Has("query") || query.Has("issueKey") == query.Has("projectKey") {
		f.t.Errorf("the readers are asked for by %s", query.Encode())
	}
	readers, ok := f.readers[query.Get("projectKey")]
	for _, one := range f.tickets {
		if one.key == query.Get("issueKey") {
			readers, ok = one.readers, true
		}
	}
	people := []object{}
	for _, account := range readers {
		people = append(people, f.user(account))
	}
	left := f.user("557058:gone")
	left["active"], left["emailAddress"] = false, "gone@example.com"
	customer := f.user("557058:customer")
	customer["accountType"], customer["emailAddress"] = "customer", "customer@example.com"
	return append(people, left, customer), ok
}

// issue gives an issue with the fields that were asked for.
func (f *fake) issue(one *ticket, query url.Values) object {
	when := time.Date(2026, 5, 1, 12, 0, one.version, 0, time.UTC).Format("2006-01-02T15:04:05.000-0700")
	all := object{
		"summary": one.summary, "updated": when, "created": "2026-04-30T23:30:00.000-0700", "duedate": "2026-06-01", "resolutiondate": nil, "resolution": nil,
		"project": object{"id": "1", "key": one.project(), "name": "Engineering"}, "security": nil, "issuerestriction": object{"issuerestrictions": object{}, "shouldDisplay": false},
		"assignee": f.user("557058:ada"), "status": object{"id": "3", "name": "In Progress"}, "issuetype": object{"id": "10", "name": "Bug", "subtask": false},
		"labels": []string{"net", "edge_case"}, "description": one.description,
	}
	if one.security != "" {
		all["security"] = object{"id": "10021", "name": one.security, "description": ""}
	}
	if one.restricted {
		all["issuerestriction"] = object{"issuerestrictions": object{"projectrole": []object{{"id": "10002"}}}, "shouldDisplay": true}
	}
	fields := object{}
	for name := range strings.SplitSeq(query.Get("fields"), ",") {
		value, ok := all[name]
		if !ok {
			f.t.Errorf("there is no field %s", name)
		}
		fields[name] = value
	}
	return object{"id": one.id, "key": one.key, "self": f.Server.URL + "/rest/api/3/issue/" + one.id, "fields": fields}
}

// say adds a comment to an issue, whose id is the number of it.
func (f *fake) say(one *ticket, text string, with object) {
	f.Change(func() {
		said := object{
			"id": strconv.Itoa(len(one.comments) + 1), "author": f.user("557058:bob"), "body": adf(text), "created": "2026-05-02T08:00:00.000+0000", "updated": "2026-05-02T08:00:00.000+0000", "jsdPublic": true,
		}
		for key, value := range with {
			said[key] = value
		}
		one.comments = append(one.comments, said)
		one.version++
	})
}
