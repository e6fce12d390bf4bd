// Package pagestest is the suite that every backend of pages passes.
package pagestest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/pages"
	"github.com/cairn-bot/cairn/internal/pages/tree"
)

// Run runs the suite. open gives a backend over the same storage each time.
func Run(t *testing.T, open func(t *testing.T) pages.Backend) {
	for name, test := range map[string]func(*testing.T, pages.Backend){
		"pages are kept": keepsPages, "versions": keepsVersions, "one writer wins": letsOneWriterWin, "names": namesVersions,
		"active pages": keepsActivePages, "forgetting": forgetsAuthors, "removing": removesVersions, "deleting": deletesPages,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

// at is a time that every backend keeps as it is.
var at = time.Date(2026, 3, 14, 15, 9, 26, 535_000_000, time.UTC)

// Root makes a tree of Markdown.
func Root(t testing.TB, markdown string) *tree.Node {
	t.Helper()
	root, err := tree.ParseMarkdown(markdown)
	if err != nil {
		t.Fatal(err)
	}
	tree.AssignIDs(root, tree.RandomID)
	return root
}

// createStored makes a page with its first version.
func createStored(t *testing.T, backend pages.Backend, title string) pages.Page {
	t.Helper()
	page := pages.Page{
		ID: pages.PageID("p" + tree.RandomID()), Title: title, Audience: knowledge.Audience("channel:slack:C1"), Version: 1,
		Root: Root(t, "# "+title+"\n\nText — with “quotes”."), Created: at, Updated: at,
	}
	first := pages.Version{Page: page.ID, Number: 1, Author: "ada", At: at, Why: "made", Run: "r1", Key: "k1", Title: title, Root: page.Root}
	if err := backend.Create(t.Context(), page, first); err != nil {
		t.Fatal(err)
	}
	return page
}

// next is the version that follows a page as it stands.
func next(page pages.Page, author string, root *tree.Node) pages.Version {
	return pages.Version{
		Page: page.ID, Number: page.Version + 1, Base: page.Version, Author: author, At: page.Updated.Add(time.Hour), Why: "edited", Title: page.Title, Root: root,
	}
}

func sameTree(a, b *tree.Node) bool { return bytes.Equal(tree.Encode(a), tree.Encode(b)) }

func keepsPages(t *testing.T, backend pages.Backend) {
	page := createStored(t, backend, "Leave")
	loaded, err := backend.Load(t.Context(), page.ID)
	if err != nil {
		t.Fatal(err)
	}
	if !sameTree(loaded.Root, page.Root) {
		t.Errorf("got %s", tree.Encode(loaded.Root))
	}
	want := page
	loaded.Root, want.Root = nil, nil
	if loaded != want {
		t.Errorf("got %+v, want %+v", loaded, want)
	}
	if err := backend.Create(t.Context(), page, pages.Version{Page: page.ID, Number: 1, Root: page.Root}); !errors.Is(err, pages.ErrStale) {
		t.Errorf("a page made twice gives %v", err)
	}
	if _, err := backend.Load(t.Context(), "none"); !errors.Is(err, pages.ErrNotFound) {
		t.Errorf("a page that is not there gives %v", err)
	}
	second := createStored(t, backend, "Sick leave")
	version := next(second, "bob", Root(t, "new"))
	if err := backend.Commit(t.Context(), version); err != nil {
		t.Fatal(err)
	}
	listed, err := backend.List(t.Context())
	newer := slices.Index(listed, pages.Summary{ID: second.ID, Title: "Sick leave", Audience: second.Audience, Version: 2, Updated: version.At})
	older := slices.IndexFunc(listed, func(s pages.Summary) bool { return s.ID == page.ID })
	if err != nil || newer < 0 || older < newer {
		t.Errorf("%v, %+v", err, listed)
	}
}

func keepsVersions(t *testing.T, backend pages.Backend) {
	page := createStored(t, backend, "Leave")
	version := next(page, "bob", Root(t, "28 days"))
	version.Title, version.Key, version.Name = "Paid leave", "k2", "before the review"
	if err := backend.Commit(t.Context(), version); err != nil {
		t.Fatal(err)
	}
	all, err := backend.Versions(t.Context(), page.ID, 10)
	if err != nil || len(all) != 2 || all[0].Number != 2 || all[1].Number != 1 {
		t.Fatalf("%v, %+v", err, all)
	}
	got, err := backend.LoadVersion(t.Context(), page.ID, 2)
	if err != nil || !sameTree(got.Root, version.Root) {
		t.Fatalf("%v, %+v", err, got)
	}
	want := version
	got.Root, want.Root = nil, nil
	if got != want || all[0] != want {
		t.Errorf("got %+v and %+v, want %+v", got, all[0], want)
	}
	if limited, err := backend.Versions(t.Context(), page.ID, 1); err != nil || len(limited) != 1 || limited[0].Number != 2 {
		t.Errorf("%v, %+v", err, limited)
	}
	for key, want := range map[string]int{"k1": 1, "k2": 2, "k3": 0} {
		if number, err := backend.FindKey(t.Context(), page.ID, key); err != nil || number != want {
			t.Errorf("key %s is version %d, %v", key, number, err)
		}
	}
	if _, err := backend.LoadVersion(t.Context(), page.ID, 7); !errors.Is(err, pages.ErrNotFound) {
		t.Errorf("a version that is not there gives %v", err)
	}
	if err := backend.Commit(t.Context(), next(pages.Page{ID: "none"}, "bob", version.Root)); !errors.Is(err, pages.ErrNotFound) {
		t.Errorf("a version of no page gives %v", err)
	}
}

// letsOneWriterWin has several writers commit the same version: all but one are stale.
func namesVersions(t *testing.T, backend pages.Backend) {
	page := createStored(t, backend, "Leave")
	for _, name := range []string{"before the review", ""} {
		if err := backend.NameVersion(t.Context(), page.ID, 1, name); err != nil {
			t.Fatal(err)
		}
		if got, err := backend.LoadVersion(t.Context(), page.ID, 1); err != nil || got.Name != name {
			t.Errorf("%v, %q, want %q", err, got.Name, name)
		}
	}
	if err := backend.NameVersion(t.Context(), page.ID, 2, "x"); !errors.Is(err, pages.ErrNotFound) {
		t.Errorf("a version that is not there gives %v", err)
	}
}

func letsOneWriterWin(t *testing.T, backend pages.Backend) {
	page := createStored(t, backend, "Leave")
	const writers = 8
	won := make([]bool, writers)
	var group errgroup.Group
	for writer := range writers {
		root := Root(t, fmt.Sprintf("written by %d", writer))
		group.Go(func() error {
			err := backend.Commit(t.Context(), next(page, fmt.Sprint(writer), root))
			won[writer] = err == nil
			if errors.Is(err, pages.ErrStale) {
				return nil
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	winners := 0
	for writer, first := range won {
		if !first {
			continue
		}
		winners++
		if loaded, err := backend.Load(t.Context(), page.ID); err != nil || loaded.Version != 2 || loaded.Root.PlainText() != fmt.Sprintf("written by %d", writer) {
			t.Errorf("%v, %+v after %d won", err, loaded, writer)
		}
	}
	if winners != 1 {
		t.Errorf("%d writers won", winners)
	}
}

func keepsActivePages(t *testing.T, backend pages.Backend) {
	first, second := createStored(t, backend, "One"), createStored(t, backend, "Two")
	active := func(place string, want pages.PageID) {
		t.Helper()
		if id, err := backend.Active(t.Context(), place); err != nil || id != want {
			t.Errorf("%s works on %q, %v, want %q", place, id, err, want)
		}
	}
	active("thread", "")
	for _, id := range []pages.PageID{first.ID, second.ID} {
		if err := backend.Activate(t.Context(), "thread", id); err != nil {
			t.Fatal(err)
		}
		active("thread", id)
	}
	if err := backend.Activate(t.Context(), "channel", first.ID); err != nil {
		t.Fatal(err)
	}
	if err := backend.Activate(t.Context(), "thread", ""); err != nil {
		t.Fatal(err)
	}
	active("thread", "")
	active("channel", first.ID)
	if err := backend.Delete(t.Context(), first.ID); err != nil {
		t.Fatal(err)
	}
	active("channel", "")
}

func forgetsAuthors(t *testing.T, backend pages.Backend) {
	page := createStored(t, backend, "Leave")
	if err := backend.Commit(t.Context(), next(page, "grace", page.Root)); err != nil {
		t.Fatal(err)
	}
	if count, err := backend.ForgetAuthor(t.Context(), "grace"); err != nil || count != 1 {
		t.Errorf("forgot %d, %v", count, err)
	}
	all, err := backend.Versions(t.Context(), page.ID, 10)
	if err != nil || all[0].Author != "" || all[1].Author != "ada" {
		t.Errorf("%v, %+v", err, all)
	}
	if count, err := backend.ForgetAuthor(t.Context(), ""); err != nil || count != 0 {
		t.Errorf("forgot %d of nobody, %v", count, err)
	}
}

func removesVersions(t *testing.T, backend pages.Backend) {
	page, other := createStored(t, backend, "Leave"), createStored(t, backend, "Travel")
	for number := 2; number <= 6; number++ {
		version := next(page, "ada", page.Root)
		if number == 2 {
			version.Name = "kept"
		}
		if err := backend.Commit(t.Context(), version); err != nil {
			t.Fatal(err)
		}
		page.Version, page.Updated = version.Number, version.At
	}
	for _, want := range []int{3, 0} {
		if count, err := backend.RemoveVersions(t.Context(), page.ID, []int{1, 2, 3, 4, 6, 99}); err != nil || count != want {
			t.Errorf("removed %d, %v, want %d", count, err, want)
		}
	}
	if count, err := backend.RemoveVersions(t.Context(), page.ID, nil); err != nil || count != 0 {
		t.Errorf("removed %d of none, %v", count, err)
	}
	all, err := backend.Versions(t.Context(), page.ID, 10)
	if err != nil {
		t.Fatal(err)
	}
	var left []int
	for _, version := range all {
		left = append(left, version.Number)
	}
	if fmt.Sprint(left) != "[6 5 2]" {
		t.Errorf("versions %v are left", left)
	}
	if _, err := backend.LoadVersion(t.Context(), page.ID, 3); !errors.Is(err, pages.ErrNotFound) {
		t.Errorf("a version that was removed gives %v", err)
	}
	if _, err := backend.LoadVersion(t.Context(), other.ID, 1); err != nil {
		t.Errorf("the version of another page: %v", err)
	}
}

func deletesPages(t *testing.T, backend pages.Backend) {
	page := createStored(t, backend, "Leave")
	if err := backend.Delete(t.Context(), page.ID); err != nil {
		t.Fatal(err)
	}
	if err := backend.Delete(t.Context(), page.ID); !errors.Is(err, pages.ErrNotFound) {
		t.Errorf("a page that is gone gives %v", err)
	}
	if _, err := backend.Load(t.Context(), page.ID); !errors.Is(err, pages.ErrNotFound) {
		t.Errorf("a page that is gone gives %v", err)
	}
	if all, err := backend.Versions(t.Context(), page.ID, 10); err != nil || len(all) != 0 {
		t.Errorf("%v, %+v", err, all)
	}
}
