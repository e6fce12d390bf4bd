package bot_test

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/session"
	"github.com/cairn-bot/cairn/internal/store"
)

var errDead = errors.New("this process is dead")

// fate is a process that dies at one of its calls of the outside, before the call or
// after it was done. A dead process can do nothing any more. One with a thaw is only
// stopped, as by SIGSTOP: it goes on when thaw is closed.
type fate struct {
	at    int // the call, from 1; 0: it lives for ever
	after bool
	died  chan struct{}
	thaw  chan struct{} // nil: it is dead for good

	mu    sync.Mutex
	calls int
	last  string // the call at which it died
}

func newFate(at int, after bool) *fate {
	return &fate{at: at, after: after, died: make(chan struct{})}
}

func (f *fate) dead() bool {
	select {
	case <-f.died:
		return true
	default:
		return false
	}
}

// meet is one call of the outside.
func (f *fate) meet(name string, do func() error) error {
	if err := f.wait(); err != nil {
		return err
	}
	dies := f.count(name)
	if err := f.wait(); err != nil {
		return err
	}
	err := do()
	if dies && f.after {
		close(f.died)
	}
	if gone := f.wait(); gone != nil {
		return gone
	}
	return err
}

// count counts a call, and says whether it is the last one. A process that dies before the call is
// dead at once: no other call gets through.
func (f *fate) count(name string) (dies bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dead() {
		return false
	}
	f.calls++
	if f.calls != f.at {
		return false
	}
	f.last = name
	if !f.after {
		close(f.died)
	}
	return true
}

// wait gives an error in a process that is dead, and waits in one that is stopped.
func (f *fate) wait() error {
	switch {
	case !f.dead():
		return nil
	case f.thaw == nil:
		return errDead
	}
	<-f.thaw
	return nil
}

func meet[T any](f *fate, name string, do func() (T, error)) (got T, err error) {
	err = f.meet(name, func() error {
		got, err = do()
		return err
	})
	if errors.Is(err, errDead) {
		var none T
		return none, err
	}
	return got, err
}

// mortalRuns, mortalSessions, mortalRecords and mortalPoster are the outside of a
// process with a fate. Renewals count for nothing: they come by the clock.
type mortalRuns struct {
	store.Store
	*fate
}

func (m mortalRuns) Sessions() session.Store { return mortalSessions{m.Store.Sessions(), m.fate} }
func (m mortalRuns) Records() store.Records  { return mortalRecords{m.Store.Records(), m.fate} }

func (m mortalRuns) Enqueue(ctx context.Context, job runs.Job) (bool, error) {
	return meet(m.fate, "enqueue", func() (bool, error) { return m.Store.Enqueue(ctx, job) })
}

func (m mortalRuns) EnqueueAfter(ctx context.Context, job runs.Job, delay time.Duration) (bool, error) {
	return meet(m.fate, "enqueue after", func() (bool, error) { return m.Store.EnqueueAfter(ctx, job, delay) })
}

func (m mortalRuns) Claim(ctx context.Context, worker runs.WorkerID) (runs.Lease, error) {
	lease, err := m.Store.Claim(ctx, worker)
	if err != nil {
		return lease, err
	}
	return meet(m.fate, "claim", func() (runs.Lease, error) { return lease, nil })
}

func (m mortalRuns) Renew(ctx context.Context, lease runs.Lease) (runs.Renewal, error) {
	if err := m.wait(); err != nil {
		return runs.Renewal{}, err
	}
	return m.Store.Renew(ctx, lease)
}

func (m mortalRuns) Finish(ctx context.Context, lease runs.Lease, result runs.Result) error {
	return m.meet("finish", func() error { return m.Store.Finish(ctx, lease, result) })
}

func (m mortalRuns) Release(ctx context.Context, lease runs.Lease) error {
	return m.meet("release", func() error { return m.Store.Release(ctx, lease) })
}

func (m mortalRuns) Stop(ctx context.Context, thread chat.ThreadID, event runs.EventID, by chat.UserID) (bool, error) {
	return meet(m.fate, "stop", func() (bool, error) { return m.Store.Stop(ctx, thread, event, by) })
}

func (m mortalRuns) State(ctx context.Context, thread chat.ThreadID) (runs.ThreadState, error) {
	return meet(m.fate, "state", func() (runs.ThreadState, error) { return m.Store.State(ctx, thread) })
}

func (m mortalRuns) Forget(ctx context.Context, thread chat.ThreadID, by chat.UserID, of []chat.RunID) error {
	return m.meet("forget", func() error { return m.Store.Forget(ctx, thread, by, of) })
}

// LoadEdit counts for nothing: an edit is looked for by the clock, too.
func (m mortalRuns) LoadEdit(ctx context.Context, thread chat.ThreadID, message chat.MessageID) (runs.Edit, bool, error) {
	if err := m.wait(); err != nil {
		return runs.Edit{}, false, err
	}
	return m.Store.LoadEdit(ctx, thread, message)
}

func (m mortalRuns) SaveEdit(ctx context.Context, edit runs.Edit) error {
	return m.meet("save edit", func() error { return m.Store.SaveEdit(ctx, edit) })
}

func (m mortalRuns) EraseEdit(ctx context.Context, thread chat.ThreadID, message chat.MessageID) error {
	return m.meet("erase edit", func() error { return m.Store.EraseEdit(ctx, thread, message) })
}

func (m mortalRuns) Journal(lease runs.Lease) store.Journal {
	return mortalJournal{m.Store.Journal(lease), m.fate}
}

type mortalJournal struct {
	store.Journal
	*fate
}

func (m mortalJournal) Save(ctx context.Context, run string, checkpoint []byte) error {
	return m.meet("save checkpoint", func() error { return m.Journal.Save(ctx, run, checkpoint) })
}

func (m mortalJournal) Load(ctx context.Context, run string) ([]byte, error) {
	return meet(m.fate, "load checkpoint", func() ([]byte, error) { return m.Journal.Load(ctx, run) })
}

func (m mortalJournal) Commit(ctx context.Context, changes store.Commit) (store.Committed, error) {
	return meet(m.fate, "commit", func() (store.Committed, error) { return m.Journal.Commit(ctx, changes) })
}

func (m mortalJournal) Show(ctx context.Context, event runs.Event) error {
	if err := m.wait(); err != nil {
		return err
	}
	return m.Journal.Show(ctx, event)
}

type mortalSessions struct {
	session.Store
	*fate
}

func (m mortalSessions) Load(ctx context.Context, thread chat.ThreadID) (session.Session, error) {
	return meet(m.fate, "load session", func() (session.Session, error) { return m.Store.Load(ctx, thread) })
}

type mortalRecords struct {
	store.Records
	*fate
}

func (m mortalRecords) Load(ctx context.Context, run chat.RunID) (runs.Record, error) {
	return meet(m.fate, "load record", func() (runs.Record, error) { return m.Records.Load(ctx, run) })
}

func (m mortalRecords) Erase(ctx context.Context, run chat.RunID) error {
	return m.meet("erase record", func() error { return m.Records.Erase(ctx, run) })
}

type mortalPoster struct {
	*chattest.Platform
	*fate
}

func (m mortalPoster) Post(ctx context.Context, thread chat.ThreadID, key chat.PostKey, post chat.Post) (chat.MessageID, error) {
	return meet(m.fate, "post", func() (chat.MessageID, error) { return m.Platform.Post(ctx, thread, key, post) })
}

func (m mortalPoster) Find(ctx context.Context, thread chat.ThreadID, key chat.PostKey) (posted chat.MessageID, found bool, err error) {
	err = m.meet("find", func() error {
		posted, found, err = m.Platform.Find(ctx, thread, key)
		return err
	})
	return posted, found, err
}

func (m mortalPoster) Edit(ctx context.Context, thread chat.ThreadID, message chat.MessageID, post chat.Post) error {
	return m.meet("edit", func() error { return m.Platform.Edit(ctx, thread, message, post) })
}

func (m mortalPoster) Retract(ctx context.Context, thread chat.ThreadID, message chat.MessageID) error {
	return m.meet("retract", func() error { return m.Platform.Retract(ctx, thread, message) })
}

func (m mortalPoster) Fetch(ctx context.Context, thread chat.ThreadID, file chat.File, limit int64) ([]byte, error) {
	return meet(m.fate, "fetch", func() ([]byte, error) { return m.Platform.Fetch(ctx, thread, file, limit) })
}

func (m mortalPoster) Draft(ctx context.Context, work chat.Work) (chat.Draft, error) {
	made, err := meet(m.fate, "draft", func() (chat.Draft, error) { return m.Platform.Draft(ctx, work) })
	if err != nil {
		return nil, err
	}
	return mortalDraft{made, m.fate}, nil
}

func (m mortalPoster) Tidy(ctx context.Context, thread chat.ThreadID, late chat.Late) error {
	return m.meet("tidy", func() error { return m.Platform.Tidy(ctx, thread, late) })
}

// mortalDraft is a draft of a process with a fate. What it shows of a run counts for
// nothing: how often that is depends on how fast the platform is.
type mortalDraft struct {
	chat.Draft
	*fate
}

func (m mortalDraft) Progress(ctx context.Context, progress chat.Progress) error {
	if err := m.wait(); err != nil {
		return err
	}
	return m.Draft.Progress(ctx, progress)
}

func (m mortalDraft) Stream(ctx context.Context, token chat.Token) error {
	if err := m.wait(); err != nil {
		return err
	}
	return m.Draft.Stream(ctx, token)
}

func (m mortalDraft) Finish(ctx context.Context, key chat.PostKey, post chat.Post) (chat.MessageID, error) {
	return meet(m.fate, "finish draft", func() (chat.MessageID, error) { return m.Draft.Finish(ctx, key, post) })
}

func (m mortalDraft) Wait(ctx context.Context, about time.Duration) error {
	return m.meet("wait of draft", func() error { return m.Draft.Wait(ctx, about) })
}

func (m mortalDraft) Close(ctx context.Context) error {
	return m.meet("close draft", func() error { return m.Draft.Close(ctx) })
}
