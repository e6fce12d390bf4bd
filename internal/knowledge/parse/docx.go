package parse

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// parseDOCX reads the main text of a Word document. Anchors are slugs of its
// headings; Word itself knows no address inside a document.
func parseDOCX(ctx context.Context, in input) (Text, error) {
	archive, err := openArchive(ctx, "DOCX", in)
	if err != nil {
		return Text{}, err
	}
	styles, err := readStyles(archive)
	if err != nil {
		return Text{}, err
	}
	numbering, err := readNumbering(archive)
	if err != nil {
		return Text{}, err
	}
	reader := &docxReader{outline: newOutline(), styles: styles, numbering: numbering, counters: map[listLevel]int{}}
	main := "word/document.xml"
	if !archive.has(main) {
		return Text{}, &BrokenError{Name: in.name, Format: "DOCX", Err: errors.New("it holds no " + main)}
	}
	text, err := coreProperties(archive)
	if err != nil {
		return Text{}, err
	}
	stated := strings.TrimSpace(text.Title) != ""
	err = archive.read(main, func(t xml.Token) error {
		reader.token(t)
		if !stated {
			text.Title = reader.title
		}
		if len(reader.open)+len(reader.tables)+len(reader.code) > 0 {
			return nil
		}
		_, err := in.spill(text, reader.outline)
		return err
	})
	if err != nil {
		return Text{}, err
	}
	reader.endCode()
	text.Sections = reader.outline.finished()
	return text, nil
}

// archive is an Office file: XML parts in a zip, with a budget for what they unpack to.
type archive struct {
	format string       // for messages: "DOCX"
	alive  func() error // the context's: why to stop
	in     input
	parts  map[string]*zip.File
	left   int64 // bytes that may still be unpacked
}

func openArchive(ctx context.Context, format string, in input) (*archive, error) {
	opened, err := zip.NewReader(bytes.NewReader(in.content), int64(len(in.content)))
	if err != nil {
		return nil, &BrokenError{Name: in.name, Format: format, Err: err}
	}
	if len(opened.File) > in.limits.Entries {
		return nil, &TooLargeError{Name: in.name, What: "files in it", Size: int64(len(opened.File)), Limit: int64(in.limits.Entries)}
	}
	parts := make(map[string]*zip.File, len(opened.File))
	for _, part := range opened.File {
		parts[part.Name] = part
	}
	return &archive{format: format, alive: ctx.Err, in: in, parts: parts, left: in.limits.Bytes}, nil
}

func (a *archive) has(name string) bool { return a.parts[name] != nil }

var errUnpacked = errors.New("unpacks to too much")

// read gives the tokens of an XML part to a function. A part that is not there has none.
func (a *archive) read(name string, token func(xml.Token) error) error {
	part := a.parts[name]
	if part == nil {
		return nil
	}
	opened, err := part.Open()
	if err != nil {
		return &BrokenError{Name: a.in.name, Format: a.format, Err: fmt.Errorf("%s: %w", name, err)}
	}
	err = a.tokens(&unpacking{Reader: opened, archive: a, packed: int64(part.CompressedSize64)}, token)
	err = errors.Join(err, opened.Close())
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errUnpacked):
		return &TooLargeError{Name: a.in.name, What: "bytes when unpacked", Limit: a.in.limits.Bytes}
	case errors.Is(err, errNesting):
		return &TooLargeError{Name: a.in.name, What: "levels of nesting", Limit: int64(a.in.limits.Nesting)}
	case a.alive() != nil:
		return fmt.Errorf("parse %s: %w", a.in.name, a.alive())
	}
	return &BrokenError{Name: a.in.name, Format: a.format, Err: fmt.Errorf("%s: %w", name, err)}
}

func (a *archive) tokens(r io.Reader, token func(xml.Token) error) error {
	decoder := xml.NewDecoder(r)
	for depth := 0; ; {
		t, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch t.(type) {
		case xml.StartElement:
			if depth++; depth > a.in.limits.Nesting {
				return errNesting
			}
		case xml.EndElement:
			depth--
		}
		if err := token(t); err != nil {
			return err
		}
	}
}

// unpacking reads a part and stops where it unpacks to more than the limits allow.
type unpacking struct {
	io.Reader
	archive  *archive
	packed   int64
	unpacked int64
}

// freeRatio is how much a part may unpack to whatever its ratio.
const freeRatio = 1 << 20

func (u *unpacking) Read(buffer []byte) (int, error) {
	if err := u.archive.alive(); err != nil {
		return 0, err
	}
	n, err := u.Reader.Read(buffer)
	u.unpacked += int64(n)
	u.archive.left -= int64(n)
	if u.archive.left < 0 || u.unpacked > freeRatio+u.packed*u.archive.in.limits.Ratio {
		return 0, errUnpacked
	}
	return n, err
}

// coreProperties gives title, author and language as the document's properties state them.
func coreProperties(a *archive) (Text, error) {
	var text Text
	var field *string
	err := a.read("docProps/core.xml", func(t xml.Token) error {
		switch t := t.(type) {
		case xml.StartElement:
			field = map[string]*string{"title": &text.Title, "creator": &text.Owner, "language": &text.Language}[t.Name.Local]
		case xml.EndElement:
			field = nil
		case xml.CharData:
			if field != nil {
				*field += string(t)
			}
		}
		return nil
	})
	return text, err
}

// value is the attribute of an element by its local name.
func value(element xml.StartElement, name string) string {
	for _, a := range element.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
