package embedded

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/index/indextest"
	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
	"github.com/cairn-bot/cairn/internal/sqlite"
)

// TestAFormerFileIsConverted opens what the former schema's program wrote of the history of seed 5
// before it was killed. Once the analysis has another version than then, such files are built
// anew, and what converts them can go.
func TestAFormerFileIsConverted(t *testing.T) {
	const analysed = 4
	if lexical.Version != analysed {
		t.Fatalf("files of the former schema were analysed by version %d at most, now it is %d: remove convert.go", analysed, lexical.Version)
	}
	options := suiteOptions(t.TempDir())
	script, err := os.ReadFile(filepath.Join("testdata", "version2.sql"))
	if err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.Open(filepath.Join(options.Dir, fileName), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), string(script)); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	reading := options
	reading.ReadOnly = true
	lock, err := acquireLock(options.Dir)
	if err != nil {
		t.Fatal(err)
	}
	wantOpenError(t, reading, index.ErrLocked, "wait until")
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	var logged strings.Builder
	reading.Logger = slog.New(slog.NewTextHandler(&logged, nil))
	if reader := mustOpen(t, reading); indextest.CountHits(t, reader, "w1") == 0 || strings.Count(logged.String(), "level=INFO") != 2 {
		t.Errorf("a reader finds nothing, or says nothing of what it did: %s", &logged)
	}
	other := options
	other.Embedder = "other"
	wantOpenError(t, other, index.ErrEmbedder, "--rebuild")
	x := mustOpen(t, options)
	checkSound(t, x)
	written, err := storedNumber(t.Context(), x)
	if err != nil || written == 0 {
		t.Fatalf("%d batches, %v", written, err)
	}
	h := newHistory(5)
	var batches []index.Batch
	for range written + 3 {
		batches = append(batches, h.next())
	}
	indextest.CheckHistory(t, x, batches[:written])
	stats, err := x.Stats(t.Context())
	if err != nil || stats.Embedded != embeddedThen {
		t.Errorf("%d passages have vectors, want %d: %v", stats.Embedded, embeddedThen, err)
	}
	for _, batch := range batches[written:] {
		if err := x.Write(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	checkSound(t, x)
	indextest.CheckHistory(t, x, batches)
}

// embeddedThen is how many passages of the file have vectors.
const embeddedThen = 42
