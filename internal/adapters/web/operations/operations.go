// Package operations is the page for those who run Cairn: how runs go, what waits for an
// answer, what was put aside, how sources were read, which questions found no good answer,
// and how it is configured. A run can be cancelled and gone on with; all else is looked at.
//
// It is in the manner of the web page, whose styles it takes: rendered on the server, live
// with a script and whole without. Reading order: options.go, this file, signin.go,
// issuer.go, respond.go, screens.go, then a file for each screen, and operator.go.
package operations

import (
	"embed"
	"fmt"
	"net/http"
	"sync/atomic"

	"github.com/cairn-bot/cairn/internal/adapters/web"
)

// Root is the path that all of the page is below.
const Root = "/operations"

//go:embed assets templates
var files embed.FS

// Page is the operations page, an http.Handler for what is below Root.
type Page struct {
	options   Options
	responder *responder
	access    *access
	operator  *operator
	viewer    viewer
	sources   *sourcesScreen
	gaps      *gapsScreen
	shares    *sharesScreen
	pins      *pinsScreen
	now       clock
	routes    http.Handler
	streams   atomic.Int64 // that are followed now
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
	now, shown, respond := clock(options.Now), viewer{options.Redactor}, &responder{look: look, logger: options.Logger}
	p := &Page{
		options: options, responder: respond, viewer: shown, now: now,
		operator: &operator{
			records: options.Records, control: options.Control, queues: options.Queues, audit: options.Audit, now: now, responder: respond,
		},
		sources: &sourcesScreen{ingests: options.Ingests, configured: options.Sources, viewer: shown, now: now},
		gaps:    &gapsScreen{records: options.Records, viewer: shown, now: now, pages: options.Pages},
		shares:  &sharesScreen{records: options.Records, channel: options.Channel, now: now},
	}
	p.pins = &pinsScreen{pins: options.Pins, operator: p.operator, viewer: shown, now: now, responder: respond}
	if p.access, err = newAccess(options, respond); err != nil {
		return nil, fmt.Errorf("operations page: %w", err)
	}
	p.routes = p.access.withSecurity(p.mux())
	return p, nil
}

// ServeHTTP answers a request for a path below Root.
func (p *Page) ServeHTTP(out http.ResponseWriter, request *http.Request) {
	p.routes.ServeHTTP(out, request)
}

func (p *Page) mux() http.Handler {
	mux := http.NewServeMux()
	for _, s := range p.screens() {
		mux.HandleFunc("GET "+Root+s.path, p.access.requirePerson(p.show(s)))
	}
	mux.HandleFunc("GET "+Root+"/runs.csv", p.access.requirePerson(p.serveExport))
	mux.HandleFunc("GET "+Root+"/{$}", func(out http.ResponseWriter, request *http.Request) {
		http.Redirect(out, request, Root, http.StatusSeeOther)
	})
	mux.HandleFunc("GET "+Root+"/assets/{path...}", p.responder.serveAsset)
	mux.HandleFunc("POST "+Root+"/cancel", p.access.requirePerson(p.responder.withForm(p.operator.serveCancel)))
	mux.HandleFunc("POST "+Root+"/replay", p.access.requirePerson(p.responder.withForm(p.operator.serveReplay)))
	mux.HandleFunc("POST "+Root+"/letters", p.access.requirePerson(p.responder.withForm(p.operator.serveLetter)))
	mux.HandleFunc("POST "+Root+"/pin", p.access.requirePerson(p.responder.withForm(p.pins.servePin)))
	mux.HandleFunc("POST "+Root+"/unpin", p.access.requirePerson(p.responder.withForm(p.pins.serveUnpin)))
	mux.HandleFunc("GET "+Root+"/sign-in", p.access.serveSignIn)
	mux.HandleFunc("POST "+Root+"/sign-in", p.responder.withForm(p.access.serveToken))
	mux.HandleFunc("POST "+Root+"/sign-out", p.access.requirePerson(p.responder.withForm(p.access.serveSignOut)))
	if p.access.issuer != nil {
		mux.HandleFunc("GET "+Root+"/begin", p.access.serveBegin)
		mux.HandleFunc("GET "+Root+"/callback", p.access.serveCallback)
	}
	mux.HandleFunc("/", func(out http.ResponseWriter, request *http.Request) {
		p.responder.renderFailure(out, request, http.StatusNotFound, "There is no such page.")
	})
	sameOrigin := http.NewCrossOriginProtection()
	sameOrigin.SetDenyHandler(http.HandlerFunc(func(out http.ResponseWriter, request *http.Request) {
		p.responder.renderFailure(out, request, http.StatusForbidden, "A request of another site was refused.")
	}))
	return sameOrigin.Handler(mux)
}
