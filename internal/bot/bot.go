// Package bot turns a message into a run and a run's outcome into a reply or a
// question, so that what was accepted is answered once, whatever dies in between.
//
// Intake (intake.go) makes a message a durable job of its thread and, for an adapter
// that shows what is said as it comes, follows the thread's events until the job is
// dealt with (listen.go). A worker (work.go), in the same process or another, claims a
// thread with work and deals with the job at its head in a turn (turn.go), which has these parts:
//
//   - job (job.go): what the job is about, and its run;
//   - conversation (conversation.go): the thread's session and its turns;
//   - edits (edits.go): what changes of messages mean for the job;
//   - flowRun (flowrun.go): what the flow is asked, for whom (access.go), and from which files
//     (attach.go);
//   - delivery (delivery.go, outbox.go): what is posted, once; drafting.go shows the run while it
//     works, where the platform takes that, and tidy.go looks for what a platform did late;
//   - conclusion (conclude.go): what is remembered of the outcome.
//
// The turn decides whether the message answers a waiting question or starts a flow, and drives
// the run (run.go). remind.go, forget.go and digest.go are jobs of their own; controls.go is what people do
// about runs beside writing.
//
// A message that is edited or deleted is a job as well (change.go, revise.go). What waits
// or works before that job is about the message as it was, so the change is kept before
// it is queued, and whoever works at the message looks for the edit (edits.go). Commands
// that tell how things stand are answered beside the thread's work, in a lane of its queues
// (command.go, sidecommand.go).
//
// The session is what crashes are survived by. It is saved twice for a job: when it has
// been decided what the job is (session.Work says so), and when its outcome is part of
// the turns (Work.Over). Both are made under the lease. A worker that takes the job
// up again finds the first and goes on with the run from its checkpoint, or finds the
// second and only shows what is said already. Each save is a commit (store.Commit), with all
// that belongs to it: the first with the run's record, the second with that and what is to be
// posted. What is left to write then is committed with the job's end. The first is put off for a
// moment where nothing but the run depends on it (start.go): a run that is done by then is saved
// once.
package bot

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph/draw"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/routing"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/session"
	"github.com/cairn-bot/cairn/internal/store"
)

// Bot is the chat.Handler behind every adapter, and the worker behind that.
type Bot struct {
	options  Options
	store    store.Store
	sessions session.Store // of the store
	records  store.Records // of the store
	logger   *slog.Logger
	now      func() time.Time
	flows    map[string]flows.Flow
	first    string // the flow that a plain message goes to
	seen     seen
	readers  *placeReaders
	// documents tells whom answers and documents are for.
	documents documentAccess
}

// Options is what a bot is made of. The first three are required.
type Options struct {
	Store  store.Store
	Flows  []flows.Flow // the first is the one a plain message goes to
	Logger *slog.Logger
	// Adapters are those whose threads are worked at, by name; nil is one that is no
	// Poster: it reads transcripts and follows events. One that is a chat.Drafter or a
	// chat.Fetcher as well is used as such. Jobs of other threads are left to workers that
	// know their adapter.
	Adapters map[string]chat.Poster
	// Files gives the files of threads, by adapter, whose adapter is no Poster. One that is a
	// chat.FileFinder or a chat.FileForgetter as well is used as such.
	Files map[string]chat.Fetcher
	// Ending is closed when the process is about to end, before the contexts of messages
	// end for that reason; nil: it never is.
	Ending <-chan struct{}
	// Parallel is how many threads Work works at, at the same time (8).
	Parallel int
	// Grace is how long steps may take to end once Work was asked to (25 s).
	Grace time.Duration
	// LeaseTTL is the store's runs.Options.LeaseTTL (10 s): no post is begun later than half
	// of this after the lease was known to be good.
	LeaseTTL time.Duration
	// LookAfter is how long after a call to a platform ended unknown it is looked whether it
	// was carried out (10 s), and TidyAfter how long after the job's end the thread is looked
	// at once more for what came later still (45 s).
	LookAfter time.Duration
	TidyAfter time.Duration
	// RemindAfter is when a question without an answer is repeated (1 h), ExpireAfter when
	// it is given up (24 h) where it has no deadline of its own.
	RemindAfter time.Duration
	ExpireAfter time.Duration
	// EditWindow is how long after a message was written an edit of it counts (15 min).
	EditWindow time.Duration
	// ReadFile gives the text of a file that came with a message; nil: none is read. Its
	// errors are not shown to anybody.
	ReadFile func(ctx context.Context, name string, content []byte) (text string, err error)
	// Router decides which flow a message goes to; nil: one that knows the rules alone.
	Router flows.Router
	// Quota limits what people may ask; nil: nothing does.
	Quota Quota
	// ModelBudget limits what teams use of language models; nil: nothing does.
	ModelBudget ModelBudget
	// Accompany gives the context of the work at a lease's job, and is told when that is over,
	// and whether another worker took the job over meanwhile; nil: nobody is.
	Accompany func(ctx context.Context, lease runs.Lease) (context.Context, func(lost bool))
	// Catalog tells what the bot knows; nil: it can't say.
	Catalog chat.Catalog
	// Access decides whom answers are shown to; nil: they are made from what is public.
	Access Access
	// Library is the index, behind index.Guard; nil: answers are not checked before they are
	// posted.
	Library Library
	// Viewer is where people read cited passages; the zero Viewer: nowhere.
	Viewer Viewer
	// Check looks at cited documents where they come from, before an answer is posted; nil: they
	// are shown as the index has them.
	Check Check
	// RefreshAccess has those asked for anew who are in groups of audiences, before an answer is
	// posted that rests on documents for them; nil: nobody is asked.
	RefreshAccess func(ctx context.Context, audiences []knowledge.Audience)
	// Corrections looks whether what people say in a thread corrects what its answer cites; nil:
	// nobody looks.
	Corrections Corrections
	// Curation is how answers are pinned to questions; nil: none can be.
	Curation *Curation
	// ComposeDigest writes the digests that EnqueueDigest queues; nil: they are left to other
	// workers.
	ComposeDigest ComposeDigest
	// Keep remembers what people said; nil: nothing can be.
	Keep Keep
	// Openers are the adapters that can talk to a person alone, by name. They are apart from
	// Adapters, for what measures those offers no more than it measures.
	Openers map[string]chat.PrivateOpener
	// Withdraw says which answers WatchCitations takes back (none).
	Withdraw Withdrawal
	// Examples gives things that the documents answer well, in a language ("de") or where
	// there are none in English; nil: none are offered.
	Examples func(ctx context.Context, language string, limit int) ([]Example, error)
	Now      func() time.Time // nil: time.Now
}

var (
	_ chat.Handler      = (*Bot)(nil)
	_ chat.Transcripts  = (*Bot)(nil)
	_ chat.Controls     = (*Bot)(nil)
	_ chat.RunThreads   = (*Bot)(nil)
	_ chat.Threads      = (*Bot)(nil)
	_ chat.Graphs       = (*Bot)(nil)
	_ chat.Changes      = (*Bot)(nil)
	_ chat.Ratings      = (*Bot)(nil)
	_ chat.SourceReader = (*Bot)(nil)
	_ chat.Curating     = (*Bot)(nil)
)

// New makes a bot, or says what its options lack.
func New(options Options) (*Bot, error) {
	switch {
	case options.Store == nil, options.Logger == nil:
		return nil, errors.New("make the bot: Options need a Store and a Logger")
	case len(options.Flows) == 0:
		return nil, errors.New("make the bot: Options need at least one flow")
	}
	for _, field := range []struct {
		value    *time.Duration
		standard time.Duration
	}{
		{&options.Grace, 25 * time.Second}, {&options.LeaseTTL, 10 * time.Second},
		{&options.RemindAfter, time.Hour}, {&options.ExpireAfter, 24 * time.Hour},
		{&options.EditWindow, 15 * time.Minute},
		{&options.LookAfter, 10 * time.Second}, {&options.TidyAfter, 45 * time.Second},
	} {
		if *field.value == 0 {
			*field.value = field.standard
		}
	}
	if options.Parallel == 0 {
		options.Parallel = 8
	}
	if options.Accompany == nil {
		options.Accompany = func(ctx context.Context, _ runs.Lease) (context.Context, func(bool)) { return ctx, func(bool) {} }
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	b := &Bot{
		options: options, store: options.Store, sessions: options.Store.Sessions(), records: options.Store.Records(),
		logger: options.Logger, now: options.Now, flows: make(map[string]flows.Flow), first: options.Flows[0].Name(),
	}
	b.readers, b.documents = newPlaceReaders(options), documentAccess{options.Access, options.Library, options.Viewer, options.Check, options.RefreshAccess}
	var names []string
	for _, flow := range options.Flows {
		b.flows[flow.Name()] = flow
		names = append(names, flow.Name())
	}
	if b.options.Router == nil {
		var err error
		if b.options.Router, err = routing.New(routing.Options{Flows: names, First: b.first}); err != nil {
			return nil, fmt.Errorf("make the bot: %w", err)
		}
	}
	return b, nil
}

// Transcript implements chat.Transcripts.
func (b *Bot) Transcript(ctx context.Context, thread chat.ThreadID) ([]chat.Turn, error) {
	remembered, err := b.sessions.Load(ctx, thread)
	return remembered.Turns, err
}

// Threads implements chat.Threads.
func (b *Bot) Threads(ctx context.Context, adapter string, by chat.UserID, limit int) ([]chat.ThreadSummary, error) {
	if limit <= 0 {
		return nil, fmt.Errorf("list the threads of %s: the limit is %d, it must be positive", adapter, limit)
	}
	return b.sessions.Threads(ctx, adapter, by, limit)
}

// Graph implements chat.Graphs.
func (b *Bot) Graph(flow string) (svg string, known bool) {
	registered, known := b.flows[flow]
	if !known {
		return "", false
	}
	return draw.SVG(registered.Shape()), true
}

// NewRunID makes an id that no other run has.
func NewRunID() string { return "run-" + rand.Text()[:16] }

// keyOf gives the key under which what comes of a job is posted. It is always the same:
// the platform is asked for it even where the store has forgotten that it was used.
func keyOf(job runs.Job) runs.DeliveryKey {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %d", job.Thread(), job.Event, job.Enqueued.UnixMilli()))
	return runs.DeliveryKey(base32.StdEncoding.EncodeToString(sum[:])[:24])
}
