package app

import (
	"image/color"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/config"
	"github.com/cairn-bot/cairn/internal/knowledge/index/embedded"
	"github.com/cairn-bot/cairn/internal/knowledge/index/indextest"
	"github.com/cairn-bot/cairn/internal/knowledge/parse/ocr/ocrtest"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
)

// TestTheTextInPicturesIsFound reads a folder with a screenshot, once without tesseract: then the
// screenshot is listed with the reason.
func TestTheTextInPicturesIsFound(t *testing.T) {
	folder := t.TempDir()
	shot := ocrtest.EncodePNG(t, ocrtest.Draw(t, color.Black, color.White, "Error 4711: the badge printer was refused."))
	if err := os.WriteFile(filepath.Join(folder, "error.png"), shot, 0o600); err != nil {
		t.Fatal(err)
	}
	opened, err := embedded.Open(t.Context(), embedded.Options{Dir: t.TempDir(), Embedder: indextest.Embedder, Dimension: indextest.Dimension})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	}()
	library := &Library{Index: opened, recognizer: NewRecognizer(config.OCR{Tesseract: filepath.Join(folder, "none")})}
	source := config.Source{Name: "shots", Kind: config.SourceFiles, Path: folder, Pictures: true}
	report, err := SyncSource(t.Context(), library, source, SyncOptions{})
	if err != nil || len(report.Failures) != 1 || !strings.Contains(report.Failures[0].Reason.Error(), "tesseract is not installed") {
		t.Fatalf("without tesseract: %+v, %v", report, err)
	}
	library.recognizer = NewRecognizer(config.OCR{})
	if report, err = SyncSource(t.Context(), library, source, SyncOptions{}); err != nil || report.Added != 1 {
		t.Fatalf("%+v, %v: is tesseract installed (Debian: apt-get install tesseract-ocr)?", report, err)
	}
	found, err := (&retrieve.Retriever{Index: opened, Fusion: retrieve.DefaultFusion}).Search(t.Context(), retrieve.Query{Text: "badge printer 4711"})
	if err != nil || len(found.Evidence) != 1 || !strings.Contains(found.Evidence[0].Passage.Text, "was refused") {
		t.Errorf("%+v, %v", found.Evidence, err)
	}
	if _, err = SyncSource(t.Context(), library, config.Source{Name: "plain", Kind: config.SourceFiles, Path: folder}, SyncOptions{}); err == nil || !strings.Contains(err.Error(), "images: 1") {
		t.Errorf("without pictures: %v", err)
	}
}

// TestAScreenshotComesWithAMessage reads a picture that a person sends along.
func TestAScreenshotComesWithAMessage(t *testing.T) {
	shot := ocrtest.EncodePNG(t, ocrtest.Draw(t, color.Black, color.White, "Error 4711: the badge printer was refused."))
	if text, err := NewRecognizer(config.OCR{}).ReadAttached(t.Context(), "error.png", shot); err != nil || text != "Error 4711: the badge printer was refused." {
		t.Errorf("%q, %v", text, err)
	}
	none := NewRecognizer(config.OCR{Tesseract: "/nowhere/tesseract"})
	if text, err := none.ReadAttached(t.Context(), "error.png", shot); err == nil || !strings.Contains(err.Error(), "tesseract is not installed") {
		t.Errorf("without tesseract: %q, %v", text, err)
	}
}
