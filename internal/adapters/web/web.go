// Package web is the adapter for a browser: a page for each conversation, rendered on
// the server, that works without scripts and follows a run live with them.
//
// Without Options.SignIn it knows no accounts. A person is a browser: a cookie holds its
// secret, and what a browser began it alone may write in, stop, retry and rate. Who has a
// conversation's address, which can't be guessed, may read along. Where people sign in, a
// conversation is for who began it alone.
package web

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/web/uploads"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/listen"
)

// Options are what New needs.
type Options struct {
	// Addr is the address to listen at, "host:port"; empty is a free port of the
	// loopback interface.
	Addr string
	// Hosts are the names, without port, by which the page is reached besides those of
	// this machine, such as that of a proxy in front. Requests by other names are
	// refused; where Addr is not a loopback address and Hosts is empty, any name goes.
	Hosts []string
	// Transcripts gives what was said before, Controls does what buttons ask for, Graphs
	// draws what a run passed, Threads lists a person's conversations; all required.
	Transcripts chat.Transcripts
	Controls    chat.Controls
	Graphs      chat.Graphs
	Threads     chat.Threads
	// Manager renames, shares and deletes conversations, and Rewriter makes answers anew; where
	// one is nil the page does not offer it.
	Manager  chat.ThreadManager
	Rewriter chat.Rewriter
	// Offers tells what people can be offered before they ask; nil: Suggestions alone.
	Offers chat.Offers
	// Sources shows documents as the index has them; nil: none is shown.
	Sources chat.SourceReader
	// Pins pins answers to questions; nil: none can be pinned here, but by a command.
	Pins chat.AnswerPinner
	// Uploads keeps the files that people attach to messages; nil: they can attach none.
	Uploads uploads.Store
	// Logger hears of what failed; required.
	Logger *slog.Logger
	// Suggestions are questions that an empty page offers; none: those of Offers.
	Suggestions []string
	// Stats says what the bot knows, on an empty page; may be empty.
	Stats string
	// Everything shows people whatever is indexed, and not only what is public: for a page
	// that only those reach who may read all of it.
	Everything bool
	// SignIn has people sign in, who are answered from what they may read; nil: nobody does.
	SignIn *SignIn
	// Operations answers what is asked below /operations; nil: there is nothing.
	Operations http.Handler
	// Pages answers what is asked of /pages and below /page/, with a Visitor; nil: there are no pages.
	Pages http.Handler
	// Now is the clock that ages are told from; nil is time.Now.
	Now func() time.Time
}

// Web is the adapter. It listens from New on, so that URL is known before Run.
type Web struct {
	options   Options
	listener  net.Listener
	loopback  bool
	responder *responder
	signing   *signing      // nil: nobody signs in
	uploading chan struct{} // holds one for each form with files that is read
}

var _ chat.Adapter = (*Web)(nil)

// New listens at the address, which it looks up until ctx ends. Run must follow: it serves and closes.
func New(ctx context.Context, options Options) (*Web, error) {
	if err := options.checkComplete(); err != nil {
		return nil, err
	}
	if options.Addr == "" {
		options.Addr = "127.0.0.1:0"
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	w := &Web{options: options, uploading: make(chan struct{}, maxUploads)}
	var err error
	if options.SignIn != nil {
		if w.signing, err = newSigning(*options.SignIn, options.Now); err != nil {
			return nil, fmt.Errorf("web adapter: %w", err)
		}
	}
	look, err := NewLook("/assets/", stylesheets)
	if err != nil {
		return nil, fmt.Errorf("web adapter: %w", err)
	}
	w.responder = &responder{look: look, logger: options.Logger}
	if w.listener, err = listen.TCP(ctx, options.Addr); err != nil {
		return nil, fmt.Errorf("web page: %w", err)
	}
	w.loopback = listen.IsLoopback(w.listener.Addr())
	return w, nil
}

func (o Options) checkComplete() error {
	for _, required := range []struct {
		name    string
		missing bool
	}{
		{"Transcripts", o.Transcripts == nil}, {"Controls", o.Controls == nil}, {"Graphs", o.Graphs == nil},
		{"Threads", o.Threads == nil}, {"Logger", o.Logger == nil},
	} {
		if required.missing {
			return fmt.Errorf("web adapter: Options.%s is missing", required.name)
		}
	}
	return nil
}

// Name is "web".
func (w *Web) Name() string { return name }

const name = "web"

// URL is the address to open in a browser, with a slash at the end.
func (w *Web) URL() string { return "http://" + w.listener.Addr().String() + "/" }

// Run serves until ctx ends. The runs of messages then are cancelled with it.
func (w *Web) Run(ctx context.Context, handler chat.Handler) error {
	ctx, cancel := context.WithCancel(ctx)
	threads := newThreads(w.options, handler)
	var working sync.WaitGroup
	working.Go(func() { threads.runWorkers(ctx) })
	defer working.Wait()
	defer cancel()

	if err := Serve(ctx, w.listener, w.newHandler(threads), w.options.Logger); err != nil {
		return fmt.Errorf("web adapter: %w", err)
	}
	return nil
}
