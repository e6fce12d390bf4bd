package web

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"regexp"
	"sync"

	"github.com/cairn-bot/cairn/internal/chat"
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
	people  people
	start   chan job      // what needs a worker
	stopped chan struct{} // closed when no worker is started any more

	mu   sync.Mutex
	byID map[string]*thread
}

// job is a thread whose messages are to be worked at, or one message that goes ahead
// of them. The worker holds the thread.
type job struct {
	thread *thread
	ahead  *exchange
}

func newThreads(options Options, handler chat.Handler) *threads {
	return &threads{
		options: options, handler: handler,
		start: make(chan job), stopped: make(chan struct{}),
		byID: make(map[string]*thread),
	}
}

// runWorkers gives every thread that needs one a worker until ctx ends, and waits for them.
func (ts *threads) runWorkers(ctx context.Context) {
	var workers sync.WaitGroup
	defer workers.Wait()
	defer close(ts.stopped)
	for {
		select {
		case <-ctx.Done():
			return
		case next := <-ts.start:
			workers.Go(func() {
				defer ts.releaseThread(next.thread)
				ts.workThread(ctx, next)
			})
		}
	}
}

var (
	errClosing = errors.New("the server is stopping")
	errCrowded = errors.New("too many conversations are open at once; try again in a minute")
)

// holdThread gives the conversation with an id, up to date with its transcript. The caller
// releases it.
func (ts *threads) holdThread(ctx context.Context, id string) (*thread, error) {
	t, err := ts.takeThread(id)
	if err != nil {
		return nil, err
	}
	if err := ts.refreshThread(ctx, t); err != nil {
		ts.releaseThread(t)
		return nil, err
	}
	return t, nil
}

func (ts *threads) takeThread(id string) (*thread, error) {
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

func (ts *threads) releaseThread(t *thread) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t.holders--
	t.used = ts.options.Now()
}

func (ts *threads) refreshThread(ctx context.Context, t *thread) error {
	turns, err := ts.options.Transcripts.Transcript(ctx, chatID(t.id))
	if err != nil {
		return fmt.Errorf("read the transcript of thread %s: %w", t.id, err)
	}
	t.mergeTranscript(turns)
	return nil
}

func chatID(id string) chat.ThreadID { return chat.NewThreadID(name, id) }

// submitMessage queues a message, or the picked choice, and has it worked at. The caller holds
// the thread.
func (ts *threads) submitMessage(t *thread, message chat.Message, picked *pick) (*exchange, error) {
	message.ID = chat.MessageID(rand.Text())
	message.Thread = chatID(t.id)
	message.At = ts.options.Now()
	added, start, err := t.addMessage(message, picked)
	if err != nil {
		return nil, err
	}
	ts.people.notifyChange(message.Author)
	switch {
	case start:
		return added, ts.assignJob(job{thread: t})
	case message.Answers == nil && chat.IsStop(message.Text):
		return added, ts.assignJob(job{thread: t, ahead: added})
	}
	return added, nil
}

// retryRun queues a failed run again. The caller holds the thread.
func (ts *threads) retryRun(t *thread, by chat.UserID, at string) (*exchange, error) {
	e, start, err := t.requeueFailed(by, at)
	if err != nil {
		return nil, err
	}
	ts.people.notifyChange(by)
	if start {
		return e, ts.assignJob(job{thread: t})
	}
	return e, nil
}

// rewriteMessage queues the last message of a conversation, by the id of its element, to be
// answered anew as message says. The caller holds the thread.
func (ts *threads) rewriteMessage(t *thread, message chat.Message, id string) (*exchange, error) {
	message.Thread, message.At = chatID(t.id), ts.options.Now()
	e, start, err := t.requeueRewritten(message, id)
	if err != nil {
		return nil, err
	}
	ts.people.notifyChange(message.Author)
	if start {
		return e, ts.assignJob(job{thread: t})
	}
	return e, nil
}

// dropThread forgets a conversation that was deleted.
func (ts *threads) dropThread(t *thread) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	delete(ts.byID, t.id)
}

// assignJob gives a job to a worker, which holds the job's thread.
func (ts *threads) assignJob(next job) error {
	ts.mu.Lock()
	next.thread.holders++
	ts.mu.Unlock()
	select {
	case ts.start <- next:
		return nil
	case <-ts.stopped:
		return errClosing
	}
}

// workThread hands over a thread's messages until none waits, or the one that goes ahead.
func (ts *threads) workThread(ctx context.Context, next job) {
	t := next.thread
	if next.ahead != nil {
		if runCtx := t.takeAhead(ctx, next.ahead); runCtx != nil {
			ts.handleExchange(runCtx, t, next.ahead)
		}
		return
	}
	for e, runCtx := t.takeNext(ctx); e != nil; e, runCtx = t.takeNext(ctx) {
		ts.handleExchange(runCtx, t, e)
	}
}

// handleExchange has one message answered, or a run gone on with.
func (ts *threads) handleExchange(ctx context.Context, t *thread, e *exchange) {
	by := e.message.Author
	var err error
	message := e.message
	if message.Asker == nil {
		message.Asker = &chat.Identity{Local: ts.options.Everything}
	}
	switch {
	case e.retry != "":
		err = ts.options.Controls.Retry(ctx, e.retry, by, conversation{t, e})
	case e.rewrite:
		err = ts.options.Rewriter.Rewrite(ctx, message, conversation{t, e})
	default:
		err = ts.handler.Handle(ctx, message, conversation{t, e})
	}
	failure := ""
	if err != nil {
		failure = ts.explainError(ctx, t, e, err)
	}
	t.finishExchange(e, failure)
	if err := ts.refreshThread(context.WithoutCancel(ctx), t); err != nil {
		ts.options.Logger.Error("show answered questions", "error", err)
	}
	ts.people.notifyChange(by)
}

// stoppedText is what people read of a message whose work ended before the bot knew of it.
const stoppedText = "Stopped."

// explainError says an error as the person reads it; what is private goes to the log.
func (ts *threads) explainError(ctx context.Context, t *thread, e *exchange, err error) string {
	if ctx.Err() != nil {
		return stoppedText
	}
	for _, public := range []error{chat.ErrForbidden, chat.ErrRunOver, chat.ErrUnknownRun} {
		if errors.Is(err, public) {
			return "Nothing was done: " + public.Error() + "."
		}
	}
	ts.options.Logger.Error("handle message", "thread", chatID(t.id), "message", e.id, "run", e.retry, "error", err)
	return "Something went wrong, and nothing was answered. An operator finds it in the log by " + string(e.id) + "."
}
