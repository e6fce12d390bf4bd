package parse

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"strings"
)

// parsePPTX reads a presentation: a section for each slide, under its title, with the speaker's
// notes at its end. Anchors are "slide=3".
func parsePPTX(ctx context.Context, in input) (Text, error) {
	archive, err := openArchive(ctx, "PPTX", in)
	if err != nil {
		return Text{}, err
	}
	text, err := coreProperties(archive)
	if err != nil {
		return Text{}, err
	}
	out := newOutline()
	for number := 1; ; number++ {
		name := fmt.Sprintf("ppt/slides/slide%d.xml", number)
		if !archive.has(name) && number == 1 {
			return Text{}, &BrokenError{Name: in.name, Format: "PPTX", Err: errors.New("it holds no slides")}
		}
		if !archive.has(name) {
			break
		}
		slide := &slideReader{}
		if err := archive.read(name, slide.token); err != nil {
			return Text{}, err
		}
		notes := &slideReader{notes: true}
		if err := archive.read(fmt.Sprintf("ppt/notesSlides/notesSlide%d.xml", number), notes.token); err != nil {
			return Text{}, err
		}
		title := oneLine(slide.title.String())
		if title == "" {
			title = fmt.Sprintf("Slide %d", number)
		}
		out.heading(1, title, fmt.Sprintf("slide=%d", number))
		for _, block := range append(slide.blocks, notes.blocks...) {
			out.add(block.Kind, block.Text)
		}
		if _, err := in.spill(text, out); err != nil {
			return Text{}, err
		}
	}
	text.Sections = out.finished()
	return text, nil
}

// slideReader collects the text of a slide, or of the notes to one.
type slideReader struct {
	notes bool

	title     strings.Builder
	blocks    []Block
	inTitle   bool // in the shape that holds the title
	isFrame   bool // in a shape of the frame: a date, a number, the picture of a slide
	inText    bool
	paragraph strings.Builder
	level     int
}

func (r *slideReader) token(t xml.Token) error {
	switch t := t.(type) {
	case xml.StartElement:
		r.begin(t)
	case xml.EndElement:
		r.end(t.Name.Local)
	case xml.CharData:
		if r.inText {
			r.paragraph.Write(t)
		}
	}
	return nil
}

func (r *slideReader) begin(element xml.StartElement) {
	switch element.Name.Local {
	case "sp":
		r.inTitle, r.isFrame = false, false
	case "ph":
		kind := value(element, "type")
		r.inTitle = !r.notes && (kind == "title" || kind == "ctrTitle")
		r.isFrame = kind == "dt" || kind == "sldNum" || kind == "ftr" || kind == "sldImg"
	case "p":
		r.paragraph.Reset()
		r.level = 0
	case "pPr":
		r.level = min(len(value(element, "lvl")), 1)
	case "t":
		r.inText = true
	case "br":
		r.paragraph.WriteByte(' ')
	}
}

func (r *slideReader) end(name string) {
	switch name {
	case "t":
		r.inText = false
	case "p":
		text := oneLine(r.paragraph.String())
		switch {
		case text == "" || r.isFrame:
		case r.inTitle:
			r.title.WriteString(" " + text)
		case r.notes:
			r.blocks = append(r.blocks, Block{Kind: Paragraph, Text: text})
		default:
			r.blocks = append(r.blocks, Block{Kind: ListItem, Text: bullet(r.level, -1) + text})
		}
		r.paragraph.Reset()
	}
}
