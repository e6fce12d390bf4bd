package bot

import (
	"context"
	"slices"
	"sync"

	"cairn/internal/chat"
)

// lines let one message of a thread be worked at a time, in order of arrival. A thread
// takes room only while something is in its line. The zero value is ready.
type lines struct {
	mu      sync.Mutex
	threads map[chat.ThreadID][]*work // the first works, the others wait
}

// enter gets in line, at its end, and waits until what is before it is done; leave must
// be called then. After an error there is nothing to leave.
func (l *lines) enter(ctx context.Context, thread chat.ThreadID, by chat.UserID) (*work, error) {
	return l.wait(ctx, thread, l.join(thread, by, false))
}

// enterNext is enter for what can't wait: it goes before all but the first.
func (l *lines) enterNext(ctx context.Context, thread chat.ThreadID, by chat.UserID) (*work, error) {
	return l.wait(ctx, thread, l.join(thread, by, true))
}

func (l *lines) join(thread chat.ThreadID, by chat.UserID, next bool) *work {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.threads == nil {
		l.threads = make(map[chat.ThreadID][]*work)
	}
	w := &work{by: by, asker: by, turn: make(chan struct{}), ended: make(chan struct{})}
	line := l.threads[thread]
	switch {
	case len(line) == 0:
		close(w.turn)
		line = append(line, w)
	case next:
		line = slices.Insert(line, 1, w)
	default:
		line = append(line, w)
	}
	l.threads[thread] = line
	return w
}

func (l *lines) wait(ctx context.Context, thread chat.ThreadID, w *work) (*work, error) {
	select {
	case <-w.turn:
		return w, nil
	case <-ctx.Done():
		l.leave(thread, w)
		return nil, ctx.Err()
	}
}

// leave takes the work out of the line and lets the next begin.
func (l *lines) leave(thread chat.ThreadID, w *work) {
	l.mu.Lock()
	defer l.mu.Unlock()
	line := l.threads[thread]
	at := slices.Index(line, w)
	line = slices.Delete(line, at, at+1)
	close(w.ended)
	if len(line) == 0 {
		delete(l.threads, thread)
		return
	}
	l.threads[thread] = line
	if at == 0 {
		close(line[0].turn)
	}
}

// first is what works in a thread; nil when nothing does.
func (l *lines) first(thread chat.ThreadID) *work {
	l.mu.Lock()
	defer l.mu.Unlock()
	if line := l.threads[thread]; len(line) > 0 {
		return line[0]
	}
	return nil
}

// work is a message or a retry in line, as those see it who want to stop it.
type work struct {
	by    chat.UserID   // whose message it is
	turn  chan struct{} // closed when it may begin
	ended chan struct{} // closed when it has left the line

	mu      sync.Mutex
	asker   chat.UserID        // whose run it is, as begin told
	cancel  context.CancelFunc // of the run, from begin on
	stopped bool
	over    bool           // the run has its outcome: it's too late to stop it
	words   []chat.Message // that stopped it
	told    bool           // the thread remembers the words
}

// begin tells of the run that the work is: who asked for it, and how it is cancelled.
func (w *work) begin(asker chat.UserID, cancel context.CancelFunc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asker, w.cancel = asker, cancel
	if w.stopped {
		cancel()
	}
}

// stop ends the work; false where it is over already. said is the message that asks
// for it, nil for none; it is remembered together with what became of the run.
func (w *work) stop(by chat.UserID, said *chat.Message) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.over:
		return false, nil
	case by != w.by && by != w.asker:
		return false, chat.ErrForbidden
	}
	w.stopped = true
	if said != nil {
		w.words = append(w.words, *said)
	}
	if w.cancel != nil {
		w.cancel()
	}
	return true, nil
}

// finish says that the run has its outcome: from now on it can't be stopped. stopped
// tells whether it was, and by which words.
func (w *work) finish() (stopped bool, words []chat.Message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	return w.stopped, w.words
}

// tell notes that the words that stopped the work are remembered.
func (w *work) tell() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = true
}

// wasTold says whether they are.
func (w *work) wasTold() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.told
}
