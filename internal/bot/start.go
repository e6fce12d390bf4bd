package bot

import (
	"context"
	"slices"
	"time"

	"cairn/internal/chat"
	"cairn/internal/graph"
	"cairn/internal/runs"
	"cairn/internal/session"
	"cairn/internal/store"
)

// startDelay is how long it is put off to commit that a run began.
const startDelay = 100 * time.Millisecond

// runStart is the commit that a run began. It is put off where nothing but the run itself
// depends on it, until the run's first checkpoint, or for startDelay: what comes of a run that is
// done by then is committed in its place. Where a worker dies before that, the next one
// decides anew about the job.
type runStart struct {
	changes chan *store.Commit // holds one, which is taken out while it is committed; nil: that is done
}

func newRunStart() runStart {
	start := runStart{make(chan *store.Commit, 1)}
	start.changes <- nil
	return start
}

// commit commits that the run began, if that is not done, with a checkpoint, if there is one.
func (s runStart) commit(ctx context.Context, journal store.Journal, checkpoint *store.Checkpoint) error {
	left := <-s.changes
	defer func() { s.changes <- left }()
	var changes store.Commit
	if left != nil {
		changes = *left
	}
	if changes.Checkpoint = checkpoint; changes.IsZero() {
		return nil
	}
	_, err := journal.Commit(ctx, changes)
	if err == nil {
		left = nil
	}
	return err
}

// putOff keeps the commit for later.
func (s runStart) putOff(changes *store.Commit) {
	<-s.changes
	s.changes <- changes
}

// saveRunStart saves that the record's run works now, with the answer if it was given one. What
// closed a question, or goes on with a run, is committed at once: people see it.
func (t *turn) saveRunStart(ctx context.Context, answer *graph.Answer, reason string) error {
	isNew := len(t.record.Transitions) == 1
	if t.record.Status() != runs.Running {
		t.record.Move(runs.Running, t.now(), reason)
	}
	t.setWork(session.Work{Run: t.record.ID, Answer: answer})
	remembered := copySession(t.session)
	changes := store.Commit{Session: &remembered, Records: append(t.changed.take(), t.record)}
	if isNew && answer == nil && len(t.closed) == 0 && len(changes.Records) == 1 {
		t.start.putOff(&changes)
		return nil
	}
	return commit(ctx, t.journal, changes)
}

// commitStart commits that the run began, where that was put off.
func (t *turn) commitStart(ctx context.Context) error {
	if err := t.start.commit(ctx, t.journal, nil); err != nil {
		return &storeError{err}
	}
	return nil
}

// changedRecords are records that are to be committed with the session next.
type changedRecords []runs.Record

func (c *changedRecords) take() []runs.Record {
	changed := *c
	*c = nil
	return changed
}

// commit commits changes by a journal.
func commit(ctx context.Context, journal store.Journal, changes store.Commit) error {
	_, err := journal.Commit(ctx, changes)
	return err
}

// commitLate commits that the run began while the run works. It goes on when that ends: what comes
// of the run must not be overtaken. What fails is tried again with the first checkpoint.
func (s runStart) commitLate(ctx context.Context, journal store.Journal) error {
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer done()
	return s.commit(ctx, journal, nil)
}

// turnState is what changes of a turn while it is concluded, up to the commit.
type turnState struct {
	message   chat.Message
	session   session.Session
	open      runs.Record
	record    runs.Record
	note      string
	closed    []string
	published bool
	changed   changedRecords
}

func copyState(t *turn) turnState {
	return turnState{t.message, copySession(t.session), t.open, t.record, t.note, slices.Clone(t.closed), t.published, slices.Clone(t.changed)}
}

// restoreTo has the turn be as it was before it was concluded.
func (before turnState) restoreTo(t *turn) {
	t.message, t.session, t.open, t.record = before.message, before.session, before.open, before.record
	t.note, t.closed, t.published, t.changed = before.note, before.closed, before.published, before.changed
}

// copySession returns a session that stays as it is when turns and work of this one change.
func copySession(s session.Session) session.Session {
	s.Turns = slices.Clone(s.Turns)
	if s.Work != nil {
		work := *s.Work
		s.Work = &work
	}
	return s
}
