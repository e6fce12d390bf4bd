package editor

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/web"
	"github.com/cairn-bot/cairn/internal/chat/markup"
	"github.com/cairn-bot/cairn/internal/pages"
	"github.com/cairn-bot/cairn/internal/pages/tree"
)

// Times and bounds of those who have a page open.
const (
	lookTime  = 500 * time.Millisecond // between two looks for changes of other processes
	aliveTime = 20 * time.Second       // between two signs that a silent stream lives
	maxTabs   = 100                    // that have one page open
)

// rooms are the pages that are open in browsers, with who is there. It knows this process alone.
// The zero rooms has none.
type rooms struct {
	mu   sync.Mutex
	open map[pages.PageID]*room
}

type room struct {
	tabs    map[string]*tab
	changed chan struct{} // closed when the page, or who is there, changes
}

// tab is a window in which a page is open. A reload may overlap with what it replaces.
type tab struct {
	person  person
	streams int
}

// person is somebody who has a page open.
type person struct {
	Tab   string `json:"tab"`
	Name  string `json:"name"`
	Block string `json:"block"` // that they are in; "" for none
}

// enter adds a window, until leave is called. false: too many are open.
func (r *rooms) enter(page pages.PageID, in person) (leave func(), ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open == nil {
		r.open = make(map[pages.PageID]*room)
	}
	at := r.open[page]
	if at == nil {
		at = &room{tabs: make(map[string]*tab), changed: make(chan struct{})}
		r.open[page] = at
	}
	if len(at.tabs) == maxTabs {
		return nil, false
	}
	if at.tabs[in.Tab] == nil {
		at.tabs[in.Tab] = &tab{person: in}
	}
	at.tabs[in.Tab].streams++
	at.signal()
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if at.tabs[in.Tab].streams--; at.tabs[in.Tab].streams == 0 {
			delete(at.tabs, in.Tab)
		}
		if len(at.tabs) == 0 && r.open[page] == at {
			delete(r.open, page)
		}
		at.signal()
	}, true
}

// signal wakes all who wait. The lock is held.
func (r *room) signal() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// notify tells that a page changed.
func (r *rooms) notify(page pages.PageID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at := r.open[page]; at != nil {
		at.signal()
	}
}

// move notes the block that somebody is in.
func (r *rooms) move(page pages.PageID, tab, block string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.open[page]
	if at == nil || at.tabs[tab] == nil || at.tabs[tab].person.Block == block {
		return
	}
	at.tabs[tab].person.Block = block
	at.signal()
}

// look gives who is there, but for one window, and what is closed at the next change.
func (r *rooms) look(page pages.PageID, but string) ([]person, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.open[page]
	if at == nil {
		return nil, nil
	}
	there := []person{}
	for id, tab := range at.tabs {
		if id != but {
			there = append(there, tab.person)
		}
	}
	slices.SortFunc(there, func(a, b person) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Tab, b.Tab)) })
	return there, at.changed
}

// serveEvents streams the versions of a page that come after the one that a browser has, and who
// is there. What changed the browser asks for (serveChanges).
func (e *Editor) serveEvents(out http.ResponseWriter, request *http.Request, v visit) error {
	since, err := readVersion(request)
	if err != nil {
		return err
	}
	tab := request.URL.Query().Get("tab")
	if !tree.ValidID(tab) {
		return &problem{http.StatusBadRequest, "Following a page needs a name for the window."}
	}
	if _, err := e.summarize(request.Context(), v); err != nil {
		return err
	}
	leave, ok := e.rooms.enter(v.page, person{Tab: tab, Name: e.nameOf(string(v.ID), web.Visitor{})})
	if !ok {
		return &problem{http.StatusServiceUnavailable, "Too many windows have this page open. Close one."}
	}
	defer leave()
	s := &follower{editor: e, visit: v, tab: tab, out: web.NewEventStream(out), seen: since}
	err = s.out.Open()
	if err == nil {
		err = s.follow(request.Context())
	}
	if err != nil && request.Context().Err() == nil {
		e.options.Logger.Debug("send changes of a page", "page", string(v.page), "error", err)
	}
	return nil
}

// summarize gives a page as it stands, without what is in it.
func (e *Editor) summarize(ctx context.Context, v visit) (pages.Summary, error) {
	listed, err := e.options.Library.List(ctx, v.place())
	if err != nil {
		return pages.Summary{}, err
	}
	for _, page := range listed {
		if page.ID == v.page {
			return page, nil
		}
	}
	return pages.Summary{}, pages.ErrNotFound
}

// follower is a window that is told of changes.
type follower struct {
	editor *Editor
	visit  visit
	tab    string
	out    web.EventStream
	seen   int // version
	there  []person
	begun  bool
}

// follow sends what changes until ctx ends, the window is gone, or the page is.
func (f *follower) follow(ctx context.Context) error {
	look, alive := time.NewTicker(lookTime), time.NewTicker(aliveTime)
	defer look.Stop()
	defer alive.Stop()
	for {
		there, changed := f.editor.rooms.look(f.visit.page, f.tab)
		if err := f.sendNews(ctx, there); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		case <-look.C:
		case <-alive.C:
			if err := f.out.Send("", "", nil); err != nil {
				return err
			}
		}
	}
}

// sendNews sends what changed since the last time.
func (f *follower) sendNews(ctx context.Context, there []person) error {
	if !f.begun || !slices.Equal(there, f.there) {
		if err := f.out.Send("people", "", there); err != nil {
			return err
		}
		f.there, f.begun = there, true
	}
	page, err := f.editor.summarize(ctx, f.visit)
	if err == nil && page.Version == f.seen {
		return nil
	}
	if errors.Is(err, pages.ErrNotFound) { // deleted, or not for the visitor any more
		return errors.Join(err, f.out.Send("gone", "", true))
	}
	if err != nil {
		return err
	}
	f.seen = page.Version
	return f.out.Send("version", "", page.Version)
}

// serveChanges gives what changed since a version that a browser has.
func (e *Editor) serveChanges(out http.ResponseWriter, request *http.Request, v visit) error {
	since, err := readVersion(request)
	if err != nil {
		return err
	}
	changed, err := e.changesSince(request.Context(), v, since)
	if err != nil {
		return err
	}
	e.sendJSON(out, http.StatusOK, changed)
	return nil
}

// readVersion gives the version that a browser says it has.
func readVersion(request *http.Request) (int, error) {
	since, err := strconv.Atoi(request.URL.Query().Get("since"))
	if err != nil || since < 1 {
		return 0, &problem{http.StatusBadRequest, "Following a page needs the version that is there."}
	}
	return since, nil
}

// servePresence notes which block somebody is in.
func (e *Editor) servePresence(out http.ResponseWriter, request *http.Request, v visit) error {
	var at struct{ Tab, Block string }
	if err := json.NewDecoder(http.MaxBytesReader(out, request.Body, maxForm)).Decode(&at); err != nil || at.Block != "" && !tree.ValidID(at.Block) {
		return &problem{http.StatusBadRequest, "Where you are could not be read."}
	}
	e.rooms.move(v.page, at.Tab, at.Block)
	out.WriteHeader(http.StatusNoContent)
	return nil
}

// stateView is a page as a browser begins with it, but for its tree.
type stateView struct {
	Version int      `json:"version"`
	Title   string   `json:"title"`
	IDs     []string `json:"ids"` // of the blocks right below the root
}

// serveState gives a page as it stands: a stateView with Lexical's JSON as its "root".
func (e *Editor) serveState(out http.ResponseWriter, request *http.Request, v visit) error {
	page, err := e.options.Library.Load(request.Context(), v.place(), v.page)
	if err != nil {
		return err
	}
	state := stateView{Version: page.Version, Title: page.Title}
	for _, block := range page.Root.Children {
		state.IDs = append(state.IDs, block.ID)
	}
	head, err := json.Marshal(state)
	if err != nil {
		return fmt.Errorf("encode page %s: %w", v.page, err)
	}
	out.Header().Set("Content-Type", "application/json")
	// The tree is JSON already. To have it encoded as a part of the view would read it again.
	for _, part := range [][]byte{bytes.TrimSuffix(head, []byte("}")), []byte(`,"root":`), tree.EncodeForEditor(page.Root), []byte("}")} {
		if _, err := out.Write(part); err != nil {
			e.options.Logger.Debug("send a page", "error", err)
			return nil
		}
	}
	return nil
}

// rememberName notes the name of somebody who was here.
func (e *Editor) rememberName(v visit) {
	if v.Name == "" || v.ID == "" {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.names) >= maxNames {
		clear(e.names)
	}
	e.names[string(v.ID)] = v.Name
}

// maxNames bounds the names that are remembered.
const maxNames = 10_000

// nameOf names the author of a change, or somebody who is here, for a visitor. Who does not sign
// in has no name but a part of their id.
func (e *Editor) nameOf(author string, to web.Visitor) string {
	e.mu.Lock()
	name := e.names[author]
	e.mu.Unlock()
	switch {
	case author == "":
		return "Somebody who was forgotten"
	case author == string(to.ID):
		return "You"
	case name != "":
		return markup.CleanLine(name)
	case isBrowserID(author):
		return "Guest " + strings.ToUpper(author[:4])
	}
	return markup.CleanLine(author)
}

// isBrowserID tells the id of somebody on the web page.
func isBrowserID(author string) bool {
	return len(author) == 32 && strings.Trim(author, "0123456789abcdef") == ""
}
