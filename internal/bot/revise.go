package bot

import (
	"context"
	"errors"
	"slices"

	"cairn/internal/chat"
	"cairn/internal/runs"
	"cairn/internal/store"
)

// revised is what becomes of a question whose message was edited, as the thread shows it.
const revised = "its message was edited"

// handleEdited makes the run of an edited message anew, and has its outcome take the place of
// what was said before.
func (t *turn) handleEdited(ctx, held context.Context) (runs.Result, error) {
	found, err := t.reviewEdit(ctx)
	if err != nil {
		return runs.Result{}, err
	}
	switch found {
	case editCounts:
	case editLate:
		return t.refuseEdit(ctx)
	default:
		return runs.Result{}, t.announceDone(happened{Refusal: nothing})
	}
	t.rewriteTurn(t.message)
	if t.session.Waiting != nil && t.askedAt() == t.message.ID {
		t.abandonWaiting(revised, "its message was edited")
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

// reviewEdit finds out whether an edit counts: that of a message which was written lately,
// by the one who edited it, who wrote nothing after it, that says something else now or brings
// more files, and answered no question.
func (t *turn) reviewEdit(ctx context.Context) (editReview, error) {
	turns := t.session.Turns
	at := personTurn(turns, t.message.ID)
	if at < 0 || turns[at].Author != t.message.Author {
		return editMeansNothing, nil
	}
	if turns[at].Text == truncateText(t.message.Text, maxText) && !addsFiles(turns[at].Files, t.message.Files) {
		return t.reviewDepth(ctx)
	}
	if slices.ContainsFunc(turns[at+1:], func(turn chat.Turn) bool { return turn.Role == chat.Person && turn.Author == t.message.Author }) {
		return editMeansNothing, nil
	}
	if said := lastSaid(turns, t.message.ID); said >= 0 && runOf(turns[said]) != "" {
		record, err := t.records.Load(ctx, runOf(turns[said]))
		switch {
		case errors.Is(err, chat.ErrUnknownRun):
		case err != nil:
			return editMeansNothing, err
		case record.Message != t.message.ID:
			return editMeansNothing, nil
		}
	}
	if t.job.Enqueued.Sub(turns[at].At) > t.options.EditWindow {
		return editLate, nil
	}
	return editCounts, nil
}

// reviewDepth finds out whether an edit asks for an answer of another depth, and nothing else:
// that counts for as long as the answer is remembered.
func (t *turn) reviewDepth(ctx context.Context) (editReview, error) {
	said := lastSaid(t.session.Turns, t.message.ID)
	if t.message.Depth == "" || t.session.Waiting != nil || said < 0 || runOf(t.session.Turns[said]) == "" {
		return editMeansNothing, nil
	}
	record, err := t.records.Load(ctx, runOf(t.session.Turns[said]))
	switch {
	case errors.Is(err, chat.ErrUnknownRun):
		return editMeansNothing, nil
	case err != nil:
		return editMeansNothing, err
	case record.Message != t.message.ID || record.Depth == t.message.Depth:
		return editMeansNothing, nil
	}
	return editCounts, nil
}

// refuseEdit tells in private who edited a message too late, the first time that it was.
func (t *turn) refuseEdit(ctx context.Context) (runs.Result, error) {
	edited := &t.session.Turns[personTurn(t.session.Turns, t.message.ID)]
	if t.poster != nil && !edited.LateEdit {
		edited.LateEdit = true
		if err := commit(ctx, t.journal, store.Commit{Session: &t.session}); err != nil {
			return runs.Result{}, err
		}
		t.postHint(ctx, tooLate)
	}
	return runs.Result{}, t.announceDone(happened{Refusal: tooLate})
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

// findReplaced finds the reply that the outcome of an edited message takes the place of; -1
// where there is none.
func (t *turn) findReplaced() int {
	if t.job.Kind != editedJob {
		return -1
	}
	for i, turn := range slices.Backward(t.session.Turns) {
		if turn.Message == t.message.ID && turn.Reply != nil && turn.Reply.Outcome != chat.Noticed {
			return i
		}
	}
	return -1
}

// appendReply puts what the bot says among the turns.
func (t *turn) appendReply(said chat.Turn) {
	if at := t.findReplaced(); at >= 0 {
		said.Posted = t.session.Turns[at].Posted
		t.session.Turns[at] = said
		return
	}
	t.session.Add(said)
}

// editPosted edits a message of the bot that what came of an edit takes the place of; it
// may do so again. done is false where there is no such message any more: what came of it
// is posted.
func (t *turn) editPosted(ctx context.Context, said *chat.Turn) (done bool, err error) {
	if t.job.Kind != editedJob && t.job.Kind != withdrawJob {
		return true, nil
	}
	editing, stop := context.WithTimeout(ctx, t.options.LeaseTTL)
	defer stop()
	if t.hadDocuments { // an edit would leave them
		err = t.takeBack(editing, said.Posted)
	} else {
		err = t.poster.Edit(editing, t.message.Thread, said.Posted, postOf(*said))
	}
	if errors.Is(err, chat.ErrRefused) { // it is too old to be edited, as platforms see it
		err = t.takeBack(editing, said.Posted)
	}
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, chat.ErrGone):
		said.Posted = ""
		return false, nil
	}
	return false, deliveryError(err)
}

// takeBack retracts a message of the bot, so that it is gone.
func (t *turn) takeBack(ctx context.Context, posted chat.MessageID) error {
	if err := t.poster.Retract(ctx, t.message.Thread, posted); err != nil && !errors.Is(err, chat.ErrRefused) {
		return err
	}
	return chat.ErrGone
}

// handleDeleted takes back what was said to a message that is gone, and forgets both. What
// works at it was ended by the edit; each part can be done again.
func (t *turn) handleDeleted(ctx context.Context) (runs.Result, error) {
	gone := t.message.ID
	started, err := t.startedBy(ctx, gone)
	if err != nil {
		return runs.Result{}, err
	}
	goes := func(turn chat.Turn) bool {
		_, of := started[runOf(turn)]
		return turn.Message == gone || of
	}
	var over runs.Result
	if waiting := t.session.Waiting; waiting != nil {
		if _, of := started[waiting.Run]; of {
			over.Over, t.session.Waiting = waiting.Run, nil
		}
	}
	for _, turn := range t.session.Turns {
		if goes(turn) {
			if err := t.takeAway(ctx, turn); err != nil {
				return runs.Result{}, err
			}
		}
	}
	t.session.Turns = slices.DeleteFunc(t.session.Turns, goes)
	t.updateTitle()
	t.message.ID = ""
	return t.commitAndShow(ctx, over)
}

// startedBy gives the runs that a message started, by their ids.
func (t *turn) startedBy(ctx context.Context, message chat.MessageID) (map[chat.RunID]runs.Record, error) {
	started := make(map[chat.RunID]runs.Record)
	for _, turn := range t.session.Turns {
		run := runOf(turn)
		if _, known := started[run]; known || run == "" {
			continue
		}
		record, err := t.records.Load(ctx, run)
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

// takeAway retracts a message of the bot's, if it was posted, and calls its run off.
func (t *turn) takeAway(ctx context.Context, turn chat.Turn) error {
	if turn.Posted != "" && t.poster != nil {
		err := t.poster.Retract(ctx, t.message.Thread, turn.Posted)
		if err != nil && !errors.Is(err, chat.ErrGone) && !errors.Is(err, chat.ErrRefused) {
			return deliveryError(err)
		}
		if err != nil {
			t.logger.WarnContext(ctx, "a message can't be retracted", "thread", string(t.message.Thread), "error", err)
		}
	}
	run := runOf(turn)
	if run == "" {
		return nil
	}
	var err error
	if t.record, err = t.records.Load(ctx, run); errors.Is(err, chat.ErrUnknownRun) {
		return nil
	} else if err != nil {
		return err
	}
	t.callOff("its message was deleted")
	return nil
}
