// Package ocrtest draws pictures with text, for tests.
package ocrtest

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"testing"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// Draw draws lines as a program shows them on a screen.
func Draw(t testing.TB, ink, paper color.Color, lines ...string) image.Image {
	t.Helper()
	parsed, err := opentype.Parse(goregular.TTF)
	if err != nil {
		t.Fatal(err)
	}
	face, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: 14, DPI: 96})
	if err != nil {
		t.Fatal(err)
	}
	picture := image.NewRGBA(image.Rect(0, 0, 640, 40+30*len(lines)))
	for i := range picture.Bounds().Dx() * picture.Bounds().Dy() {
		picture.Set(i%640, i/640, paper)
	}
	drawer := font.Drawer{Dst: picture, Src: image.NewUniform(ink), Face: face}
	for i, line := range lines {
		drawer.Dot = fixed.P(20, 40+30*i)
		drawer.DrawString(line)
	}
	return picture
}

// EncodePNG gives a picture as a PNG file.
func EncodePNG(t testing.TB, picture image.Image) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, picture); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
