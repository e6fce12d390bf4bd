package confluence_test

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
	"github.com/cairn-bot/cairn/internal/knowledge/connect/confluence"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/connecttest"
	"github.com/cairn-bot/cairn/internal/publicnet"
)

// names are the suite's documents; their places are the ids of their pages.
var names = []string{"a.md", "b.md", "d.md", "picture.md", "sub/c.md"}

// named gives the pages the paths of the suite's documents.
type named struct{ connect.Connector }

func (n named) Sync(ctx context.Context, known connect.Known) iter.Seq2[connect.Change, error] {
	return func(yield func(connect.Change, error) bool) {
		for change, err := range n.Connector.Sync(ctx, known) {
			if number, isNumber := strconv.Atoi(strings.TrimPrefix(string(change.Document.ID), "wiki:")); isNumber == nil {
				change.Document.Path = names[number-1]
			}
			if !yield(change, err) {
				return
			}
		}
	}
}

type place struct{ *fake }

func (p place) Connector() connect.Connector { return named{confluence.New(p.options())} }

func (p place) Put(path, content string) {
	made := p.put(strconv.Itoa(slices.Index(names, path)+1), path, "<p>"+strings.ReplaceAll(content, "\x00", "")+"</p>")
	made.hidden = path == "picture.md"
}

func (p place) Remove(path string) { p.remove(strconv.Itoa(slices.Index(names, path) + 1)) }

func TestSuite(t *testing.T) {
	connecttest.Run(t, func(t *testing.T) connecttest.Place { return place{newFake(t)} })
}

// read syncs and gives the changes by id, and notes what is known then.
func read(t *testing.T, f *fake, known connect.Known) map[string]connect.Change {
	t.Helper()
	changes := make(map[string]connect.Change)
	for change, err := range confluence.New(f.options()).Sync(t.Context(), known) {
		if err != nil {
			t.Fatal(err)
		}
		id := strings.TrimPrefix(string(change.Document.ID), "wiki:")
		if _, twice := changes[id]; twice {
			t.Errorf("%s is yielded twice", id)
		}
		changes[id] = change
		switch change.Kind {
		case connect.Upserted:
			known[change.Document.ID] = change.Document.Hash
		case connect.Deleted:
			delete(known, change.Document.ID)
		}
	}
	return changes
}

func TestPagesBecomeDocuments(t *testing.T) {
	f := newFake(t)
	f.put("1", "How to restart", `<h2>Steps</h2><p>Call <ac:link><ri:page ri:content-title="Runbook" /></ac:link>.&nbsp;Then:</p>`+
		`<ac:structured-macro ac:name="code"><ac:parameter ac:name="language">bash</ac:parameter><ac:plain-text-body><![CDATA[systemctl restart x && echo "<ok>"]]></ac:plain-text-body></ac:structured-macro>`+
		`<ac:structured-macro ac:name="info"><ac:rich-text-body><p>Ask <strong>ops</strong> first.</p></ac:rich-text-body></ac:structured-macro>`+
		`<table><tbody><tr><th>Port</th><th>Use</th></tr><tr><td>8080</td><td>web</td></tr></tbody></table>`)
	f.put("2", "News", "<p>We moved.</p>").blog = true
	changes := read(t, f, connect.Known{})
	got := changes["1"]
	text := string(got.Content)
	for _, want := range []string{"# How to restart", "## Steps", "Runbook", "```", `systemctl restart x && echo "<ok>"`, "Ask **ops** first.", "| 8080 | web |"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if strings.Contains(text, "bash") {
		t.Errorf("a parameter of a macro is text: %s", text)
	}
	if d := got.Document; d.URL != f.Server.URL+"/wiki/spaces/ENG/pages/1/How%20to%20restart" || d.Title != "How to restart" || d.Owner != "Ada" || d.Path != "ENG/How to restart" ||
		d.Audience != "group:wiki:space/ENG" || !d.Modified.Equal(time.Date(2026, 5, 1, 12, 0, 1, 0, time.UTC)) {
		t.Errorf("%+v", d)
	}
	if !strings.Contains(string(changes["2"].Content), "We moved.") {
		t.Errorf("the blog post is %+v", changes["2"])
	}
}

// TestWhoMayReadAPage has restrictions of a page and of its parent count together, and be asked for
// without reading a page.
func TestWhoMayReadAPage(t *testing.T) {
	f := newFake(t)
	f.groups["g2"] = []string{"557058:bob", "557058:eve"} // eve may not read the space
	f.put("1", "Open", "<p>x</p>")
	f.put("2", "Closed", "<p>x</p>").groups = []string{"g2"}
	f.put("3", "Below", "<p>x</p>").parents = []string{"2"}
	below := f.put("4", "Closed below", "<p>x</p>")
	below.parents, below.users = []string{"2", "3"}, []string{"557058:ada"}
	known := connect.Known{}
	changes := read(t, f, known)
	for id, want := range map[string]knowledge.Audience{"1": "group:wiki:space/ENG", "2": "group:wiki:page/2", "3": "group:wiki:page/2", "4": "group:wiki:page/4"} {
		if got := changes[id].Document.Audience; got != want {
			t.Errorf("page %s is for %s, want %s", id, got, want)
		}
	}
	connector := confluence.New(f.options())
	wants := func(groups []knowledge.Principal, want map[knowledge.Principal]string) {
		t.Helper()
		f.Asked = nil
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
		if slices.ContainsFunc(f.Asked, func(path string) bool { return strings.HasPrefix(path, "/api/v2/pages") }) {
			t.Errorf("pages were read: %q", f.Asked)
		}
	}
	wants(nil, map[knowledge.Principal]string{
		"group:wiki:space/ENG": "user:ada@example.com user:bob@example.com", "group:wiki:page/2": "user:bob@example.com", "group:wiki:page/4": "",
	})
	f.Change(func() { f.groups["g2"] = []string{"557058:ada"} })
	wants([]knowledge.Principal{"group:wiki:page/2", "group:wiki:page/4", "group:wiki:page/9"}, map[knowledge.Principal]string{
		"group:wiki:page/2": "user:ada@example.com", "group:wiki:page/4": "user:ada@example.com", "group:wiki:page/9": "",
	})
	if again := read(t, f, known); again["2"].Kind != connect.Unchanged {
		t.Errorf("a change of members: %+v", again["2"])
	}
	document := changes["1"].Document
	f.Change(func() { f.pages[0].users = []string{"557058:bob"} })
	if state, err := connector.Check(t.Context(), document); state != knowledge.StateChanged || err != nil {
		t.Errorf("a page that was closed is %s, %v", state, err)
	}
	if again := read(t, f, known); again["1"].Kind != connect.Upserted || again["1"].Document.Audience != "group:wiki:page/1" {
		t.Errorf("a page that was closed: %+v", again["1"])
	}
	if _, err := connector.Access(t.Context(), []knowledge.Principal{"group:other:page/2"}); err == nil {
		t.Error("a group of another source was asked for")
	}
	options := f.options()
	options.People = map[string]string{"557058:bob": "robert@example.com"}
	grants, err := confluence.New(options).Access(t.Context(), []knowledge.Principal{"group:wiki:page/1"})
	if err != nil || !slices.Equal(grants["group:wiki:page/1"], []knowledge.Principal{"user:robert@example.com"}) {
		t.Errorf("%v, %v", grants, err)
	}
	f.Change(func() { f.readers = nil })
	wants([]knowledge.Principal{"group:wiki:page/1", "group:wiki:space/ENG"}, map[knowledge.Principal]string{"group:wiki:page/1": "", "group:wiki:space/ENG": ""})
}

func TestCheck(t *testing.T) {
	f := newFake(t)
	f.put("1", "Page", "<p>x</p>")
	document := read(t, f, connect.Known{})["1"].Document
	connector := confluence.New(f.options())
	for _, want := range []knowledge.State{knowledge.StateLive, knowledge.StateChanged, knowledge.StateGone} {
		if state, err := connector.Check(t.Context(), document); state != want || err != nil {
			t.Errorf("%s, %v, want %s", state, err, want)
		}
		if want == knowledge.StateLive {
			f.put("1", "Page", "<p>y</p>")
		} else {
			f.remove("1")
		}
	}
}

// TestTroubleRemovesNothing has a site answer badly in each way.
func TestTroubleRemovesNothing(t *testing.T) {
	for name, one := range map[string]struct {
		status int
		header http.Header
		at     string // the path
		second bool   // page of the list
		want   string
	}{
		"401":              {status: 401, at: "/api/v2/spaces", want: "EMAIL:TOKEN"},
		"403 for the list": {status: 403, at: "/rest/api/content/search", want: "status 403"},
		"half-way":         {status: 404, at: "/rest/api/content/search", second: true, want: "status 404"},
		"500 half-way":     {status: 500, at: "/rest/api/content/search", second: true, want: "status 500"},
		"redirect":         {status: 302, header: http.Header{"Location": {"http://169.254.169.254/"}}, at: "/rest/api/content/search", want: "status 302"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			for number := range 5 { // two pages of the list, also without one of them
				f.put(strconv.Itoa(number+1), "Page", "<p>x</p>")
			}
			known := connect.Known{}
			read(t, f, known)
			f.Refuse = func(path string, query url.Values) (int, http.Header) {
				if path == one.at && (!one.second || query.Get("cursor") != "") {
					return one.status, one.header
				}
				return 0, nil
			}
			f.remove("5")
			var failed error
			for change, err := range confluence.New(f.options()).Sync(t.Context(), known) {
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

func TestAServerThatAsksForPatience(t *testing.T) {
	f := newFake(t)
	f.Refuse = func(string, url.Values) (int, http.Header) {
		return http.StatusTooManyRequests, http.Header{"Retry-After": {"3600"}}
	}
	for _, err := range confluence.New(f.options()).Sync(t.Context(), nil) {
		if busy, ok := errors.AsType[*connect.UnavailableError](err); !ok || busy.After != time.Hour {
			t.Errorf("%v", err)
		}
	}
}

func TestWhatTheSearchForgotStays(t *testing.T) {
	f := newFake(t)
	f.put("1", "Page", "<p>x</p>")
	known := connect.Known{}
	read(t, f, known)
	kept := f.pages[0]
	f.pages = nil
	f.Refuse = func(path string, _ url.Values) (int, http.Header) {
		if path == "/rest/api/content/1" {
			f.pages = []*page{kept}
		}
		return 0, nil
	}
	if got := read(t, f, known)["1"]; got.Kind != connect.Unchanged {
		t.Errorf("%+v", got)
	}
	f.pages, known["wiki:1"] = nil, "of an older version"
	if got := read(t, f, known)["1"]; got.Kind != connect.Upserted {
		t.Errorf("a page that changed: %+v", got)
	}
}

func TestAPageOverTheLimit(t *testing.T) {
	f := newFake(t)
	f.put("1", "Large", "<p>"+strings.Repeat("x", 3<<20)+"</p>")
	f.put("2", "Broken", "<p>&nosuch</p><")
	f.put("3", "Good", "<p>x</p>")
	options := f.options()
	options.MaxBytes = 1 << 20
	for change, err := range confluence.New(options).Sync(t.Context(), nil) {
		var large *connect.TooLargeError
		if id := change.Document.ID; err != nil || (change.Kind == connect.Failed) != (id != "wiki:3") || id == "wiki:1" && !errors.As(change.Reason, &large) {
			t.Errorf("%s: %v, %v", id, change.Reason, err)
		}
	}
}

func TestAddresses(t *testing.T) {
	for _, address := range []string{"https://acme.atlassian.net", "ftp://acme/wiki", "https://acme.atlassian.net/wiki/spaces/a%22b", "https://acme.atlassian.net/wiki/x"} {
		for _, err := range confluence.New(atlassian.Options{Source: "wiki", URL: address}).Sync(t.Context(), nil) {
			if err == nil || !strings.Contains(err.Error(), "want https://") {
				t.Errorf("%s: %v", address, err)
			}
		}
	}
	for _, err := range confluence.New(atlassian.Options{Source: "wiki", URL: "https://127.0.0.1:1/wiki"}).Sync(t.Context(), nil) {
		if !errors.Is(err, publicnet.ErrPrivate) {
			t.Errorf("%v", err)
		}
	}
}
