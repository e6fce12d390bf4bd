package ingest_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/files"
	"github.com/cairn-bot/cairn/internal/knowledge/embed/local"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/index/embedded"
	"github.com/cairn-bot/cairn/internal/knowledge/ingest"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
)

// place is a folder, an index and what reads the one into the other.
type place struct {
	t      *testing.T
	folder string
	index  *embedded.Index
	reader *ingest.Ingester
}

func open(t *testing.T) *place {
	t.Helper()
	embedder, err := local.Load()
	if err != nil {
		t.Fatal(err)
	}
	ix, err := embedded.Open(t.Context(), embedded.Options{Dir: t.TempDir(), Embedder: embedder.Name(), Dimension: embedder.Dimension()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ix.Close(); err != nil {
			t.Error(err)
		}
	})
	p := &place{t: t, folder: t.TempDir(), index: ix, reader: &ingest.Ingester{Index: ix, Embedder: embedder}}
	p.write("leave.md", "# Leave\n\n## Days\n\nYou have 28 days of leave.\n\n## Asking\n\nAsk your lead.\n")
	p.write("laptops.md", "# Laptops\n\nFrom the help desk in room 12.\n")
	return p
}

func (p *place) write(name, text string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.folder, name), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) sync() ingest.Report {
	p.t.Helper()
	report, err := p.reader.Sync(p.t.Context(), files.New(files.Options{Root: p.folder, Source: "docs"}))
	if err != nil {
		p.t.Fatal(err)
	}
	return report
}

func (p *place) finds(word string) bool {
	p.t.Helper()
	found, err := p.index.Search(p.t.Context(), index.Query{Terms: []index.Term{{Text: word, Weight: 1}}})
	if err != nil {
		p.t.Fatal(err)
	}
	return len(found.Lexical) > 0
}

func TestASecondSyncTouchesOnlyWhatChanged(t *testing.T) {
	p := open(t)
	if r := p.sync(); r.Added != 2 || r.Passages != 3 || r.Embedded != 3 {
		t.Errorf("the first sync: %+v", r)
	}
	if r := p.sync(); r.Unchanged != 2 || r.Passages != 0 || r.Embedded != 0 {
		t.Errorf("nothing changed: %+v", r)
	}
	p.write("leave.md", "# Leave\n\n## Days\n\nYou have 30 days of leave.\n\n## Asking\n\nAsk your lead.\n")
	if err := os.Remove(filepath.Join(p.folder, "laptops.md")); err != nil {
		t.Fatal(err)
	}
	r := p.sync()
	if r.Updated != 1 || r.Deleted != 1 || r.Embedded != 1 {
		t.Errorf("one section changed, one document went: %+v", r)
	}
	if p.finds("12") || !p.finds("30") || p.finds("28") {
		t.Error("the index does not say what the folder says")
	}
}

func TestWhatCannotBeReadIsListedAndTheRestIsRead(t *testing.T) {
	p := open(t)
	p.write("broken.pdf", "%PDF-1.7\nthis is none")
	r := p.sync()
	if r.Added != 2 || len(r.Failures) != 1 || r.Failures[0].Path != "broken.pdf" || r.Failures[0].Reason == nil {
		t.Errorf("%+v", r)
	}
}

// TestDraftsAreLeftOut checks that a page which its site does not publish is neither found
// nor listed as one that can't be read, also where it was published before.
func TestDraftsAreLeftOut(t *testing.T) {
	p := open(t)
	p.write("plans.md", "---\ntitle: Plans\ndraft: true\n---\nWe move to Atlantis.\n")
	if r := p.sync(); r.Added != 2 || r.Drafts != 1 || len(r.Failures) != 0 || p.finds("atlantis") {
		t.Errorf("a draft: %+v", r)
	}
	p.write("leave.md", "---\npublished: false\n---\n# Leave\n\nYou have 28 days of leave.\n")
	if r := p.sync(); r.Drafts != 2 || p.finds("leave") {
		t.Errorf("a page that is a draft again: %+v", r)
	}
}

func TestADocumentThatBreaksIsForgotten(t *testing.T) {
	p := open(t)
	p.write("plan.html", "<h1>Plan</h1><p>The zeppelin flies on Monday.</p>")
	p.sync()
	if !p.finds("zeppelin") {
		t.Fatal("the page was not read")
	}
	p.write("plan.html", "%PDF-1.7\nthis is none")
	if r := p.sync(); len(r.Failures) != 1 {
		t.Fatalf("%+v", r)
	}
	if p.finds("zeppelin") {
		t.Error("the index still says what the document no longer does")
	}
}

// TestAnInterruptedSyncGoesOn stops one before its vectors are made.
func TestAnInterruptedSyncGoesOn(t *testing.T) {
	p := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	p.reader.Observe = func(progress ingest.Progress) {
		if progress.Phase == ingest.Embedding {
			cancel()
		}
	}
	_, err := p.reader.Sync(ctx, files.New(files.Options{Root: p.folder, Source: "docs"}))
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	if !p.finds("28") {
		t.Error("text can't be searched before its vectors are made")
	}
	p.reader.Observe = nil
	if r := p.sync(); r.Unchanged != 2 || r.Embedded != 3 {
		t.Errorf("the second sync: %+v", r)
	}
}

func TestAMissingFolderNamesIt(t *testing.T) {
	p := open(t)
	p.sync()
	_, err := p.reader.Sync(t.Context(), files.New(files.Options{Root: filepath.Join(p.folder, "nowhere"), Source: "docs"}))
	if err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("got %v", err)
	}
	if !p.finds("28") {
		t.Error("the index forgot its documents because their folder is gone")
	}
}

func TestSourcesDoNotTouchEachOther(t *testing.T) {
	p := open(t)
	p.sync()
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "leave.md"), []byte("# Other\n\nSomething else.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := p.reader.Sync(t.Context(), files.New(files.Options{Root: other, Source: "other"})); err != nil {
		t.Fatal(err)
	}
	documents := 0
	for document, err := range p.index.Documents(t.Context(), knowledge.SourceID("docs")) {
		if err != nil {
			t.Fatal(err)
		}
		documents++
		if document.Source != "docs" {
			t.Errorf("%s is of %s", document.ID, document.Source)
		}
	}
	if documents != 2 {
		t.Errorf("%d documents of docs are left", documents)
	}
}

// TestDocumentsAreKeptInTheirLanguage: the built-in embedder knows English alone.
func TestDocumentsAreKeptInTheirLanguage(t *testing.T) {
	p := open(t)
	p.write("urlaub.html", `<html lang="en"><h1>Urlaub</h1><p>Die Einstellungen des Kalenders findest du unter dem Menü.</p></html>`)
	if r := p.sync(); r.Added != 3 || r.Embedded != 4 {
		t.Errorf("%+v", r)
	}
	for document, err := range p.index.Documents(t.Context(), "docs") {
		if err != nil {
			t.Fatal(err)
		}
		want := "en"
		if document.Path == "urlaub.html" {
			want = "de"
		}
		if document.Language != want {
			t.Errorf("%s is in %q, want %q", document.Path, document.Language, want)
		}
	}
	if !p.finds("einstell:de") {
		t.Error("a German page is not found by the stem of its words")
	}
	embedder, err := local.Load()
	if err != nil {
		t.Fatal(err)
	}
	vectors, err := embedder.Embed(t.Context(), []string{"You have 28 days of leave."})
	if err != nil {
		t.Fatal(err)
	}
	found, err := p.index.Search(t.Context(), index.Query{Vector: vectors[0]})
	if err != nil || len(found.Dense) != 3 {
		t.Errorf("%d passages have vectors, %v, want the 3 English ones", len(found.Dense), err)
	}
}

// TestTitlesWithoutTextAndRepeatedTextAreFound searches, by words and by words and meaning, for documents
// that are a title alone, for headings without text, and for text that stands in several places.
func TestTitlesWithoutTextAndRepeatedTextAreFound(t *testing.T) {
	p := open(t)
	p.write("alone.md", "# Zanzibar\n")
	p.write("meta.md", "---\ntitle: Xylophone\n---\n")
	p.write("page.html", "<html><head><title>Gnu</title></head><body></body></html>")
	p.write("headings.md", "# Animals\n\nA list.\n\n## Quagga\n\n## Lynx\n")
	p.write("twice.md", "# Zoo\n\n## Food\n\nThe okapi eats leaves.\n\n## Food\n\nThe okapi eats leaves.\n")
	p.write("again.md", "# Zoo\n\n## Food\n\nThe okapi eats leaves.\n")
	if r := p.sync(); len(r.Failures) > 0 || r.Embedded != r.Passages {
		t.Errorf("the sync: %+v", r)
	}
	retriever := &retrieve.Retriever{Index: p.index, Embedder: p.reader.Embedder, Fusion: retrieve.DefaultFusion}
	words := &retrieve.Retriever{Index: p.index, Fusion: retrieve.DefaultFusion}
	for _, test := range []struct {
		asked string
		want  []string // passages, in any order
	}{
		{"zanzibar", []string{"docs:alone.md#0"}},
		{"xylophone", []string{"docs:meta.md#0"}},
		{"gnu", []string{"docs:page.html#0"}},
		{"quagga", []string{"docs:headings.md#1"}},
		{"lynx", []string{"docs:headings.md#2"}},
		{"okapi", []string{"docs:again.md#0", "docs:twice.md#0", "docs:twice.md#1"}},
	} {
		for name, searched := range map[string]*retrieve.Retriever{"words and meaning": retriever, "words": words} {
			ranked, err := searched.Rank(t.Context(), retrieve.Query{Text: test.asked})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range ranked[:min(len(ranked), len(test.want))] {
				got = append(got, string(r.Passage))
			}
			slices.Sort(got)
			if !slices.Equal(got, test.want) {
				t.Errorf("%s by %s gives %q, want %q", test.asked, name, got, test.want)
			}
		}
	}
	if r := p.sync(); r.Passages != 0 || r.Embedded != 0 || r.Updated != 0 {
		t.Errorf("the second sync, of the same files: %+v", r)
	}
}
