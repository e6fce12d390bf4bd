package bot

import (
	"context"
	"slices"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/store"
)

// revised is what becomes of a question whose message was edited, as the thread shows it.
const revised = "its message was edited"

// handleEdited makes the run of an edited message anew, and has its outcome take the place of
// what was said before.
func (t *turn) handleEdited(ctx, held context.Context) (runs.Result, error) {
	found, err := t.edits.reviewEdit(ctx)
	if err != nil {
		return runs.Result{}, err
	}
	switch found {
	case editCounts:
	case editLate:
		return t.refuseEdit(ctx)
	default:
		return runs.Result{}, t.delivery.announceDone(happened{Refusal: nothing})
	}
	t.conversation.rewriteTurn(t.job.message)
	if t.conversation.session.Waiting != nil && t.conversation.askedAt() == t.job.message.ID {
		t.conversation.abandonWaiting(revised, "its message was edited")
	}
	return t.decideRequest(ctx, held)
}

// editReview is what an edit of a message means for what was said to it.
type editReview int

const (
	editMeansNothing editReview = iota // it says the same, is somebody else's, or of an answer to a question
	editCounts
	editLate // it comes after Options.EditWindow
)

// refuseEdit tells in private who edited a message too late, the first time that it was.
func (t *turn) refuseEdit(ctx context.Context) (runs.Result, error) {
	edited := &t.conversation.session.Turns[personTurn(t.conversation.session.Turns, t.job.message.ID)]
	if t.job.poster != nil && !edited.LateEdit {
		edited.LateEdit = true
		if _, err := t.job.journal.Commit(ctx, store.Commit{Session: &t.conversation.session}); err != nil {
			return runs.Result{}, err
		}
		t.delivery.postHint(ctx, tooLate, hintText(tooLate))
	}
	return runs.Result{}, t.delivery.announceDone(happened{Refusal: tooLate})
}

// runOf is the run that a turn of the bot is of, "" for none.
func runOf(turn chat.Turn) chat.RunID {
	switch {
	case turn.Reply != nil:
		return turn.Reply.Run
	case turn.Question != nil:
		return turn.Question.Run
	}
	return ""
}

// handleDeleted takes back what was said to a message that is gone, and forgets both. What
// works at it was ended by the edit; each part can be done again.
func (t *turn) handleDeleted(ctx context.Context) (runs.Result, error) {
	gone := t.job.message.ID
	started, err := t.edits.startedBy(ctx, gone)
	if err != nil {
		return runs.Result{}, err
	}
	goes := func(turn chat.Turn) bool {
		_, ok := started[runOf(turn)]
		return ok || turn.Message == gone
	}
	var over runs.Result
	if waiting := t.conversation.session.Waiting; waiting != nil {
		if _, ok := started[waiting.Run]; ok {
			over.Over, t.conversation.session.Waiting = waiting.Run, nil
		}
	}
	for _, turn := range t.conversation.session.Turns {
		if goes(turn) {
			if err := t.delivery.retractTurn(ctx, turn); err != nil {
				return runs.Result{}, err
			}
		}
	}
	t.conversation.session.Turns = slices.DeleteFunc(t.conversation.session.Turns, goes)
	t.conversation.updateTitle()
	t.job.message.ID = ""
	result, err := t.conclusion.commitAndShow(ctx, over)
	if err == nil && len(t.conversation.session.Turns) == 0 {
		t.delivery.removeEmptyThread(ctx)
	}
	return result, err
}

// restartJob deals with the job once more, whose message changed while it was worked at.
func (t *turn) restartJob(ctx, held context.Context) (runs.Result, error) {
	t.delivery.closeDraft(ctx)
	if err := t.conclusion.commitStart(ctx); err != nil {
		return runs.Result{}, err
	}
	fresh := t.bot.newTurn(t.job.restart())
	fresh.delivery.late = t.delivery.late
	result, err := fresh.dispatchJob(ctx, held)
	t.delivery = fresh.delivery
	return result, err
}

// discardJob ends the job without a word.
func (t *turn) discardJob(ctx context.Context) (runs.Result, error) {
	over := t.job.record.ID
	t.conversation.cancelRun("its message was deleted or edited")
	t.job.message.ID = ""
	if t.job.again {
		t.conversation.note, t.conversation.closed = t.conversation.session.Work.Note, t.conversation.session.Work.Closed
		t.conversation.session.Work.Message = ""
	}
	return t.conclusion.commitAndShow(ctx, runs.Result{Over: over})
}
