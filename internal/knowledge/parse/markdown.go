package parse

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/cairn-bot/cairn/internal/knowledge"
)

// noteNesting bounds how deep admonitions are looked for in one another.
const noteNesting = 16

var markdownSyntax = goldmark.New(
	goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList),
	goldmark.WithParserOptions(parser.WithParagraphTransformers(util.Prioritized(plainWhereDense{}, afterTables))),
).Parser()

// afterTables is the place of a paragraph transformer behind that of tables, at 200.
const afterTables = 1000

func parseMarkdown(in input) (Text, error) {
	reader := newMarkdownReader(in)
	if in.isLarge() {
		for piece, err := range in.pieces() {
			if err == nil {
				reader.collectReferences(piece)
			}
		}
	}
	var meta Text
	begun := false
	for part, err := range in.textParts(reader.findCut) {
		if err != nil {
			return Text{}, &BrokenError{Name: in.name, Format: "Markdown", Err: err}
		}
		body := part.text
		if !begun {
			meta, body = frontMatter(body)
			begun = true
		}
		if err := reader.readPart(meta, resolveSiteMarkup(body)); err != nil {
			return Text{}, err
		}
	}
	return reader.finish(meta), nil
}

// readMarkdown reads Markdown whose front matter and site markup are resolved.
func readMarkdown(in input, meta Text, body string) (Text, error) {
	reader := newMarkdownReader(in)
	reader.collectReferences(body)
	for part := range in.cutText(body, reader.findCut) {
		if err := reader.readPart(meta, part); err != nil {
			return Text{}, err
		}
	}
	return reader.finish(meta), nil
}

func newMarkdownReader(in input) *markdownReader {
	reader := &markdownReader{in: in, outline: newOutline(), nesting: in.limits.Nesting, footnotes: make(map[string]bool)}
	reader.outline.links = in.links
	return reader
}

// readPart reads a document, or a part of one.
func (r *markdownReader) readPart(meta Text, body string) error {
	lines := r.closeFence(strings.Split(body, "\n"))
	if nesting := markerNesting(lines); nesting > r.nesting {
		return &TooLargeError{Name: r.in.name, What: "levels of nesting", Size: int64(nesting), Limit: int64(r.nesting)}
	}
	r.source = []byte(strings.Join(notesAsQuotes(tamed(slices.Concat(lines, r.definitions)), noteNesting), "\n"))
	maps.Copy(r.footnotes, footnotesOf(r.source))
	r.blocks(markdownSyntax.Parse(text.NewReader(r.source)), place{})
	if r.err != nil {
		return &TooLargeError{Name: r.in.name, What: "levels of nesting", Limit: int64(r.nesting)}
	}
	_, err := r.in.spill(meta, r.outline)
	return err
}

func (r *markdownReader) finish(meta Text) Text {
	if !r.outline.hasText() { // a page that only lists others, most often
		r.outline.describe(meta.description)
	}
	meta.Sections = r.outline.finished()
	return meta
}

// markerNesting is the most quote and list markers that any line begins with: each
// is a level that the parser descends to.
func markerNesting(lines []string) int {
	deepest := 0
	for _, line := range lines {
		markers := 0
		for _, c := range []byte(line) {
			if c == '>' || c == '-' || c == '*' || c == '+' {
				markers++
			} else if c != ' ' && c != '\t' {
				break
			}
		}
		if markers > 0 && strings.Trim(line, "-*+ \t") != "" {
			deepest = max(deepest, markers)
		}
	}
	return deepest
}

var errNesting = errors.New("nested too deep")

// markdownReader turns the nodes of a Markdown document into an outline.
type markdownReader struct {
	in        input
	source    []byte // of the part at hand
	outline   *outline
	footnotes map[string]bool // by name
	nesting   int
	err       error

	// Of a document that is read in parts:
	definitions []string  // lines that define what links lead to, of the whole document
	fence       openFence // of the code that the last part ended in
}

// place is where in lists and quotes a block stands.
type place struct {
	nested bool   // inside a list or quote, where headings begin no section
	lists  int    // how many lists it is in
	marker string // of the list item that the block begins, else ""
	depth  int
}

func (r *markdownReader) blocks(parent ast.Node, at place) {
	if at.depth > r.nesting {
		r.err = errNesting
		return
	}
	for node := parent.FirstChild(); node != nil; node = node.NextSibling() {
		r.block(node, at)
		at.marker = ""
	}
}

func (r *markdownReader) block(node ast.Node, at place) {
	switch node := node.(type) {
	case *ast.Heading:
		r.heading(node, at)
	case *ast.Paragraph, *ast.TextBlock:
		r.paragraph(r.inline(node), at)
	case *unparsed:
		r.paragraph(node.text, at)
	case *ast.List:
		r.list(node, at)
	case *ast.Blockquote:
		at.nested, at.depth = true, at.depth+1
		r.blocks(node, at)
	case *ast.FencedCodeBlock:
		r.outline.code(string(node.Language(r.source)), r.raw(node))
	case *ast.CodeBlock:
		r.outline.code("", r.raw(node))
	case *ast.HTMLBlock:
		closing := ""
		if node.HasClosure() {
			closing = string(node.ClosureLine.Value(r.source))
		}
		if err := htmlFragment(r.outline, r.raw(node)+closing, r.nesting); err != nil {
			r.err = err
		}
	case *tables.Table:
		r.table(node)
	}
}

// headingAttribute is an id or class that stands behind a heading's text.
var headingAttribute = regexp.MustCompile(`\{[ \t]*[:#.][^}]*\}`)

// givenID is an id that a heading is given, as the last thing on its line.
var givenID = regexp.MustCompile(`\{[ \t]*:?[ \t]*#([\w:.-]+)[^}]*\}[ \t]*$`)

func (r *markdownReader) heading(node *ast.Heading, at place) {
	heading := oneLine(headingAttribute.ReplaceAllString(strings.ReplaceAll(knowledge.WithoutAddresses(r.inline(node)), "`", ""), ""))
	if at.nested {
		r.paragraph(heading, at)
		return
	}
	source := strings.ReplaceAll(strings.TrimSpace(r.raw(node)), "\n", " ")
	anchor := r.outline.repeated.unique(slug(source))
	if given := givenID.FindStringSubmatch(source); given != nil {
		anchor = given[1]
	}
	r.outline.heading(node.Level, heading, anchor)
}

// alert is how a quote begins that is a note: `> [!NOTE]`.
var alert = regexp.MustCompile(`^\[!(\w[\w-]*)\][+-]?\s*`)

func (r *markdownReader) paragraph(text string, at place) {
	text = strings.TrimSpace(text)
	if m := alert.FindStringSubmatch(text); m != nil && at.nested {
		text = strings.TrimSpace(capitalized(m[1]) + ": " + text[len(m[0]):])
	}
	if at.marker != "" {
		r.outline.add(ListItem, at.marker+text)
		return
	}
	r.outline.add(Paragraph, text)
}

func capitalized(word string) string {
	first, size := utf8.DecodeRuneInString(word)
	return string(unicode.ToUpper(first)) + strings.ToLower(word[size:])
}

func (r *markdownReader) list(list *ast.List, at place) {
	number := -1
	if list.IsOrdered() {
		number = list.Start
	}
	for item := list.FirstChild(); item != nil; item = item.NextSibling() {
		r.blocks(item, place{
			nested: true, lists: at.lists + 1, marker: bullet(at.lists, number), depth: at.depth + 1,
		})
		if number >= 0 {
			number++
		}
	}
}

func (r *markdownReader) table(table *tables.Table) {
	var rows [][]string
	for row := table.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []string
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			cells = append(cells, r.inline(cell))
		}
		rows = append(rows, cells)
	}
	r.outline.table(rows)
}

// raw gives the source lines of a block.
func (r *markdownReader) raw(node ast.Node) string {
	var out strings.Builder
	lines := node.Lines()
	for i := range lines.Len() {
		line := lines.At(i)
		out.Write(line.Value(r.source))
	}
	return out.String()
}
