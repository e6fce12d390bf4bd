package bot

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"cairn/internal/chat"
	"cairn/internal/graph"
	"cairn/internal/graph/flows"
	"cairn/internal/language"
	"cairn/internal/phrases"
	"cairn/internal/runs"
	"cairn/internal/session"
	"cairn/internal/store"
)

// turn is one job being dealt with.
type turn struct {
	*worker
	lease   runs.Lease
	job     runs.Job
	journal store.Journal
	poster  chat.Poster // nil where the adapter reads
	// drafting shows the run while it works, draft is what is shown once it does not any
	// more; nil where nothing is. leftOver tells that a draft of the job may be in the
	// thread that nobody works at.
	drafting *drafting
	draft    chat.Draft
	leftOver bool
	// uncertain tells that what came of the job may be posted already, by an earlier attempt;
	// sent that this one asked for it, and does not know that nothing was done; late that the
	// platform may do something about the job after its end.
	uncertain, sent, late bool
	// inherited tells that an earlier attempt may have left something that the platform does
	// about the job after its end.
	inherited bool
	begun     bool // the job was looked at

	message       chat.Message // that the turn is about; its ID is where the bot's turn belongs
	session       session.Session
	again         bool        // the session knows the job: it was taken up before
	open          runs.Record // of the run that waits in the thread, if one does
	record        runs.Record // of the run that the turn starts or goes on with
	attached      []flows.Attachment
	access        *pendingDecision // whom the run's answer is shown to
	offers        bool             // the asker may read more in private
	closedHistory bool             // parts of the thread are not for all who see it
	hadDocuments  bool             // files were posted with the answer that is taken back
	note          string           // about how the message was taken, for the reply
	closed        []string         // ids of questions that the turn closes
	published     bool             // the questions that were closed are shown as closed
	posted        chat.PostKey     // what was posted under the lease, "" for nothing

	// What is written: start puts off that the run began; changed are records to be committed
	// with the session next; unless is what
	// its next commit depends on; recorded is what is
	// to be posted, where that is committed (nil: it is not yet); final is left for the end of
	// the job, and told says that events are left for it.
	start    runStart
	changed  changedRecords
	unless   store.Unless
	recorded *delivery
	final    store.Commit
	told     bool
}

// loadSession finds the thread's session, and whether the job was taken up before.
func (t *turn) loadSession(ctx context.Context) error {
	var err error
	if t.session, err = t.leasedSession(ctx); err != nil {
		return err
	}
	work := t.session.Work
	t.again = work != nil && work.Event == t.job.Event && work.Came.Equal(t.job.Enqueued)
	t.uncertain = !t.lease.Unsure.IsZero() || t.lease.Restored
	t.leftOver, t.inherited = t.uncertain, t.uncertain
	return nil
}

// leasedSession returns the session that came with the lease, or loads it. Only what is done in
// the lane of messages knows and changes it.
func (t *turn) leasedSession(ctx context.Context) (session.Session, error) {
	thread := t.job.Thread()
	switch {
	case t.lease.Lane != runs.LaneMessages:
		return session.Session{Thread: thread}, nil
	case t.lease.SessionUnread:
		return t.sessions.Load(ctx, thread)
	case t.lease.Session == nil:
		return session.Session{Thread: thread}, nil
	}
	return session.Decode(thread, t.lease.Session)
}

// savedSession is the session as it is to be committed; nil: it is not.
func (t *turn) savedSession() *session.Session {
	if t.lease.Lane != runs.LaneMessages {
		return nil
	}
	return &t.session
}

// loadWaitingRun finds the run that waits in the thread. One that is not remembered any more
// waits no longer.
func (t *turn) loadWaitingRun(ctx context.Context) error {
	if t.session.Waiting == nil {
		return nil
	}
	var err error
	t.open, err = t.records.Load(ctx, t.session.Waiting.Run)
	if errors.Is(err, chat.ErrUnknownRun) {
		t.closeQuestion("forgotten", "")
		return nil
	}
	return err
}

// decideOrResume decides what the job is, or finds what was decided, and does it. held ends when a
// person stops the job.
func (t *turn) decideOrResume(ctx, held context.Context) (runs.Result, error) {
	if t.job.Kind == tidyJob {
		return t.removeLatePosts(ctx)
	}
	if done, result, err := t.checkEdits(ctx); done || err != nil {
		return result, err
	}
	if t.again {
		return t.takeAgain(ctx, held)
	}
	if err := t.loadWaitingRun(ctx); err != nil {
		return runs.Result{}, err
	}
	switch t.job.Kind {
	case runs.Said, "":
		return t.hearOut(ctx, held)
	case runs.Retry:
		return t.retryRun(ctx, held, t.job.Run)
	case runs.Remind:
		return t.handleReminder(ctx)
	case dropJob:
		return t.dropQuestion(ctx)
	case forgetJob:
		return t.forgetAuthor(ctx)
	case withdrawJob:
		return t.withdrawAnswer(ctx)
	case editedJob:
		return t.handleEdited(ctx, held)
	case deletedJob:
		return t.handleDeleted(ctx)
	case sideCommandJob:
		return t.runCommand(ctx)
	}
	err := &aheadError{fmt.Sprintf("jobs of the kind %q", t.job.Kind), "upgrade it"}
	if result, ok := t.leaveToNewer(ctx, err); ok {
		return result, nil
	}
	return runs.Result{Next: runs.Dead, Reason: err.Error()}, nil
}

// takeAgain goes on with a job that another worker, or an earlier attempt, began.
func (t *turn) takeAgain(ctx, held context.Context) (runs.Result, error) {
	work := t.session.Work
	t.message.ID, t.note, t.closed = work.Message, work.Note, work.Closed
	if work.Over {
		return t.deliver(ctx)
	}
	if t.record.Status() != runs.Running {
		t.record.Move(runs.Running, t.now(), "another worker goes on")
		if err := commit(ctx, t.journal, store.Commit{Records: []runs.Record{t.record}}); err != nil {
			return runs.Result{}, err
		}
	}
	return t.runFlow(ctx, held)
}

// hearOut decides what a message is and does it.
func (t *turn) hearOut(ctx, held context.Context) (runs.Result, error) {
	if heard, said := t.heardBefore(); heard && said != nil {
		return t.hearAgain(ctx, held, *said)
	}
	return t.decideRequest(ctx, held)
}

// decideRequest decides what the message's text asks for, and does it.
func (t *turn) decideRequest(ctx, held context.Context) (runs.Result, error) {
	if len(t.message.Text) > len(truncateText(t.message.Text, maxText)) {
		t.message.Text = truncateText(t.message.Text, maxText)
		t.note = t.choosePhrases().Text(phrases.MessageShortened, maxText)
	}
	t.readBefore(held)
	plan := t.planJob()
	if plan.kind.forAsker() && !t.mayAnswer() {
		return t.refuseJob(ctx, forbidden)
	}
	switch plan.kind {
	case spent:
		return t.acknowledgeStop(ctx)
	case cancels:
		t.abandonWaiting(cancelled, "its question was dropped")
		return t.replyWithoutRun(ctx, chat.Reply{Run: plan.run, Outcome: chat.Dropped, Text: phrases.In(language.Tag(plan.social.Language)).Text(phrases.QuestionDropped)})
	case idle:
		return t.replyWithoutRun(ctx, chat.Reply{Outcome: chat.Social, Text: t.choosePhrases().Text(phrases.NothingToStop)})
	case stale:
		return t.replyWithoutRun(ctx, chat.Reply{Outcome: chat.Abstained, Text: t.staleText()})
	case unoffered:
		return t.replyWithoutRun(ctx, chat.Reply{Outcome: chat.Abstained, Text: t.choosePhrases().Text(phrases.NotAChoice)})
	case empty:
		return t.replyWithoutRun(ctx, chat.Reply{Outcome: chat.Social, Text: phrases.In(language.English).Text(phrases.Help)})
	case socializes:
		return t.replySocially(ctx, plan.social)
	case repeats:
		return t.repeatQuestion(ctx, plan.social.Language)
	case answers:
		if isFileQuestion(t.session.Waiting.Question) {
			return t.doWithFile(ctx, held, plan)
		}
		return t.resumeRun(ctx, held, plan)
	case asks:
		return t.startRun(ctx, held, plan)
	}
	return runs.Result{}, fmt.Errorf("message %s: no plan %d", t.message.ID, plan.kind)
}

// acknowledgeStop ends a word that stopped a run when it came: the run's own message says so
// in the thread already.
func (t *turn) acknowledgeStop(ctx context.Context) (runs.Result, error) {
	t.recordMessage()
	return t.commitAndShow(ctx, runs.Result{})
}

// planJob says what the message is. A word to stop that did so when it came has no more to do.
func (t *turn) planJob() plan {
	halt := t.session.Halt
	if t.message.Answers == nil && chat.IsStop(t.message.Text) && halt != nil &&
		halt.By == t.message.Author && !t.job.Enqueued.After(halt.At) {
		return plan{kind: spent}
	}
	return planMessage(t.message, t.session.Waiting, t.first)
}

// staleText is the answer to a press on a question that no longer waits.
func (t *turn) staleText() string {
	for _, turn := range t.session.Turns {
		if turn.Question != nil && turn.Question.ID == t.message.Answers.Question && turn.Answer == expired {
			return t.choosePhrases().Text(phrases.QuestionExpired)
		}
	}
	return t.choosePhrases().Text(phrases.QuestionClosed)
}

// heardBefore tells whether the message is part of the transcript, and what was said to
// it last; nil: nothing.
func (t *turn) heardBefore() (heard bool, said *chat.Turn) {
	for i, turn := range t.session.Turns {
		switch {
		case turn.Message != t.message.ID:
		case turn.Role == chat.Person:
			heard = true
		default:
			said = &t.session.Turns[i]
		}
	}
	return heard, said
}

// hearAgain is for a message that comes again after it was dealt with: a dead letter that
// is replayed, or a delivery that was not known for one. Only a run that failed has more
// to do.
func (t *turn) hearAgain(ctx, held context.Context, said chat.Turn) (runs.Result, error) {
	if said.Reply == nil || said.Reply.Outcome != chat.Failure || said.Reply.Run == "" {
		return runs.Result{}, t.announceDone(happened{Message: t.message.ID})
	}
	record, err := t.records.Load(ctx, said.Reply.Run)
	if err != nil && !errors.Is(err, chat.ErrUnknownRun) {
		return runs.Result{}, err
	}
	if record.Status() != runs.Failed {
		return runs.Result{}, t.announceDone(happened{Message: t.message.ID})
	}
	return t.retryRun(ctx, held, record.ID)
}

// mayAnswer says whether the message's author may answer the question that waits, or
// drop it.
func (t *turn) mayAnswer() bool { return mayAnswer(t.session.Waiting.Question, t.message.Author) }

func mayAnswer(question chat.Question, by chat.UserID) bool {
	return question.Asker == "" || question.Asker == by
}

// What becomes of a question that is not answered, as the thread shows it.
const (
	cancelled = "cancelled"
	leftOpen  = "left open"
	expired   = "expired"
)

// closeQuestion closes the waiting question with what became of it.
func (t *turn) closeQuestion(answer string, by chat.UserID) {
	waiting := t.session.Waiting
	t.session.Waiting = nil
	for i := range t.session.Turns {
		asked := &t.session.Turns[i]
		if asked.Question != nil && asked.Question.ID == waiting.Question.ID && asked.Answer == "" {
			asked.Answer, asked.AnsweredBy = answer, by
			t.closed = append(t.closed, asked.Question.ID)
		}
	}
}

// collapseQuestion has a question that was answered show only what was meant.
func (t *turn) collapseQuestion(id, meant string) {
	for i, turn := range t.session.Turns {
		if turn.Question != nil && turn.Question.ID == id {
			asked := *turn.Question
			asked.Meant = t.choosePhrases().Text(phrases.YouMeant, truncateText(meant, maxMeant))
			t.session.Turns[i].Question = &asked
		}
	}
}

// maxMeant is how many letters of an answer a collapsed question shows.
const maxMeant = 200

// abandonWaiting closes the waiting question and its run unanswered.
func (t *turn) abandonWaiting(answer, reason string) {
	t.closeQuestion(answer, t.message.Author)
	t.closeWaitingRun(runs.Cancelled, reason)
}

// closeWaitingRun ends the run that waited.
func (t *turn) closeWaitingRun(status runs.Status, reason string) {
	if t.open.Status() == status { // another worker came this far
		return
	}
	t.open.Move(status, t.now(), reason)
	t.changed = append(t.changed, t.open)
}

// supersedeQuestion closes a question that waits when its asker wants something else. Somebody
// else's stays open.
func (t *turn) supersedeQuestion() {
	if t.session.Waiting == nil || !t.mayAnswer() {
		return
	}
	t.note = joinNotes(t.note, t.choosePhrases().Text(phrases.EarlierQuestionClosed))
	t.abandonWaiting(leftOpen, "something else was asked")
}

func (t *turn) startRun(ctx, held context.Context, plan plan) (runs.Result, error) {
	if over, result, err := t.overQuota(ctx); over || err != nil {
		return result, err
	}
	choice, err := t.chooseFlow(held, plan.text)
	if err != nil {
		return runs.Result{}, err
	}
	t.supersedeQuestion()
	if err := t.readFiles(held, choice.Flow); err != nil {
		return runs.Result{}, err
	}
	t.record = t.newRecord(t.job.Run, choice.Flow, choice.Text)
	t.record.Trace.Notes = []string{routed + choice.Rule + ": " + choice.Reason}
	t.session.Flow = choice.Flow
	t.recordMessage()
	if err := t.saveRunStart(ctx, nil, "its turn came"); err != nil {
		return runs.Result{}, err
	}
	return t.runFlow(ctx, held)
}

// newRecord is the record of a run that the message starts.
func (t *turn) newRecord(run chat.RunID, flow, request string) runs.Record {
	record := runs.Record{
		ID: run, Thread: t.message.Thread, Flow: flow, Author: t.message.Author, Message: t.message.ID,
		Request: request, Depth: t.message.Depth, Collections: t.message.Collections, Asker: t.message.Asker,
	}
	record.Move(runs.Queued, t.job.Enqueued, "its message came")
	return record
}

func (t *turn) resumeRun(ctx, held context.Context, plan plan) (runs.Result, error) {
	waiting := *t.session.Waiting
	t.record = t.open
	t.recordMessage()
	meant := plan.answerText(waiting.Question)
	t.closeQuestion(meant, t.message.Author)
	if waiting.Flow == t.first {
		t.collapseQuestion(waiting.Question.ID, meant)
	}
	answer := graph.Answer{
		QuestionID: waiting.Question.ID, Choice: plan.choice, Text: plan.text,
		By: string(t.message.Author), At: t.now(),
	}
	if err := t.saveRunStart(ctx, &answer, "its question was answered"); err != nil {
		return runs.Result{}, err
	}
	return t.runFlow(ctx, held)
}

// retryRun goes on with a run that did not come to its end.
func (t *turn) retryRun(ctx, held context.Context, run chat.RunID) (runs.Result, error) {
	var err error
	t.record, err = t.records.Load(ctx, run)
	switch {
	case errors.Is(err, chat.ErrUnknownRun):
		return t.refuseJob(ctx, unknown)
	case err != nil:
		return runs.Result{}, err
	case t.record.Author != t.message.Author && t.job.Kind == runs.Retry:
		return t.refuseJob(ctx, forbidden)
	case t.record.Status() == runs.Done:
		return t.refuseJob(ctx, over)
	}
	if t.session.Waiting != nil && t.session.Waiting.Run == run {
		t.closeQuestion("asked again", t.message.Author)
	}
	t.supersedeQuestion()
	// The reply belongs where the failure line stands: that may be below an answer.
	t.message.ID = t.record.Message
	for _, turn := range t.session.Turns {
		if t.isFailure(turn) {
			t.message.ID = turn.Message
		}
	}
	var answer *graph.Answer
	if work := t.session.Work; work != nil && work.Event == t.job.Event { // it was put aside with its answer
		answer = work.Answer
	}
	if err := t.saveRunStart(ctx, answer, "it is tried again"); err != nil {
		return runs.Result{}, err
	}
	return t.runFlow(ctx, held)
}

// setWork puts the job into the session, to be saved.
func (t *turn) setWork(work session.Work) {
	work.Event, work.Came, work.Key = t.job.Event, t.job.Enqueued, keyOf(t.job)
	work.Message, work.Note, work.Closed = t.message.ID, t.note, t.closed
	t.session.Work = &work
}

// recordMessage remembers the person's message.
func (t *turn) recordMessage() {
	if heard, _ := t.heardBefore(); heard {
		return
	}
	t.session.Add(chat.Turn{
		Role: chat.Person, Author: t.message.Author, Message: t.message.ID, At: t.now(), Text: t.message.Text,
		Files: t.message.Files[:min(len(t.message.Files), chat.MaxFiles)],
	})
}

// recordReply adds what the bot says to a message.
func (t *turn) recordReply(message chat.MessageID, reply chat.Reply) {
	reply.Trace = chat.Trace{} // the run's record has it
	t.appendReply(chat.Turn{Role: chat.Bot, Message: message, At: t.now(), Reply: &reply})
}

func joinNotes(notes ...string) string { return strings.TrimSpace(strings.Join(notes, " ")) }
