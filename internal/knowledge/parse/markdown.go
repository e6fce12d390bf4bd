package parse

import (
	"errors"
	"regexp"
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
	source, err := decoded(in.content)
	if err != nil {
		return Text{}, &BrokenError{Name: in.name, Format: "Markdown", Err: err}
	}
	meta, body := frontMatter(source)
	return readMarkdown(in, meta, resolveSiteMarkup(body))
}

// readMarkdown reads Markdown whose front matter and site markup are resolved.
func readMarkdown(in input, meta Text, body string) (Text, error) {
	lines := strings.Split(body, "\n")
	if nesting := markerNesting(lines); nesting > in.limits.Nesting {
		return Text{}, &TooLargeError{Name: in.name, What: "levels of nesting", Size: int64(nesting), Limit: int64(in.limits.Nesting)}
	}
	reader := &markdownReader{
		source:  []byte(strings.Join(notesAsQuotes(tamed(lines), noteNesting), "\n")),
		outline: newOutline(),
		nesting: in.limits.Nesting,
	}
	reader.footnotes = footnotesOf(reader.source)
	reader.outline.links = in.links
	reader.blocks(markdownSyntax.Parse(text.NewReader(reader.source)), place{})
	if reader.err != nil {
		return Text{}, &TooLargeError{Name: in.name, What: "levels of nesting", Limit: int64(in.limits.Nesting)}
	}
	if !reader.outline.hasText() { // a page that only lists others, most often
		reader.outline.describe(meta.description)
	}
	meta.Sections = reader.outline.finished()
	return meta, nil
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
	source    []byte
	outline   *outline
	footnotes map[string]bool // by name
	nesting   int
	err       error
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
