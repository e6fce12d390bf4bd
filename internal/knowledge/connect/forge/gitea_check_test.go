//go:build forgecheck

package forge_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/forge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/forge/giteatest"
	"github.com/cairn-bot/cairn/internal/repository/git"
)

// giteaSource is a source over a real Gitea, and what an index would have of it.
type giteaSource struct {
	*giteatest.Server
	t       *testing.T
	options forge.Options
	known   connect.Known
}

func newGiteaSource(t *testing.T, place string) *giteaSource {
	server := giteatest.Start(t)
	return &giteaSource{Server: server, t: t, known: connect.Known{}, options: forge.Options{
		Source: "code", Kind: forge.Gitea, URL: server.URL + "/" + place, Token: server.Token, Folder: t.TempDir(),
		Git: git.Options{AllowPrivate: true, TLS: server.TLS},
	}}
}

// sync reads the source, and gives what changed by path.
func (s *giteaSource) sync() map[string]connect.Change {
	s.t.Helper()
	changes := make(map[string]connect.Change)
	for change, err := range forge.New(s.options).Sync(s.t.Context(), s.known) {
		if err != nil {
			s.t.Fatal(err)
		}
		switch change.Kind {
		case connect.Upserted:
			s.known[change.Document.ID] = change.Document.Hash
		case connect.Deleted:
			delete(s.known, change.Document.ID)
		case connect.Failed:
			s.t.Logf("%s failed: %v", change.Document.Path, change.Reason)
		}
		if change.Kind != connect.Unchanged {
			changes[change.Document.Path] = change
		}
	}
	return changes
}

func (s *giteaSource) wants(what string, want map[string]connect.ChangeKind) map[string]connect.Change {
	s.t.Helper()
	changes := s.sync()
	for path, change := range changes {
		if want[path] != change.Kind {
			s.t.Errorf("%s: %s is of kind %d, want %d", what, path, change.Kind, want[path])
		}
	}
	for path, kind := range want {
		if changes[path].Kind != kind {
			s.t.Errorf("%s: %s is of kind %d, want %d", what, path, changes[path].Kind, kind)
		}
	}
	return changes
}

func TestGiteaFromItsFirstSyncToTheLast(t *testing.T) {
	s := newGiteaSource(t, "acme")
	for _, name := range []string{"ada", "bob", "eve"} {
		s.AddUser(name)
	}
	s.Do(http.MethodPost, "/orgs", giteatest.Map{"username": "acme"}, nil)
	s.AddRepository("acme/app", true)
	s.AddRepository("acme/site", false)
	s.AddRepository("acme/empty", false)
	s.WriteFile("acme/app", "docs/install.md", "# Install\n\nRun the installer.\n")
	s.WriteFile("acme/app", "main.go", "package main\n")
	s.WritePage("acme/app", "Release steps", "# Steps\n\nTag it.\n")
	crash := s.AddIssue("acme/app", "It crashes at start", "With version 3.")
	other := s.AddIssue("acme/app", "Slow on Mondays", "Why?")
	s.Do(http.MethodPost, fmt.Sprintf("/repos/acme/app/issues/%d/comments", crash), giteatest.Map{"body": "Set `CACHE=off`."}, nil)
	s.Do(http.MethodPost, "/repos/acme/app/releases", giteatest.Map{"tag_name": "v1.0", "name": "One", "body": "The first one.", "target_commitish": "main"}, nil)

	first := s.wants("at first", map[string]connect.ChangeKind{
		"acme/app/README.md": connect.Upserted, "acme/app/docs/install.md": connect.Upserted, "acme/app/wiki/Release-steps.md": connect.Upserted,
		"acme/app/issues/1": connect.Upserted, "acme/app/issues/2": connect.Upserted, "acme/app/releases/v1.0": connect.Upserted,
		"acme/site/README.md": connect.Upserted, "acme/empty/README.md": connect.Upserted,
	})
	issue := first["acme/app/issues/1"]
	if text := string(issue.Content); !strings.Contains(text, "Set `CACHE=off`.") || !strings.Contains(text, "Issue 1, open") || !strings.Contains(text, "{#issuecomment-") {
		t.Errorf("the issue says %s", text)
	}
	for path, want := range map[string]string{
		"acme/app/issues/1": "/acme/app/issues/1", "acme/app/wiki/Release-steps.md": "/acme/app/wiki/Release-steps", "acme/app/releases/v1.0": "/acme/app/releases/tag/v1.0",
	} {
		if got := first[path].Document.URL; got != s.URL+want {
			t.Errorf("%s is at %s, want %s", path, got, s.URL+want)
		}
		s.Get(strings.Replace(want, "/acme/app", "/acme/site", 1)[:len("/acme/site")]) // the page of a public repository is there
	}
	for path, want := range map[string]string{"acme/app/issues/1": "group:code:acme/app", "acme/app/docs/install.md": "group:code:acme/app", "acme/app/wiki/Release-steps.md": "group:code:acme/app", "acme/site/README.md": "public"} {
		if got := first[path].Document.Audience.OrPublic(); string(got) != want {
			t.Errorf("%s is for %s, want %s", path, got, want)
		}
	}
	s.wants("again", nil)

	s.Do(http.MethodPatch, fmt.Sprintf("/repos/acme/app/issues/%d", other), giteatest.Map{"state": "closed"}, nil)
	closed := s.wants("an issue was closed", map[string]connect.ChangeKind{"acme/app/issues/2": connect.Upserted})
	if !strings.Contains(string(closed["acme/app/issues/2"].Content), "Issue 2, closed on ") {
		t.Errorf("the closed issue says %s", closed["acme/app/issues/2"].Content)
	}
	var comments []struct {
		ID int `json:"id"`
	}
	s.Do(http.MethodGet, fmt.Sprintf("/repos/acme/app/issues/%d/comments", crash), nil, &comments)
	s.Do(http.MethodPatch, fmt.Sprintf("/repos/acme/app/issues/comments/%d", comments[0].ID), giteatest.Map{"body": "Set `CACHE=none`."}, nil)
	edited := s.wants("a comment was edited", map[string]connect.ChangeKind{"acme/app/issues/1": connect.Upserted})
	if !strings.Contains(string(edited["acme/app/issues/1"].Content), "CACHE=none") {
		t.Errorf("the issue says %s", edited["acme/app/issues/1"].Content)
	}
	s.Do(http.MethodDelete, fmt.Sprintf("/repos/acme/app/issues/comments/%d", comments[0].ID), nil, nil)
	s.options.Changed = []forge.Event{{Repository: "acme/app", Part: forge.Issues, Key: "1"}}
	cut := s.wants("a comment was deleted", map[string]connect.ChangeKind{"acme/app/issues/1": connect.Upserted})
	if strings.Contains(string(cut["acme/app/issues/1"].Content), "CACHE") {
		t.Errorf("the issue says %s", cut["acme/app/issues/1"].Content)
	}
	s.options.Changed = nil
	s.Do(http.MethodDelete, fmt.Sprintf("/repos/acme/app/issues/%d", crash), nil, nil)
	s.wants("an issue was deleted", map[string]connect.ChangeKind{"acme/app/issues/1": connect.Deleted})
	s.wants("again", nil)
	s.Do(http.MethodDelete, "/repos/acme/app/releases/tags/v1.0", nil, nil)
	s.Do(http.MethodDelete, "/repos/acme/app/wiki/page/Release-steps", nil, nil)
	s.AddIssue("acme/app", "Another", "New.")
	s.Do(http.MethodPatch, "/repos/acme/site", giteatest.Map{"private": true}, nil)
	s.wants("much changed", map[string]connect.ChangeKind{
		"acme/app/releases/v1.0": connect.Deleted, "acme/app/wiki/Release-steps.md": connect.Deleted, "acme/app/issues/3": connect.Upserted,
		"acme/site/README.md": connect.Upserted,
	})
	s.Do(http.MethodDelete, "/repos/acme/empty", nil, nil)
	s.wants("a repository was deleted", map[string]connect.ChangeKind{"acme/empty/README.md": connect.Deleted})
}

func TestGiteaTellsWhoMayRead(t *testing.T) {
	s := newGiteaSource(t, "acme")
	for _, name := range []string{"ada", "bob", "eve", "dan"} {
		s.AddUser(name)
	}
	s.Do(http.MethodPost, "/orgs", giteatest.Map{"username": "acme"}, nil)
	s.AddRepository("acme/app", true)
	s.AddRepository("acme/site", false)
	members := func(want ...knowledge.Principal) {
		t.Helper()
		began := time.Now()
		grants, err := forge.New(s.options).Access(t.Context(), []knowledge.Principal{"group:code:acme/app"})
		if err != nil {
			t.Fatal(err)
		}
		if got := grants["group:code:acme/app"]; !slices.Equal(got, want) {
			t.Errorf("%v may read it, want %v", got, want)
		}
		t.Logf("asked in %s", time.Since(began))
	}
	members("user:root@example.com") // of the owners
	s.Do(http.MethodPut, "/repos/acme/app/collaborators/ada", giteatest.Map{"permission": "read"}, nil)
	team := func(name string, units giteatest.Map) (id int) {
		var made struct {
			ID int `json:"id"`
		}
		s.Do(http.MethodPost, "/orgs/acme/teams", giteatest.Map{"name": name, "permission": "read", "units_map": units, "includes_all_repositories": true}, &made)
		return made.ID
	}
	all := team("everything", giteatest.Map{"repo.code": "read", "repo.issues": "read", "repo.wiki": "read", "repo.releases": "read"})
	wiki := team("wiki", giteatest.Map{"repo.wiki": "read"})
	s.Do(http.MethodPut, fmt.Sprintf("/teams/%d/members/bob", all), nil, nil)
	s.Do(http.MethodPut, fmt.Sprintf("/teams/%d/members/eve", wiki), nil, nil)
	members("user:ada@example.com", "user:bob@example.com", "user:root@example.com")
	s.Do(http.MethodDelete, "/repos/acme/app/collaborators/ada", nil, nil)
	members("user:bob@example.com", "user:root@example.com")
	s.Do(http.MethodDelete, fmt.Sprintf("/teams/%d/members/bob", all), nil, nil)
	members("user:root@example.com")
	grants, err := forge.New(s.options).Access(t.Context(), nil)
	if err != nil || len(grants) != 1 {
		t.Errorf("%v, %v", grants, err)
	}

	s.Do(http.MethodPost, "/admin/users/dan/repos", giteatest.Map{"name": "own", "private": true, "auto_init": true}, nil)
	s.options.URL = s.URL + "/dan/own"
	grants, err = forge.New(s.options).Access(t.Context(), nil)
	if got := grants["group:code:dan/own"]; err != nil || !slices.Equal(got, []knowledge.Principal{"user:dan@example.com"}) {
		t.Errorf("%v, %v", grants, err)
	}
}

// TestGiteaMergeRequest proposes the change of a file, twice.
func TestGiteaMergeRequest(t *testing.T) {
	s := newGiteaSource(t, "acme")
	s.Do(http.MethodPost, "/orgs", giteatest.Map{"username": "acme"}, nil)
	s.AddRepository("acme/app", true)
	s.WriteFile("acme/app", "docs/how to install.md", "# Install\n\nIt takes 30s.\n")
	p := forge.NewProposer(s.options)
	original, err := p.ReadFile(t.Context(), "code:acme/app//files/docs/how to install.md")
	if err != nil {
		t.Fatal(err)
	}
	change := forge.MergeRequest{
		Branch: "cairn/a1b2", Title: "Correct how to install.md", Body: "> it is 45s",
		Files: []forge.FileChange{{Original: original, Content: []byte(strings.Replace(string(original.Content), "30s", "45s", 1))}},
	}
	var addresses []string
	for range 2 {
		address, err := p.Propose(t.Context(), change)
		if err != nil {
			t.Fatal(err)
		}
		addresses = append(addresses, address)
	}
	if want := s.URL + "/acme/app/pulls/1"; addresses[0] != want || addresses[1] != want {
		t.Errorf("the merge requests are at %q, want %s", addresses, want)
	}
	var files []struct {
		Filename             string
		Additions, Deletions int
	}
	s.Do(http.MethodGet, "/repos/acme/app/pulls/1/files", nil, &files)
	if len(files) != 1 || files[0].Filename != "docs/how to install.md" || files[0].Additions != 1 || files[0].Deletions != 1 {
		t.Errorf("it changes %+v", files)
	}
	s.WriteFile("acme/app", "docs/new.md", "New.\n")
	change.Branch = "cairn/c3d4"
	change.Files[0].Blob = strings.Repeat("0", 40)
	if _, err := p.Propose(t.Context(), change); !errors.Is(err, forge.ErrOutdated) {
		t.Errorf("a change of another version: %v", err)
	}
}
