package jira_test

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/atlassian"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/connecttest"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/jira"
	"github.com/cairn-bot/cairn/internal/publicnet"
)

// names are the suite's documents; their places are the numbers of their issues.
var names = []string{"a.md", "b.md", "d.md", "picture.md", "sub/c.md"}

func keyOf(path string) string { return "ENG-" + strconv.Itoa(slices.Index(names, path)+1) }

// named gives the issues the paths of the suite's documents.
type named struct{ connect.Connector }

func (n named) Sync(ctx context.Context, known connect.Known) iter.Seq2[connect.Change, error] {
	return func(yield func(connect.Change, error) bool) {
		for change, err := range n.Connector.Sync(ctx, known) {
			id := strings.TrimPrefix(string(change.Document.ID), "tracker:")
			if number, isNumber := strconv.Atoi(strings.TrimPrefix(id, "1001")); isNumber == nil {
				change.Document.Path = names[number-1]
			}
			if !yield(change, err) {
				return
			}
		}
	}
}

type place struct{ *fake }

func (p place) Connector() connect.Connector { return named{jira.New(p.options())} }

func (p place) Put(path, content string) {
	p.put(keyOf(path), path, content).hidden = path == "picture.md"
}

func (p place) Remove(path string) { p.remove(keyOf(path)) }

func TestSuite(t *testing.T) {
	connecttest.Run(t, func(t *testing.T) connecttest.Place { return place{newFake(t)} })
}

// read syncs and gives the changes by key, and notes what is known then.
func read(t *testing.T, options atlassian.Options, known connect.Known) map[string]connect.Change {
	t.Helper()
	changes := make(map[string]connect.Change)
	for change, err := range jira.New(options).Sync(t.Context(), known) {
		if err != nil {
			t.Fatal(err)
		}
		_, key, isIssue := strings.Cut(change.Document.Path, "/")
		if !isIssue {
			key = change.Document.Path
		}
		if _, twice := changes[key]; twice {
			t.Errorf("%s is yielded twice", key)
		}
		changes[key] = change
		switch change.Kind {
		case connect.Upserted:
			known[change.Document.ID] = change.Document.Hash
		case connect.Deleted:
			delete(known, change.Document.ID)
		}
	}
	return changes
}

func TestIssuesBecomeDocuments(t *testing.T) {
	f := newFake(t)
	one := f.put("ENG-1", "Restart  hangs", "The pump stops.")
	for number := range 3 { // two pages of comments
		f.say(one, "Said "+strconv.Itoa(number+1), nil)
	}
	f.say(one, "Secret", object{"visibility": object{"type": "role", "value": "Administrators", "identifier": "Administrators"}})
	f.say(one, "Internal", object{"jsdPublic": false})
	f.put("OPS-2", "Other", "x")
	changes := read(t, f.options(), connect.Known{})
	if len(changes) != 1 {
		t.Errorf("%d changes of one project", len(changes))
	}
	text := string(changes["ENG-1"].Content)
	at := 0
	for _, want := range []string{
		"# ENG-1 Restart hangs\n", "- Status: In Progress\n- Type: Bug\n- Assignee: Ada\n", "Created: 2026-05-01\n", "Due: 2026-06-01", "## Description\n", "The pump stops.",
		"## Comments\n", "### Comment by Bob on 2026-05-02 {#focusedCommentId-1}\n", "Said 1", "{#focusedCommentId-3}\n", "Said 3",
	} {
		found := strings.Index(text[at:], want)
		if found < 0 {
			t.Fatalf("no %q at its place in %s", want, text)
		}
		at += found
	}
	if strings.Contains(text, "Secret") || strings.Contains(text, "Internal") || strings.Contains(text, "Resol") {
		t.Errorf("what nobody is to read: %s", text)
	}
	d := changes["ENG-1"].Document
	if d.URL != f.Server.URL+"/browse/ENG-1" || d.Title != "ENG-1 Restart hangs" || d.Owner != "Ada" || d.Path != "ENG/ENG-1" || d.Audience != "group:tracker:project/ENG" ||
		!d.Modified.Equal(time.Date(2026, 5, 1, 12, 0, 6, 0, time.UTC)) {
		t.Errorf("%+v", d)
	}
	if got := knowledge.URLWithAnchor(d, "focusedCommentId-3"); got != d.URL+"?focusedCommentId=3" {
		t.Errorf("the comment is at %s", got)
	}
	if all := read(t, f.Options("tracker", ""), connect.Known{}); len(all) != 2 || all["OPS-2"].Document.Audience != "group:tracker:project/OPS" {
		t.Errorf("of all projects: %d changes, %+v", len(all), all["OPS-2"].Document)
	}
}

// TestWhoMayReadAnIssue has the security level of an issue count, and who may read be asked for
// without reading an issue.
func TestWhoMayReadAnIssue(t *testing.T) {
	f := newFake(t)
	f.put("ENG-1", "Open", "x")
	closed := f.put("ENG-2", "Closed", "x")
	closed.security, closed.readers = "Board", []string{"557058:bob"}
	team := f.put("ENG-3", "For a role", "x")
	team.restricted, team.readers = true, []string{"557058:ada"}
	known := connect.Known{}
	changes := read(t, f.options(), known)
	for key, want := range map[string]knowledge.Audience{"ENG-1": "group:tracker:project/ENG", "ENG-2": "group:tracker:issue/ENG-2", "ENG-3": "group:tracker:issue/ENG-3"} {
		if got := changes[key].Document.Audience; got != want {
			t.Errorf("issue %s is for %s, want %s", key, got, want)
		}
	}
	connector := jira.New(f.options())
	wantReaders(t, f, connector, nil, map[knowledge.Principal]string{
		"group:tracker:project/ENG": "user:ada@example.com user:bob@example.com", "group:tracker:issue/ENG-2": "user:bob@example.com", "group:tracker:issue/ENG-3": "user:ada@example.com",
	})
	f.Change(func() { closed.readers = []string{"557058:ada"} })
	wantReaders(t, f, connector, []knowledge.Principal{"group:tracker:issue/ENG-2", "group:tracker:issue/ENG-9"}, map[knowledge.Principal]string{
		"group:tracker:issue/ENG-2": "user:ada@example.com", "group:tracker:issue/ENG-9": "",
	})
	if again := read(t, f.options(), known); again["ENG-2"].Kind != connect.Unchanged {
		t.Errorf("a change of members: %+v", again["ENG-2"])
	}
	f.Change(func() { f.tickets[0].security = "Board" })
	if state, err := connector.Check(t.Context(), changes["ENG-1"].Document); state != knowledge.StateChanged || err != nil {
		t.Errorf("an issue that was closed is %s, %v", state, err)
	}
	if again := read(t, f.options(), known); again["ENG-1"].Kind != connect.Upserted || again["ENG-1"].Document.Audience != "group:tracker:issue/ENG-1" {
		t.Errorf("an issue that was closed: %+v", again["ENG-1"])
	}
	for _, foreign := range []knowledge.Principal{"group:other:issue/ENG-2", "group:tracker:space/ENG", "group:tracker:issue/a/b"} {
		if _, err := connector.Access(t.Context(), []knowledge.Principal{foreign}); err == nil {
			t.Errorf("%s was asked for", foreign)
		}
	}
}

// wantReaders asks who is in groups.
func wantReaders(t *testing.T, f *fake, connector *jira.Connector, groups []knowledge.Principal, want map[knowledge.Principal]string) {
	t.Helper()
	f.Change(func() { f.Asked = nil })
	grants, err := connector.Access(t.Context(), groups)
	if err != nil || len(grants) != len(want) {
		t.Fatalf("%v, %v", grants, err)
	}
	for group, people := range want {
		var got []string
		for _, person := range grants[group] {
			got = append(got, string(person))
		}
		if strings.Join(got, " ") != people {
			t.Errorf("%s has %q, want %q", group, got, people)
		}
	}
	if slices.ContainsFunc(f.Asked, func(path string) bool { return strings.HasPrefix(path, "/rest/api/3/issue/") }) {
		t.Errorf("issues were read: %q", f.Asked)
	}
}

func TestPeopleAndAudience(t *testing.T) {
	f := newFake(t)
	f.emails["557058:bob"] = "" // hidden
	f.put("ENG-1", "Open", "x")
	options := f.options()
	wantReaders(t, f, jira.New(options), nil, map[knowledge.Principal]string{"group:tracker:project/ENG": "user:ada@example.com"})
	options.People = map[string]string{"557058:bob": "robert@example.com"}
	wantReaders(t, f, jira.New(options), nil, map[knowledge.Principal]string{"group:tracker:project/ENG": "user:ada@example.com user:robert@example.com"})
	options.Audience = "public"
	wantReaders(t, f, jira.New(options), nil, nil)
	if got := read(t, options, connect.Known{})["ENG-1"].Document.Audience; got != "public" {
		t.Errorf("the issue is for %s", got)
	}
}

// TestAnAccountThatAdministersNothing has Jira tell of the readers of one project, then of none.
func TestAnAccountThatAdministersNothing(t *testing.T) {
	f := newFake(t)
	f.put("ENG-1", "Open", "x")
	connector := jira.New(f.Options("tracker", ""))
	refused := []string{"OPS"}
	f.Refuse = func(_ string, query url.Values) (int, http.Header) {
		if slices.Contains(refused, query.Get("projectKey")) {
			return http.StatusForbidden, nil
		}
		return 0, nil
	}
	wantReaders(t, f, connector, nil, map[knowledge.Principal]string{"group:tracker:project/ENG": "user:ada@example.com user:bob@example.com", "group:tracker:project/OPS": ""})
	f.Change(func() { refused = []string{"OPS", "ENG"} })
	if _, err := connector.Access(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "let the account administer the projects") {
		t.Errorf("%v", err)
	}
}

func TestCheck(t *testing.T) {
	f := newFake(t)
	one := f.put("ENG-1", "Issue", "x")
	document := read(t, f.options(), connect.Known{})["ENG-1"].Document
	connector := jira.New(f.options())
	for _, want := range []knowledge.State{knowledge.StateLive, knowledge.StateChanged, knowledge.StateGone} {
		if state, err := connector.Check(t.Context(), document); state != want || err != nil {
			t.Errorf("%s, %v, want %s", state, err, want)
		}
		if want == knowledge.StateLive {
			f.say(one, "more", nil)
		} else {
			f.Change(func() { one.key = "OPS-1" })
		}
	}
	f.Refuse = func(path string, _ url.Values) (int, http.Header) {
		if path == "/rest/api/3/myself" {
			return http.StatusUnauthorized, nil
		}
		return 0, nil
	}
	if state, err := connector.Check(t.Context(), document); err == nil {
		t.Errorf("%s without a valid token", state)
	}
}

// TestTroubleRemovesNothing has a site answer badly in each way.
func TestTroubleRemovesNothing(t *testing.T) {
	for name, one := range map[string]struct {
		status int
		header http.Header
		at     string // the path
		later  bool   // the second page of the list, or the second request
		want   string
	}{
		"401":                   {status: 401, at: "/rest/api/3/myself", want: "EMAIL:TOKEN"},
		"a token that ends":     {status: 401, at: "/rest/api/3/myself", later: true, want: "EMAIL:TOKEN"},
		"403 for the list":      {status: 403, at: "/rest/api/3/search/jql", want: "status 403"},
		"half-way":              {status: 404, at: "/rest/api/3/search/jql", later: true, want: "status 404"},
		"400 half-way":          {status: 400, at: "/rest/api/3/search/jql", later: true, want: "status 400"},
		"500 half-way":          {status: 500, at: "/rest/api/3/search/jql", later: true, want: "status 500"},
		"redirect":              {status: 302, header: http.Header{"Location": {"http://169.254.169.254/"}}, at: "/rest/api/3/search/jql", want: "status 302"},
		"500 for a missing one": {status: 500, at: "/rest/api/3/issue/10015", want: "status 500"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			for number := range 5 { // three pages of the list
				f.put("ENG-"+strconv.Itoa(number+1), "Issue", "x")
			}
			known := connect.Known{}
			read(t, f.options(), known)
			asked := 0
			f.Refuse = func(path string, _ url.Values) (int, http.Header) {
				if path == one.at {
					asked++
				}
				if path == one.at && (!one.later || asked > 1) {
					return one.status, one.header
				}
				return 0, nil
			}
			f.remove("ENG-5")
			var failed error
			for change, err := range jira.New(f.options()).Sync(t.Context(), known) {
				if change.Kind == connect.Deleted {
					t.Errorf("%s is gone", change.Document.ID)
				}
				failed = err
			}
			if failed == nil || !strings.Contains(failed.Error(), one.want) {
				t.Errorf("%v, want %s", failed, one.want)
			}
		})
	}
}

// TestListsWithoutAnEnd has a list go on without saying where, and go in a circle.
func TestListsWithoutAnEnd(t *testing.T) {
	f := newFake(t)
	f.put("ENG-1", "Issue", "x")
	known := connect.Known{}
	read(t, f.options(), known)
	for want, with := range map[string]object{
		"does not say where": {"isLast": false, "issues": []object{}},
		"in a circle":        {"isLast": false, "issues": []object{}, "nextPageToken": "same"},
		"no usable id":       {"isLast": true, "issues": []object{{"id": "1", "key": "a b", "fields": object{}}}},
	} {
		f.Make = func(name, variable string, query url.Values) (any, bool) {
			if name == "/rest/api/3/search/jql" {
				return with, true
			}
			return f.make(name, variable, query)
		}
		for change, err := range jira.New(f.options()).Sync(t.Context(), known) {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%+v, %v, want %s", change, err, want)
			}
		}
	}
}

func TestAServerThatAsksForPatience(t *testing.T) {
	f := newFake(t)
	f.Refuse = func(string, url.Values) (int, http.Header) {
		return http.StatusTooManyRequests, http.Header{"Retry-After": {"3600"}}
	}
	for _, err := range jira.New(f.options()).Sync(t.Context(), nil) {
		if busy, ok := errors.AsType[*connect.UnavailableError](err); !ok || busy.After != time.Hour {
			t.Errorf("%v", err)
		}
	}
}

// TestWhatTheSearchForgotStays has an issue missing in the list that is there, and one that moved away.
func TestWhatTheSearchForgotStays(t *testing.T) {
	f := newFake(t)
	forgotten, moved := f.put("ENG-1", "Forgotten", "x"), f.put("ENG-2", "Moved", "x")
	known := connect.Known{}
	read(t, f.options(), known)
	f.Change(func() { forgotten.forgotten, moved.key = true, "OPS-2" })
	if got := read(t, f.options(), known); got["ENG-1"].Kind != connect.Unchanged || got["10012"].Kind != connect.Deleted {
		t.Errorf("%+v", got)
	}
	f.Change(func() { forgotten.security = "Board" })
	if got := read(t, f.options(), known)["ENG-1"]; got.Kind != connect.Upserted || got.Document.Audience != "group:tracker:issue/ENG-1" {
		t.Errorf("%+v", got)
	}
}

func TestIssuesThatCantBeRead(t *testing.T) {
	f := newFake(t)
	f.put("ENG-1", "Large", strings.Repeat("x", 1<<20+1))
	f.put("ENG-2", "No ADF", "").description = "plain"
	f.put("ENG-3", "Good", "x")
	f.put("ENG-4", "Empty", "").description = nil
	deep := object{"type": "text", "text": "x"}
	for range 200 {
		deep = object{"type": "blockquote", "content": []object{deep}}
	}
	f.put("ENG-5", "Deep", "").description = deep
	closing := f.put("ENG-6", "Closed while it is read", "x")
	f.Refuse = func(path string, _ url.Values) (int, http.Header) {
		if path == "/rest/api/3/issue/"+closing.id {
			closing.security = "Board"
		}
		return 0, nil
	}
	options := f.options()
	options.MaxBytes = 1 << 20
	changes := read(t, options, connect.Known{})
	var failed []string
	for key, change := range changes {
		if change.Kind == connect.Failed {
			failed = append(failed, key)
		}
	}
	slices.Sort(failed)
	if !slices.Equal(failed, []string{"ENG-1", "ENG-2", "ENG-5", "ENG-6"}) {
		t.Errorf("%q failed", failed)
	}
	if _, ok := errors.AsType[*connect.TooLargeError](changes["ENG-1"].Reason); !ok {
		t.Errorf("%v", changes["ENG-1"].Reason)
	}
}

func TestAddresses(t *testing.T) {
	for _, address := range []string{
		"ftp://acme.atlassian.net", "https://acme.atlassian.net/wiki", "https://acme.atlassian.net/projects/a%22b", "https://acme.atlassian.net/browse/ENG-1",
		"https://acme.atlassian.net/projects", "https://acme.atlassian.net/x/projects/ENG", "https://acme.atlassian.net/jira/software",
	} {
		for _, err := range jira.New(atlassian.Options{Source: "tracker", URL: address}).Sync(t.Context(), nil) {
			if err == nil || !strings.Contains(err.Error(), "want https://") {
				t.Errorf("%s: %v", address, err)
			}
		}
	}
	for _, address := range []string{"https://127.0.0.1:1", "https://127.0.0.1:1/jira/software/c/projects/ENG/boards/1", "https://127.0.0.1:1/browse/ENG"} {
		for _, err := range jira.New(atlassian.Options{Source: "tracker", URL: address}).Sync(t.Context(), nil) {
			if !errors.Is(err, publicnet.ErrPrivate) {
				t.Errorf("%s: %v", address, err)
			}
		}
	}
}
