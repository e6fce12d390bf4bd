package forge_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/connecttest"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/forge"
	"github.com/cairn-bot/cairn/internal/publicnet"
	"github.com/cairn-bot/cairn/internal/repository/git/gittest"
)

var kinds = []forge.Kind{forge.GitHub, forge.GitLab, forge.Gitea}

// forEach runs a test against a forge of each kind.
func forEach(t *testing.T, test func(t *testing.T, f *fake, options forge.Options)) {
	t.Helper()
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel() // they wait between tries
			f := newFake(t, kind)
			test(t, f, f.options(t))
		})
	}
}

// filesPlace is a forge as the suite fills it: with files.
type filesPlace struct {
	*fake
	set forge.Options
}

func (p *filesPlace) Connector() connect.Connector { return forge.New(p.set) }
func (p *filesPlace) PathPrefix() string           { return "acme/app/" }

func (p *filesPlace) Put(path, content string) {
	gittest.Write(p.t, filepath.Join(p.folder, "acme/app.git"), map[string]string{path: content})
	p.commit("acme/app.git")
}

func (p *filesPlace) Remove(path string) {
	gittest.Run(p.t, filepath.Join(p.folder, "acme/app.git"), "rm", "-q", path)
	p.commit("acme/app.git")
}

func TestSuiteOfFiles(t *testing.T) {
	connecttest.Run(t, func(t *testing.T) connecttest.Place {
		f := newFake(t, forge.Gitea).serveGit()
		options := f.options(t)
		options.Parts, options.Include = []forge.Part{forge.Files}, []string{"**"}
		return &filesPlace{f, options}
	})
}

// issuesPlace is a forge as the suite fills it: with issues, whose paths are put for their numbers.
type issuesPlace struct {
	*fake
	set forge.Options
}

// names are the numbers of the suite's documents, in order of their names.
var names = []string{"a.md", "b.md", "d.md", "picture.md", "sub/c.md"}

type named struct{ connect.Connector }

func (n named) Sync(ctx context.Context, known connect.Known) iter.Seq2[connect.Change, error] {
	return func(yield func(connect.Change, error) bool) {
		for change, err := range n.Connector.Sync(ctx, known) {
			if number, isNumber := strconv.Atoi(strings.TrimPrefix(change.Document.Path, "acme/app/issues/")); isNumber == nil {
				change.Document.Path = names[number-1]
			}
			if !yield(change, err) {
				return
			}
		}
	}
}

func (p *issuesPlace) Connector() connect.Connector { return named{forge.New(p.set)} }

func (p *issuesPlace) Put(path, content string) {
	number := slices.Index(names, path) + 1
	p.change(func() {
		p.issues = slices.DeleteFunc(p.issues, func(i *issue) bool { return i.number == number })
		p.issues = append(p.issues, &issue{number: number, title: path, body: content, updated: p.now, comments: []string{"A comment."}})
		slices.SortFunc(p.issues, func(a, b *issue) int { return a.number - b.number })
	})
}

func (p *issuesPlace) Remove(path string) {
	number := slices.Index(names, path) + 1
	p.change(func() {
		p.issues = slices.DeleteFunc(p.issues, func(i *issue) bool { return i.number == number })
	})
}

func TestSuiteOfIssues(t *testing.T) {
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			connecttest.Run(t, func(t *testing.T) connecttest.Place {
				f := newFake(t, kind)
				f.refuse = func(path string, _ url.Values) (int, http.Header) {
					if strings.Contains(path, "/issues/4/") { // what can't be read: its comments
						return http.StatusForbidden, nil
					}
					return 0, nil
				}
				options := f.options(t)
				options.Parts = []forge.Part{forge.Issues}
				return &issuesPlace{f, options}
			})
		})
	}
}

// read syncs and gives the changes by path, and what is known then.
func read(t *testing.T, options forge.Options, known connect.Known) map[string]connect.Change {
	t.Helper()
	changes := make(map[string]connect.Change)
	for change, err := range forge.New(options).Sync(t.Context(), known) {
		if err != nil {
			t.Fatal(err)
		}
		if _, twice := changes[change.Document.Path]; twice {
			t.Errorf("%s is yielded twice", change.Document.Path)
		}
		changes[change.Document.Path] = change
		switch change.Kind {
		case connect.Upserted:
			known[change.Document.ID] = change.Document.Hash
		case connect.Deleted:
			delete(known, change.Document.ID)
		}
	}
	return changes
}

// kindsOf gives the paths of changes of a kind, in order.
func kindsOf(changes map[string]connect.Change, kind connect.ChangeKind) string {
	var paths []string
	for path, change := range changes {
		if change.Kind == kind {
			paths = append(paths, strings.TrimPrefix(path, "acme/app/"))
		}
	}
	slices.Sort(paths)
	return strings.Join(paths, " ")
}

func TestOneRepositoryOverTime(t *testing.T) {
	forEach(t, func(t *testing.T, f *fake, options forge.Options) {
		for number := range 40 { // two pages
			f.open(fmt.Sprintf("Issue number %d", number+1), "Text.")
		}
		f.issues[4].pull = true
		f.issues[1].comments = []string{"# Not by Ada\n\nSet `CACHE`.", "system: ada closed it"}
		f.releases = []string{"v1.0"}
		known := connect.Known{}
		first := read(t, options, known)
		if got := len(first); got != map[forge.Kind]int{forge.GitHub: 41, forge.GitLab: 40, forge.Gitea: 40}[f.kind] {
			t.Errorf("%d documents: %s", got, kindsOf(first, connect.Upserted))
		}
		text := string(first["acme/app/issues/2"].Content)
		if !strings.Contains(text, "### Not by Ada") || !strings.Contains(text, "## Comment by ada") || strings.Contains(text, "system:") != (f.kind != forge.GitLab) {
			t.Errorf("the issue says %s", text)
		}
		if document := first["acme/app/issues/2"].Document; document.Kind != knowledge.KindConversation || document.URL != f.server.URL+"/i/2" || document.Title != "Issue number 2" {
			t.Errorf("%+v", document)
		}
		f.asked = nil
		if again := read(t, options, known); kindsOf(again, connect.Upserted)+kindsOf(again, connect.Deleted) != "" || len(again) != len(first) {
			t.Errorf("again: %q changed, %q gone, %d of %d", kindsOf(again, connect.Upserted), kindsOf(again, connect.Deleted), len(again), len(first))
		}
		if len(f.asked) > 9 {
			t.Errorf("asked %d times where nothing changed: %q", len(f.asked), f.asked)
		}
		f.touch(f.issues[2], func() { f.issues[2].closed = true })
		f.open("A new one", "Text.")
		if changes := read(t, options, known); kindsOf(changes, connect.Upserted) != "issues/3 issues/41" || kindsOf(changes, connect.Deleted) != "" {
			t.Errorf("closed and new: %q changed, %q gone", kindsOf(changes, connect.Upserted), kindsOf(changes, connect.Deleted))
		}
		f.remove(f.issues[7])
		f.releases = nil
		if changes := read(t, options, known); kindsOf(changes, connect.Upserted) != "" || kindsOf(changes, connect.Deleted) != "issues/8 releases/v1.0" {
			t.Errorf("deleted: %q changed, %q gone", kindsOf(changes, connect.Upserted), kindsOf(changes, connect.Deleted))
		}
		f.private = true
		changes := read(t, options, known)
		if got := changes["acme/app/issues/1"]; got.Kind != connect.Upserted || got.Document.Audience != "group:code:acme/app" {
			t.Errorf("private: %+v", got.Document)
		}
	})
}

// TestFilesAndWikisOfAllForges checks where their links lead.
func TestFilesAndWikisOfAllForges(t *testing.T) {
	for _, kind := range kinds {
		f := newFake(t, kind).serveGit()
		f.private = true
		for name, files := range map[string]map[string]string{
			"acme/app.git":      {"README.md": "# App\n", "docs/a.md": "# A\n", "src/main.go": "package main\n"},
			"acme/app.wiki.git": {"Home.md": "# Home\n\nSee [a](A-page).\n"},
		} {
			gittest.Write(t, filepath.Join(f.folder, name), files)
			f.commit(name)
		}
		changes := read(t, f.options(t), connect.Known{})
		head := gittest.Run(t, filepath.Join(f.folder, "acme/app.git"), "rev-parse", "HEAD")
		at := f.server.URL + "/acme/app"
		want := map[forge.Kind][2]string{
			forge.GitHub: {at + "/blob/" + head + "/docs/a.md", at + "/wiki/Home"}, forge.GitLab: {at + "/-/blob/" + head + "/docs/a.md", at + "/-/wikis/Home"},
			forge.Gitea: {at + "/src/commit/" + head + "/docs/a.md", at + "/wiki/Home"},
		}[kind]
		file, page := changes["acme/app/docs/a.md"], changes["acme/app/wiki/Home.md"]
		if file.Document.URL != want[0] || page.Document.URL != want[1] || page.Link("A-page") != strings.TrimSuffix(want[1], "Home")+"A-page" {
			t.Errorf("%s: %s, %s, %s", kind, file.Document.URL, page.Document.URL, page.Link("A-page"))
		}
		if file.Document.Audience != "group:code:acme/app" || page.Document.Audience != "group:code:acme/app" || changes["acme/app/src/main.go"].Kind != 0 {
			t.Errorf("%s: %+v, %+v", kind, file.Document, page.Document)
		}
	}
}

func TestDiscussionsOfGitHub(t *testing.T) {
	f := newFake(t, forge.GitHub)
	found, ok := read(t, f.options(t), connect.Known{})["acme/app/discussions/7"]
	if text := string(found.Content); !ok || !strings.Contains(text, "## Accepted answer by ada on 2026-01-02 {#discussioncomment-5}") || !strings.Contains(text, "labels: Q&A") {
		t.Errorf("%s", text)
	}
}

// TestAnItemThatMovedWhilePagesWereReadStays has an issue of the first page be deleted before the
// second page is read: what then begins the second page is on neither.
func TestAnItemThatMovedWhilePagesWereReadStays(t *testing.T) {
	forEach(t, func(t *testing.T, f *fake, options forge.Options) {
		options.Parts = []forge.Part{forge.Issues}
		for number := range 40 {
			f.open(fmt.Sprint(number), "Text.")
		}
		known := connect.Known{}
		read(t, options, known)
		options.Folder = t.TempDir() // a whole listing
		f.refuse = func(_ string, query url.Values) (int, http.Header) {
			if query.Get("page") == "2" && len(f.issues) == 40 {
				f.issues = f.issues[1:]
			}
			return 0, nil
		}
		if changes := read(t, options, known); kindsOf(changes, connect.Deleted) != "" {
			t.Errorf("gone: %q", kindsOf(changes, connect.Deleted))
		}
		if changes := read(t, options, known); kindsOf(changes, connect.Deleted) != "issues/1" {
			t.Errorf("gone at last: %q", kindsOf(changes, connect.Deleted))
		}
	})
}

func TestFaults(t *testing.T) {
	forEach(t, func(t *testing.T, f *fake, options forge.Options) {
		options.Parts = []forge.Part{forge.Issues, forge.Releases}
		for number := range 40 {
			f.open(fmt.Sprint(number), "Text.")
		}
		f.releases = []string{"v1"}
		known := connect.Known{}
		read(t, options, known)
		f.issues = f.issues[:30] // which no sync that fails may take for gone
		repository := map[bool]string{true: "/projects/acme%2Fapp", false: "/repos/acme/app"}[f.kind == forge.GitLab]
		refuse := func(status int, header http.Header, when func(path string, query url.Values) bool) (map[string]connect.Change, error) {
			t.Helper()
			tried := options
			tried.Folder = t.TempDir()
			f.refuse = func(path string, query url.Values) (int, http.Header) {
				if when(path, query) {
					return status, header
				}
				return 0, nil
			}
			changes := make(map[string]connect.Change)
			for change, err := range forge.New(tried).Sync(t.Context(), known) {
				if err != nil {
					return changes, err
				}
				changes[change.Document.Path] = change
			}
			return changes, nil
		}
		everything := func(string, url.Values) bool { return true }
		listing := func(path string, _ url.Values) bool { return path == repository+"/issues" }
		for what, c := range map[string]struct {
			status int
			header http.Header
			when   func(string, url.Values) bool
			want   string
		}{
			"a bad token":                  {401, nil, everything, "does not accept the token"},
			"no such repository":           {404, nil, everything, "check the address"},
			"a listing that fails midway":  {500, nil, func(path string, query url.Values) bool { return listing(path, query) && query.Get("page") == "2" }, "status 500"},
			"a server that is too busy":    {429, http.Header{"Retry-After": {"120"}}, listing, "asked again in 2m"},
			"a redirect to somewhere else": {302, http.Header{"Location": {"http://169.254.169.254/"}}, everything, "302"},
		} {
			if f.kind == forge.GitHub && c.status == 500 {
				continue // its list ends with the first page once ten are gone
			}
			changes, err := refuse(c.status, c.header, c.when)
			if err == nil || !strings.Contains(err.Error(), c.want) || kindsOf(changes, connect.Deleted) != "" || strings.Contains(err.Error(), "secret-token") {
				t.Errorf("%s: %v, gone %q", what, err, kindsOf(changes, connect.Deleted))
			}
		}
		changes, err := refuse(403, nil, listing)
		if err != nil || kindsOf(changes, connect.Failed) != "issues" || kindsOf(changes, connect.Deleted) != "" {
			t.Errorf("a part that is refused: %v, failed %q, gone %q", err, kindsOf(changes, connect.Failed), kindsOf(changes, connect.Deleted))
		}
		_, err = refuse(403, http.Header{"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {strconv.FormatInt(f.now.Add(time.Hour).Unix(), 10)}}, everything)
		if limited, ok := errors.AsType[*connect.UnavailableError](err); !ok || limited.After < 59*time.Minute {
			t.Errorf("no requests are left: %v", err)
		}
		changes, err = refuse(0, nil, everything)
		if err != nil || len(strings.Fields(kindsOf(changes, connect.Deleted))) != 10 {
			t.Errorf("at the end: %v, gone %q", err, kindsOf(changes, connect.Deleted))
		}
	})
}

func TestAnIssueThatIsTooLarge(t *testing.T) {
	f := newFake(t, forge.Gitea)
	options := f.options(t)
	options.Parts, options.MaxBytes = []forge.Part{forge.Issues}, 10_000
	f.open("Small", "Text.")
	f.open("Large", strings.Repeat("word ", 5_000))
	f.open("Small as well", "Text.")
	changes := read(t, options, connect.Known{})
	if kindsOf(changes, connect.Upserted) != "issues/1 issues/3" || kindsOf(changes, connect.Failed) != "issues/2" {
		t.Errorf("read %q, failed %q", kindsOf(changes, connect.Upserted), kindsOf(changes, connect.Failed))
	}
	f.issues[1].body = strings.Repeat("x", 2<<20) // more than a response may have
	changes = read(t, options, connect.Known{})
	if kindsOf(changes, connect.Upserted) != "issues/1 issues/3" || kindsOf(changes, connect.Failed) != "issues/too large 1" {
		t.Errorf("read %q, failed %q", kindsOf(changes, connect.Upserted), kindsOf(changes, connect.Failed))
	}
}

func TestPrivateAddressesAreRefused(t *testing.T) {
	f := newFake(t, forge.Gitea)
	options := f.options(t)
	options.Git.AllowPrivate = false
	for _, err := range forge.New(options).Sync(t.Context(), nil) {
		if !errors.Is(err, publicnet.ErrPrivate) {
			t.Errorf("%v", err)
		}
	}
}

func TestAccess(t *testing.T) {
	forEach(t, func(t *testing.T, f *fake, options forge.Options) {
		f.private, f.members = true, []string{"ada", "eve"}
		options.People = map[string]string{"Eve": "eve@corp.example"}
		groups := []knowledge.Principal{"group:code:acme/app"}
		want := []knowledge.Principal{"user:ada@example.com", "user:eve@corp.example"}
		if f.kind == forge.Gitea { // of a team
			want = []knowledge.Principal{"user:ada@example.com", "user:bob@example.com", "user:eve@corp.example"}
		}
		for what, asked := range map[string][]knowledge.Principal{"one": groups, "all": nil} {
			grants, err := forge.New(options).Access(t.Context(), asked)
			if got := grants[groups[0]]; err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: %v, %v", what, got, err)
			}
		}
		f.refuse = func(path string, _ url.Values) (int, http.Header) {
			if strings.Contains(path, "collaborators") || strings.Contains(path, "members") {
				return http.StatusForbidden, nil
			}
			return 0, nil
		}
		grants, err := forge.New(options).Access(t.Context(), groups)
		if members, ok := grants[groups[0]]; err != nil || !ok || len(members) != 0 {
			t.Errorf("where the forge does not tell: %v, %v", grants, err)
		}
		f.refuse = func(string, url.Values) (int, http.Header) { return http.StatusInternalServerError, nil }
		if grants, err := forge.New(options).Access(t.Context(), groups); err == nil {
			t.Errorf("where the forge fails: %v", grants)
		}
	})
}

func TestCheck(t *testing.T) {
	forEach(t, func(t *testing.T, f *fake, options forge.Options) {
		one := f.open("One", "Text.")
		document := read(t, options, connect.Known{})["acme/app/issues/1"].Document
		check := func(want knowledge.State) {
			t.Helper()
			if state, err := forge.New(options).Check(t.Context(), document); state != want || err != nil {
				t.Errorf("%s, %v, want %s", state, err, want)
			}
		}
		check(knowledge.StateLive)
		f.touch(one, func() { one.body = "Another." })
		check(knowledge.StateChanged)
		f.remove(one)
		check(knowledge.StateGone)
	})
}
