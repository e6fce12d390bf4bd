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
	committing chan struct{} // holds one while it is committed, so that who waits can be given up
	changes    *store.Commit
}

func newRunStart() *runStart { return &runStart{committing: make(chan struct{}, 1)} }

// commit commits that the run began, if that is not done, with a checkpoint, if there is one.
func (s *runStart) commit(ctx context.Context, journal store.Journal, checkpoint *store.Checkpoint) error {
	select {
	case s.committing <- struct{}{}:
		defer func() { <-s.committing }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	var changes store.Commit
	if s.changes != nil {
		changes = *s.changes
	}
	if changes.Checkpoint = checkpoint; changes.IsZero() {
		return nil
	}
	_, err := journal.Commit(ctx, changes)
	if err == nil {
		s.changes = nil
	}
	return err
}

// putOff keeps the commit for later; nil: something later takes its place.
func (s *runStart) putOff(changes *store.Commit) {
	s.committing <- struct{}{}
	defer func() { <-s.committing }()
	s.changes = changes
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
	changes := store.Commit{Session: &remembered, Records: append(t.takeChanged(), t.record)}
	if isNew && answer == nil && len(t.closed) == 0 && len(changes.Records) == 1 {
		t.start.putOff(&changes)
		return nil
	}
	return t.commit(ctx, changes)
}

// commitStart commits that the run began, where that was put off.
func (t *turn) commitStart(ctx context.Context) error {
	if err := t.start.commit(ctx, t.journal, nil); err != nil {
		return &storeError{err}
	}
	return nil
}

// takeChanged returns the records that are to be committed with the session.
func (t *turn) takeChanged() []runs.Record {
	changed := t.changed
	t.changed = nil
	return changed
}

// commit commits changes alone.
func (t *turn) commit(ctx context.Context, changes store.Commit) error {
	_, err := t.journal.Commit(ctx, changes)
	return err
}

// commitStartLate commits that the run began while the run works. It goes on when that ends: what
// comes of the run must not be overtaken. What fails is tried again with the first checkpoint.
func (t *turn) commitStartLate(ctx context.Context) {
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer done()
	if err := t.start.commit(ctx, t.journal, nil); err != nil {
		t.logger.WarnContext(ctx, "commit start of run", "run", string(t.record.ID), "error", err)
	}
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
	changed   []runs.Record
}

func (t *turn) copyState() turnState {
	return turnState{t.message, copySession(t.session), t.open, t.record, t.note, slices.Clone(t.closed), t.published, slices.Clone(t.changed)}
}

// restoreState has the turn be as it was before it was concluded.
func (t *turn) restoreState(before turnState) {
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
