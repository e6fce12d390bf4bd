package render_test

import (
	"bytes"
	"image/png"
	"reflect"
	"testing"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/render"
)

func TestAnSVGIsDrawn(t *testing.T) {
	const drawing = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 20" width="40" height="20"><rect x="1" y="1" width="30" height="10"/></svg>`
	got := render.Drawn(chat.Document{Name: "shop_architecture.svg", MediaType: render.SVG, Size: len(drawing), Content: []byte(drawing)})
	if got.Name != "shop_architecture.png" || got.MediaType != "image/png" || got.Size != len(got.Content) {
		t.Errorf("got %s, %s, %d of %d bytes", got.Name, got.MediaType, got.Size, len(got.Content))
	}
	if _, err := png.Decode(bytes.NewReader(got.Content)); err != nil {
		t.Error(err)
	}
}

func TestWhatCantBeDrawnStays(t *testing.T) {
	for _, document := range []chat.Document{
		{Name: "risks.md", MediaType: "text/markdown; charset=utf-8", Content: []byte("# Risks")},
		{Name: "a.svg", MediaType: render.SVG, Content: []byte("no svg")},
		{Name: "a.svg", MediaType: render.SVG, Size: 4},
	} {
		if got := render.Drawn(document); !reflect.DeepEqual(got, document) {
			t.Errorf("%s became %+v", document.Name, got)
		}
	}
}
