package page

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/pages"
	"github.com/cairn-bot/cairn/internal/pages/tree"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// Bounds of what is shown in a thread.
const (
	maxListed   = 30
	maxVersions = 20
	maxExcerpt  = 3000 // bytes of a page; the whole of it is a file
)

// IsShownWhole tells of a file of a page that a reply shows all of.
func IsShownWhole(mediaType string, content []byte) bool {
	return mediaType == flows.Markdown && len(content) <= maxExcerpt
}

// runCommand does what only shows something or makes a page, and prepares what changes one.
func (f *Flow) runCommand(ctx context.Context, step graph.Step[State]) (graph.Result[State], error) {
	s := step.State
	command := ReadCommand(s.UserInput)
	switch command.Verb {
	case Help:
		return endWith("Pages are written together: a change is shown, and made once you apply it.\n\n%s", describeCommands())
	case Create:
		return f.create(ctx, s, command.Rest)
	case FromThread:
		return f.createFromThread(ctx, s, command.Rest)
	case Draft:
		return draftPage(ctx, f, s, command.Rest)
	case List:
		return f.list(ctx, s)
	case Open:
		return f.open(ctx, s, command.Rest)
	case Keep:
		return f.keepMade(ctx, s, command.Rest)
	case Correct:
		return f.correct(ctx, s, command.Rest)
	case Close:
		if err := f.library.Close(ctx, s.findPlace()); err != nil {
			return graph.Result[State]{}, err
		}
		return endWith("No page is open here any more.")
	}
	active, err := f.library.Active(ctx, s.findPlace())
	if errors.Is(err, pages.ErrNotFound) {
		return endRefused("No page is open here. Open one, or make one:\n\n%s", describeCommands())
	}
	if err != nil {
		return graph.Result[State]{}, err
	}
	switch command.Verb {
	case Show:
		return f.show(active, strings.EqualFold(strings.TrimSpace(command.Rest), "ids"))
	case History:
		return f.listVersions(ctx, s, active)
	case Snapshot:
		return f.keepSnapshot(ctx, s, active, command.Rest)
	case Free:
		if word, _, _ := strings.Cut(command.Rest, " "); f.model == nil && strings.EqualFold(word, string(Replace)) {
			return endRefused("`page: replace` needs the id of a block, which `page: show ids` tells, and a text. For a change in your own words I need a language model.")
		}
		if f.model == nil {
			return endRefused("For a change in your own words I need a language model. These work without:\n\n%s", describeCommands())
		}
		return graph.Update(proposal.Set(&Proposal{Page: active.ID, Base: active.Version, Title: active.Title, Text: command.Rest})), nil
	}
	return f.propose(ctx, s, active, command)
}

func (f *Flow) create(ctx context.Context, s State, text string) (graph.Result[State], error) {
	title, body := splitTitle(text)
	if title == "" {
		return endRefused("A page needs a title: `page: new Paid leave`.")
	}
	root, err := tree.ParseMarkdown(body)
	if err != nil {
		return endForError(err)
	}
	return f.createPage(ctx, s, newPage{title, root, "page: new", ""})
}

// newPage is a page to be made.
type newPage struct {
	title  string
	root   *tree.Node
	why    string // of its first version
	remark string // for the person; "" for none
}

func (f *Flow) createPage(ctx context.Context, s State, made newPage, changes ...graph.Change[State]) (graph.Result[State], error) {
	if _, err := pages.CleanTitle(made.title); err != nil {
		return endRefused("That can't be done: %s.", err)
	}
	page, err := f.library.Create(ctx, s.findPlace(), made.title, made.root, s.describeAuthor(made.why))
	if err != nil {
		return endForError(err)
	}
	text := fmt.Sprintf("**%s** is a page now, `%s`, and open here. %s%s", escape(page.Title), page.ID, describeAudience(page), f.linkPage(page.ID))
	if made.remark != "" {
		text += "\n\n" + made.remark
	}
	if excerpt := excerptPage(page.Root); excerpt != "" {
		text += "\n\n" + excerpt
	}
	return graph.Update(append(changes, output.Set(text), files.Set(renderFile(page)))...), nil
}

// describeAudience says who may see a page.
func describeAudience(page pages.Page) string {
	return fmt.Sprintf("It can be seen by: %s.", page.Audience.OrPublic())
}

func (f *Flow) list(ctx context.Context, s State) (graph.Result[State], error) {
	all, err := f.library.List(ctx, s.findPlace())
	if err != nil {
		return graph.Result[State]{}, err
	}
	if len(all) == 0 {
		return endWith("There are no pages here yet. `page: new` and a title makes one.")
	}
	var b strings.Builder
	b.WriteString("The pages here, the last changed first:\n")
	for _, one := range all[:min(len(all), maxListed)] {
		fmt.Fprintf(&b, "\n- **%s**, `%s`, version %d, %s UTC", escape(one.Title), one.ID, one.Version, one.Updated.UTC().Format("2006-01-02 15:04"))
	}
	if more := len(all) - maxListed; more > 0 {
		fmt.Fprintf(&b, "\n- and %d more", more)
	}
	return endWith("%s", b.String())
}

// open finds a page by its id or title.
func (f *Flow) open(ctx context.Context, s State, name string) (graph.Result[State], error) {
	name = strings.Trim(strings.TrimSpace(name), "`")
	if name == "" {
		return endRefused("Which page? `page: list` shows them; `page: open` and a title or an id opens one.")
	}
	all, err := f.library.List(ctx, s.findPlace())
	if err != nil {
		return graph.Result[State]{}, err
	}
	var found []pages.Summary
	for _, one := range all {
		if string(one.ID) == name || strings.EqualFold(one.Title, name) {
			found = append(found, one)
		}
	}
	if len(found) == 0 {
		for _, one := range all {
			if strings.Contains(strings.ToLower(one.Title), strings.ToLower(name)) {
				found = append(found, one)
			}
		}
	}
	switch {
	case len(found) == 0:
		return endForError(pages.ErrNotFound)
	case len(found) > 1:
		var b strings.Builder
		for _, one := range found[:min(len(found), maxListed)] {
			fmt.Fprintf(&b, "\n- **%s**: `page: open %s`", escape(one.Title), one.ID)
		}
		return endRefused("Several pages are called that:\n%s", b.String())
	}
	if err := f.library.Activate(ctx, s.findPlace(), found[0].ID); err != nil {
		return graph.Result[State]{}, err
	}
	page, err := f.library.Load(ctx, s.findPlace(), found[0].ID)
	if err != nil {
		return endForError(err)
	}
	return f.show(page, false)
}

// show gives a page, or its blocks with their ids.
func (f *Flow) show(page pages.Page, ids bool) (graph.Result[State], error) {
	text := fmt.Sprintf("**%s**, `%s`, version %d%s", escape(page.Title), page.ID, page.Version, f.linkPage(page.ID))
	if ids {
		return graph.Update(output.Set(text + "\n\n" + listBlocks(page.Root))), nil
	}
	excerpt := excerptPage(page.Root)
	if excerpt == "" {
		excerpt = "The page is empty: `page: append` and a text writes on it."
	}
	return graph.Update(output.Set(text+"\n\n"+excerpt), files.Set(renderFile(page))), nil
}

// listBlocks gives a line for each block that holds text, with its id.
func listBlocks(root *tree.Node) string {
	var lines []string
	left := 0
	root.Walk(func(n, _ *tree.Node) bool {
		if n.IsInline() || n.Kind == tree.Root || len(n.Children) > 0 && !n.Children[0].IsInline() {
			return n.Kind == tree.Root || !n.IsInline()
		}
		if len(lines) == maxListed*2 {
			left++
			return true
		}
		lines = append(lines, fmt.Sprintf("- `%s` %s", n.ID, escape(shorten.Line(n.PlainText(), 80))))
		return true
	})
	if left > 0 {
		lines = append(lines, fmt.Sprintf("- and %d more", left))
	}
	return strings.Join(lines, "\n")
}

// excerptPage gives the beginning of a page as Markdown, of whole blocks.
func excerptPage(root *tree.Node) string {
	var b strings.Builder
	for i, block := range root.Children {
		text := tree.MarkdownOf(block)
		if b.Len()+len(text) > maxExcerpt {
			fmt.Fprintf(&b, "… and %d more blocks: the file has all of them.", len(root.Children)-i)
			break
		}
		b.WriteString(text + "\n\n")
	}
	return strings.TrimSpace(b.String())
}

// renderFile gives a page as a Markdown file; none where it is larger than a file may be.
func renderFile(page pages.Page) []flows.File {
	content := []byte("# " + escape(page.Title) + "\n\n" + tree.Markdown(page.Root))
	if len(content) > flows.MaxFile || page.Root.PlainText() == "" {
		return nil
	}
	return []flows.File{{Name: string(page.ID) + ".md", MediaType: flows.Markdown, Content: content}}
}

// keepSnapshot keeps the page as it stands under a name.
func (f *Flow) keepSnapshot(ctx context.Context, s State, page pages.Page, name string) (graph.Result[State], error) {
	name, err := pages.CleanTitle(name)
	if err != nil {
		return endRefused("How is it to be called? `page: snapshot before the review`.")
	}
	saved, err := f.library.Save(ctx, s.findPlace(), pages.Edit{Page: page.ID, Base: page.Version, Name: name, By: s.describeAuthor("page: snapshot")})
	if err != nil {
		return endForError(err)
	}
	return endWith("Kept as “%s”, version %d. `page: restore %d` has it again.", escape(name), saved.Version, saved.Version)
}

func (f *Flow) listVersions(ctx context.Context, s State, page pages.Page) (graph.Result[State], error) {
	all, err := f.library.Versions(ctx, s.findPlace(), page.ID, maxVersions)
	if err != nil {
		return endForError(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Changes of **%s**, the last first:\n", escape(page.Title))
	for _, version := range all {
		author := version.Author
		if author == "" {
			author = "somebody"
		}
		fmt.Fprintf(&b, "\n- %d: %s, by `%s`, %s UTC", version.Number, escape(version.Why), strings.ReplaceAll(author, "`", ""), version.At.UTC().Format("2006-01-02 15:04"))
		if version.Name != "" {
			fmt.Fprintf(&b, ", kept as “%s”", escape(version.Name))
		}
		if version.Base != version.Number-1 && version.Base > 0 {
			fmt.Fprintf(&b, ", merged with what came after version %d", version.Base)
		}
	}
	return endWith("%s", b.String())
}

// escape writes a text as Markdown that means nothing else.
func escape(text string) string { return tree.MarkdownOf(tree.NewText(text, 0)) }
