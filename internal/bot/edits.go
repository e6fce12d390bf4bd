package bot

import (
	"context"
	"errors"
	"sync"
	"time"

	"cairn/internal/chat"
	"cairn/internal/runs"
	"cairn/internal/session"
)

// changed is what became of the message that a job is about while the job waited or was
// worked at.
type changed int

const (
	unchanged changed = iota
	reworded          // it has another text: the job is about that
	pointless         // it is gone, or a later job has its next text
)

// errChanged ends the work at a message that changed.
var errChanged = errors.New("the message changed")

// lookEvery is how often an edit is looked for while a run works.
const lookEvery = 400 * time.Millisecond

// startsRun tells the jobs that a person's message, or a person, started a run by.
func startsRun(kind runs.Kind) bool {
	return kind == runs.Said || kind == "" || kind == editedJob || kind == runs.Retry
}

// findEdit looks whether the job's message changed in a way that matters to it. record is the
// job's, where it has one.
func (t *turn) findEdit(ctx context.Context) (edit runs.Edit, found changed, err error) {
	if !startsRun(t.job.Kind) {
		return runs.Edit{}, unchanged, nil
	}
	thread, message := t.message.Thread, t.job.Message.ID
	edit, ok, err := t.store.LoadEdit(ctx, thread, message)
	switch {
	case err != nil:
		return runs.Edit{}, unchanged, err
	case ok && edit.Deleted:
		return edit, pointless, nil
	case ok && t.job.Kind == editedJob && edit.Text != t.job.Message.Text:
		return edit, pointless, nil
	case ok && t.isReworded(edit):
		return edit, reworded, nil
	}
	if t.record.Message == "" || t.record.Message == message {
		return runs.Edit{}, unchanged, nil
	}
	about, ok, err := t.store.LoadEdit(ctx, thread, t.record.Message)
	if err != nil || !ok || !about.Deleted {
		return runs.Edit{}, unchanged, err
	}
	return about, pointless, nil
}

// isReworded tells whether an edit is of a message that was written lately, and that a run
// is being made from, or none yet. One that answered a question is left as it was.
func (t *turn) isReworded(edit runs.Edit) bool {
	said := t.job.Kind == runs.Said || t.job.Kind == ""
	if !said || t.job.Message.Answers != nil || edit.Author != t.job.Message.Author || t.now().Sub(t.job.Enqueued) > t.options.EditWindow {
		return false
	}
	if t.record.ID != "" && (t.record.Message != t.job.Message.ID || t.session.Work.Answer != nil) {
		return false
	}
	now, files := t.job.Message.Text, t.job.Message.Files
	if at := personTurn(t.session.Turns, t.job.Message.ID); at >= 0 {
		now, files = t.session.Turns[at].Text, t.session.Turns[at].Files
	}
	return truncateText(now, maxText) != truncateText(edit.Text, maxText) || addsFiles(files, edit.Files)
}

// checkEdits looks, before anything is done about the job, whether its message changed
// meanwhile. done says that there is no more to do about it.
func (t *turn) checkEdits(ctx context.Context) (done bool, result runs.Result, err error) {
	work := t.session.Work
	if t.again && (work.Over || work.Run == "") {
		return false, runs.Result{}, nil // what came of it is said already: the change's own job sees to that
	}
	if t.again {
		if t.record, err = t.records.Load(ctx, work.Run); err != nil {
			return false, runs.Result{}, err
		}
	}
	if !t.lease.Behind { // a change is a job behind the one that it is about
		return false, runs.Result{}, nil
	}
	edit, found, err := t.findEdit(ctx)
	if err == nil && found != unchanged {
		err = t.recallBegun(ctx)
	}
	switch {
	case err != nil:
		return false, runs.Result{}, err
	case found == pointless:
		result, err = t.dropJob(ctx)
		return true, result, err
	case found == reworded:
		t.replaceRequest(edit)
	}
	return false, runs.Result{}, nil
}

// recallBegun finds the run that the job began, also where the session does not know it
// yet.
func (t *turn) recallBegun(ctx context.Context) error {
	if t.record.ID != "" || t.job.Run == "" {
		return nil
	}
	record, err := t.records.Load(ctx, t.job.Run)
	if err == nil {
		t.record = record
	} else if !errors.Is(err, chat.ErrUnknownRun) {
		return err
	}
	return nil
}

// beginAnew deals with the job once more, whose message changed while it was worked at.
func (t *turn) beginAnew(ctx, held context.Context) (runs.Result, error) {
	t.closeDraft(ctx)
	if err := t.commitStart(ctx); err != nil {
		return runs.Result{}, err
	}
	fresh := &turn{worker: t.worker, lease: t.lease, job: t.job, message: t.job.Message, journal: t.journal, poster: t.poster, start: newRunStart()}
	fresh.lease.Behind, fresh.lease.SessionUnread = true, true
	fresh.message.Thread = t.message.Thread
	result, err := fresh.dispatchJob(ctx, held)
	t.posted, t.final, t.told = fresh.posted, fresh.final, fresh.told
	t.uncertain, t.sent, t.late = fresh.uncertain, fresh.sent, t.late || fresh.late
	return result, err
}

// replaceRequest has the job be about the new text of its message. A run that was made from the
// old one is over, and said nothing.
func (t *turn) replaceRequest(edit runs.Edit) {
	t.callOff("its message was edited")
	t.record = runs.Record{}
	if t.again {
		t.note, t.closed, t.again = t.session.Work.Note, t.session.Work.Closed, false
	}
	t.message.Text, t.message.Depth = edit.Text, edit.Depth
	if addsFiles(t.message.Files, edit.Files) {
		t.message.Files = edit.Files
	}
	t.job.Run = chat.RunID("run-" + digest("%q %q %q %d %q", edit.Thread, edit.Message, edit.Text, edit.At.UnixNano(), fileIDs(edit.Files)))
	t.rewriteTurn(t.message)
}

// rewriteTurn puts the new text of a message among the turns, where it has one.
func (t *turn) rewriteTurn(message chat.Message) {
	at := personTurn(t.session.Turns, message.ID)
	if at < 0 {
		return
	}
	turn := &t.session.Turns[at]
	turn.Text = truncateText(message.Text, maxText)
	if addsFiles(turn.Files, message.Files) {
		turn.Files = message.Files
	}
	t.updateTitle()
}

// updateTitle names the thread anew after its first message.
func (t *turn) updateTitle() {
	var named session.Session
	for _, turn := range t.session.Turns {
		if turn.Role == chat.Person && named.Title == "" {
			named.Add(turn)
		}
	}
	t.session.Title = named.Title
}

// dropJob ends the job without a word.
func (t *turn) dropJob(ctx context.Context) (runs.Result, error) {
	over := t.record.ID
	t.callOff("its message was deleted or edited")
	t.message.ID = ""
	if t.again {
		t.note, t.closed = t.session.Work.Note, t.session.Work.Closed
		t.session.Work.Message = ""
	}
	return t.commitAndShow(ctx, runs.Result{Over: over})
}

// callOff ends the record's run, if there is one.
func (t *turn) callOff(reason string) {
	if t.record.ID == "" || t.record.Status() == runs.Cancelled {
		return
	}
	t.record.Move(runs.Cancelled, t.now(), reason)
	t.changed = append(t.changed, t.record)
}

// eraseEdit erases the edit that the job is of, unless a later one took its place.
func (t *turn) eraseEdit(ctx context.Context) error {
	thread, message := t.message.Thread, t.job.Message.ID
	edit, ok, err := t.store.LoadEdit(ctx, thread, message)
	if err != nil || !ok {
		return err
	}
	if edit.Deleted != (t.job.Kind == deletedJob) || t.job.Kind == editedJob && edit.Text != t.job.Message.Text {
		return nil
	}
	return t.store.EraseEdit(ctx, thread, message)
}

// holdUnchanged gives a context that ends with the held one, or with errChanged when the
// job's message changes, and commits that the run began once startDelay is over. release ends
// the watch, and must be called.
func (t *turn) holdUnchanged(held context.Context) (driving context.Context, release func()) {
	driving, cancel := context.WithCancelCause(held)
	var watching sync.WaitGroup
	watching.Go(func() {
		ticker := time.NewTicker(lookEvery)
		defer ticker.Stop()
		begun := time.NewTimer(startDelay)
		defer begun.Stop()
		for {
			select {
			case <-driving.Done():
				return
			case <-begun.C:
				if err := t.start.commitLate(driving, t.journal); err != nil {
					t.logger.WarnContext(driving, "commit start of run", "run", string(t.record.ID), "error", err)
				}
				continue
			case <-ticker.C:
			}
			// What fails here is looked at again, at the next tick and when the run is over.
			if _, found, err := t.findEdit(driving); err == nil && found != unchanged {
				cancel(errChanged)
				return
			}
		}
	})
	return driving, func() {
		cancel(nil)
		watching.Wait()
	}
}
