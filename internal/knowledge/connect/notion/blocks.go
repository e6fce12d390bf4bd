package notion

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"regexp"
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/strikethrough"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	htmltree "golang.org/x/net/html"

	"github.com/cairn-bot/cairn/internal/knowledge/connect"
)

const (
	maxBlocks  = 20_000 // of one page
	maxParents = 2000   // blocks of one page with others in them: each is asked for by itself
	maxDepth   = 20     // of blocks within one another
)

// errUnreadable is that the content of one page can't be read.
var errUnreadable = errors.New("the page can't be read")

var errTooManyBlocks = fmt.Errorf("%w: it has more than %d blocks, or blocks of more than %d bytes", errUnreadable, maxBlocks, maxBlockBytes)

// block is one block of a page. Its content stands under the name of its type.
type block struct {
	ID          string
	Type        string
	HasChildren bool
	InTrash     bool
	content     json.RawMessage
}

// UnmarshalJSON implements json.Unmarshaler.
func (b *block) UnmarshalJSON(text []byte) error {
	var known struct {
		ID          string `json:"id"`
		Type        string `json:"type"`
		HasChildren bool   `json:"has_children"`
		InTrash     bool   `json:"in_trash"`
		Archived    bool   `json:"archived"`
	}
	if err := json.Unmarshal(text, &known); err != nil {
		return err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	*b = block{ID: known.ID, Type: known.Type, HasChildren: known.HasChildren, InTrash: known.InTrash || known.Archived, content: all[known.Type]}
	return nil
}

// content is the content of a block: what blocks of all types have.
type content struct {
	RichText []richText   `json:"rich_text"`
	Caption  []richText   `json:"caption"`
	Cells    [][]richText `json:"cells"`
	// Title is a text in links to pages, and something else in blocks of other types.
	Title      json.RawMessage `json:"title"`
	Checked    bool            `json:"checked"`
	Language   string          `json:"language"`
	Expression string          `json:"expression"`
	Name       string          `json:"name"`
	URL        string          `json:"url"`
	External   struct {
		URL string `json:"url"`
	} `json:"external"`
	PageID     string `json:"page_id"`
	DatabaseID string `json:"database_id"`
	Header     bool   `json:"has_column_header"`
	SyncedFrom struct {
		ID string `json:"block_id"`
	} `json:"synced_from"`
}

// blockWriter writes a page as HTML of few elements, which then becomes Markdown.
type blockWriter struct {
	out       strings.Builder
	children  func(ctx context.Context, id string) ([]block, error)
	title     func(id string) string // of a page, "" where it is not known
	limit     int64                  // bytes
	maxBlocks int
	blocks    int // written so far
	parents   int // of them, those with others in them
}

// renderPage writes a page as Markdown.
func (w *blockWriter) renderPage(ctx context.Context, one page) ([]byte, error) {
	blocks, err := w.children(ctx, one.ID)
	if err != nil {
		return nil, err
	}
	w.writeText("h1", one.title())
	if err := w.writeProperties(one); err != nil {
		return nil, err
	}
	if err := w.writeBlocks(ctx, blocks, 0); err != nil {
		return nil, err
	}
	if err := w.checkSize(); err != nil {
		return nil, err
	}
	markdown := converter.NewConverter(converter.WithPlugins(
		base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), strikethrough.NewStrikethroughPlugin(), table.NewTablePlugin(),
	))
	markdown.Register.RendererFor("input", converter.TagTypeInline, renderCheckbox, converter.PriorityEarly)
	text, err := markdown.ConvertString(w.out.String())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	return []byte(text + "\n"), nil
}

// checkSize tells that the page is over the limit.
func (w *blockWriter) checkSize() error {
	if size := int64(w.out.Len()); size > w.limit {
		return &connect.TooLargeError{Size: size, Limit: w.limit}
	}
	return nil
}

// renderCheckbox writes what stands before a task.
func renderCheckbox(_ converter.Context, w converter.Writer, n *htmltree.Node) converter.RenderStatus {
	box := "[ ] "
	for _, one := range n.Attr {
		if one.Key == "checked" {
			box = "[x] "
		}
	}
	if _, err := w.WriteString(box); err != nil {
		return converter.RenderTryNext
	}
	return converter.RenderSuccess
}

// writeText writes an element with a text.
func (w *blockWriter) writeText(element, text string) {
	w.out.WriteString("<" + element + ">" + html.EscapeString(text) + "</" + element + ">\n")
}

// listElements are the elements that blocks of a type are items of.
var listElements = map[string]string{"bulleted_list_item": "ul", "toggle": "ul", "to_do": "ul", "numbered_list_item": "ol"}

// writeBlocks writes blocks one after another, neighbouring items as one list.
func (w *blockWriter) writeBlocks(ctx context.Context, blocks []block, depth int) error {
	inList := ""
	for _, one := range blocks {
		if one.InTrash {
			continue
		}
		if w.blocks++; w.blocks > w.maxBlocks {
			return errTooManyBlocks
		}
		if err := w.checkSize(); err != nil {
			return err
		}
		if element := listElements[one.Type]; element != inList {
			w.endList(inList)
			if inList = element; element != "" {
				w.out.WriteString("<" + element + ">\n")
			}
		}
		if err := w.writeBlock(ctx, one, depth); err != nil {
			return err
		}
	}
	w.endList(inList)
	return nil
}

func (w *blockWriter) endList(element string) {
	if element != "" {
		w.out.WriteString("</" + element + ">\n")
	}
}

// blockElements are the elements of blocks that are a text, with other blocks in them or after them.
var blockElements = map[string]struct{ before, after, end string }{
	"heading_1": {"<h2>", "</h2>\n", ""}, "heading_2": {"<h3>", "</h3>\n", ""}, "heading_3": {"<h4>", "</h4>\n", ""}, "heading_4": {"<h5>", "</h5>\n", ""},
	"bulleted_list_item": {"<li>", "", "</li>\n"}, "numbered_list_item": {"<li>", "", "</li>\n"}, "toggle": {"<li>", "", "</li>\n"}, "to_do": {"<li><input>", "", "</li>\n"},
	"quote": {"<blockquote><p>", "</p>\n", "</blockquote>\n"}, "callout": {"<blockquote><p>", "</p>\n", "</blockquote>\n"},
}

// writeBlock writes one block with what is in it. Of a type that is not known its text counts.
func (w *blockWriter) writeBlock(ctx context.Context, one block, depth int) error {
	var c content
	if len(one.content) > 0 {
		if err := json.Unmarshal(one.content, &c); err != nil {
			return fmt.Errorf("%w: its block %.60q: %w", errUnreadable, one.ID, err)
		}
	}
	switch one.Type {
	case "code":
		w.writeCode(c.Language, plainText(c.RichText))
		w.writeParagraph(c.Caption)
	case "equation":
		w.writeCode("math", c.Expression)
	case "divider":
		w.out.WriteString("<hr>\n")
	case "table":
		return w.writeTable(ctx, one, c, depth)
	case "child_page", "child_database":
		w.writeLink(pageAddress(one.ID), oneLine(textOf(c.Title)))
	case "link_to_page":
		if id := c.PageID + c.DatabaseID; isPageID(id) {
			w.writeLink(pageAddress(id), w.title(id))
		}
	case "bookmark", "embed", "link_preview":
		w.writeLink(c.URL, oneLine(plainText(c.Caption)))
	case "image", "video", "audio", "pdf", "file":
		w.writeFile(c)
	case "unsupported": // what is in it may be refused
	case "synced_block":
		return w.writeSynced(ctx, one, c, depth)
	default:
		return w.writeNested(ctx, one, c, depth)
	}
	return nil
}

// writeNested writes a text and the blocks in it.
func (w *blockWriter) writeNested(ctx context.Context, one block, c content, depth int) error {
	element, ok := blockElements[one.Type]
	if c.Checked {
		element.before = strings.Replace(element.before, "<input>", "<input checked>", 1)
	}
	if ok {
		w.out.WriteString(element.before)
		w.writeRichText(c.RichText)
		if strings.HasPrefix(one.Type, "heading_") && isPageID(one.ID) {
			w.out.WriteString(" {#" + strings.ReplaceAll(one.ID, "-", "") + "}") // Notion opens a page at a block by its id
		}
		w.out.WriteString(element.after)
	} else {
		w.writeParagraph(c.RichText)
	}
	blocks, err := w.readChildren(ctx, one, depth)
	if err == nil {
		err = w.writeBlocks(ctx, blocks, depth+1)
	}
	w.out.WriteString(element.end)
	return err
}

// readChildren asks for the blocks in a block.
func (w *blockWriter) readChildren(ctx context.Context, one block, depth int) ([]block, error) {
	if !one.HasChildren {
		return nil, nil
	}
	if depth >= maxDepth {
		return nil, fmt.Errorf("%w: its blocks are nested more than %d deep", errUnreadable, maxDepth)
	}
	if w.parents++; w.parents > maxParents {
		return nil, fmt.Errorf("%w: more than %d of its blocks have others in them", errUnreadable, maxParents)
	}
	return w.children(ctx, one.ID)
}

// writeSynced writes what a synced block shows. One whose original is not shared shows nothing.
func (w *blockWriter) writeSynced(ctx context.Context, one block, c content, depth int) error {
	if c.SyncedFrom.ID != "" {
		one.ID, one.HasChildren = c.SyncedFrom.ID, true
	}
	blocks, err := w.readChildren(ctx, one, depth)
	if c.SyncedFrom.ID != "" && isRefused(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return w.writeBlocks(ctx, blocks, depth+1)
}

// writeTable writes a table, whose rows are the blocks in it.
func (w *blockWriter) writeTable(ctx context.Context, one block, c content, depth int) error {
	rows, err := w.readChildren(ctx, one, depth)
	if err != nil {
		return err
	}
	w.out.WriteString("<table>\n")
	for at, row := range rows {
		if w.blocks++; w.blocks > w.maxBlocks {
			return errTooManyBlocks
		}
		var cells content
		if row.Type != "table_row" || row.InTrash || len(row.content) == 0 {
			continue
		}
		if err := json.Unmarshal(row.content, &cells); err != nil {
			return fmt.Errorf("%w: its row %.60q: %w", errUnreadable, row.ID, err)
		}
		element := "td"
		if at == 0 && c.Header {
			element = "th"
		}
		w.out.WriteString("<tr>")
		for _, cell := range cells.Cells {
			w.out.WriteString("<" + element + ">" + strings.ReplaceAll(richHTML(cell), "<br>", " ") + "</" + element + ">")
		}
		w.out.WriteString("</tr>\n")
	}
	w.out.WriteString("</table>\n")
	return nil
}

// languageName is the form of the names of programming languages that a block of code keeps.
var languageName = regexp.MustCompile(`^[a-z0-9+#-]{1,30}$`)

func (w *blockWriter) writeCode(language, text string) {
	w.out.WriteString("<pre><code")
	if name := strings.ToLower(language); languageName.MatchString(name) {
		w.out.WriteString(` class="language-` + name + `"`)
	}
	w.out.WriteString(">" + html.EscapeString(text) + "</code></pre>\n")
}

// writeLink writes a link as a paragraph. Without a text it shows its address.
func (w *blockWriter) writeLink(target, text string) {
	address := linkAddress(target)
	if text == "" {
		text = address
	}
	if text == "" {
		return
	}
	w.out.WriteString("<p>" + anchor(address, html.EscapeString(text)) + "</p>\n")
}

// writeFile writes what is said of a file, with a link where it is not Notion's: an address of
// Notion's own files holds for an hour.
func (w *blockWriter) writeFile(c content) {
	caption := oneLine(plainText(c.Caption))
	if caption == "" {
		caption = oneLine(c.Name)
	}
	w.writeLink(c.External.URL, caption)
}

func (w *blockWriter) writeParagraph(texts []richText) {
	if len(texts) == 0 {
		return
	}
	w.out.WriteString("<p>")
	w.writeRichText(texts)
	w.out.WriteString("</p>\n")
}
