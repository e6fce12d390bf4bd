package app

import (
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/config"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/index/embedded"
	"github.com/cairn-bot/cairn/internal/knowledge/index/indextest"
	"github.com/cairn-bot/cairn/internal/knowledge/parse"
)

func TestDocumentsMayBeAsLargeAsTheirSourceAllows(t *testing.T) {
	for allowed, want := range map[int64]int64{0: parse.DefaultBytes, 32 << 20: parse.DefaultBytes, 1 << 30: 1 << 30} {
		if got := documentLimits(config.Source{MaxDocumentBytes: allowed}).Bytes; got != want {
			t.Errorf("max_document_bytes %d: the parsers read %d bytes, want %d", allowed, got, want)
		}
	}
}

func TestMirrorsAreThoseOfGitSources(t *testing.T) {
	var setup Setup
	setup.Config.DataDir = t.TempDir()
	setup.Config.Sources = []config.Source{
		{Name: "handbook", Kind: config.SourceFiles, Path: t.TempDir()},
		{Name: "app", Kind: config.SourceGit, URL: "https://git.example.com/team/app.git", Audience: []knowledge.Principal{"group:staff"}, Exclude: []string{"old/**"}},
	}
	mirrors, err := sources{&Library{Setup: setup}}.listMirrors()
	if err != nil || len(mirrors) != 1 {
		t.Fatalf("%+v, %v", mirrors, err)
	}
	mirror := mirrors[0]
	if want := mirrorFolder(setup.Config.DataDir, "app"); mirror.Address != "https://git.example.com/team/app.git" || mirror.Folder != want || mirror.Audience == knowledge.PublicAudience || len(mirror.Exclude) != 1 {
		t.Errorf("%+v", mirror)
	}
	if web := mirror.Web("abc"); web != "https://git.example.com/team/app/src/commit/abc/" {
		t.Error(web)
	}
}

// TestASourceThatNeverListsHoldsUpItsOwnDocumentsAlone checks which documents count as gone.
func TestASourceThatNeverListsHoldsUpItsOwnDocumentsAlone(t *testing.T) {
	opened, err := embedded.Open(t.Context(), embedded.Options{Dir: t.TempDir(), Embedder: indextest.Embedder, Dimension: indextest.Dimension})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	}()
	library := &Library{Index: opened}
	gone, err := library.goneDocuments(t.Context())
	if err != nil || gone("handbook:a.md") {
		t.Errorf("a document is gone before anything was read, %v", err)
	}
	at := time.Date(2026, 11, 1, 8, 0, 0, 0, time.UTC)
	for _, state := range []index.IngestState{
		{Source: "handbook", Began: at, Ended: at, Complete: at},
		{Source: "broken", Began: at, Ended: at, Reason: "the listing fails"},
		{Source: "busy", Began: at, Complete: at},
	} {
		if err := opened.SaveIngest(t.Context(), state); err != nil {
			t.Fatal(err)
		}
	}
	if gone, err = library.goneDocuments(t.Context()); err != nil {
		t.Fatal(err)
	}
	for document, want := range map[string]bool{"handbook:a.md": true, "broken:a.md": false, "busy:a.md": false, "removed:a.md": true, "brok:a.md": true} {
		if got := gone(document); got != want {
			t.Errorf("%s is gone: %v, want %v", document, got, want)
		}
	}
}
