package web

import (
	"bytes"
	"fmt"
	stdhtml "html"
	"html/template"
	"strconv"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/markup"
)

// sourceRef is where a citation leads.
type sourceRef struct {
	anchor string // id of the mark in the list of sources
	label  string // the source's title and section
	view   string // where the passage is shown; "" leads to the mark
}

// renderMarkdown renders a reply's text to HTML that needs no trust: raw HTML is shown as
// text, links lead to http and https only, pictures are not fetched, and citations
// lead to refs.
func renderMarkdown(text string, sources []chat.SourceGroup, refs map[int]sourceRef) (template.HTML, error) {
	root, source := markup.Parse(text, sources)
	var out bytes.Buffer
	if err := newRenderer(safeRenderer{refs: refs}).Render(&out, source, root); err != nil {
		return "", fmt.Errorf("render Markdown: %w", err)
	}
	return template.HTML(out.String()), nil
}

// draftBlocks renders the text of an answer that is being made like markdown, each of
// its blocks by itself. Its sources are not told yet: every mark may cite one.
func draftBlocks(draft string) ([]template.HTML, error) {
	root, source := markup.Parse(closeMarkdown(draft), anySource)
	var blocks []template.HTML
	render := newRenderer(safeRenderer{draft: true})
	for block := root.FirstChild(); block != nil; block = block.NextSibling() {
		var out bytes.Buffer
		if err := render.Render(&out, source, block); err != nil {
			return nil, fmt.Errorf("render Markdown: %w", err)
		}
		blocks = append(blocks, template.HTML(out.String()))
	}
	return blocks, nil
}

// anySource has the numbers that answers' marks have.
var anySource = func() []chat.SourceGroup {
	numbers := make([]int, 99)
	for i := range numbers {
		numbers[i] = i + 1
	}
	return []chat.SourceGroup{{Sources: []chat.Source{{Numbers: numbers}}}}
}()

func newRenderer(safe safeRenderer) renderer.Renderer {
	return renderer.NewRenderer(renderer.WithNodeRenderers(
		util.Prioritized(html.NewRenderer(), 1000),
		util.Prioritized(extension.NewTableHTMLRenderer(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)), 500),
		util.Prioritized(extension.NewStrikethroughHTMLRenderer(), 500),
		util.Prioritized(safe, 100),
	))
}

// safeRenderer renders the nodes through which a document could reach out of its text.
// Its writer keeps the first error and gives it to Render.
type safeRenderer struct {
	refs  map[int]sourceRef
	draft bool // marks lead nowhere yet
}

func (s safeRenderer) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(markup.KindCitation, s.renderCitation)
	r.Register(ast.KindText, s.renderText)
	r.Register(ast.KindHeading, s.renderHeading)
	r.Register(ast.KindCodeBlock, s.renderCode)
	r.Register(ast.KindFencedCodeBlock, s.renderCode)
	r.Register(ast.KindRawHTML, s.rawHTML)
	r.Register(ast.KindHTMLBlock, s.htmlBlock)
	r.Register(ast.KindLink, s.renderLink)
	r.Register(ast.KindAutoLink, s.autoLink)
	r.Register(ast.KindImage, s.renderImage)
	r.Register(extast.KindTable, s.renderTable)
}

const next = ast.WalkContinue

func (s safeRenderer) renderCitation(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	citation, ok := node.(*markup.Citation)
	if !entering || !ok {
		return next, nil
	}
	number := strconv.Itoa(citation.Number)
	if s.draft {
		w.WriteString(`<span class="cite">` + number + `</span>`)
		return next, nil
	}
	ref, ok := s.refs[citation.Number]
	if !ok || insideLink(node) {
		w.WriteString("[" + number + "]")
		return next, nil
	}
	label := stdhtml.EscapeString(ref.label)
	to := fmt.Sprintf(`href="#%s"`, ref.anchor)
	if ref.view != "" {
		to = fmt.Sprintf(`href="%s" data-row="%s" target="_blank" rel="noopener"`, stdhtml.EscapeString(ref.view), ref.anchor)
	}
	fmt.Fprintf(w, `<a class="cite" %s aria-label="Source %s: %s" aria-describedby="%s-tip">%s</a>`,
		to, number, label, ref.anchor, number)
	return next, nil
}

func insideLink(node ast.Node) bool {
	for parent := node.Parent(); parent != nil; parent = parent.Parent() {
		if link, ok := parent.(*ast.Link); ok {
			_, opens := markup.WebAddress(string(link.Destination))
			return opens
		}
	}
	return false
}

func (safeRenderer) renderText(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	text, ok := node.(*ast.Text)
	if !entering || !ok {
		return next, nil
	}
	w.WriteString(stdhtml.EscapeString(markup.Text(text, source)))
	switch {
	case text.HardLineBreak():
		w.WriteString("<br>\n")
	case text.SoftLineBreak():
		w.WriteString("\n")
	}
	return next, nil
}

// renderHeading puts an answer's headings below those of the page.
func (safeRenderer) renderHeading(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	heading, ok := node.(*ast.Heading)
	if !ok {
		return next, nil
	}
	slash := "/"
	if entering {
		slash = ""
	}
	fmt.Fprintf(w, "<%sh%d>", slash, min(heading.Level+2, 6))
	return next, nil
}

// renderCode lets wide code scroll by itself, by keyboard as well.
func (safeRenderer) renderCode(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		w.WriteString(`<pre tabindex="0"><code>` + stdhtml.EscapeString(string(node.Lines().Value(source))))
	} else {
		w.WriteString("</code></pre>\n")
	}
	return next, nil
}

func (safeRenderer) rawHTML(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if raw, ok := node.(*ast.RawHTML); ok && entering {
		w.WriteString(stdhtml.EscapeString(string(raw.Segments.Value(source))))
	}
	return ast.WalkSkipChildren, nil
}

func (safeRenderer) htmlBlock(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	block, ok := node.(*ast.HTMLBlock)
	if !entering || !ok {
		return next, nil
	}
	w.WriteString(`<pre tabindex="0"><code>` + stdhtml.EscapeString(string(block.Lines().Value(source))))
	if block.HasClosure() {
		w.WriteString(stdhtml.EscapeString(string(block.ClosureLine.Value(source))))
	}
	w.WriteString("</code></pre>\n")
	return next, nil
}

func (safeRenderer) renderLink(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if link, ok := node.(*ast.Link); ok {
		writeLink(w, string(link.Destination), entering)
	}
	return next, nil
}

func (safeRenderer) autoLink(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	link, ok := node.(*ast.AutoLink)
	if !entering || !ok {
		return next, nil
	}
	address := string(link.URL(source))
	writeLink(w, address, true)
	w.WriteString(stdhtml.EscapeString(string(link.Label(source))))
	writeLink(w, address, false)
	return next, nil
}

// renderImage shows what a picture is and leads to it; fetching it would tell its host who
// reads the answer.
func (safeRenderer) renderImage(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	image, ok := node.(*ast.Image)
	if !ok {
		return next, nil
	}
	linked := !insideLink(node)
	if linked {
		writeLink(w, string(image.Destination), entering)
	}
	if entering {
		w.WriteString("image: ")
	}
	return next, nil
}

// writeLink opens or closes a link to an address that may be opened; for any other it
// writes nothing, and the label stays text.
func writeLink(w util.BufWriter, destination string, opening bool) {
	address, ok := markup.WebAddress(destination)
	switch {
	case !ok:
	case opening:
		fmt.Fprintf(w, `<a href="%s" target="_blank" rel="noopener noreferrer nofollow">`, stdhtml.EscapeString(address))
	default:
		w.WriteString("</a>")
	}
}

// renderTable lets a wide table scroll by itself, by keyboard as well.
func (safeRenderer) renderTable(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		w.WriteString(`<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>` + "\n")
	} else {
		w.WriteString("</table></div>\n")
	}
	return next, nil
}
