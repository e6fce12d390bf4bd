package bot

import (
	"context"
	"slices"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/session"
	"github.com/cairn-bot/cairn/internal/store"
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
	if left == nil && checkpoint == nil {
		return nil
	}
	var changes store.Commit
	if left != nil {
		changes = *left
	}
	changes.Checkpoint = checkpoint
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
func (c *conclusion) saveRunStart(ctx context.Context, answer *graph.Answer, reason string) error {
	isNew := len(c.job.record.Transitions) == 1
	if c.job.record.Status() != runs.Running {
		c.job.record.Move(runs.Running, c.job.now(), reason)
	}
	c.conversation.setWork(session.Work{Run: c.job.record.ID, Answer: answer})
	remembered := copySession(c.conversation.session)
	changes := store.Commit{Session: &remembered, Records: append(c.conversation.changed, c.job.record)}
	c.conversation.changed = nil
	if isNew && answer == nil && len(c.conversation.closed) == 0 && len(changes.Records) == 1 {
		c.job.start.putOff(&changes)
		return nil
	}
	_, err := c.job.journal.Commit(ctx, changes)
	return err
}

// commitStart commits that the run began, where that was put off.
func (c *conclusion) commitStart(ctx context.Context) error {
	if err := c.job.start.commit(ctx, c.job.journal, nil); err != nil {
		return &storeError{err}
	}
	return nil
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
	message      chat.Message
	record       runs.Record
	conversation conversation
}

func copyState(t *turn) turnState {
	copied := *t.conversation
	copied.session = copySession(copied.session)
	copied.closed, copied.changed = slices.Clone(copied.closed), slices.Clone(copied.changed)
	return turnState{t.job.message, t.job.record, copied}
}

// restoreTo has the turn be as it was before it was concluded.
func (before turnState) restoreTo(t *turn) {
	t.job.message, t.job.record, *t.conversation = before.message, before.record, before.conversation
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
