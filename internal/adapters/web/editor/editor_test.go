package editor_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"testing"

	"cairn/internal/adapters/web"
	"cairn/internal/adapters/web/editor"
	"cairn/internal/adapters/web/webtest"
	"cairn/internal/chat/chattest"
	"cairn/internal/knowledge"
	"cairn/internal/pages"
	"cairn/internal/pages/tree"
	"cairn/internal/sqlite/sqlitetest"
)

func TestMain(m *testing.M) { webtest.Main(m) }

// place is the web page with pages in it.
type place struct {
	*testing.T
	library *pages.Library
	url     string
	stop    func() // ends the server
}

// grants are what the tests' visitors may do: to write, and to see what is public.
func mayWrite(context.Context, web.Visitor) (editor.Grant, error) {
	return editor.Grant{MayWrite: true}, nil
}

func mayRead(context.Context, web.Visitor) (editor.Grant, error) { return editor.Grant{}, nil }

func open(t *testing.T, access func(context.Context, web.Visitor) (editor.Grant, error)) *place {
	t.Helper()
	p := &place{T: t, library: pages.NewLibrary(pages.OpenSQLite(sqlitetest.Open(t, t.TempDir())))}
	p.serve("", access)
	return p
}

// serve starts a server at an address, "" for a free port.
func (p *place) serve(address string, access func(context.Context, web.Visitor) (editor.Grant, error)) {
	p.Helper()
	logger := slog.New(slog.DiscardHandler)
	made, err := editor.New(editor.Options{Library: p.library, Access: access, Logger: logger})
	if err != nil {
		p.Fatal(err)
	}
	bot := &chattest.Bot{}
	w, err := web.New(web.Options{
		Addr: address, Transcripts: bot, Controls: bot, Graphs: bot, Threads: bot, Logger: logger, Pages: made,
	})
	if err != nil {
		p.Fatal(err)
	}
	p.url = w.URL()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx, bot) }()
	stopped := false
	p.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-ended; err != nil {
			p.Errorf("the server ended with %v", err)
		}
	}
	p.Cleanup(p.stop)
}

// write makes a page of Markdown.
func (p *place) write(title, markdown string) pages.PageID {
	p.Helper()
	root, err := tree.ParseMarkdown(markdown)
	if err != nil {
		p.Fatal(err)
	}
	page, err := p.library.Create(p.Context(), pages.Place{}, title, root, pages.Author{Name: "ada", Why: "page: new"})
	if err != nil {
		p.Fatal(err)
	}
	return page.ID
}

// change makes a change as from a thread.
func (p *place) change(id pages.PageID, change func(root *tree.Node) *tree.Node) {
	p.Helper()
	page := p.load(id)
	if _, err := p.library.Save(p.Context(), pages.Place{}, pages.Edit{
		Page: id, Base: page.Version, Root: change(page.Root.Clone()), By: pages.Author{Name: "grace", Why: "page: replace"},
	}); err != nil {
		p.Fatal(err)
	}
}

func (p *place) load(id pages.PageID) pages.Page {
	p.Helper()
	page, err := p.library.Load(p.Context(), pages.Place{}, id)
	if err != nil {
		p.Fatal(err)
	}
	return page
}

// markdown gives the text of a page as it is stored.
func (p *place) markdown(id pages.PageID) string { return tree.Markdown(p.load(id).Root) }

func TestOptionsAreComplete(t *testing.T) {
	if _, err := editor.New(editor.Options{}); err == nil {
		t.Error("an editor of nothing was made")
	}
}

// seesLegal lets visitors read what is for the lawyers.
func seesLegal(_ context.Context, visitor web.Visitor) (editor.Grant, error) {
	if visitor.ID == "" {
		return editor.Grant{}, errors.New("nobody asks")
	}
	group, err := knowledge.Group("legal")
	return editor.Grant{Viewers: knowledge.NewViewers([]knowledge.Principal{group}), MayWrite: true}, err
}

var _ http.Handler = (*editor.Editor)(nil)
