package parse

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/cairn-bot/cairn/internal/knowledge/parse/pdf"
)

// parsePDF reads the text of a PDF. Each page begins a section with the anchor
// "page=N", which viewers of PDF understand; headings are told by their size.
func parsePDF(ctx context.Context, in input) (Text, error) {
	limited, cancel := context.WithTimeout(ctx, in.limits.Time)
	defer cancel()
	document, err := pdf.Read(limited, in.content, pdf.Limits{
		Bytes: in.limits.Bytes, Ratio: in.limits.Ratio, Pages: in.limits.Pages,
	})
	var over *pdf.LimitError
	switch {
	case errors.As(err, &over):
		return Text{}, &TooLargeError{Name: in.name, What: over.What, Limit: over.Limit}
	case errors.Is(err, pdf.ErrEncrypted):
		return Text{}, &EncryptedError{Name: in.name, Format: "PDF"}
	case ctx.Err() != nil:
		return Text{}, fmt.Errorf("parse %s: %w", in.name, ctx.Err())
	case errors.Is(err, context.DeadlineExceeded):
		return Text{}, &TooLargeError{Name: in.name, What: "seconds of reading", Limit: int64(in.limits.Time.Seconds())}
	case err != nil:
		return Text{}, &BrokenError{Name: in.name, Format: "PDF", Err: err}
	}
	unread := readScans(ctx, in, document)
	if ctx.Err() != nil {
		return Text{}, fmt.Errorf("parse %s: %w", in.name, ctx.Err())
	}
	text := Text{Title: sensibleTitle(document.Title), Language: document.Language, Owner: document.Author}
	reader := newPDFReader(document)
	for i, page := range document.Pages {
		reader.page(i+1, page)
		document.Pages[i] = pdf.Page{}
		if _, err := in.spill(text, reader.outline); err != nil {
			return Text{}, err
		}
	}
	text.Sections = withText(reader.outline.finished())
	if len(text.Sections) == 0 && !reader.outline.spilled {
		return Text{}, &NoTextError{Name: in.name, Pages: len(document.Pages), Err: unread}
	}
	return text, nil
}

// programTitle is a title that a program left instead of an author.
var programTitle = regexp.MustCompile(`(?i)^(microsoft (word|powerpoint) - |untitled|document ?\d*$|.*\.(docx?|pptx?|xlsx?|indd|tex|dvi|pdf|odt|md|html?)$)`)

func sensibleTitle(title string) string {
	if programTitle.MatchString(strings.TrimSpace(title)) {
		return ""
	}
	return title
}

// newPDFReader makes a reader of the lines of all pages.
func newPDFReader(document pdf.Document) *pdfReader {
	reader := &pdfReader{outline: newOutline(), body: bodySize(document), repeated: repeatedLines(document)}
	reader.levels = headingLevels(document, reader.body)
	return reader
}

// withText gives the sections that have text or a heading.
func withText(sections []Section) []Section {
	var kept []Section
	for _, section := range sections {
		if len(section.Blocks) > 0 || section.Heading != "" {
			kept = append(kept, section)
		}
	}
	return kept
}

// pdfReader turns lines into an outline.
type pdfReader struct {
	outline   *outline
	body      float64         // size of running text
	levels    map[float64]int // of headings, by size; nil where sizes tell none
	repeated  map[string]bool // headers and footers
	paragraph []pdf.Line
	number    int // of the page
	edges     columnEdges
}

func (r *pdfReader) page(number int, page pdf.Page) {
	r.number = number
	lines := r.withoutRepeated(page.Lines)
	if len(lines) == 0 {
		return
	}
	r.edges = edgesOf(lines)
	if number == 1 || r.level(lines[0]) == 0 {
		r.continueSection()
	}
	for i, line := range lines {
		level := r.level(line)
		if len(r.paragraph) > 0 && (level > 0 || beginsParagraph(r.paragraph[len(r.paragraph)-1], line)) {
			r.flush()
		}
		if level == 0 {
			r.paragraph = append(r.paragraph, line)
			continue
		}
		if i > 0 && r.level(lines[i-1]) == level && r.extendHeading(lines[i-1], line) {
			continue
		}
		r.outline.heading(level, line.Text, r.anchor())
	}
	r.flush()
}

// level is that of the heading that a line is, 0 for other text.
func (r *pdfReader) level(line pdf.Line) int {
	if leaders.MatchString(line.Text) || len(line.Text) > maxPDFHeading {
		return 0
	}
	return r.levels[rounded(line.Size)]
}

const maxPDFHeading = 200 // bytes

// leaders are the points between an entry of a table of contents and its page.
var leaders = regexp.MustCompile(`(?:[.:] ?){4,}`)

func (r *pdfReader) anchor() string { return fmt.Sprintf("page=%d", r.number) }

// continueSection begins a section for the page under the heading that goes on.
func (r *pdfReader) continueSection() {
	last := &r.outline.sections[len(r.outline.sections)-1]
	if last.Level == 0 && len(last.Blocks) == 0 {
		last.Anchor = r.anchor()
		return
	}
	r.outline.continued().Anchor = r.anchor()
}

// extendHeading joins the second line of a heading to the first.
func (r *pdfReader) extendHeading(before, line pdf.Line) bool {
	section := &r.outline.sections[len(r.outline.sections)-1]
	if len(section.Blocks) > 0 || before.Y-line.Y > 2*line.Size || before.Y-line.Y < 0 {
		return false
	}
	section.Heading += " " + line.Text
	section.Headings[len(section.Headings)-1] = section.Heading
	return true
}

// flush ends the paragraph.
func (r *pdfReader) flush() {
	text := joinedPDF(r.paragraph, r.edges)
	r.paragraph = nil
	if text == "" {
		return
	}
	if plainItem.MatchString(text) || strings.HasPrefix(text, "•") {
		r.outline.add(ListItem, "- "+strings.TrimSpace(strings.TrimLeft(text, "•-*–+ ")))
		return
	}
	r.outline.add(Paragraph, text)
}

// beginsParagraph says whether a line begins a new paragraph after another: it stands
// apart, is set in, is an item, or does not go on where the other ended early.
func beginsParagraph(before, line pdf.Line) bool {
	gap := before.Y - line.Y
	size := max(before.Size, line.Size, 1)
	switch {
	case gap < -size, gap > 1.9*size: // another column, or space between
		return true
	case plainItem.MatchString(line.Text) || strings.HasPrefix(line.Text, "•"):
		return true
	case line.X > before.X+size && !plainItem.MatchString(before.Text):
		return gap > 0.5*size
	}
	ended := strings.ContainsAny(before.Text[len(before.Text)-1:], ".!?:")
	return ended && before.Right < line.Right-4*size
}

// joinedPDF joins lines, and words that were hyphenated at a line's end. After a line
// that ends long before its column does the break stays: it was meant.
func joinedPDF(lines []pdf.Line, edges columnEdges) string {
	var out strings.Builder
	for i, line := range lines {
		text := line.Text
		switch {
		case i > 0 && edges.endsEarly(lines[i-1]):
			out.WriteByte('\n')
		case i > 0:
			out.WriteByte(' ')
		}
		if i+1 < len(lines) && hyphenated.MatchString(text) && lowerFirst.MatchString(lines[i+1].Text) {
			lines[i+1].Text = strings.TrimRight(text[strings.LastIndexByte(text, ' ')+1:], "-\u00ad\u2010") + lines[i+1].Text
			text = strings.TrimRight(text[:strings.LastIndexByte(text, ' ')+1], " ")
		}
		out.WriteString(text)
	}
	return strings.TrimSpace(strings.NewReplacer("\u00ad", "", "  ", " ").Replace(printable(out.String())))
}

var (
	hyphenated = regexp.MustCompile(`\p{Ll}[-\x{ad}\x{2010}]$`)
	lowerFirst = regexp.MustCompile(`^\p{Ll}`)
	digits     = regexp.MustCompile(`\d+`)
)
