package operations

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// screen is one page of the page.
type screen struct {
	path     string // below Root
	tab      string // in the navigation
	title    string
	template string
	live     bool // it is followed
	view     func(ctx context.Context, query url.Values) (any, error)
}

// tabs are the navigation, in order.
var tabs = []tab{
	{"", "Runs"}, {"/questions", "Questions"}, {"/queue", "Queue"}, {"/agents", "Agents"}, {"/sources", "Sources"},
	{"/gaps", "Gaps"}, {"/answers", "Answers"}, {"/pins", "Pinned"}, {"/threads", "Threads"}, {"/configuration", "Configuration"},
}

type tab struct{ Path, Name string }

func (p *Page) screens() []screen {
	return []screen{
		{"", "Runs", "Runs", "operations-runs", true, p.runsView},
		{"/run", "Runs", "Run", "operations-run", true, p.runView},
		{"/questions", "Questions", "Open questions", "operations-questions", true, p.questionsView},
		{"/queue", "Queue", "Queue", "operations-queue", true, p.queueView},
		{"/agents", "Agents", "Agents", "operations-agents", true, viewAgents(p.options.Agents, p.now.moment)},
		{"/sources", "Sources", "Sources", "operations-sources", true, p.sources.view},
		{"/gaps", "Gaps", "Gaps", "operations-gaps", false, p.gaps.view},
		{"/answers", "Answers", "Answered questions", "operations-shares", false, p.shares.view},
		{"/pins", "Pinned", "Pinned answers", "operations-pins", false, p.pins.view},
		{"/threads", "Threads", "Threads", "operations-threads", false, p.threadsView},
		{"/thread", "Threads", "Thread", "operations-thread", false, p.threadView},
		{"/configuration", "Configuration", "Configuration", "operations-configuration", false, p.configurationView},
	}
}

// frameView is what templates/frame.html shows around a screen.
type frameView struct {
	Title, Tab string
	Tabs       []tab
	Who        string
	SignOut    bool
	Live       bool
	Notice     string
	Body       template.HTML
}

// notices are what a form that was sent says on the page that it comes back to.
var notices = map[string]string{
	"cancelled": "The run is being cancelled.",
	"replayed":  "It is queued again; a worker goes on with it.",
	"pinned":    "It is pinned: this answer is given from now on.",
	"unpinned":  "It is unpinned: the question is answered from the documents again.",
	"discarded": "It is forgotten; nobody goes on with it.",
}

// show serves a screen: as a page, or to one that is shown as a stream of what changes.
func (p *Page) show(s screen) http.HandlerFunc {
	return func(out http.ResponseWriter, request *http.Request) {
		if streams(request) {
			p.follow(out, request, s)
			return
		}
		body, err := p.body(request.Context(), s, request.URL.Query())
		if err != nil {
			p.responder.refuseRequest(out, request, err)
			return
		}
		v := frameView{
			Title: s.title, Tab: s.tab, Tabs: tabs, Who: who(request.Context()).Who, SignOut: !p.access.isOpen(), Live: s.live,
			Notice: notices[request.URL.Query().Get("did")], Body: body,
		}
		out.Header().Set("Vary", "Accept")
		if err := p.responder.renderPage(out, http.StatusOK, "operations-frame", v); err != nil {
			p.responder.refuseRequest(out, request, err)
		}
	}
}

// body renders what is in the frame.
func (p *Page) body(ctx context.Context, s screen, query url.Values) (template.HTML, error) {
	v, err := s.view(ctx, query)
	if err != nil {
		return "", err
	}
	return p.responder.renderFragment(s.template, v)
}

// streams tells whether a request is for a stream of events.
func streams(request *http.Request) bool {
	return strings.HasPrefix(request.Header.Get("Accept"), "text/event-stream")
}

// Bounds of streams.
const (
	maxStreams = 50
	breath     = 20 * time.Second // after which a silent stream shows that it is alive
	sendLimit  = 30 * time.Second
	costly     = 10 // a screen is left alone so many times as long as it takes to be made
)

// follow streams a screen: as a whole, whenever it changed, until the client goes or its
// person is not signed in any more.
func (p *Page) follow(out http.ResponseWriter, request *http.Request, s screen) {
	if !s.live {
		p.responder.renderFailure(out, request, http.StatusNotAcceptable, "This page is not live.")
		return
	}
	if p.streams.Add(1) > maxStreams {
		p.streams.Add(-1)
		p.responder.renderFailure(out, request, http.StatusServiceUnavailable, "Too many windows follow this page. Close one.")
		return
	}
	defer p.streams.Add(-1)
	ctx, cancel := context.WithTimeout(request.Context(), who(request.Context()).Until.Sub(p.now()))
	defer cancel()
	to := &stream{out, http.NewResponseController(out)}
	err := to.open()
	if err == nil {
		err = p.send(ctx, to, s, request.URL.Query())
	}
	if err != nil && ctx.Err() == nil {
		p.options.Logger.Debug("follow the operations page", "path", request.URL.Path, "error", err)
	}
}

func (p *Page) send(ctx context.Context, to *stream, s screen, query url.Values) error {
	var shown template.HTML
	sent := time.Now()
	for {
		began := time.Now()
		body, err := p.body(ctx, s, query)
		if err != nil {
			return err
		}
		switch {
		case body != shown:
			err = to.send(body)
			shown, sent = body, time.Now()
		case time.Since(sent) > breath:
			err = to.breathe()
			sent = time.Now()
		}
		if err != nil {
			return err
		}
		pause := time.NewTimer(max(p.options.Refresh, costly*time.Since(began)))
		select {
		case <-ctx.Done():
			pause.Stop()
			return nil
		case <-pause.C:
		}
	}
}

// stream writes server-sent events.
type stream struct {
	out     http.ResponseWriter
	control *http.ResponseController
}

func (s *stream) open() error {
	if err := s.control.SetReadDeadline(time.Time{}); err != nil { // the stream outlives the request's time limit
		return fmt.Errorf("lift the read limit: %w", err)
	}
	s.out.Header().Set("Content-Type", "text/event-stream")
	s.out.Header().Set("X-Accel-Buffering", "no")
	s.out.WriteHeader(http.StatusOK)
	return s.write("retry: 2000\n\n")
}

// send sends a screen.
func (s *stream) send(body template.HTML) error {
	data, err := json.Marshal(string(body))
	if err != nil {
		return fmt.Errorf("encode event: %w", err)
	}
	return s.write("data: " + string(data) + "\n\n")
}

func (s *stream) breathe() error { return s.write(": alive\n\n") }

func (s *stream) write(text string) error {
	if err := s.control.SetWriteDeadline(time.Now().Add(sendLimit)); err != nil {
		return fmt.Errorf("set the write limit: %w", err)
	}
	_, err := io.WriteString(s.out, text)
	return errors.Join(err, s.control.Flush())
}
