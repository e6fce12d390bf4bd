package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/markup"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// manager does what people do with conversations beside writing in them, and says what they can
// be offered.
type manager struct{ web *Web }

// manageView is what the owner of a conversation can do with it.
type manageView struct {
	Title    string
	Shared   bool
	SignedIn bool // people sign in: others read along only where the conversation is shared
}

// registerRoutes adds the routes of what is offered.
func (m manager) registerRoutes(ts *threads, mux *http.ServeMux) {
	routes := make(map[string]func(http.ResponseWriter, *http.Request, visit))
	if m.web.options.Rewriter != nil {
		routes["rewrites"] = m.serveRewrite
	}
	if m.web.options.Manager != nil {
		routes["title"], routes["sharing"], routes["deletion"] = m.serveRename, m.serveSharing, m.serveDeletion
	}
	for path, serve := range routes {
		mux.HandleFunc("POST /t/{thread}/"+path, m.web.withForm(m.web.inThread(ts, serve)))
	}
	mux.HandleFunc("GET /t/{thread}/found", m.web.inThread(ts, m.serveFound))
}

// serveRewrite has the last message of a conversation answered anew: with another text, or with
// the one that it has.
func (m manager) serveRewrite(out http.ResponseWriter, request *http.Request, in visit) {
	form := request.PostForm
	message := chat.Message{Author: in.person, Asker: in.caller.identity, Text: formText(form.Get("text")), Depth: chat.Depth(form.Get("depth"))}
	var problem string
	switch message.Collections, problem = m.readCollections(request, in); {
	case problem != "":
		m.web.responder.renderFailure(out, request, http.StatusBadRequest, problem)
		return
	case !isDepth(message.Depth):
		m.web.responder.renderFailure(out, request, http.StatusBadRequest, noDepth)
		return
	case len(message.Text) > maxMessage:
		m.web.responder.renderFailure(out, request, http.StatusRequestEntityTooLarge, longMessage)
		return
	}
	e, err := in.threads.rewriteMessage(in.thread, message, form.Get("exchange"))
	if err != nil {
		m.web.responder.refuseForm(out, request, err)
		return
	}
	m.web.answerAccepted(out, request, in, e)
}

// requeueRewritten queues the last exchange, by the id of its element, to be answered anew as
// message says; one without a text has that of before. start is as in addMessage.
func (t *thread) requeueRewritten(message chat.Message, id string) (e *exchange, start bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.claimOwner(message.Author); err != nil {
		return nil, false, err
	}
	if err := t.checkRoom(); err != nil {
		return nil, false, err
	}
	if len(t.exchanges) == 0 {
		return nil, false, errNotLast
	}
	e = t.exchanges[len(t.exchanges)-1]
	if domID(e.id) != id || e.state != done {
		return nil, false, errNotLast
	}
	message.ID = e.id
	if message.Text == "" {
		message.Text = e.text
	}
	e.text, e.message, e.rewrite = message.Text, message, true
	e.steps, e.said, e.live, e.failure = nil, nil, "", ""
	e.state, e.ended = queued, make(chan struct{})
	e.added = t.recordChange()
	start = !t.busy
	t.busy = true
	return e, start, nil
}

func (m manager) serveRename(out http.ResponseWriter, request *http.Request, in visit) {
	m.manageThread(out, request, in, func(ctx context.Context) error {
		return m.web.options.Manager.RenameThread(ctx, chatID(in.thread.id), in.person, formText(request.PostForm.Get("title")))
	})
}

func (m manager) serveSharing(out http.ResponseWriter, request *http.Request, in visit) {
	m.manageThread(out, request, in, func(ctx context.Context) error {
		return m.web.options.Manager.ShareThread(ctx, chatID(in.thread.id), in.person, request.PostForm.Get("shared") == "yes")
	})
}

// manageThread does what the owner of a conversation wants with it, and shows it again.
func (m manager) manageThread(out http.ResponseWriter, request *http.Request, in visit, change func(context.Context) error) {
	if err := change(request.Context()); err != nil {
		m.web.responder.refuseForm(out, request, err)
		return
	}
	in.threads.people.notifyChange(in.person)
	m.web.answerDone(out, request, in)
}

// serveDeletion deletes a conversation, and goes on with a new one.
func (m manager) serveDeletion(out http.ResponseWriter, request *http.Request, in visit) {
	if err := m.web.options.Manager.DeleteThread(request.Context(), chatID(in.thread.id), in.person); err != nil {
		m.web.responder.refuseForm(out, request, err)
		return
	}
	in.threads.dropThread(in.thread)
	in.threads.people.notifyChange(in.person)
	http.Redirect(out, request, "/", http.StatusSeeOther)
}

// serveShared shows a conversation to somebody else who signed in, where it is shared; false where
// it is not.
func (m manager) serveShared(out http.ResponseWriter, request *http.Request, by caller, of *thread) bool {
	if m.web.options.Manager == nil || by.identity == nil {
		return false
	}
	turns, err := m.web.options.Manager.SharedTranscript(request.Context(), chatID(of.id), *by.identity)
	if errors.Is(err, chat.ErrForbidden) {
		return false
	}
	if err != nil {
		m.web.responder.refuseForm(out, request, fmt.Errorf("show shared conversation %s: %w", of.id, err))
		return true
	}
	shown := newThread(of.id)
	shown.mergeTranscript(turns)
	shown.owner = of.owner
	m.web.servePage(out, request, visit{threads: newThreads(m.web.options, nil), thread: shown, person: by.id, caller: by, static: true})
	return true
}

// addOffers adds what the owner of a conversation can do with it and ask.
func (m manager) addOffers(ctx context.Context, in visit, v *pageView, empty bool) error {
	if m.web.options.Manager != nil {
		state, err := m.web.options.Manager.ThreadState(ctx, chatID(in.thread.id))
		if err != nil {
			return fmt.Errorf("read how thread %s is kept: %w", in.thread.id, err)
		}
		v.Manage = &manageView{Title: markup.CleanLine(state.Title), Shared: state.Shared, SignedIn: m.web.signing != nil}
	}
	if m.web.options.Offers == nil {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, offerTime)
	defer cancel()
	if empty && len(v.Suggestions) == 0 {
		questions, err := m.web.options.Offers.ExampleQuestions(limited, m.web.readerOf(in.caller))
		if err != nil {
			m.web.options.Logger.Warn("find example questions", "error", err)
		}
		for _, question := range questions {
			v.Suggestions = append(v.Suggestions, markup.CleanLine(question))
		}
	}
	names, err := m.collectionNames(limited, in)
	if err != nil {
		m.web.options.Logger.Warn("list collections", "error", err)
	}
	if len(names) > 1 {
		v.Collections = names
	}
	return nil
}

// offerTime is how long an empty page waits for what it offers.
const offerTime = 2 * time.Second

// maxChoices is how many collections can be chosen from.
const maxChoices = 50

// collectionNames names the collections that a visitor may read.
func (m manager) collectionNames(ctx context.Context, in visit) ([]string, error) {
	collections, err := m.web.options.Offers.ReadableCollections(ctx, m.web.readerOf(in.caller))
	var names []string
	for _, collection := range collections[:min(len(collections), maxChoices)] {
		names = append(names, collection.Name)
	}
	return names, err
}

// readCollections reads the collections that a message is limited to. problem is for people.
func (m manager) readCollections(request *http.Request, in visit) (chosen []string, problem string) {
	chosen = request.PostForm["collection"]
	if len(chosen) == 0 {
		return nil, ""
	}
	if m.web.options.Offers == nil {
		return nil, "There are no collections to choose from here."
	}
	names, err := m.collectionNames(request.Context(), in)
	if err != nil {
		m.web.options.Logger.Error("list collections", "error", err)
		return nil, "The collections could not be read. Try again in a minute."
	}
	for _, name := range chosen {
		if !slices.Contains(names, name) {
			return nil, "There is no such collection. Load the page anew."
		}
	}
	return chosen, ""
}

// readerOf is a visitor as a reader of documents.
func (w *Web) readerOf(by caller) chat.Reader {
	reader := chat.Reader{Adapter: name, User: by.id, Identity: by.identity}
	if reader.Identity == nil {
		reader.Identity = &chat.Identity{Local: w.options.Everything}
	}
	return reader
}

// quoteLetters is how much of a cited passage is shown beside its mark.
const quoteLetters = 700

// serveQuote sends the words of the passage that is asked for, as a part of a page.
func (m manager) serveQuote(out http.ResponseWriter, request *http.Request, text chat.SourceText) {
	at := slices.IndexFunc(text.Passages, func(passage chat.PassageText) bool { return passage.Marked })
	if at < 0 || text.Changed {
		m.web.responder.renderFailure(out, request, http.StatusGone, "The passage has changed since.")
		return
	}
	words, err := renderMarkdown(closeMarkdown(shorten.Text(text.Passages[at].Text, quoteLetters)), nil, nil)
	if err == nil {
		err = m.web.responder.renderPage(out, http.StatusOK, "quote", words)
	}
	if err != nil {
		m.web.responder.refuseForm(out, request, err)
	}
}

// serveFound sends the list of the person's conversations in which words were said.
func (m manager) serveFound(out http.ResponseWriter, request *http.Request, in visit) {
	wanted := strings.ToLower(shorten.Head(strings.TrimSpace(request.URL.Query().Get("words")), maxWanted))
	v, err := m.web.listView(request.Context(), in.threads, in.person, in.thread.id)
	if err == nil && wanted != "" {
		v.Wanted = true
		v.Threads, err = m.matchThreads(request.Context(), v.Threads, wanted)
	}
	if err == nil {
		err = m.web.responder.renderPage(out, http.StatusOK, "list", v)
	}
	if err != nil {
		m.web.responder.refuseForm(out, request, err)
	}
}

// maxWanted is how many letters are searched for in conversations.
const maxWanted = 100

// matchThreads keeps the conversations whose title, questions or answers hold words in lower case.
func (m manager) matchThreads(ctx context.Context, list []listedView, wanted string) ([]listedView, error) {
	holds := func(text string) bool { return strings.Contains(strings.ToLower(text), wanted) }
	var found []listedView
	for _, entry := range list {
		matches := holds(entry.Title)
		if !matches {
			turns, err := m.web.options.Transcripts.Transcript(ctx, chatID(entry.ID))
			if err != nil {
				return nil, fmt.Errorf("search thread %s: %w", entry.ID, err)
			}
			matches = slices.ContainsFunc(turns, func(turn chat.Turn) bool {
				return holds(turn.Text) || turn.Reply != nil && holds(turn.Reply.Text)
			})
		}
		if matches {
			found = append(found, entry)
		}
	}
	return found, nil
}
