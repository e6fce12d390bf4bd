package render

import (
	"path"
	"strings"

	"github.com/cairn-bot/cairn/internal/chat"
)

// SVG is the media type of documents that can be drawn.
const SVG = "image/svg+xml"

// Drawn returns a document that is an SVG as a PNG, for platforms that show no SVG. Any other
// is given as it is, and so is one that can't be drawn: it can be saved and opened.
func Drawn(document chat.Document) chat.Document {
	if document.MediaType != SVG || !document.Kept() {
		return document
	}
	png, err := PNG(string(document.Content), func(string) bool { return false })
	if err != nil || len(png) > chat.MaxDocument {
		return document
	}
	name := strings.TrimSuffix(document.Name, path.Ext(document.Name)) + ".png"
	return chat.Document{Name: name, MediaType: "image/png", Size: len(png), Content: png}
}
