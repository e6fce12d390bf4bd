package web

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"regexp"
	"sync"

	"cairn/internal/chat"
)

// maxThreads is how many conversations are held at a time. The one that was used
// longest ago gives way unless somebody watches it or the bot works at it.
const maxThreads = 1000

// threadID is how newThreadID spells ids: 130 random bits.
var threadID = regexp.MustCompile(`^[A-Z2-7]{26}$`)

func newThreadID() string { return rand.Text() }

// threads holds the conversations in use and works at their messages.
type threads struct {
	options Options
	handler chat.Handler
	start   chan *thread  // threads that need a worker
	stopped chan struct{} // closed when no worker is started any more

	mu   sync.Mutex
	byID map[string]*thread
}

func newThreads(options Options, handler chat.Handler) *threads {
	return &threads{
		options: options, handler: handler,
		start: make(chan *thread), stopped: make(chan struct{}),
		byID: make(map[string]*thread),
	}
}

// run gives every thread that needs one a worker until ctx ends, and waits for them.
func (ts *threads) run(ctx context.Context) {
	var workers sync.WaitGroup
	defer workers.Wait()
	defer close(ts.stopped)
	for {
		select {
		case <-ctx.Done():
			return
		case t := <-ts.start:
			workers.Go(func() {
				defer ts.release(t)
				ts.work(ctx, t)
			})
		}
	}
}

var (
	errClosing = errors.New("the server is stopping")
	errCrowded = errors.New("too many conversations are open at once; try again in a minute")
)

// hold gives the conversation with an id, up to date with its transcript. The caller
// releases it.
func (ts *threads) hold(ctx context.Context, id string) (*thread, error) {
	t, err := ts.take(id)
	if err != nil {
		return nil, err
	}
	if err := ts.refresh(ctx, t); err != nil {
		ts.release(t)
		return nil, err
	}
	return t, nil
}

func (ts *threads) take(id string) (*thread, error) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t := ts.byID[id]
	if t == nil {
		if err := ts.makeRoom(); err != nil {
			return nil, err
		}
		t = newThread(id)
		ts.byID[id] = t
	}
	t.holders++
	return t, nil
}

// makeRoom drops an idle conversation where there are too many. The caller holds mu.
func (ts *threads) makeRoom() error {
	if len(ts.byID) < maxThreads {
		return nil
	}
	var oldest *thread
	for _, t := range ts.byID {
		if t.holders == 0 && (oldest == nil || t.used.Before(oldest.used)) {
			oldest = t
		}
	}
	if oldest == nil {
		return errCrowded
	}
	delete(ts.byID, oldest.id)
	return nil
}

func (ts *threads) release(t *thread) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t.holders--
	t.used = ts.options.Now()
}

func (ts *threads) refresh(ctx context.Context, t *thread) error {
	turns, err := ts.options.Transcripts.Transcript(ctx, chatID(t.id))
	if err != nil {
		return fmt.Errorf("read the transcript of thread %s: %w", t.id, err)
	}
	t.merge(turns)
	return nil
}

func chatID(id string) chat.ThreadID { return chat.ThreadID("web:" + id) }

// submit queues a message, or the picked choice, and has it worked at. The caller holds the thread; so does
// the worker.
func (ts *threads) submit(t *thread, message chat.Message, picked *pick) (*exchange, error) {
	message.ID = chat.MessageID(rand.Text())
	message.Thread = chatID(t.id)
	message.Author = author
	message.At = ts.options.Now()
	added, start, err := t.add(message, picked)
	if err != nil || !start {
		return added, err
	}
	ts.mu.Lock()
	t.holders++
	ts.mu.Unlock()
	select {
	case ts.start <- t:
		return added, nil
	case <-ts.stopped:
		return nil, errClosing
	}
}

// author is everyone: the page knows no accounts, see the package comment.
const author chat.UserID = "web"

// work hands over a thread's messages until none waits.
func (ts *threads) work(ctx context.Context, t *thread) {
	for {
		e, runCtx := t.next(ctx)
		if e == nil {
			return
		}
		err := ts.handler.Handle(runCtx, e.message, conversation{t, e})
		failure := ""
		switch {
		case err != nil && runCtx.Err() != nil:
			failure = "Stopped."
		case err != nil:
			failure = "Something went wrong, and nothing was answered. An operator finds it in the log by " + string(e.id) + "."
			ts.options.Logger.Error("handle message", "thread", chatID(t.id), "message", e.id, "error", err)
		}
		t.finish(e, failure)
		if err := ts.refresh(context.WithoutCancel(ctx), t); err != nil {
			ts.options.Logger.Error("show answered questions", "error", err)
		}
	}
}
