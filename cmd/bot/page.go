package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/terminal"
	"github.com/cairn-bot/cairn/internal/app"
	"github.com/cairn-bot/cairn/internal/chat"
	flowpage "github.com/cairn-bot/cairn/internal/graph/flows/page"
	"github.com/cairn-bot/cairn/internal/graph/flows/routing"
	"github.com/cairn-bot/cairn/internal/pages"
	"github.com/cairn-bot/cairn/internal/pages/merge"
	"github.com/cairn-bot/cairn/internal/pages/tree"
)

type pageDoCommand struct {
	Words []string `arg:"" name:"WORDS" optional:"" help:"What to do, as behind \"page:\" in a thread: new, draft, open, list, show, append, replace, title, history, restore, undo, close, delete; none explains them."`
}

// Run does something with pages, and asks at this terminal before it changes one.
func (c *pageDoCommand) Run(ctx context.Context, in *invocation) (err error) {
	setup, err := in.setup()
	if err != nil {
		return err
	}
	a, err := app.Open(ctx, setup, app.Options{Index: app.ServeIndex}) // pages need no documents
	if err != nil {
		return err
	}
	defer func() { err = closeAfter(err, a) }()
	a.StartWork(ctx)
	message := chat.Message{
		ID: chat.MessageID(rand.Text()), Thread: terminal.NewThread(), Author: author(), Asker: thisMachine(), At: time.Now(),
		Text: "/cairn " + routing.Page + " " + strings.Join(c.Words, " "),
	}
	conversation := newConversation(in.std.Out, in.std.Out, "")
	conversation.IsShown = func(d chat.Document) bool { return flowpage.IsShownWhole(d.MediaType, d.Content) }
	if terminal.IsTerminal(in.std.In) {
		err = converse(ctx, in.std, a.Bot, message, conversation)
	} else {
		err = converseByLines(ctx, in.std.In, a.Bot, message, conversation)
	}
	if err != nil {
		return err
	}
	if conversation.Question != nil {
		return errors.Join(dropQuestion(ctx, a.Bot, message, conversation.Question), errors.New("nothing was changed: nobody said whether to apply it"))
	}
	if reply := conversation.Answer; reply != nil && reply.Outcome == chat.Abstained {
		return errors.New("nothing was done, for the reason above")
	}
	return app.IndexPages(ctx, a.Library)
}

type pageEditCommand struct {
	Page    string `arg:"" optional:"" help:"The page's id; default: the one that is open."`
	File    string `placeholder:"FILE" help:"Save a file that was edited before, without an editor."`
	Base    int    `placeholder:"N" help:"The version that the file was made from; default: the last."`
	Resolve string `enum:",ours,theirs,both" default:"" placeholder:"WHICH" help:"What holds where somebody else changed the same words meanwhile: ours (what is there), theirs (your text) or both."`
}

// operatorPlace is where pages are worked on at this terminal. It is the one that the bot gives
// to messages from here.
var operatorPlace = pages.Place{Channel: terminal.NewThread().Adapter()}

// Run opens a page in $EDITOR, as XML with the id of each node, and saves what became of it,
// merged with what others changed meanwhile.
func (c *pageEditCommand) Run(ctx context.Context, in *invocation) (err error) {
	a, err := in.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = closeAfter(err, a) }()
	library := a.Storage.Pages
	if library == nil {
		return errors.New("there are no pages with Redis alone: set postgres.url as well")
	}
	ctx = asOperator(ctx)
	page, err := c.load(ctx, library)
	if err != nil {
		return err
	}
	changed, file, err := c.readEdited(ctx, in.std, page)
	if err != nil || changed == nil {
		return err
	}
	saved, err := library.Save(ctx, operatorPlace, pages.Edit{
		Page: page.ID, Base: page.Version, Root: changed, Resolve: merge.Choice(c.Resolve),
		By: pages.Author{Name: string(author()), Why: "cairn page edit"},
	})
	if clash, ok := errors.AsType[*pages.ConflictError](err); ok {
		return explainConflicts(clash, page, file)
	}
	if err != nil {
		return fmt.Errorf("%w; your text is in %s", err, file)
	}
	_, err = fmt.Fprintf(in.std.Out, "%s has version %d now.\n", saved.Title, saved.Version)
	if c.File == "" {
		err = errors.Join(err, os.RemoveAll(filepath.Dir(file)))
	}
	return errors.Join(err, app.IndexPages(ctx, a.Library))
}

// readEdited returns the tree of the file, or of what a person makes of the page in an editor.
func (c *pageEditCommand) readEdited(ctx context.Context, std stdio, page pages.Page) (changed *tree.Node, file string, err error) {
	if c.File == "" {
		return editPage(ctx, std, page)
	}
	text, err := os.ReadFile(c.File)
	if err != nil {
		return nil, "", fmt.Errorf("read --file: %w", err)
	}
	if changed, err = tree.ParseXML(string(text), page.Root); err != nil {
		return nil, "", fmt.Errorf("read %s: %w", c.File, err)
	}
	return changed, c.File, nil
}

func (c *pageEditCommand) load(ctx context.Context, library *pages.Library) (pages.Page, error) {
	page, err := library.Active(ctx, operatorPlace)
	if c.Page != "" {
		page, err = library.Load(ctx, operatorPlace, pages.PageID(c.Page))
	}
	if errors.Is(err, pages.ErrNotFound) {
		return pages.Page{}, errors.New("there is no such page, or none is open: name one, or open one by `cairn page open TITLE`")
	}
	if err != nil || c.Base == 0 {
		return page, err
	}
	version, err := library.LoadVersion(ctx, operatorPlace, page.ID, c.Base)
	page.Version, page.Root = version.Number, version.Root
	return page, err
}

// editPage has a person edit a page in a file, which stays where changed is not nil. It is nil
// where nothing was changed.
func editPage(ctx context.Context, std stdio, page pages.Page) (changed *tree.Node, file string, err error) {
	dir, err := os.MkdirTemp("", "cairn-page-")
	if err != nil {
		return nil, "", fmt.Errorf("make a file to edit: %w", err)
	}
	file = filepath.Join(dir, string(page.ID)+".xml")
	before := tree.XML(page.Root)
	if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
		return nil, "", errors.Join(fmt.Errorf("write the page to a file: %w", err), os.RemoveAll(dir))
	}
	command := strings.Fields(os.Getenv("EDITOR"))
	if len(command) == 0 {
		command = []string{"vi"}
	}
	editor := exec.CommandContext(ctx, command[0], append(command[1:], file)...)
	editor.Stdin, editor.Stdout, editor.Stderr = std.In, std.Out, std.Err
	if err := editor.Run(); err != nil {
		return nil, "", fmt.Errorf("run the editor %s, as $EDITOR says: %w; the page is in %s", command[0], err, file)
	}
	after, err := os.ReadFile(file)
	if err != nil {
		return nil, "", fmt.Errorf("read the page that was edited: %w", err)
	}
	if string(after) == before {
		_, err := fmt.Fprintln(std.Out, "Nothing was changed.")
		return nil, "", errors.Join(err, os.RemoveAll(dir))
	}
	if changed, err = tree.ParseXML(string(after), page.Root); err != nil {
		return nil, "", fmt.Errorf("read the page that was edited: %w; it is in %s", err, file)
	}
	return changed, file, nil
}

func explainConflicts(clash *pages.ConflictError, base pages.Page, file string) error {
	var b strings.Builder
	for _, conflict := range clash.Conflicts {
		fmt.Fprintf(&b, "\nblock %s:\n  before  %s\n  there   %s\n  yours   %s", conflict.Block, conflict.Base, conflict.Ours, conflict.Their)
	}
	return fmt.Errorf("somebody changed the same words meanwhile:%s\nSay what holds: cairn page edit %s --file %s --base %d --resolve ours|theirs|both", b.String(), base.ID, file, base.Version)
}
