package ocr_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge/parse/ocr"
	"github.com/cairn-bot/cairn/internal/knowledge/parse/ocr/ocrtest"
)

func newReader(t *testing.T) *ocr.Reader {
	t.Helper()
	reader, err := ocr.New(t.Context(), ocr.Options{})
	if err != nil {
		t.Fatalf("%v: install it (Debian: apt-get install tesseract-ocr)", err)
	}
	return reader
}

var shownError = []string{"Error 4711: the connection to host heron was refused.", "Restart the badge printer, then try it again."}

func TestScreenshotsAreRead(t *testing.T) {
	reader := newReader(t)
	var photo bytes.Buffer
	if err := jpeg.Encode(&photo, ocrtest.Draw(t, color.Black, color.White, shownError...), nil); err != nil {
		t.Fatal(err)
	}
	for name, picture := range map[string][]byte{
		"dark on light": ocrtest.EncodePNG(t, ocrtest.Draw(t, color.Black, color.White, shownError...)),
		"light on dark": ocrtest.EncodePNG(t, ocrtest.Draw(t, color.White, color.RGBA{R: 30, G: 30, B: 40, A: 255}, shownError...)),
		"transparent":   ocrtest.EncodePNG(t, ocrtest.Draw(t, color.Black, color.Transparent, shownError...)),
		"JPEG":          photo.Bytes(),
	} {
		text, err := reader.Recognize(t.Context(), picture)
		if want := strings.Join(shownError, "\n"); err != nil || text != want {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	if text, err := reader.Recognize(t.Context(), ocrtest.EncodePNG(t, ocrtest.Draw(t, color.Black, color.White))); err != nil || text != "" {
		t.Errorf("an empty picture: %q, %v", text, err)
	}
}

func TestWhatIsNoPictureIsRefused(t *testing.T) {
	reader := newReader(t)
	huge := ocrtest.EncodePNG(t, image.NewGray(image.Rect(0, 0, 30_000, 1)))
	whole := ocrtest.EncodePNG(t, ocrtest.Draw(t, color.Black, color.White, "text"))
	for name, content := range map[string][]byte{
		"text": []byte("no picture"), "nothing": nil, "too wide": huge, "cut off": whole[:len(whole)/2], "a path": []byte("/etc/passwd"),
	} {
		if text, err := reader.Recognize(t.Context(), content); err == nil {
			t.Errorf("%s: %q", name, text)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := reader.Recognize(ctx, whole); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestMissingProgramAndLanguages(t *testing.T) {
	if _, err := ocr.New(t.Context(), ocr.Options{Program: filepath.Join(t.TempDir(), "none")}); !errors.Is(err, ocr.ErrNotInstalled) {
		t.Errorf("no program: %v", err)
	}
	for _, language := range []string{"xyz", "../eng", "--psm", "eng+eng", ""} {
		if _, err := ocr.New(t.Context(), ocr.Options{Languages: []string{language}}); err == nil || !strings.Contains(err.Error(), "has no language") {
			t.Errorf("%q: %v", language, err)
		}
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := ocr.New(t.Context(), ocr.Options{}); !errors.Is(err, ocr.ErrNotInstalled) {
		t.Errorf("not in PATH: %v", err)
	}
}
