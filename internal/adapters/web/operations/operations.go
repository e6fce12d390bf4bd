// Package operations is the page for those who run Cairn: how runs go, what waits for an
// answer, what was put aside, how sources were read, which questions found no good answer,
// and how it is configured. A run can be cancelled and gone on with; all else is looked at.
//
// It is in the manner of the web page, whose styles it takes: rendered on the server, live
// with a script and whole without. Reading order: options.go, this file, signin.go,
// issuer.go, screens.go, then a file for each screen.
package operations

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"cairn/internal/adapters/web"
	"cairn/internal/loopback"
)

// Root is the path that all of the page is below.
const Root = "/operations"

//go:embed assets templates
var files embed.FS

// Page is the operations page, an http.Handler for what is below Root.
type Page struct {
	options Options
	look    *web.Look
	routes  http.Handler
	sealer  *web.Sealer
	issuer  *web.Issuer // nil: none
	failed  *failures
	streams atomic.Int64 // that are followed now
}

var _ http.Handler = (*Page)(nil)

// New makes the page.
func New(options Options) (*Page, error) {
	if err := options.complete(); err != nil {
		return nil, fmt.Errorf("operations page: %w", err)
	}
	look, err := web.NewLook(Root+"/assets/", []string{"base.css", "shell.css", "why.css", "operations.css"}, files)
	if err != nil {
		return nil, fmt.Errorf("operations page: %w", err)
	}
	p := &Page{options: options, look: look, failed: newFailures(options.Now)}
	if p.sealer, err = options.SignIn.newSealer(); err != nil {
		return nil, fmt.Errorf("operations page: %w", err)
	}
	if options.SignIn.Issuer != "" {
		p.issuer = p.newIssuer()
	}
	p.routes = p.secured(p.mux())
	return p, nil
}

// ServeHTTP answers a request for a path below Root.
func (p *Page) ServeHTTP(out http.ResponseWriter, request *http.Request) {
	p.routes.ServeHTTP(out, request)
}

func (p *Page) mux() http.Handler {
	mux := http.NewServeMux()
	for _, s := range p.screens() {
		mux.HandleFunc("GET "+Root+s.path, p.known(p.show(s)))
	}
	mux.HandleFunc("GET "+Root+"/{$}", func(out http.ResponseWriter, request *http.Request) {
		http.Redirect(out, request, Root, http.StatusSeeOther)
	})
	mux.HandleFunc("GET "+Root+"/assets/{path...}", p.serveAsset)
	mux.HandleFunc("POST "+Root+"/cancel", p.known(p.posted(p.serveCancel)))
	mux.HandleFunc("POST "+Root+"/replay", p.known(p.posted(p.serveReplay)))
	mux.HandleFunc("POST "+Root+"/letters", p.known(p.posted(p.serveLetter)))
	mux.HandleFunc("GET "+Root+"/sign-in", p.serveSignIn)
	mux.HandleFunc("POST "+Root+"/sign-in", p.posted(p.serveToken))
	mux.HandleFunc("POST "+Root+"/sign-out", p.known(p.posted(p.serveSignOut)))
	if p.issuer != nil {
		mux.HandleFunc("GET "+Root+"/begin", p.serveBegin)
		mux.HandleFunc("GET "+Root+"/callback", p.serveCallback)
	}
	mux.HandleFunc("/", func(out http.ResponseWriter, request *http.Request) {
		p.fail(out, request, http.StatusNotFound, "There is no such page.")
	})
	sameOrigin := http.NewCrossOriginProtection()
	sameOrigin.SetDenyHandler(http.HandlerFunc(func(out http.ResponseWriter, request *http.Request) {
		p.fail(out, request, http.StatusForbidden, "A request of another site was refused.")
	}))
	return sameOrigin.Handler(mux)
}

// secured sets the headers of every answer. Where nobody has to sign in, it refuses all
// that did not come straight from this machine.
func (p *Page) secured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(out http.ResponseWriter, request *http.Request) {
		web.Secure(out.Header(), "same-origin")
		if p.isOpen() && !fromThisMachine(request) {
			p.fail(out, request, http.StatusForbidden, "This page is for the machine that Cairn runs on. "+
				"To open it elsewhere, set operations.token or an issuer to sign in with.")
			return
		}
		next.ServeHTTP(out, request)
	})
}

// isOpen tells that nobody has to sign in.
func (p *Page) isOpen() bool { return !p.options.SignIn.isConfigured() }

// fromThisMachine tells a request that a browser on this machine sent under a name of it: a
// foreign site could have its own name mean this machine, and a proxy passes on what others
// ask for.
func fromThisMachine(request *http.Request) bool {
	for _, passedOn := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Via"} {
		if request.Header.Get(passedOn) != "" {
			return false
		}
	}
	peer := net.ParseIP(loopback.Host(request.RemoteAddr))
	return peer != nil && peer.IsLoopback() && loopback.IsHost(request.Host)
}

func (p *Page) serveAsset(out http.ResponseWriter, request *http.Request) {
	known, err := p.look.ServeAsset(out, request.PathValue("path"))
	if !known {
		p.fail(out, request, http.StatusNotFound, "There is no such file.")
		return
	}
	if err != nil {
		p.options.Logger.Debug("send asset", "error", err)
	}
}

// maxForm bounds what a form may hold, in bytes.
const maxForm = 64 << 10

// posted reads a form within bounds.
func (p *Page) posted(next http.HandlerFunc) http.HandlerFunc {
	return func(out http.ResponseWriter, request *http.Request) {
		request.Body = http.MaxBytesReader(out, request.Body, maxForm)
		if err := request.ParseForm(); err != nil {
			status := http.StatusBadRequest
			if _, tooLong := errors.AsType[*http.MaxBytesError](err); tooLong {
				status = http.StatusRequestEntityTooLarge
			}
			p.fail(out, request, status, "The form could not be read: it is broken, or too long.")
			return
		}
		next(out, request)
	}
}

// problem is an error whose text is for the person who looks.
type problem struct {
	status int
	text   string
}

func (e *problem) Error() string { return e.text }

// refuse answers with an error: a problem as it says, all else without its cause.
func (p *Page) refuse(out http.ResponseWriter, request *http.Request, err error) {
	if told, ok := errors.AsType[*problem](err); ok {
		p.fail(out, request, told.status, told.text)
		return
	}
	if request.Context().Err() != nil {
		return // nobody waits for it
	}
	p.options.Logger.Error("operations page", "path", request.URL.Path, "error", err)
	p.fail(out, request, http.StatusInternalServerError, "That could not be read. The log has the cause.")
}

// fail says what is wrong, on a page that tells nothing else.
func (p *Page) fail(out http.ResponseWriter, request *http.Request, status int, text string) {
	if err := p.render(out, status, "operations-problem", text); err != nil {
		p.options.Logger.Error("show problem", "path", request.URL.Path, "error", err)
		http.Error(out, text, status)
	}
}

// render sends a template, or nothing at all when it fails.
func (p *Page) render(out http.ResponseWriter, status int, name string, view any) error {
	page, err := p.fragment(name, view)
	if err != nil {
		return err
	}
	out.Header().Set("Content-Type", "text/html; charset=utf-8")
	out.WriteHeader(status)
	if _, err := out.Write([]byte(page)); err != nil {
		p.options.Logger.Debug("send page", "error", err)
	}
	return nil
}

// fragment renders one template.
func (p *Page) fragment(name string, view any) (template.HTML, error) {
	var out bytes.Buffer
	if err := p.look.Templates.ExecuteTemplate(&out, name, view); err != nil {
		return "", fmt.Errorf("render %s: %w", name, err)
	}
	return template.HTML(out.String()), nil
}

// now is the time by the page's clock.
func (p *Page) now() time.Time { return p.options.Now() }
