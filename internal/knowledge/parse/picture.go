package parse

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/cairn-bot/cairn/internal/knowledge/parse/pdf"
)

// The media types of pictures whose text is read where there is a Recognizer.
const (
	PNG  = "image/png"
	JPEG = "image/jpeg"
)

// IsPicture says whether a media type is one of pictures whose text a Recognizer reads.
func IsPicture(mediaType string) bool { return mediaType == PNG || mediaType == JPEG }

// Recognizer reads the text in pictures.
type Recognizer interface {
	// Recognize gives the text in a PNG or JPEG picture, "" where there is none. An error is fit
	// to show to a person.
	Recognize(ctx context.Context, picture []byte) (string, error)
}

// errNoRecognizer is why nothing is read of pictures.
var errNoRecognizer = errors.New("pictures are not read here")

// maxScanned is of how many pages of a document pictures are read.
const maxScanned = 100

// parsePicture reads the text in a picture: its lines, as one section.
func parsePicture(ctx context.Context, in input, mediaType string) (Text, error) {
	if in.recognizer == nil {
		return Text{}, in.refusal(mediaType)
	}
	read, err := in.recognizer.Recognize(ctx, in.content)
	switch {
	case ctx.Err() != nil:
		return Text{}, fmt.Errorf("parse %s: %w", in.name, ctx.Err())
	case err != nil:
		return Text{}, &UnreadPictureError{Name: in.name, Err: err}
	}
	section := Section{}
	for _, paragraph := range splitParagraphs(read) {
		section.Blocks = append(section.Blocks, Block{Kind: Paragraph, Text: strings.Join(paragraph, "\n")})
	}
	if len(section.Blocks) == 0 {
		return Text{}, &UnreadPictureError{Name: in.name, Err: errors.New("no text was found in it")}
	}
	return Text{Sections: []Section{section}}, nil
}

// splitParagraphs gives the lines of each paragraph of a text that was recognized, without those in which
// there is nothing but specks.
func splitParagraphs(text string) [][]string {
	var paragraphs [][]string
	var lines []string
	end := func() {
		if len(lines) > 0 {
			paragraphs = append(paragraphs, lines)
		}
		lines = nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		line = oneLine(line)
		if line == "" {
			end()
		} else if strings.ContainsFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			lines = append(lines, line)
		}
	}
	end()
	return paragraphs
}

// readScans has the pictures on pages without text read. It gives why none is, where so.
func readScans(ctx context.Context, in input, document pdf.Document) error {
	empty := make(map[int]bool)
	for i, page := range document.Pages {
		if len(page.Lines) == 0 && len(empty) < maxScanned {
			empty[i] = true
		}
	}
	if len(empty) == 0 {
		return nil
	}
	if in.recognizer == nil {
		return errNoRecognizer
	}
	return pdf.EachPicture(ctx, in.content, pdf.Limits{Bytes: in.limits.Bytes, Ratio: in.limits.Ratio, Pages: in.limits.Pages},
		func(page int) bool { return empty[page] },
		func(page int, picture []byte) error {
			read, err := in.recognizer.Recognize(ctx, picture)
			if err != nil {
				return err
			}
			document.Pages[page].Lines = append(document.Pages[page].Lines, scannedLines(read, len(document.Pages[page].Lines))...)
			return nil
		})
}

// How lines of scans stand on a page, in points: what was recognized tells lines and paragraphs alone.
const (
	scannedSize  = 11.0
	scannedLine  = 13.0
	scannedSpace = 26.0
	scannedRight = 500.0
)

// scannedLines gives what was recognized as lines of a page, below those that it has.
func scannedLines(text string, above int) []pdf.Line {
	y := -float64(above) * scannedSpace
	var lines []pdf.Line
	for _, paragraph := range splitParagraphs(text) {
		y -= scannedSpace
		for _, line := range paragraph {
			y -= scannedLine
			lines = append(lines, pdf.Line{Text: line, Y: y, Size: scannedSize, Right: scannedRight})
		}
	}
	return lines
}
