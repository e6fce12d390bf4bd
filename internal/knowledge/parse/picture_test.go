package parse

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"
)

// readsPictures gives a text for every picture, or why it reads none.
type readsPictures struct {
	text string
	err  error
}

func (r readsPictures) Recognize(_ context.Context, picture []byte) (string, error) {
	if _, _, err := image.DecodeConfig(bytes.NewReader(picture)); err != nil {
		return "", err
	}
	return r.text, r.err
}

// scannedPDF has a page of text, and one that is a photo alone.
func scannedPDF(t *testing.T) []byte {
	t.Helper()
	var photo bytes.Buffer
	if err := jpeg.Encode(&photo, image.NewGray(image.Rect(0, 0, 300, 200)), nil); err != nil {
		t.Fatal(err)
	}
	return []byte("%PDF-1.4\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n2 0 obj\n<</Type/Pages/Kids[3 0 R]/Count 1>>\nendobj\n" +
		"3 0 obj\n<</Type/Page/Parent 2 0 R/Resources<</XObject<</P 4 0 R>>>>>>\nendobj\n" +
		fmt.Sprintf("4 0 obj\n<</Subtype/Image/Width 300/Height 200/BitsPerComponent 8/ColorSpace/DeviceGray/Filter/DCTDecode/Length %d>>\nstream\n%s\nendstream\nendobj\n", photo.Len(), photo.String()) +
		"trailer\n<</Root 1 0 R>>\n")
}

func TestPicturesAndScansAreRead(t *testing.T) {
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	const read = "Error 4711: refused.\nTry again.\n\n | ~\nSecond paragraph.\n"
	for name, test := range map[string]struct {
		content []byte
		anchor  string
		want    string
	}{
		"shots/error_page.png": {picture.Bytes(), "", "Error 4711: refused.\nTry again.|Second paragraph."},
		"scan.pdf":             {scannedPDF(t), "page=1", "Error 4711: refused. Try again.|Second paragraph."},
	} {
		text, err := Read(t.Context(), Document{MediaType: Detect(name, test.content), Name: name, Content: test.content, Recognizer: readsPictures{text: read}}, Limits{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var blocks []string
		for _, block := range text.Sections[0].Blocks {
			blocks = append(blocks, block.Text)
		}
		if got := strings.Join(blocks, "|"); got != test.want || text.Sections[0].Anchor != test.anchor || text.Title == "" {
			t.Errorf("%s: %q at %q, titled %q", name, got, text.Sections[0].Anchor, text.Title)
		}
		missing := errors.New("tesseract is not installed")
		for _, recognizer := range []Recognizer{nil, readsPictures{err: missing}, readsPictures{text: " \n|"}} {
			_, err := Read(t.Context(), Document{MediaType: Detect(name, test.content), Name: name, Content: test.content, Recognizer: recognizer}, Limits{})
			if err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: %v", name, err)
			}
			if recognizer == (readsPictures{err: missing}) && !errors.Is(err, missing) {
				t.Errorf("%s: %v does not say why", name, err)
			}
		}
	}
}
