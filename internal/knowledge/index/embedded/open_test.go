package embedded

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/index/engine"
	"github.com/cairn-bot/cairn/internal/knowledge/index/indextest"
)

func mustOpen(t testing.TB, options Options) *Index {
	t.Helper()
	x, err := Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

func mustWrite(t *testing.T, x *Index, entries ...index.Entry) {
	t.Helper()
	if err := x.Write(t.Context(), index.Batch{Put: entries}); err != nil {
		t.Fatal(err)
	}
}

// wantOpenError checks that an index can't be opened, why, and that it is told where
// and what to do.
func wantOpenError(t *testing.T, options Options, want error, remedy string) {
	t.Helper()
	x, err := Open(t.Context(), options)
	if err == nil {
		err = errors.Join(errors.New("it opened"), x.Close())
	}
	if !errors.Is(err, want) || !strings.Contains(err.Error(), remedy) || !strings.Contains(err.Error(), options.Dir) {
		t.Errorf("error %q, want %q with %q and the directory", err, want, remedy)
	}
}

func TestSecondWriterIsLockedOut(t *testing.T) {
	options := suiteOptions(t.TempDir())
	x, err := Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	wantOpenError(t, options, index.ErrLocked, "wait until")
	if err := Remove(options.Dir); !errors.Is(err, index.ErrLocked) {
		t.Errorf("removed under a writer: %v", err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	mustOpen(t, options)
}

func TestOtherEmbedderOrSchemaIsRefused(t *testing.T) {
	options := suiteOptions(t.TempDir())
	x, err := Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	other := options
	other.Embedder = "other"
	larger := options
	larger.Dimension++
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	for _, refused := range []Options{other, larger} {
		wantOpenError(t, refused, index.ErrEmbedder, "--rebuild")
		refused.ReadOnly = true
		wantOpenError(t, refused, index.ErrEmbedder, "--rebuild")
	}

	x = mustOpen(t, options)
	readOnly := options
	readOnly.ReadOnly = true
	if _, err := x.db.write.Exec("UPDATE meta SET analysis = analysis - 1"); err != nil {
		t.Fatal(err)
	}
	wantOpenError(t, readOnly, index.ErrSchema, "analysed by version")
	if _, err := x.db.write.Exec("PRAGMA user_version = 99"); err != nil {
		t.Fatal(err)
	}
	wantOpenError(t, readOnly, index.ErrSchema, "--rebuild")
}

func TestForeignFileIsRefusedAndCanBeRemoved(t *testing.T) {
	options := suiteOptions(t.TempDir())
	if err := os.WriteFile(filepath.Join(options.Dir, fileName), bytes.Repeat([]byte("no index\n"), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	wantOpenError(t, options, index.ErrSchema, "--rebuild")
	if err := Remove(options.Dir); err != nil {
		t.Fatal(err)
	}
	mustOpen(t, options)
}

func TestOptionsAreChecked(t *testing.T) {
	for _, options := range []Options{{}, {Dir: "x", Embedder: "e"}, {Dir: "x", Dimension: 3}, {Embedder: "e", Dimension: 3}} {
		if _, err := Open(t.Context(), options); err == nil {
			t.Errorf("%+v was opened", options)
		}
	}
}

func TestReadOnlyNeedsAnIndex(t *testing.T) {
	options := suiteOptions(filepath.Join(t.TempDir(), "not", "there"))
	options.ReadOnly = true
	wantOpenError(t, options, fs.ErrNotExist, "cairn ingest")
	if err := Remove(options.Dir); err != nil {
		t.Errorf("remove what is not there: %v", err)
	}
}

// TestReaderFollowsWriter reads beside a writer, through files alone, as a second
// process does.
func TestReaderFollowsWriter(t *testing.T) {
	options := suiteOptions(filepath.Join(t.TempDir(), "odd ?#%20 name"))
	writer := mustOpen(t, options)
	options.ReadOnly = true
	reader := mustOpen(t, options)
	indextest.Follow(t, writer, reader)
	if err := reader.Write(t.Context(), index.Batch{}); !errors.Is(err, engine.ErrReadOnly) {
		t.Errorf("write by a reader: %v", err)
	}
	if err := reader.WriteVectors(t.Context(), nil); !errors.Is(err, engine.ErrReadOnly) {
		t.Errorf("write of vectors by a reader: %v", err)
	}
	checkSound(t, reader)
}

// TestFullDisk limits the file to the size it has.
func TestFullDisk(t *testing.T) {
	x := mustOpen(t, suiteOptions(t.TempDir()))
	mustWrite(t, x, indextest.TextEntry("first", "alpha", "beta"))
	if _, err := x.db.write.Exec("PRAGMA max_page_count = 1"); err != nil { // gives the present size
		t.Fatal(err)
	}
	large := indextest.TextEntry("large", strings.Repeat("gamma delta ", 20_000))
	err := x.Write(t.Context(), index.Batch{Put: []index.Entry{large}, Delete: []knowledge.DocumentID{"first"}})
	if !errors.Is(err, index.ErrFull) || !strings.Contains(err.Error(), "free space") {
		t.Errorf("write to a full disk: %v", err)
	}
	checkSound(t, x)
	if indextest.CountHits(t, x, "alpha") != 1 || indextest.CountHits(t, x, "gamma") != 0 {
		t.Error("a part of the failed batch shows")
	}
	if _, err := x.db.write.Exec("PRAGMA max_page_count = 1000000"); err != nil {
		t.Fatal(err)
	}
	mustWrite(t, x, large)
	checkSound(t, x)
	if indextest.CountHits(t, x, "gamma") != 1 {
		t.Error("the batch is not found once there is room")
	}
}

// TestALargeDocumentIsReplaced has more passages than a page of posting lists, and one statement.
func TestALargeDocumentIsReplaced(t *testing.T) {
	x := mustOpen(t, suiteOptions(t.TempDir()))
	var before, after []string
	for i := range 3000 {
		before = append(before, fmt.Sprintf("common before%d", i%300))
		after = append(after, fmt.Sprintf("common after%d", i%300))
	}
	mustWrite(t, x, indextest.TextEntry("large", before...))
	mustWrite(t, x, indextest.TextEntry("large", after...))
	checkSound(t, x)
	if indextest.CountHits(t, x, "before7") != 0 || indextest.CountHits(t, x, "after7") == 0 {
		t.Error("the index does not hold the new text alone")
	}
}

// TestAnIndexThatChangesDoesNotGrow writes the same few passages over and over.
func TestAnIndexThatChangesDoesNotGrow(t *testing.T) {
	x := mustOpen(t, suiteOptions(t.TempDir()))
	for i := range 60 {
		mustWrite(t, x, indextest.TextEntry("a", fmt.Sprintf("first%d", i), fmt.Sprintf("second%d", i)), indextest.TextEntry("b", fmt.Sprintf("third%d", i)))
	}
	var slots, segments, bytes int
	err := x.db.read.QueryRow("SELECT (SELECT count(*) FROM slot), (SELECT count(*) FROM segment), (SELECT sum(length(entries)) FROM page)").Scan(&slots, &segments, &bytes)
	if err != nil || slots != 3 || segments >= 16 || bytes > 4000 {
		t.Errorf("%d slots for 3 passages, %d bytes of posting lists in %d segments, %v", slots, bytes, segments, err)
	}
	checkSound(t, x)
}

func TestCancelledWriteLeavesNothing(t *testing.T) {
	x := mustOpen(t, suiteOptions(t.TempDir()))
	ctx, cancel := context.WithCancel(t.Context())
	err := x.db.Write(ctx, func(tx engine.Tx) error {
		if _, err := tx.Exec(ctx, "INSERT INTO @cursor VALUES ('docs', 'x')"); err != nil {
			return err
		}
		cancel()
		<-ctx.Done()
		for {
			if _, err := tx.Exec(ctx, "INSERT OR REPLACE INTO @cursor VALUES ('docs', 'y')"); err != nil {
				return err
			}
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled write: %v", err)
	}
	if cursor, err := x.Cursor(t.Context(), "docs"); err != nil || cursor != "" {
		t.Errorf("cursor %q, %v", cursor, err)
	}
}

func TestRandomHistoryLeavesASoundFile(t *testing.T) {
	x := mustOpen(t, suiteOptions(t.TempDir()))
	h := newHistory(5)
	var batches []index.Batch
	for range 40 {
		batch := h.next()
		if err := x.Write(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		batches = append(batches, batch)
		found, err := x.Unembedded(t.Context(), 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			if err := x.WriteVectors(t.Context(), []index.Vectors{indextest.VectorsOf(f.Passage)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	checkSound(t, x)
	indextest.CheckHistory(t, x, batches)
}
