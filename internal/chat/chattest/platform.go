package chattest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
)

// Platform is a tiny chat platform and its own chat.Poster, chat.Drafter and chat.Fetcher:
// what is posted is seen in Posted, and a key is remembered with each message. ServeHTTP
// offers it to other processes, which post there with Remote. The zero value is ready.
type Platform struct {
	// Faults decides how a call goes wrong; nil: none does. It is called with the
	// platform locked.
	Faults func(call Call) Fault

	mu      sync.Mutex
	posts   []Posted
	made    int // messages, those that were retracted included
	drafts  []Drafted
	drafted int // drafts, those that are over included
	files   map[string][]byte
	gone    map[chat.ThreadID]bool
	calls   int

	changing sync.Mutex
	changed  chan struct{} // closed by whatever changes; nil where nobody waits; guarded by changing
}

var (
	_ chat.Poster = (*Platform)(nil)
	_ chat.Tidier = (*Platform)(nil)
)

// Posted is a message that people see.
type Posted struct {
	ID     chat.MessageID
	Thread chat.ThreadID
	Key    chat.PostKey
	Post   chat.Post
	Edits  int // how often it was edited
}

// Call is a call of the platform, by number from 1.
type Call struct {
	Number    int
	Operation Operation
	Thread    chat.ThreadID
	Key       chat.PostKey // of a post, of what is looked for, and of the end of a draft
}

// Operation is what a call is for.
type Operation string

// The operations.
const (
	PostOperation Operation = "post"
	FindOperation Operation = "find"
	EditOperation Operation = "edit"
	// RetractOperation takes a message away.
	RetractOperation Operation = "retract"
	// Of drafts: to begin one, to show more in it, and to end it.
	DraftOperation    Operation = "draft"
	ProgressOperation Operation = "progress"
	StreamOperation   Operation = "stream"
	FinishOperation   Operation = "finish"
	CloseOperation    Operation = "close"
	// WaitOperation ends a draft whose outcome waits for its turn.
	WaitOperation Operation = "wait"
	// TidyOperation takes away what came late.
	TidyOperation Operation = "tidy"
	// FetchOperation gives a file's content.
	FetchOperation Operation = "fetch"
)

// Fault is how a call goes wrong.
type Fault string

// The faults. The last three do what was asked for and do not say so.
const (
	NoFault     Fault = ""
	RateLimited Fault = "rate limited"       // a 429 with a wait
	Broken      Fault = "broken"             // a 500, nothing was done
	Refused     Fault = "refused"            // for good
	NotPosted   Fault = "not posted"         // a call before the post failed, as the start of a thread
	BrokenAfter Fault = "broken after doing" // a 500, it was done
	SilentAfter Fault = "silent after doing" // no answer before the caller's time is up
	Late        Fault = "done late"          // a 500, and it is done after LateBy
)

// LateBy is how long after its caller gave up a late call is carried out.
const LateBy = 1500 * time.Millisecond

// RateLimit is the wait that a rate limited call is given.
const RateLimit = 10 * time.Millisecond

// waitLimit is how long a silent call lasts where its context has no end.
const waitLimit = 5 * time.Second

// Name is "platform".
func (p *Platform) Name() string { return "platform" }

// Run has no messages to hand over.
func (p *Platform) Run(ctx context.Context, _ chat.Handler) error {
	<-ctx.Done()
	return nil
}

// Close makes a thread one that is gone.
func (p *Platform) Close(thread chat.ThreadID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone == nil {
		p.gone = make(map[chat.ThreadID]bool)
	}
	p.gone[thread] = true
}

// Posted returns the messages of a thread, in order; "" gives those of all threads.
func (p *Platform) Posted(thread chat.ThreadID) []Posted {
	p.mu.Lock()
	defer p.mu.Unlock()
	var seen []Posted
	for _, post := range p.posts {
		if thread == "" || post.Thread == thread {
			seen = append(seen, post)
		}
	}
	return seen
}

// Post implements chat.Poster. It does not look whether the key was used before: a bot
// that posts twice is seen to.
func (p *Platform) Post(ctx context.Context, thread chat.ThreadID, key chat.PostKey, post chat.Post) (id chat.MessageID, err error) {
	err = p.handleCall(ctx, Call{Operation: PostOperation, Thread: thread, Key: key}, func() error {
		p.made++
		id = chat.MessageID("p" + strconv.Itoa(p.made))
		p.posts = append(p.posts, Posted{ID: id, Thread: thread, Key: key, Post: withAttachments(post, nil)})
		p.drafts = slices.DeleteFunc(p.drafts, func(left Drafted) bool { return left.Work.Thread == thread && left.Waits })
		return nil
	})
	return id, err
}

// withAttachments returns a post as it is shown: where a document has no content, with those that
// the message had before.
func withAttachments(post chat.Post, before *chat.Reply) chat.Post {
	lost := func(document chat.Document) bool { return !document.Kept() }
	if post.Reply == nil || !slices.ContainsFunc(post.Reply.Documents, lost) {
		return post
	}
	shown := *post.Reply
	if before != nil {
		shown.Documents = before.Documents
	} else {
		shown.Documents = slices.DeleteFunc(slices.Clone(shown.Documents), lost)
	}
	post.Reply = &shown
	return post
}

// Documents returns what people see of the documents in a thread, in order.
func (p *Platform) Documents(thread chat.ThreadID) []chat.Document {
	var seen []chat.Document
	for _, posted := range p.Posted(thread) {
		if posted.Post.Reply != nil {
			seen = append(seen, posted.Post.Reply.Documents...)
		}
	}
	return seen
}

// Find implements chat.Poster.
func (p *Platform) Find(ctx context.Context, thread chat.ThreadID, key chat.PostKey) (id chat.MessageID, found bool, err error) {
	err = p.handleCall(ctx, Call{Operation: FindOperation, Thread: thread, Key: key}, func() error {
		p.posts = slices.DeleteFunc(p.posts, func(post Posted) bool {
			if post.Thread != thread || post.Key != key {
				return false
			}
			if found {
				return true
			}
			id, found = post.ID, true
			return false
		})
		return nil
	})
	return id, found, err
}

// Tidy implements chat.Tidier.
func (p *Platform) Tidy(ctx context.Context, thread chat.ThreadID, late chat.Late) error {
	return p.handleCall(ctx, Call{Operation: TidyOperation, Thread: thread}, func() error {
		p.drafts = slices.DeleteFunc(p.drafts, func(left Drafted) bool { return left.Work.Thread == thread })
		stays := make(map[chat.PostKey]chat.MessageID)
		for _, post := range p.posts {
			if post.Thread == thread && (stays[post.Key] == "" || slices.Contains(late.Known, post.ID)) {
				stays[post.Key] = post.ID
			}
		}
		p.posts = slices.DeleteFunc(p.posts, func(post Posted) bool { return post.Thread == thread && post.ID != stays[post.Key] })
		return nil
	})
}

// Edit implements chat.Poster.
func (p *Platform) Edit(ctx context.Context, thread chat.ThreadID, message chat.MessageID, post chat.Post) error {
	return p.handleCall(ctx, Call{Operation: EditOperation, Thread: thread}, func() error {
		at := slices.IndexFunc(p.posts, func(posted Posted) bool { return posted.Thread == thread && posted.ID == message })
		if at < 0 {
			return fmt.Errorf("edit message %s: %w", message, chat.ErrGone)
		}
		p.posts[at].Post = withAttachments(post, p.posts[at].Post.Reply)
		p.posts[at].Edits++
		return nil
	})
}

// Retract implements chat.Poster.
func (p *Platform) Retract(ctx context.Context, thread chat.ThreadID, message chat.MessageID) error {
	return p.handleCall(ctx, Call{Operation: RetractOperation, Thread: thread}, func() error {
		p.posts = slices.DeleteFunc(p.posts, func(posted Posted) bool { return posted.Thread == thread && posted.ID == message })
		return nil
	})
}

// signalChange tells those who wait that something changed.
func (p *Platform) signalChange() {
	p.changing.Lock()
	defer p.changing.Unlock()
	if p.changed != nil {
		close(p.changed)
		p.changed = nil
	}
}

// Await waits until something holds, asking it again whenever something changed. It may use
// all exported methods.
func (p *Platform) Await(ctx context.Context, holds func() bool) error {
	for {
		p.changing.Lock()
		if p.changed == nil {
			p.changed = make(chan struct{})
		}
		changed := p.changed
		p.changing.Unlock()
		if holds() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// handleCall does what was asked for, as the fault lets it.
func (p *Platform) handleCall(ctx context.Context, call Call, do func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	defer p.signalChange()
	fault, err := p.performLocked(call, do)
	switch fault {
	case Late:
		time.AfterFunc(LateBy, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			if err := do(); err != nil {
				return // as nobody hears of it
			}
		})
		return fmt.Errorf("%s: the platform is busy", call.Operation)
	case RateLimited:
		return &chat.RetryAfterError{After: RateLimit, Err: fmt.Errorf("%s: too many requests", call.Operation)}
	case Broken, BrokenAfter:
		return fmt.Errorf("%s: the platform is broken", call.Operation)
	case Refused:
		return fmt.Errorf("%s: %w", call.Operation, chat.ErrRefused)
	case NotPosted:
		return fmt.Errorf("%s: %w", call.Operation, chat.ErrNotPosted)
	case SilentAfter:
		timer := time.NewTimer(waitLimit)
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
			return fmt.Errorf("%s: the platform does not answer", call.Operation)
		}
	}
	return err
}

func (p *Platform) performLocked(call Call, do func() error) (Fault, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	call.Number = p.calls
	fault := NoFault
	if p.Faults != nil {
		fault = p.Faults(call)
	}
	switch {
	case fault == RateLimited, fault == Broken, fault == Refused, fault == NotPosted, fault == Late:
		return fault, nil
	case p.gone[call.Thread]:
		return NoFault, fmt.Errorf("%s in thread %s: %w", call.Operation, call.Thread, chat.ErrGone)
	}
	return fault, do()
}
