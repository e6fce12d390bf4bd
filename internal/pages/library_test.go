package pages_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/pages"
	"github.com/cairn-bot/cairn/internal/pages/merge"
	"github.com/cairn-bot/cairn/internal/pages/pagestest"
	"github.com/cairn-bot/cairn/internal/pages/tree"
	"github.com/cairn-bot/cairn/internal/sqlite/sqlitetest"
)

func library(t *testing.T) *pages.Library {
	t.Helper()
	return pages.NewLibrary(pages.OpenSQLite(sqlitetest.Open(t, t.TempDir())))
}

var room = pages.Place{Thread: "slack:C1/1", Channel: "slack:C1", Audience: "channel:slack:C1"}

// replaced is a page's tree with other words.
func replaced(root *tree.Node, before, after string) *tree.Node {
	copied := root.Clone()
	copied.Walk(func(n, _ *tree.Node) bool {
		n.Text = strings.ReplaceAll(n.Text, before, after)
		return true
	})
	return copied
}

func create(t *testing.T, l *pages.Library, key string) pages.Page {
	t.Helper()
	page, err := l.Create(t.Context(), room, " Paid \n leave ", pagestest.Root(t, "27 days a year.\n\nAsk Maria."), pages.Author{Name: "ada", Key: key})
	if err != nil {
		t.Fatal(err)
	}
	return page
}

func TestChangesOfTheSameVersionAreMerged(t *testing.T) {
	l := library(t)
	page := create(t, l, "")
	if page.Title != "Paid leave" {
		t.Errorf("title %q", page.Title)
	}
	save := func(root *tree.Node, choice merge.Choice) (pages.Page, error) {
		return l.Save(t.Context(), room, pages.Edit{Page: page.ID, Base: 1, Root: root, By: pages.Author{Name: "bob"}, Resolve: choice})
	}
	if _, err := save(replaced(page.Root, "27", "28"), ""); err != nil {
		t.Fatal(err)
	}
	merged, err := save(replaced(page.Root, "Maria", "Tom"), "")
	if err != nil || merged.Root.PlainText() != "28 days a year.\nAsk Tom." || merged.Version != 3 {
		t.Fatalf("%v, %+v", err, merged)
	}
	_, err = save(replaced(page.Root, "27", "30"), "")
	conflict, ok := errors.AsType[*pages.ConflictError](err)
	if !ok || len(conflict.Conflicts) != 1 || conflict.Page.Version != 3 || conflict.Conflicts[0].Ours != "28 days a year." || conflict.Conflicts[0].Their != "30 days a year." {
		t.Fatalf("%v, %+v", err, conflict)
	}
	if now, err := l.Load(t.Context(), room, page.ID); err != nil || now.Version != 3 {
		t.Errorf("a refused change made version %d, %v", now.Version, err)
	}
	if resolved, err := save(replaced(page.Root, "27", "30"), merge.TakeTheirs); err != nil || resolved.Root.PlainText() != "30 days a year.\nAsk Tom." {
		t.Errorf("%v, %+v", err, resolved)
	}
}

// TestWritersAtOnceLoseNothing has several append a line each to the version that they all saw.
func TestWritersAtOnceLoseNothing(t *testing.T) {
	l := library(t)
	page := create(t, l, "")
	var group errgroup.Group
	for writer := range 8 {
		root := page.Root.Clone()
		root.Children = append(root.Children, tree.NewBlock(tree.Paragraph, tree.NewText(fmt.Sprintf("line-%d", writer), 0)))
		group.Go(func() error {
			_, err := l.Save(t.Context(), room, pages.Edit{Page: page.ID, Base: 1, Root: root})
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	now, err := l.Load(t.Context(), room, page.ID)
	if err != nil || now.Version != 9 {
		t.Fatalf("%v, version %d", err, now.Version)
	}
	for writer := range 8 {
		if !strings.Contains(now.Root.PlainText(), fmt.Sprintf("line-%d", writer)) {
			t.Errorf("line %d is lost: %s", writer, now.Root.PlainText())
		}
	}
}

func TestARepeatedWriteIsMadeOnce(t *testing.T) {
	l := library(t)
	page := create(t, l, "k1")
	if again := create(t, l, "k1"); again.ID != page.ID {
		t.Errorf("made %s and %s", page.ID, again.ID)
	}
	for range 2 {
		edit := pages.Edit{Page: page.ID, Base: 1, Root: replaced(page.Root, "27", "28"), By: pages.Author{Key: "k2"}}
		if saved, err := l.Save(t.Context(), room, edit); err != nil || saved.Version != 2 {
			t.Errorf("version %d, %v", saved.Version, err)
		}
	}
}

// TestPagesOfOthersAreNotThere looks from places that a page is not for.
func TestPagesOfOthersAreNotThere(t *testing.T) {
	l := library(t)
	page := create(t, l, "")
	elsewhere := pages.Place{Thread: "slack:C2/1", Channel: "slack:C2", Audience: "channel:slack:C2"}
	stranger := knowledge.WithViewers(t.Context(), knowledge.NewViewers([]knowledge.Principal{"channel:slack:C2"}))
	member := knowledge.WithViewers(t.Context(), knowledge.NewViewers([]knowledge.Principal{"channel:slack:C1"}))
	for name, test := range map[string]struct {
		ctx   context.Context
		place pages.Place
		seen  bool
	}{
		"its own place": {stranger, room, true}, "a member elsewhere": {member, elsewhere, true}, "a stranger elsewhere": {stranger, elsewhere, false},
	} {
		_, loadErr := l.Load(test.ctx, test.place, page.ID)
		listed, err := l.List(test.ctx, test.place)
		_, saveErr := l.Save(test.ctx, test.place, pages.Edit{Page: page.ID, Base: 1})
		_, versionErr := l.LoadVersion(test.ctx, test.place, page.ID, 1)
		for _, got := range []error{loadErr, saveErr, versionErr} {
			if test.seen && got != nil || !test.seen && !errors.Is(got, pages.ErrNotFound) {
				t.Errorf("%s: %v", name, got)
			}
		}
		if err != nil || len(listed) > 0 != test.seen {
			t.Errorf("%s: listed %+v, %v", name, listed, err)
		}
	}
	if err := l.Delete(stranger, elsewhere, page.ID); !errors.Is(err, pages.ErrNotFound) {
		t.Errorf("a stranger deletes: %v", err)
	}
}

func TestTheActivePageIsTheThreadsElseTheChannels(t *testing.T) {
	l := library(t)
	first := create(t, l, "")
	other := room
	other.Thread = "slack:C1/2"
	if active, err := l.Active(t.Context(), other); err != nil || active.ID != first.ID {
		t.Errorf("the channel works on %s, %v", active.ID, err)
	}
	second, err := l.Create(t.Context(), other, "Other", pagestest.Root(t, "x"), pages.Author{})
	if err != nil {
		t.Fatal(err)
	}
	for place, want := range map[pages.Place]pages.PageID{room: first.ID, other: second.ID} {
		if active, err := l.Active(t.Context(), place); err != nil || active.ID != want {
			t.Errorf("%s works on %s, %v", place.Thread, active.ID, err)
		}
	}
	if err := l.Close(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Active(t.Context(), other); !errors.Is(err, pages.ErrNotFound) {
		t.Errorf("a closed page is active: %v", err)
	}
}
