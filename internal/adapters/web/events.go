package web

import (
	"context"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// breath is how often a silent stream shows that it is alive.
const breath = 20 * time.Second

// reconnect is how long a page waits before it connects a broken stream again.
const reconnect = time.Second

// draftPause is the least time between two sendings of a draft: what comes within it is
// sent together. The first piece is sent at once.
const draftPause = 40 * time.Millisecond

// update is one event of a conversation's stream: a new exchange as a whole, or the
// parts of one that changed, as HTML. Parts are sent as they are now: one that was
// missed is made up for by the next.
type update struct {
	ID       string       `json:"id"` // of the exchange's element
	Working  bool         `json:"working"`
	Exchange *string      `json:"exchange,omitempty"`
	Steps    *string      `json:"steps,omitempty"`
	Draft    *draftUpdate `json:"draft,omitempty"`
	Said     *string      `json:"said,omitempty"`
}

// draftUpdate replaces the blocks of a draft from one on, counted from 0.
type draftUpdate struct {
	From   int             `json:"from"`
	Blocks []template.HTML `json:"blocks"`
}

// stream is what one client is sent, and what it was sent.
type stream struct {
	web    *Web
	visit  visit
	out    EventStream
	seen   int                        // the thread's version
	drafts map[string][]template.HTML // by exchange
	list   string
}

// serveEvents streams the conversation's updates, and those of the list of the
// person's conversations, until the client or the server goes.
func (w *Web) serveEvents(out http.ResponseWriter, request *http.Request, in visit) {
	t := in.thread
	if !t.addWatcher() {
		w.responder.renderFailure(out, request, http.StatusServiceUnavailable, "Too many windows follow this conversation. Close one.")
		return
	}
	defer t.removeWatcher()
	defer in.threads.people.addWatcher(in.person)()
	s := &stream{
		web: w, visit: in, out: NewEventStream(out),
		seen: t.seenVersion(request), drafts: make(map[string][]template.HTML),
	}
	if err := s.out.Open(); err != nil {
		w.options.Logger.Debug("open event stream", "error", err)
		return
	}
	if err := s.sendChanges(request.Context()); err != nil && request.Context().Err() == nil {
		w.options.Logger.Debug("send events", "error", err)
	}
}

// sendChanges sends what changes until ctx ends or the client is gone.
func (s *stream) sendChanges(ctx context.Context) error {
	alive := time.NewTicker(breath)
	defer alive.Stop()
	listChanged := s.visit.threads.people.changeSignal(s.visit.person)
	if err := s.sendList(ctx); err != nil {
		return err
	}
	for {
		changed, drafted, err := s.sendUpdates()
		if err != nil {
			return err
		}
		if drafted {
			pause := time.NewTimer(draftPause)
			select {
			case <-ctx.Done():
				pause.Stop()
				return nil
			case <-pause.C:
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		case <-listChanged:
			listChanged = s.visit.threads.people.changeSignal(s.visit.person)
			if err := s.sendList(ctx); err != nil {
				return err
			}
		case <-alive.C:
			if err := s.out.Send("", "", nil); err != nil {
				return err
			}
		}
	}
}

// sendUpdates sends what changed in the conversation since the last time. drafted
// tells that a draft was among it, changed is closed at the next change.
func (s *stream) sendUpdates() (changed <-chan struct{}, drafted bool, err error) {
	news, version, changed := s.visit.thread.changesSince(s.seen)
	for _, n := range news {
		u, err := s.renderUpdate(n)
		if err != nil {
			return nil, false, err
		}
		drafted = drafted || u.Draft != nil && len(u.Draft.Blocks) > 0
		// Only the last update of a version tells that all of it was seen.
		mark := ""
		if n.last {
			mark = s.visit.thread.versionMark(version)
		}
		if err := s.out.Send("", mark, u); err != nil {
			return nil, false, err
		}
	}
	s.seen = version
	return changed, drafted, nil
}

// news is an exchange with the parts of it that changed.
type news struct {
	exchange           *exchange // a copy
	whole              bool
	steps, draft, said bool
	last               bool // of those of one time
}

// changesSince gives the exchanges that changed since a version, the version they lead to, and
// the channel that is closed at the next change.
func (t *thread) changesSince(since int) (changes []news, version int, changed <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range t.exchanges {
		n := news{
			whole: e.added > since,
			steps: e.changes.steps > since, draft: e.changes.draft > since, said: e.changes.said > since,
		}
		if n.whole || n.steps || n.draft || n.said {
			n.exchange = e.copyExchange()
			changes = append(changes, n)
		}
	}
	if len(changes) > 0 {
		changes[len(changes)-1].last = true
	}
	return changes, t.version, t.changed
}

// renderUpdate renders the parts that changed.
func (s *stream) renderUpdate(n news) (update, error) {
	v, err := s.web.exchangeViewOf(s.visit, n.exchange)
	if err != nil {
		return update{}, err
	}
	u := update{ID: v.ID, Working: v.Working}
	if n.whole {
		s.drafts[v.ID] = v.Draft
	} else if n.draft {
		from := countSame(s.drafts[v.ID], v.Draft)
		s.drafts[v.ID] = v.Draft
		u.Draft = &draftUpdate{From: from, Blocks: v.Draft[from:]}
	}
	if !v.Working {
		delete(s.drafts, v.ID)
	}
	for _, part := range []struct {
		name    string
		changed bool
		html    **string
	}{
		{"exchange", n.whole, &u.Exchange},
		{"steps", !n.whole && n.steps, &u.Steps},
		{"said", !n.whole && n.said, &u.Said},
	} {
		if !part.changed {
			continue
		}
		html, err := s.web.responder.renderFragment(part.name, v)
		if err != nil {
			return update{}, err
		}
		*part.html = &html
	}
	return u, nil
}

// countSame counts the blocks that both drafts begin with.
func countSame(before, now []template.HTML) int {
	count := 0
	for count < len(before) && count < len(now) && before[count] == now[count] {
		count++
	}
	return count
}

// sendList sends the list of the person's conversations where it changed.
func (s *stream) sendList(ctx context.Context) error {
	v, err := s.web.listView(ctx, s.visit.threads, s.visit.person, s.visit.thread.id)
	if err != nil {
		return err
	}
	html, err := s.web.responder.renderFragment("list", v)
	if err != nil || html == s.list {
		return err
	}
	s.list = html
	return s.out.Send("threads", "", html)
}

func (t *thread) addWatcher() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.watchers == maxWatchers {
		return false
	}
	t.watchers++
	return true
}

func (t *thread) removeWatcher() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.watchers--
}

// versionMark names a version of this thread in this process: what a client has seen.
func (t *thread) versionMark(version int) string { return t.token + "-" + strconv.Itoa(version) }

// seenVersion is the version that a client has seen: of the last event, or of the page. -1
// when it has seen none of this thread in this process.
func (t *thread) seenVersion(request *http.Request) int {
	mark := request.Header.Get("Last-Event-ID")
	if mark == "" {
		mark = request.URL.Query().Get("since")
	}
	token, version, _ := strings.Cut(mark, "-")
	seen, err := strconv.Atoi(version)
	if err != nil || token != t.token {
		return -1
	}
	return seen
}

// EventStream writes server-sent events.
type EventStream struct {
	out     http.ResponseWriter
	control *http.ResponseController
}

// NewEventStream gives a stream that answers a request.
func NewEventStream(out http.ResponseWriter) EventStream {
	return EventStream{out, http.NewResponseController(out)}
}

// Open begins the answer, which outlives the request's time limit.
func (s EventStream) Open() error {
	if err := s.control.SetReadDeadline(time.Time{}); err != nil {
		return fmt.Errorf("lift the read limit: %w", err)
	}
	s.out.Header().Set("Content-Type", "text/event-stream")
	s.out.Header().Set("X-Accel-Buffering", "no")
	s.out.WriteHeader(http.StatusOK)
	if _, err := fmt.Fprintf(s.out, "retry: %d\n\n", reconnect.Milliseconds()); err != nil {
		return fmt.Errorf("begin the stream: %w", err)
	}
	return s.control.Flush()
}

// Send writes an event of a kind, "" for an update, or a comment where it holds
// nothing. mark is what the client has seen with it, "" to leave that as it is.
func (s EventStream) Send(kind, mark string, content any) error {
	if err := s.control.SetWriteDeadline(time.Now().Add(writeTime)); err != nil {
		return fmt.Errorf("set the write limit: %w", err)
	}
	event := ": alive\n\n"
	if content != nil {
		data, err := json.Marshal(content)
		if err != nil {
			return fmt.Errorf("encode event: %w", err)
		}
		event = "data: " + string(data) + "\n\n"
		if mark != "" {
			event = "id: " + mark + "\n" + event
		}
		if kind != "" {
			event = "event: " + kind + "\n" + event
		}
	}
	if _, err := io.WriteString(s.out, event); err != nil {
		return fmt.Errorf("send event: %w", err)
	}
	return s.control.Flush()
}
