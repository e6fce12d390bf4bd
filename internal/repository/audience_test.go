package repository_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/repository"
	"github.com/cairn-bot/cairn/internal/repository/git/gittest"
)

// TestAFolderIsForItsAudience opens repositories for viewers who may read all, some or none
// of them.
func TestAFolderIsForItsAudience(t *testing.T) {
	root := t.TempDir()
	gittest.Write(t, root, map[string]string{
		"app/main.go": "", "app/legal/.cairn.yaml": "audience: [group:legal]", "app/legal/deal.go": "", "app/legal/node_modules/x.js": "",
		"app/broken/.cairn.yaml": "audience: [", "app/broken/b.go": "", "app/broken/public/.cairn.yaml": "audience: [public]", "app/broken/public/c.go": "",
		"team/.cairn.yaml": "audience: [group:legal]", "team/deep/app/main.go": "",
	})
	if err := os.Symlink(filepath.Join("team", "deep"), filepath.Join(root, "shortcut")); err != nil {
		t.Fatal(err)
	}
	for name, viewers := range map[string]knowledge.Viewers{
		"public": {}, "legal": knowledge.NewViewers([]knowledge.Principal{"group:legal"}), "all": knowledge.Unrestricted(),
	} {
		opener := repository.NewOpener(repository.Options{Roots: []string{root}})
		ctx := knowledge.WithViewers(t.Context(), viewers)
		checkout, err := opener.Open(ctx, "app")
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{
			"public": "main.go", "legal": "legal/.cairn.yaml legal/deal.go main.go",
			"all": "broken/.cairn.yaml broken/b.go broken/public/.cairn.yaml broken/public/c.go legal/.cairn.yaml legal/deal.go main.go",
		}[name]
		if got := paths(checkout); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if skipped := len(checkout.Skipped); (skipped == 0) != (name == "public") {
			t.Errorf("%s: skipped %q", name, checkout.Skipped)
		}
		if err := checkout.Close(); err != nil {
			t.Error(err)
		}
		for _, below := range []string{"team/deep/app", "team", "shortcut/app"} {
			checkout, err := opener.Open(ctx, below)
			if err == nil {
				err = checkout.Close()
			}
			if _, refused := errors.AsType[*repository.RefusedError](err); refused != (name == "public") || err != nil && !refused {
				t.Errorf("%s: %s gives %v", name, below, err)
			}
		}
	}
}
