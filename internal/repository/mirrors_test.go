package repository_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/repository"
	"github.com/cairn-bot/cairn/internal/repository/git"
	"github.com/cairn-bot/cairn/internal/repository/git/gittest"
)

// mirrorOf keeps a mirror of the repository of gittest.Origin, with more files in it.
func mirrorOf(t *testing.T, added map[string]string) (repository.Mirror, git.Checkout) {
	t.Helper()
	served := t.TempDir()
	gittest.Origin(t, served)
	origin := filepath.Join(served, "team", "app.git")
	gittest.Write(t, origin, added)
	gittest.Run(t, origin, "add", ".")
	gittest.Run(t, origin, "commit", "-qm", "more")
	server := gittest.Serve(t, served)
	mirror := repository.Mirror{
		Address: server.URL + "/team/app.git", Folder: filepath.Join(t.TempDir(), "mirror"),
		Web: func(commit string) string { return "https://git.example.com/team/app/src/commit/" + commit + "/" },
	}
	checkout, err := git.NewMirror(git.MirrorOptions{
		Options: gittest.Local(server, git.Options{AllowPrivate: true}), Address: mirror.Address, Folder: mirror.Folder,
	}).Update(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return mirror, checkout
}

// TestMirrorsAreListedAndOpened has a mirror for one group, of which patterns and a settings file
// hold something back, and one that was not read yet.
func TestMirrorsAreListedAndOpened(t *testing.T) {
	mirror, held := mirrorOf(t, map[string]string{
		"go.mod": "module example.com/app\n", "docs/a.md": "# A\n", "old/go.mod": "module example.com/old\n",
		"board/.cairn.yaml": "audience: [group:board]", "board/go.mod": "module example.com/board\n",
	})
	staff, err := knowledge.NewAudience("group:staff")
	if err != nil {
		t.Fatal(err)
	}
	mirror.Audience, mirror.Include, mirror.Exclude = staff, []string{"docs/**"}, []string{"old"}
	unread := repository.Mirror{Address: "https://git.example.com/team/new.git", Folder: filepath.Join(t.TempDir(), "none"), Web: mirror.Web}
	opener := repository.NewOpener(repository.Options{Mirrors: func() ([]repository.Mirror, error) { return []repository.Mirror{mirror, unread}, nil }})
	for principal, want := range map[knowledge.Principal][]string{"group:staff": {mirror.Address, unread.Address}, "group:guests": {unread.Address}} {
		ctx := knowledge.WithViewers(t.Context(), knowledge.NewViewers([]knowledge.Principal{principal}))
		listed, err := opener.List(ctx)
		if err != nil || !slices.Equal(listed, want) {
			t.Errorf("%s: %q, %v", principal, listed, err)
		}
		checkout, err := opener.OpenNewest(ctx, mirror.Address)
		if principal == "group:guests" {
			if _, refused := errors.AsType[*repository.RefusedError](err); !refused {
				t.Errorf("%s: %v", principal, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := paths(checkout); got != "docs/a.md go.mod" || checkout.Commit != held.Commit || checkout.Name != "127.0.0.1/team/app" {
			t.Errorf("%s: %s at %s: %s", principal, checkout.Name, checkout.Commit, got)
		}
		if link := repository.Link(checkout.Web, "go.mod", 1); link != "https://git.example.com/team/app/src/commit/"+held.Commit+"/go.mod#L1" {
			t.Error(link)
		}
		if err := checkout.Close(); err != nil {
			t.Error(err)
		}
		if _, err := opener.OpenNewest(ctx, unread.Address); err == nil || !strings.Contains(err.Error(), "the source was not read yet") {
			t.Errorf("a mirror that holds nothing: %v", err)
		}
	}
}
