package bot

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// changed is what became of the message that a job is about while the job waited or was
// worked at.
type changed int

const (
	unchanged changed = iota
	reworded          // it has another text: the job is about that
	pointless         // it is gone, or a later job has its next text
)

// edits finds out what changes of messages mean for a job.
type edits struct {
	job          *job
	conversation *conversation
	store        runs.Edits
	records      runs.Records
	window       time.Duration // Options.EditWindow
}

// errChanged ends the work at a message that changed.
var errChanged = errors.New("the message changed")

// lookEvery is how often an edit is looked for while a run works.
const lookEvery = 400 * time.Millisecond

// startsRun tells the jobs that a person's message, or a person, started a run by.
func startsRun(kind runs.Kind) bool {
	return kind == runs.Said || kind == "" || kind == editedJob || kind == rewriteJob || kind == runs.Retry
}

// findEdit looks whether the job's message changed in a way that matters to it. record is the
// job's, where it has one.
func (e *edits) findEdit(ctx context.Context) (edit runs.Edit, found changed, err error) {
	if !startsRun(e.job.entry.Kind) {
		return runs.Edit{}, unchanged, nil
	}
	thread, message := e.job.message.Thread, e.job.entry.Message.ID
	edit, ok, err := e.store.LoadEdit(ctx, thread, message)
	switch {
	case err != nil:
		return runs.Edit{}, unchanged, err
	case ok && edit.Deleted:
		return edit, pointless, nil
	case ok && e.job.entry.Kind == editedJob && edit.Text != e.job.entry.Message.Text:
		return edit, pointless, nil
	case ok && e.isReworded(edit):
		return edit, reworded, nil
	}
	if e.job.record.Message == "" || e.job.record.Message == message {
		return runs.Edit{}, unchanged, nil
	}
	about, ok, err := e.store.LoadEdit(ctx, thread, e.job.record.Message)
	if err != nil || !ok || !about.Deleted {
		return runs.Edit{}, unchanged, err
	}
	return about, pointless, nil
}

// isReworded tells whether an edit is of a message that was written lately, and that a run
// is being made from, or none yet. One that answered a question is left as it was.
func (e *edits) isReworded(edit runs.Edit) bool {
	said := e.job.entry.Kind == runs.Said || e.job.entry.Kind == ""
	if !said || e.job.entry.Message.Answers != nil || edit.Author != e.job.entry.Message.Author || e.job.now().Sub(e.job.entry.Enqueued) > e.window {
		return false
	}
	if e.job.record.ID != "" && (e.job.record.Message != e.job.entry.Message.ID || e.conversation.session.Work.Answer != nil) {
		return false
	}
	now, files := e.job.entry.Message.Text, e.job.entry.Message.Files
	if at := personTurn(e.conversation.session.Turns, e.job.entry.Message.ID); at >= 0 {
		now, files = e.conversation.session.Turns[at].Text, e.conversation.session.Turns[at].Files
	}
	return shorten.Head(now, maxText) != shorten.Head(edit.Text, maxText) || addsFiles(files, edit.Files)
}

// checkEdits looks, before anything is done about the job, whether its message changed
// meanwhile. Where the message is reworded the job is about its new text from then on; where it is
// pointless there is no more to do about it.
func (e *edits) checkEdits(ctx context.Context) (changed, error) {
	work := e.conversation.session.Work
	if e.job.again && (work.Over || work.Run == "") {
		return unchanged, nil // what came of it is said already: the change's own job sees to that
	}
	if e.job.again {
		var err error
		if e.job.record, err = e.records.Load(ctx, work.Run); err != nil {
			return unchanged, err
		}
	}
	if !e.job.lease.Behind { // a change is a job behind the one that it is about
		return unchanged, nil
	}
	edit, found, err := e.findEdit(ctx)
	if err != nil || found == unchanged {
		return unchanged, err
	}
	if err := e.recallBegun(ctx); err != nil {
		return unchanged, err
	}
	if found == reworded {
		e.replaceRequest(edit)
	}
	return found, nil
}

// recallBegun finds the run that the job began, also where the session does not know it
// yet.
func (e *edits) recallBegun(ctx context.Context) error {
	if e.job.record.ID != "" || e.job.entry.Run == "" {
		return nil
	}
	record, err := e.records.Load(ctx, e.job.entry.Run)
	if err == nil {
		e.job.record = record
	} else if !errors.Is(err, chat.ErrUnknownRun) {
		return err
	}
	return nil
}

// replaceRequest has the job be about the new text of its message. A run that was made from the
// old one is over, and said nothing.
func (e *edits) replaceRequest(edit runs.Edit) {
	e.conversation.cancelRun("its message was edited")
	e.job.record = runs.Record{}
	if e.job.again {
		e.conversation.note, e.conversation.closed, e.job.again = e.conversation.session.Work.Note, e.conversation.session.Work.Closed, false
	}
	e.job.message.Text, e.job.message.Depth = edit.Text, edit.Depth
	if addsFiles(e.job.message.Files, edit.Files) {
		e.job.message.Files = edit.Files
	}
	e.job.entry.Run = chat.RunID("run-" + shortDigest("%q %q %q %d %q", edit.Thread, edit.Message, edit.Text, edit.At.UnixNano(), fileIDs(edit.Files)))
	e.conversation.rewriteTurn(e.job.message)
}

// eraseEdit erases the edit that the job is of, unless a later one took its place.
func (e *edits) eraseEdit(ctx context.Context) error {
	thread, message := e.job.message.Thread, e.job.entry.Message.ID
	edit, ok, err := e.store.LoadEdit(ctx, thread, message)
	if err != nil || !ok {
		return err
	}
	if edit.Deleted != (e.job.entry.Kind == deletedJob) || e.job.entry.Kind == editedJob && edit.Text != e.job.entry.Message.Text {
		return nil
	}
	return e.store.EraseEdit(ctx, thread, message)
}

// holdUnchanged gives a context that ends with the held one, or with errChanged when the
// job's message changes, and commits that the run began once startDelay is over. release ends
// the watch, and must be called.
func (e *edits) holdUnchanged(held context.Context) (driving context.Context, release func()) {
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
				if err := e.job.start.commitLate(driving, e.job.journal); err != nil {
					e.job.logger.WarnContext(driving, "commit start of run", "run", string(e.job.record.ID), "error", err)
				}
				continue
			case <-ticker.C:
			}
			// What fails here is looked at again, at the next tick and when the run is over.
			if _, found, err := e.findEdit(driving); err == nil && found != unchanged {
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

// reviewEdit finds out whether an edit counts: that of a message which was written lately,
// by the one who edited it, who wrote nothing after it, that says something else now or brings
// more files, and answered no question.
func (e *edits) reviewEdit(ctx context.Context) (editReview, error) {
	turns := e.conversation.session.Turns
	at := personTurn(turns, e.job.message.ID)
	if at < 0 || turns[at].Author != e.job.message.Author {
		return editMeansNothing, nil
	}
	if turns[at].Text == shorten.Head(e.job.message.Text, maxText) && !addsFiles(turns[at].Files, e.job.message.Files) {
		return e.reviewDepth(ctx)
	}
	if slices.ContainsFunc(turns[at+1:], func(turn chat.Turn) bool { return turn.Role == chat.Person && turn.Author == e.job.message.Author }) {
		return editMeansNothing, nil
	}
	if said := lastSaid(turns, e.job.message.ID); said >= 0 && runOf(turns[said]) != "" {
		record, err := e.records.Load(ctx, runOf(turns[said]))
		switch {
		case errors.Is(err, chat.ErrUnknownRun):
		case err != nil:
			return editMeansNothing, err
		case record.Message != e.job.message.ID:
			return editMeansNothing, nil
		}
	}
	if e.job.entry.Enqueued.Sub(turns[at].At) > e.window {
		return editLate, nil
	}
	return editCounts, nil
}

// reviewDepth finds out whether an edit asks for an answer of another depth, and nothing else:
// that counts for as long as the answer is remembered.
func (e *edits) reviewDepth(ctx context.Context) (editReview, error) {
	said := lastSaid(e.conversation.session.Turns, e.job.message.ID)
	if e.job.message.Depth == "" || e.conversation.session.Waiting != nil || said < 0 || runOf(e.conversation.session.Turns[said]) == "" {
		return editMeansNothing, nil
	}
	record, err := e.records.Load(ctx, runOf(e.conversation.session.Turns[said]))
	switch {
	case errors.Is(err, chat.ErrUnknownRun):
		return editMeansNothing, nil
	case err != nil:
		return editMeansNothing, err
	case record.Message != e.job.message.ID || record.Depth == e.job.message.Depth:
		return editMeansNothing, nil
	}
	return editCounts, nil
}

// startedBy gives the runs that a message started, by their ids.
func (e *edits) startedBy(ctx context.Context, message chat.MessageID) (map[chat.RunID]runs.Record, error) {
	started := make(map[chat.RunID]runs.Record)
	for _, turn := range e.conversation.session.Turns {
		run := runOf(turn)
		if _, known := started[run]; known || run == "" {
			continue
		}
		record, err := e.records.Load(ctx, run)
		switch {
		case errors.Is(err, chat.ErrUnknownRun):
		case err != nil:
			return nil, err
		case record.Message == message:
			started[run] = record
		}
	}
	return started, nil
}
