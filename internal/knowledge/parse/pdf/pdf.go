// Package pdf reads the text of PDF files, line by line with where it stands.
//
// It is made for files of strangers. Objects are found by scanning the file, not by
// its cross-reference table, so that a damaged table neither matters nor misleads;
// every loop, recursion and buffer is bounded; there is nothing to draw with.
// Not read: encrypted files, text in pictures, fonts that don't say what their
// characters are.
package pdf

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Errors that callers branch on.
var (
	// ErrEncrypted: the file is encrypted.
	ErrEncrypted = errors.New("encrypted")
	// ErrBroken: the file has no pages that could be found.
	ErrBroken = errors.New("no pages found")
)

// LimitError says that a file goes over one of the limits.
type LimitError struct {
	What  string // "pages", "bytes when unpacked"
	Limit int64
}

func (e *LimitError) Error() string { return fmt.Sprintf("more than %d %s", e.Limit, e.What) }

// Limits bound what a file may cost. All have to be set.
type Limits struct {
	Bytes int64 // that one stream may unpack to
	Ratio int64 // unpacked bytes for a packed one, beyond the first MiB
	Pages int
}

// Document is what a file says about itself, and its pages in order.
type Document struct {
	Title, Author, Language string
	Pages                   []Page
}

// Page is one page, upright.
type Page struct {
	Lines []Line
}

// Line is text on one baseline, in the order in which the file draws it. Lengths are
// in points; Y grows upwards.
type Line struct {
	Text       string
	X, Y, Size float64
	Right      float64 // where it ends
}

// Read returns the text of a file.
func Read(ctx context.Context, content []byte, limits Limits) (Document, error) {
	f := newFile(content, limits)
	f.scanObjects()
	if f.encrypted {
		return Document{}, ErrEncrypted
	}
	if f.over != nil {
		return Document{}, f.over
	}
	root := f.dictOf(f.trailer["Root"])
	if len(root) == 0 {
		root = f.findCatalog()
	}
	pages, err := f.listPages(ctx, root)
	if err != nil {
		return Document{}, err
	}
	if len(pages) == 0 {
		return Document{}, ErrBroken
	}
	info := f.dictOf(f.trailer["Info"])
	document := Document{
		Title:    textString(f.resolveReference(info["Title"]).text),
		Author:   textString(f.resolveReference(info["Author"]).text),
		Language: textString(f.resolveReference(root["Lang"]).text),
	}
	for _, page := range pages {
		lines, err := f.pageLines(ctx, page)
		if err != nil {
			return Document{}, err
		}
		document.Pages = append(document.Pages, Page{Lines: lines})
	}
	return document, nil
}

// textString decodes a string of the document's own: UTF-16 or UTF-8 with a mark,
// else PDFDocEncoding, which is nearly Latin-1.
func textString(raw string) string {
	switch {
	case strings.HasPrefix(raw, "\xfe\xff"):
		return fromUTF16(raw[2:])
	case strings.HasPrefix(raw, "\xef\xbb\xbf"):
		return strings.ToValidUTF8(raw[3:], "\uFFFD")
	}
	runes := make([]rune, 0, len(raw))
	for i := range len(raw) {
		runes = append(runes, winAnsi(raw[i]))
	}
	return string(runes)
}

// fromUTF16 decodes big-endian UTF-16.
func fromUTF16(raw string) string {
	units := make([]uint16, 0, len(raw)/2)
	for i := 0; i+1 < len(raw); i += 2 {
		units = append(units, uint16(raw[i])<<8|uint16(raw[i+1]))
	}
	var out strings.Builder
	for _, r := range utf16.Decode(units) {
		if r != utf8.RuneError && r != 0 {
			out.WriteRune(r)
		}
	}
	return out.String()
}
