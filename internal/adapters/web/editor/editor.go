// Package editor is where people write pages in a browser: the Lexical editor over
// pages.Library. What is typed is saved block by block and merged with what others changed;
// changes of others, in another browser or in a thread, come by the event stream.
//
// Reading order: editor.go has what is asked; document.go what differs between two versions,
// and what a browser changed; save.go, live.go, history.go. In the browser, assets/page.js
// begins, and assets/sync.js sends and receives. assets/lexical.js is bundled by
// tools/lexical; licences.txt has the licences of what is in it.
package editor

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/web"
	"github.com/cairn-bot/cairn/internal/chat/markup"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/pages"
	"github.com/cairn-bot/cairn/internal/pages/outline"
	"github.com/cairn-bot/cairn/internal/pages/tree"
	"github.com/cairn-bot/cairn/internal/shorten"
)

//go:embed assets templates licences.txt
var files embed.FS

// Grant is what a visitor may do with pages.
type Grant struct {
	Viewers knowledge.Viewers
	// Audience is whom a page is for that the visitor makes.
	Audience knowledge.Audience
	// MayWrite tells that the visitor may change the pages that they may see.
	MayWrite bool
}

// Options are what New needs; all are required but Outline and Now.
type Options struct {
	Library *pages.Library
	// Access finds out what a visitor may do.
	Access func(ctx context.Context, visitor web.Visitor) (Grant, error)
	Logger *slog.Logger
	// Outline drafts a page about a question, of what the viewers of the context may see; nil: no
	// page is drafted.
	Outline func(ctx context.Context, question string) (*tree.Node, error)
	Now     func() time.Time // nil is time.Now
}

// Editor answers what is asked of /pages and below /page/. It is a handler of web.Options.
type Editor struct {
	options Options
	look    *web.Look
	routes  http.Handler
	rooms   rooms
	recent  recent // versions that were looked at last

	mu    sync.Mutex
	names map[string]string // of people who were here, by their ids
}

var _ http.Handler = (*Editor)(nil)

// New makes the editor.
func New(options Options) (*Editor, error) {
	if options.Library == nil || options.Access == nil || options.Logger == nil {
		return nil, errors.New("page editor: Options.Library, Access and Logger are required")
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	look, err := web.NewLook("/pages/assets/", []string{"base.css", "shell.css", "pages.css"}, files)
	if err != nil {
		return nil, fmt.Errorf("page editor: %w", err)
	}
	e := &Editor{options: options, look: look, names: make(map[string]string)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /pages", e.withGrant(e.serveList))
	mux.HandleFunc("POST /pages", e.withGrant(e.serveNew))
	mux.HandleFunc("GET /pages/assets/{path...}", e.serveAsset)
	mux.HandleFunc("GET /pages/licences", serveLicences)
	mux.HandleFunc("GET /page/{id}", e.withGrant(e.servePage))
	mux.HandleFunc("GET /page/{id}/state", e.withGrant(e.serveState))
	mux.HandleFunc("GET /page/{id}/events", e.withGrant(e.serveEvents))
	mux.HandleFunc("GET /page/{id}/changes", e.withGrant(e.serveChanges))
	mux.HandleFunc("POST /page/{id}/blocks", e.withGrant(e.serveSave))
	mux.HandleFunc("POST /page/{id}/presence", e.withGrant(e.servePresence))
	mux.HandleFunc("GET /page/{id}/history", e.withGrant(e.serveHistory))
	mux.HandleFunc("POST /page/{id}/restore", e.withGrant(e.serveRestore))
	mux.HandleFunc("/", func(out http.ResponseWriter, request *http.Request) {
		e.refuse(out, request, pages.ErrNotFound)
	})
	e.routes = mux
	return e, nil
}

// ServeHTTP implements http.Handler.
func (e *Editor) ServeHTTP(out http.ResponseWriter, request *http.Request) {
	e.routes.ServeHTTP(out, request)
}

// visit is a request of somebody, with what they may do.
type visit struct {
	web.Visitor
	Grant
	page pages.PageID // "" for none
}

// place is where the visitor works, for the library.
func (v visit) place() pages.Place { return pages.Place{Audience: v.Audience} }

// author is the visitor as the author of a change.
func (v visit) author(why, key string) pages.Author {
	return pages.Author{Name: string(v.ID), Why: why, Key: key}
}

// withGrant finds out what the sender of a request may do. serve works for them as viewers.
func (e *Editor) withGrant(serve func(http.ResponseWriter, *http.Request, visit) error) http.HandlerFunc {
	return func(out http.ResponseWriter, request *http.Request) {
		v := visit{Visitor: web.VisitorFrom(request.Context()), page: pages.PageID(request.PathValue("id"))}
		var err error
		if v.Grant, err = e.options.Access(request.Context(), v.Visitor); err == nil {
			e.rememberName(v)
			err = serve(out, request.WithContext(knowledge.WithViewers(request.Context(), v.Viewers)), v)
		}
		if err != nil {
			e.refuse(out, request, err)
		}
	}
}

// problem is an error that people may read.
type problem struct {
	status int
	text   string
}

// Error implements error.
func (p *problem) Error() string { return p.text }

var errReadOnly = &problem{http.StatusForbidden, "You may read this page, but not change it."}

// refuse answers with an error: what people may read as it is, all else without its cause.
func (e *Editor) refuse(out http.ResponseWriter, request *http.Request, err error) {
	if request.Context().Err() != nil {
		return // nobody waits for it
	}
	told, ok := errors.AsType[*problem](err)
	broken, isBroken := errors.AsType[*tree.Error](err)
	switch {
	case ok:
	case errors.Is(err, pages.ErrNotFound):
		told = &problem{http.StatusNotFound, "There is no such page, or it is not for you."}
	case isBroken:
		told = &problem{http.StatusUnprocessableEntity, "This change can’t be saved: " + broken.Error() + "."}
	default:
		e.options.Logger.Error("serve a page", "path", request.URL.Path, "error", err)
		told = &problem{http.StatusInternalServerError, "Something went wrong on this side. Try again in a minute."}
	}
	if isScripted(request) {
		e.sendJSON(out, told.status, map[string]string{"error": told.text})
		return
	}
	if err := e.look.Render(out, told.status, "problem", told.text); err != nil {
		e.options.Logger.Error("show a problem", "error", err)
	}
}

// isScripted tells a request of a script from one of a person.
func isScripted(request *http.Request) bool {
	return request.Header.Get("Accept") == "application/json"
}

func (e *Editor) serveAsset(out http.ResponseWriter, request *http.Request) {
	known, err := e.look.ServeAsset(out, request.PathValue("path"))
	if !known {
		e.refuse(out, request, &problem{http.StatusNotFound, "There is no such file."})
	} else if err != nil {
		e.options.Logger.Debug("send asset", "error", err)
	}
}

// serveLicences shows the licences of what the bundle holds.
func serveLicences(out http.ResponseWriter, request *http.Request) {
	http.ServeFileFS(out, request, files, "licences.txt")
}

// listView is what the list of pages shows.
type listView struct {
	Pages    []listedView
	MayWrite bool
	Person   string
	// Question is what the new page is to be drafted about, Title what it would be called; "" for an
	// empty one.
	Question, Title string
}

type listedView struct {
	ID, Title, Age string
	Private        bool // it is not for everybody
}

func (e *Editor) serveList(out http.ResponseWriter, request *http.Request, v visit) error {
	listed, err := e.options.Library.List(request.Context(), v.place())
	if err != nil {
		return err
	}
	view := listView{MayWrite: v.MayWrite, Person: v.Name}
	if question := request.URL.Query().Get("draft"); e.options.Outline != nil && v.MayWrite {
		view.Question, view.Title = shorten.Line(markup.CleanLine(question), maxQuestion), outline.MakeTitle(markup.CleanLine(question))
	}
	for _, page := range listed {
		view.Pages = append(view.Pages, listedView{
			ID: string(page.ID), Title: markup.CleanLine(page.Title), Age: markup.Age(e.options.Now(), page.Updated),
			Private: page.Audience.OrPublic() != knowledge.PublicAudience,
		})
	}
	return e.look.Render(out, http.StatusOK, "pages", view)
}

// maxQuestion is how many letters a question has that a page is drafted about.
const maxQuestion = 500

// serveNew makes a page, empty or drafted about a question, and opens it.
func (e *Editor) serveNew(out http.ResponseWriter, request *http.Request, v visit) error {
	if !v.MayWrite {
		return errReadOnly
	}
	request.Body = http.MaxBytesReader(out, request.Body, maxForm)
	title, err := pages.CleanTitle(request.FormValue("title"))
	if err != nil {
		return &problem{http.StatusBadRequest, "A page needs a title of at most 200 letters."}
	}
	root, why := tree.New(), pages.WhyTyped
	if question := request.FormValue("question"); question != "" && e.options.Outline != nil {
		if root, err = e.options.Outline(request.Context(), shorten.Line(question, maxQuestion)); err != nil {
			return err
		}
		why = "drafted in the browser"
	}
	page, err := e.options.Library.Create(request.Context(), v.place(), title, root, v.author(why, ""))
	if err != nil {
		return err
	}
	http.Redirect(out, request, "/page/"+string(page.ID), http.StatusSeeOther)
	return nil
}

// maxForm is the most bytes of a form.
const maxForm = 8 << 10

// pageView is what the page of a page begins with; its script loads the rest.
type pageView struct {
	ID, Title string
	MayWrite  bool
	Person    string
}

func (e *Editor) servePage(out http.ResponseWriter, request *http.Request, v visit) error {
	page, err := e.summarize(request.Context(), v)
	if err != nil {
		return err
	}
	return e.look.Render(out, http.StatusOK, "editor", pageView{
		ID: string(page.ID), Title: markup.CleanLine(page.Title), MayWrite: v.MayWrite, Person: v.Name,
	})
}
