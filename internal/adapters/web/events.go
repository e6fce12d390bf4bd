package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// breath is how often a silent stream shows that it is alive.
const breath = 20 * time.Second

// reconnect is how long a page waits before it connects a broken stream again.
const reconnect = time.Second

// update is one event of a conversation's stream: a new exchange as a whole, or the
// parts of one that changed, as HTML. Parts are sent as they are now: one that was
// missed is made up for by the next.
type update struct {
	ID       string  `json:"id"` // of the exchange's element
	Working  bool    `json:"working"`
	Exchange *string `json:"exchange,omitempty"`
	Steps    *string `json:"steps,omitempty"`
	Said     *string `json:"said,omitempty"`
}

// serveEvents streams the conversation's updates until the client or the server goes.
func (w *Web) serveEvents(out http.ResponseWriter, request *http.Request, t *thread) {
	if !t.watch() {
		w.fail(out, request, http.StatusServiceUnavailable, "Too many windows follow this conversation. Close one.")
		return
	}
	defer t.unwatch()
	stream := eventStream{out, http.NewResponseController(out)}
	if err := stream.open(); err != nil {
		w.options.Logger.Debug("open event stream", "error", err)
		return
	}
	alive := time.NewTicker(breath)
	defer alive.Stop()
	for seen := t.since(request); ; {
		updates, version, changed, err := w.updates(t, seen)
		if err == nil {
			err = stream.send(updates, t.mark(version))
		}
		if err != nil {
			w.options.Logger.Debug("send events", "error", err)
			return
		}
		seen = version
		select {
		case <-request.Context().Done():
			return
		case <-changed:
		case <-alive.C:
		}
	}
}

func (t *thread) watch() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.watchers == maxWatchers {
		return false
	}
	t.watchers++
	return true
}

func (t *thread) unwatch() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.watchers--
}

// mark names a version of this thread in this process: what a client has seen.
func (t *thread) mark(version int) string { return t.token + "-" + strconv.Itoa(version) }

// since is the version that a client has seen: of the last event, or of the page. -1
// when it has seen none of this thread in this process.
func (t *thread) since(request *http.Request) int {
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

// updates gives what changed since a version, the version they lead to, and the
// channel that is closed at the next change.
func (w *Web) updates(t *thread, since int) (updates []update, version int, changed <-chan struct{}, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range t.exchanges {
		if e.stepsChanged <= since && e.saidChanged <= since && e.added <= since {
			continue
		}
		v, err := w.view(t.id, e)
		if err != nil {
			return nil, 0, nil, err
		}
		u := update{ID: v.ID, Working: v.Working}
		for _, part := range []struct {
			name    string
			changed bool
			html    **string
		}{
			{"exchange", e.added > since, &u.Exchange},
			{"steps", e.added <= since && e.stepsChanged > since, &u.Steps},
			{"said", e.added <= since && e.saidChanged > since, &u.Said},
		} {
			if !part.changed {
				continue
			}
			html, err := w.fragment(part.name, v)
			if err != nil {
				return nil, 0, nil, err
			}
			*part.html = &html
		}
		updates = append(updates, u)
	}
	return updates, t.version, t.changed, nil
}

// eventStream writes server-sent events.
type eventStream struct {
	out     http.ResponseWriter
	control *http.ResponseController
}

func (s eventStream) open() error {
	if err := s.control.SetReadDeadline(time.Time{}); err != nil { // the stream outlives the request's time limit
		return fmt.Errorf("lift the read limit: %w", err)
	}
	s.out.Header().Set("Content-Type", "text/event-stream")
	s.out.Header().Set("X-Accel-Buffering", "no")
	s.out.WriteHeader(http.StatusOK)
	if _, err := fmt.Fprintf(s.out, "retry: %d\n\n", reconnect.Milliseconds()); err != nil {
		return fmt.Errorf("begin the stream: %w", err)
	}
	return nil
}

// send writes updates, or a comment when there is none. mark is what the client has
// seen with the last of them.
func (s eventStream) send(updates []update, mark string) error {
	if err := s.control.SetWriteDeadline(time.Now().Add(writeTime)); err != nil {
		return fmt.Errorf("set the write limit: %w", err)
	}
	if len(updates) == 0 {
		if _, err := fmt.Fprint(s.out, ": alive\n\n"); err != nil {
			return err
		}
	}
	for _, update := range updates {
		data, err := json.Marshal(update)
		if err != nil {
			return fmt.Errorf("encode event: %w", err)
		}
		if _, err := fmt.Fprintf(s.out, "id: %s\ndata: %s\n\n", mark, data); err != nil {
			return err
		}
	}
	return s.control.Flush()
}
