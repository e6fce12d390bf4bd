package app

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/config"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/pages"
	"github.com/cairn-bot/cairn/internal/pages/pagesource"
	"github.com/cairn-bot/cairn/internal/pages/pagestest"
)

// TestPagesAreFoundAndCited reads pages into a real index: who may see a page finds it by its
// blocks, nobody else does, and a deleted one is gone at once.
func TestPagesAreFoundAndCited(t *testing.T) {
	configured := config.Defaults(config.Host{OS: "linux", Home: t.TempDir(), Getenv: func(string) string { return "" }})
	configured.DataDir = t.TempDir()
	configured.Web.URL = "https://cairn.example.com"
	setup := NewSetup(configured, io.Discard)
	library, err := OpenLibrary(t.Context(), setup, WriteIndex)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { library.Close() })
	storage, err := OpenStorage(t.Context(), setup)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { storage.Close() })
	library.Written = storage.Pages
	place := pages.Place{Thread: "slack:C1/1", Channel: "slack:C1", Audience: "channel:slack:C1"}
	page, err := storage.Pages.Create(t.Context(), place, "Sabbaticals", pagestest.Root(t, "Intro.\n\n## How long\n\nA sabbatical lasts ninety days.\n\n## Who pays\n\nNobody."), pages.Author{Name: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	sync := func() {
		t.Helper()
		if _, err := syncPages(t.Context(), library, SyncOptions{Readers: 1}); err != nil {
			t.Fatal(err)
		}
	}
	ann := knowledge.WithViewers(t.Context(), knowledge.NewViewers([]knowledge.Principal{"channel:slack:C1"}))
	find := func(ctx context.Context) []retrieve.Evidence {
		t.Helper()
		found, err := library.Retriever().Search(ctx, retrieve.Query{Text: "how long is a sabbatical?"})
		if err != nil {
			t.Fatal(err)
		}
		return found.Evidence
	}
	if found := find(ann); len(found) != 0 {
		t.Errorf("found before it was read: %+v", found)
	}
	sync()
	found := find(ann)
	if len(found) == 0 || !strings.Contains(found[0].Passage.Text, "ninety days") {
		t.Fatalf("%+v", found)
	}
	heading := page.Root.Children[1].ID
	document, passage := found[0].Document, found[0].Passage
	if got, want := knowledge.URLWithAnchor(document, passage.Anchor), "https://cairn.example.com/page/"+string(page.ID)+"#"+heading; got != want {
		t.Errorf("cited as %s, want %s", got, want)
	}
	if document.Title != "Sabbaticals" || document.Kind != knowledge.KindPage || document.Audience != "channel:slack:C1" {
		t.Errorf("%+v", document)
	}
	if found := find(t.Context()); len(found) != 0 {
		t.Errorf("somebody else finds %+v", found)
	}

	changed, err := pages.Replace(page.Root, page.Root.Children[2].ID, "A sabbatical lasts sixty days.")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := storage.Pages.Save(t.Context(), place, pages.Edit{Page: page.ID, Base: 1, Root: changed}); err != nil {
		t.Fatal(err)
	}
	sync()
	if found := find(ann); len(found) == 0 || !strings.Contains(found[0].Passage.Text, "sixty days") {
		t.Errorf("after the change: %+v", found)
	}

	if err := storage.Pages.Delete(t.Context(), place, page.ID); err != nil {
		t.Fatal(err)
	}
	if found := find(ann); len(found) != 0 {
		t.Errorf("a deleted page is found: %+v", found)
	}
	sync()
	for document, err := range library.Index.Documents(t.Context(), pagesource.ID) {
		t.Errorf("a deleted page is in the index: %+v, %v", document, err)
	}
}

// TestAPageIsToldOf watches pages that somebody writes.
func TestAPageIsToldOf(t *testing.T) {
	setup := NewSetup(config.Config{DataDir: t.TempDir()}, io.Discard)
	storage, err := openData(t.Context(), setup.Config.DataDir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { storage.Close() })
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	told, ended := make(chan struct{}, 1), make(chan error, 1)
	source := pagesource.New(storage.Pages.Store(), "")
	go func() {
		ended <- source.Watch(ctx, func() {
			select {
			case told <- struct{}{}:
			default:
			}
		})
	}()
	for i := 0; ; i++ {
		if _, err := storage.Pages.Create(t.Context(), pages.Place{}, "New", pagestest.Root(t, "text"), pages.Author{}); err != nil {
			t.Fatal(err)
		}
		select {
		case <-told:
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
			return
		case <-time.After(time.Second):
		case <-ctx.Done():
			t.Fatalf("not told of %d pages", i+1)
		}
	}
}
