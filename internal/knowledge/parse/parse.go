// Package parse turns the bytes of a document into structured text: sections under
// their headings, each with the anchor that a citation points to. It reads Markdown,
// HTML, reStructuredText, AsciiDoc, plain text, DOCX, PPTX, XLSX, PDF, CSV, notebooks, e-mail and source code; a
// document is read as what its bytes are, whatever its name says. reStructuredText and AsciiDoc are rewritten as Markdown
// by small readers of our own: no live Go library reads the former, and the one for the
// latter, libasciidoc, was last released in 2022 and renders HTML alone.
//
// What comes in is data of strangers. Every format is bounded by Limits, and a
// document that can't be read gives an error that names it, says why and what helps:
// UnsupportedError, BrokenError, TooLargeError, EncryptedError, NoTextError or UnreadPictureError.
package parse

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// The media types that Parse reads.
const (
	Markdown = "text/markdown"
	HTML     = "text/html"
	Plain    = "text/plain"
	ReST     = "text/x-rst"
	AsciiDoc = "text/asciidoc"
	DOCX     = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	PPTX     = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
	PDF      = "application/pdf"
	XLSX     = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	Mail     = "message/rfc822"
	Source   = "text/x-source"
	CSV      = "text/csv"
	TSV      = "text/tab-separated-values"
	Notebook = "application/x-ipynb+json"
)

// Supported says whether Parse reads a media type.
func Supported(mediaType string) bool {
	return slices.Contains([]string{Markdown, HTML, Plain, ReST, AsciiDoc, DOCX, PPTX, XLSX, PDF, CSV, TSV, Notebook, Mail, Source}, mediaType)
}

// Readable names what Parse reads, for messages to people.
const Readable = "Markdown, HTML, reStructuredText, AsciiDoc, plain text, DOCX, PPTX, XLSX, PDF, CSV, notebooks, e-mail and source code"

// Text is a document's content in reading order.
type Text struct {
	Title    string // never empty: see Parse
	Language string // BCP 47 tag as the document states it, may be empty
	Owner    string // as the document states it, may be empty
	Draft    bool   // the page's metadata says that its site does not publish it
	Sections []Section

	description string // as the page's metadata states it
}

// Section is a heading and what stands under it, up to the next heading of any
// level. What stands before the first heading is a section of level 0 without one.
type Section struct {
	Heading  string   // without markup; empty at level 0
	Level    int      // 1 to 6, 0 before the first heading
	Anchor   string   // heading slug or id, "page=3" or "L10-L20"; empty at level 0
	Headings []string // from the outermost heading to the section's own
	Blocks   []Block
}

// Block is a piece of a section that is read as one: its text is Markdown without
// emphasis, paragraphs on one line. Links to the web keep their address, others their
// label alone.
type Block struct {
	Kind BlockKind
	// Text of a list item begins with its marker, two spaces deeper per level; of code
	// with its fence; of a table with its header and delimiter rows. A line break
	// inside a paragraph or item is one that the author meant.
	Text string
}

// BlockKind is what a block is.
type BlockKind int

// The kinds of blocks.
const (
	Paragraph BlockKind = iota + 1
	ListItem
	Code
	Table
)

// DefaultBytes is what Limits.Bytes of 0 means.
const DefaultBytes = 64 << 20

// Limits bound what one document may cost; a zero field is its default.
type Limits struct {
	Bytes   int64         // of the document, and of what it unpacks to; 64 MiB
	Part    int64         // bytes of text that a part of a large document has, about, see Parts; 1 MiB
	Ratio   int64         // unpacked bytes for one packed byte, beyond the first MiB; 200
	Entries int           // files in an archive; 10,000
	Pages   int           // 5,000
	Nesting int           // lists, quotes or elements in one another; 200
	Time    time.Duration // for formats whose cost their size does not tell; 30 s
}

func (l Limits) withDefaults() Limits {
	if l.Bytes == 0 {
		l.Bytes = DefaultBytes
	}
	if l.Part == 0 {
		l.Part = 1 << 20
	}
	if l.Ratio == 0 {
		l.Ratio = 200
	}
	if l.Entries == 0 {
		l.Entries = 10_000
	}
	if l.Pages == 0 {
		l.Pages = 5_000
	}
	if l.Nesting == 0 {
		l.Nesting = 200
	}
	if l.Time == 0 {
		l.Time = 30 * time.Second
	}
	return l
}

// Parse reads a document. name is its path or file name: it is used in messages,
// and for the title of a document that states none and has no heading. mediaType is
// what Detect gave, or what the source says; content that is plainly something else
// is read as what it is, or refused.
func Parse(ctx context.Context, mediaType, name string, content []byte, limits Limits) (Text, error) {
	return Read(ctx, Document{MediaType: mediaType, Name: name, Content: content}, limits)
}

// LinkResolver gives the address of what a relative link in a document leads to, "" where it
// is not known.
type LinkResolver func(target string) string

// Document is what Read reads.
type Document struct {
	MediaType string // as for Parse
	Name      string
	Content   []byte
	Links     LinkResolver // nil: of relative links the text is kept alone
	// Recognizer reads pictures, and pages of a PDF that are pictures alone; nil: they are not read.
	Recognizer Recognizer
}

// Read reads a document as Parse does, and gives its relative links addresses.
func Read(ctx context.Context, document Document, limits Limits) (Text, error) {
	text, err := readParts(ctx, document, limits.withDefaults(), nil)
	if err != nil {
		return Text{}, err
	}
	return text.completed(document.Name), nil
}

// readParts reads a document. Where emit is not nil, the document is read in parts: sections that are
// finished may go there, and are not in what is returned.
func readParts(ctx context.Context, document Document, limits Limits, emit func(Text) error) (Text, error) {
	mediaType, name, content := document.MediaType, document.Name, document.Content
	if int64(len(content)) > limits.Bytes {
		return Text{}, &TooLargeError{Name: name, What: "bytes", Size: int64(len(content)), Limit: limits.Bytes}
	}
	if found := sniff(content); found != "" && (found != zipArchive || mediaType != DOCX && mediaType != PPTX && mediaType != XLSX) {
		mediaType = found
	}
	in := input{name: name, content: content, limits: limits, links: document.Links, recognizer: document.Recognizer, emit: emit}
	var text Text
	var err error
	switch mediaType {
	case Markdown:
		text, err = parseMarkdown(in)
	case HTML:
		text, err = parseHTML(in)
	case Plain:
		text, err = parsePlain(in)
	case ReST:
		text, err = parseReST(in)
	case AsciiDoc:
		text, err = parseAsciiDoc(in)
	case DOCX:
		text, err = parseDOCX(ctx, in)
	case PPTX:
		text, err = parsePPTX(ctx, in)
	case XLSX:
		text, err = parseXLSX(ctx, in)
	case PDF:
		text, err = parsePDF(ctx, in)
	case Mail:
		text, err = parseMail(in)
	case Source:
		text, err = parseSource(in)
	case CSV, TSV:
		text, err = parseTable(in, mediaType)
	case Notebook:
		text, err = parseNotebook(in)
	case PNG, JPEG:
		text, err = parsePicture(ctx, in, mediaType)
	default:
		err = in.refusal(mediaType)
	}
	if err != nil {
		return Text{}, err
	}
	if err := ctx.Err(); err != nil {
		return Text{}, fmt.Errorf("parse %s: %w", name, err)
	}
	return text, nil
}

// completed gives the text with a title, whatever it states, and the rest of what it states on one
// line each.
func (t Text) completed(name string) Text {
	if t.Title = oneLine(t.Title); t.Title == "" {
		t.Title = t.headingTitle()
	}
	if name != "" && usualHeading.MatchString(t.Title) { // the rest of the page is put together elsewhere
		t.Title = readableName(name)
	}
	if t.Title == "" {
		t.Title = readableName(name)
	}
	t.Owner, t.Language = oneLine(t.Owner), oneLine(t.Language)
	return t
}

// input is one document to parse.
type input struct {
	name    string
	content []byte
	limits  Limits
	links   LinkResolver

	recognizer Recognizer       // nil: pictures are not read
	emit       func(Text) error // takes a part of a document that is read in parts; nil: it is read whole
}

// refusal is why a document of another type is not read.
func (in input) refusal(mediaType string) error {
	if mediaType == oleStorage && bytes.Contains(in.content, []byte(encryptedPackage)) {
		return &EncryptedError{Name: in.name, Format: "Office"}
	}
	return &UnsupportedError{Name: in.name, MediaType: mediaType}
}

// usualHeading matches headings that sections of many pages have, and that name none.
var usualHeading = regexp.MustCompile(`(?i)^(?:examples?|description|synopsis|options|usage|notes?|see also|parameters|arguments)$`)

// headingTitle is the first heading of level 1, or else the first heading.
func (t Text) headingTitle() string {
	first := ""
	for _, section := range t.Sections {
		if section.Level == 1 && section.Heading != "" {
			return section.Heading
		}
		if first == "" {
			first = section.Heading
		}
	}
	return first
}

// readableName makes a title of a file name: "docs/getting_started.md" gives
// "Getting started". A README or index is named after its folder.
func readableName(name string) string {
	name = strings.ToValidUTF8(name, "\uFFFD")
	base := path.Base(strings.ReplaceAll(name, `\`, "/"))
	stem := strings.TrimSuffix(base, included)
	stem = strings.TrimSuffix(stem, path.Ext(stem))
	if folder := path.Base(path.Dir(name)); isFolderPage(stem) && folder != "." && folder != "/" {
		stem = folder
	}
	readable := oneLine(strings.NewReplacer("_", " ", "-", " ").Replace(stem))
	if readable == "" {
		return base
	}
	first, size := utf8.DecodeRuneInString(readable)
	return string(unicode.ToUpper(first)) + readable[size:]
}

func isFolderPage(stem string) bool {
	return strings.EqualFold(stem, "readme") || strings.EqualFold(stem, "index") || stem == "_index"
}

// oneLine folds white space to single spaces and drops control characters.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
	return strings.Join(strings.Fields(text), " ")
}
