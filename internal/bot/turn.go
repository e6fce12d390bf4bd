package bot

import (
	"context"
	"errors"
	"fmt"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows/routing"
	"github.com/cairn-bot/cairn/internal/language"
	"github.com/cairn-bot/cairn/internal/phrases"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/shorten"
	"github.com/cairn-bot/cairn/internal/store"
)

// turn deals with one job, by the parts that it is made of.
type turn struct {
	bot          *Bot
	job          *job
	conversation *conversation
	edits        *edits
	run          *flowRun
	delivery     *delivery
	conclusion   *conclusion
}

func (b *Bot) newTurn(job *job) *turn {
	t := &turn{bot: b, job: job}
	t.conversation = &conversation{job: job, sessions: b.sessions, records: b.records, first: b.first}
	t.edits = &edits{job: job, conversation: t.conversation, store: b.store, records: b.records, window: b.options.EditWindow}
	t.run = &flowRun{
		job: job, conversation: t.conversation, documents: b.documents,
		openers: b.options.Openers, quota: b.options.Quota, parseFile: b.options.ReadFile, first: b.first,
		keepsPages: b.flows[routing.Page] != nil, curation: b.options.Curation, models: b.options.ModelBudget,
	}
	t.delivery = b.newDelivery(job, t.conversation)
	t.conclusion = &conclusion{
		job: job, conversation: t.conversation, run: t.run, delivery: t.delivery, queue: b.store,
		remindAfter: b.options.RemindAfter, expireAfter: b.options.ExpireAfter,
	}
	return t
}

// decideOrResume decides what the job is, or finds what was decided, and does it. held ends when a
// person stops the job.
func (t *turn) decideOrResume(ctx, held context.Context) (runs.Result, error) {
	if t.job.entry.Kind == tidyJob {
		return t.delivery.removeLatePosts(ctx)
	}
	switch found, err := t.edits.checkEdits(ctx); {
	case err != nil:
		return runs.Result{}, err
	case found == pointless:
		return t.discardJob(ctx)
	}
	if t.job.again {
		return t.resumeJob(ctx, held)
	}
	if err := t.conversation.loadWaitingRun(ctx); err != nil {
		return runs.Result{}, err
	}
	switch t.job.entry.Kind {
	case runs.Said, "":
		return t.handleMessage(ctx, held)
	case runs.Retry:
		return t.retryRun(ctx, held, t.job.entry.Run)
	case runs.Remind:
		return t.handleReminder(ctx)
	case dropJob:
		return t.dropQuestion(ctx)
	case forgetJob:
		return t.forgetAuthor(ctx)
	case renameJob, shareJob, unshareJob:
		return t.changeThread(ctx)
	case rewriteJob:
		return t.rewriteAnswer(ctx, held)
	case withdrawJob:
		return t.withdrawAnswer(ctx)
	case editedJob:
		return t.handleEdited(ctx, held)
	case deletedJob:
		return t.handleDeleted(ctx)
	case digestJob:
		return t.postDigest(ctx)
	case sideCommandJob:
		return t.runCommand(ctx)
	}
	err := &aheadError{fmt.Sprintf("jobs of the kind %q", t.job.entry.Kind), "upgrade it"}
	if result, ok := t.job.leaveToNewer(ctx, err); ok {
		return result, nil
	}
	return runs.Result{Next: runs.Dead, Reason: err.Error()}, nil
}

// resumeJob goes on with a job that another worker, or an earlier attempt, began.
func (t *turn) resumeJob(ctx, held context.Context) (runs.Result, error) {
	work := t.conversation.session.Work
	t.job.message.ID, t.conversation.note, t.conversation.closed = work.Message, work.Note, work.Closed
	if work.Over {
		return t.delivery.deliverOutcome(ctx)
	}
	if t.job.record.Status() != runs.Running {
		t.job.record.Move(runs.Running, t.job.now(), "another worker goes on")
		if _, err := t.job.journal.Commit(ctx, store.Commit{Records: []runs.Record{t.job.record}}); err != nil {
			return runs.Result{}, err
		}
	}
	return t.runFlow(ctx, held)
}

// handleMessage decides what a message is and does it.
func (t *turn) handleMessage(ctx, held context.Context) (runs.Result, error) {
	if heard, said := t.conversation.heardBefore(); heard && said != nil {
		return t.handleRepeated(ctx, held, *said)
	}
	return t.decideRequest(ctx, held)
}

// decideRequest decides what the message's text asks for, and does it.
func (t *turn) decideRequest(ctx, held context.Context) (runs.Result, error) {
	if head := shorten.Head(t.job.message.Text, maxText); len(head) < len(t.job.message.Text) {
		t.job.message.Text = head
		t.conversation.note = t.conversation.choosePhrases().Text(phrases.MessageShortened, maxText)
	}
	t.run.readBefore(held)
	plan := t.planJob()
	aboutWaiting := plan.kind == answers || plan.kind == cancels || plan.kind == unoffered
	if aboutWaiting && !t.conversation.mayAnswer() {
		return t.delivery.refuseJob(ctx, forbidden)
	}
	switch plan.kind {
	case spent:
		return t.acknowledgeStop(ctx)
	case cancels:
		t.conversation.abandonWaiting(cancelled, "its question was dropped")
		return t.conclusion.replyWithoutRun(ctx, chat.Reply{Run: plan.run, Outcome: chat.Dropped, Text: phrases.In(language.Tag(plan.social.Language)).Text(phrases.QuestionDropped)})
	case idle:
		return t.conclusion.replyWithoutRun(ctx, chat.Reply{Outcome: chat.Social, Text: t.conversation.choosePhrases().Text(phrases.NothingToStop)})
	case stale:
		if t.job.poster != nil { // who pressed is no news to the others
			return t.delivery.refuseWith(ctx, closed, t.conversation.staleText())
		}
		return t.conclusion.replyWithoutRun(ctx, chat.Reply{Outcome: chat.Abstained, Text: t.conversation.staleText()})
	case unoffered:
		return t.conclusion.replyWithoutRun(ctx, chat.Reply{Outcome: chat.Abstained, Text: t.conversation.choosePhrases().Text(phrases.NotAChoice)})
	case empty:
		return t.conclusion.replyWithoutRun(ctx, chat.Reply{Outcome: chat.Social, Text: phrases.In(language.English).Text(phrases.Help)})
	case socializes:
		return t.replySocially(ctx, plan.social)
	case repeats:
		return t.repeatQuestion(ctx, plan.social.Language)
	case answers:
		if isFileQuestion(t.conversation.session.Waiting.Question) {
			return t.doWithFile(ctx, held, plan)
		}
		return t.resumeRun(ctx, held, plan)
	case asks:
		return t.startRun(ctx, held, plan)
	}
	return runs.Result{}, fmt.Errorf("message %s: no plan %d", t.job.message.ID, plan.kind)
}

// acknowledgeStop ends a word that stopped a run when it came: the run's own message says so
// in the thread already.
func (t *turn) acknowledgeStop(ctx context.Context) (runs.Result, error) {
	t.conversation.recordMessage()
	return t.conclusion.commitAndShow(ctx, runs.Result{})
}

// planJob says what the message is. A word to stop that did so when it came has no more to do.
func (t *turn) planJob() plan {
	halt := t.conversation.session.Halt
	if t.job.message.Answers == nil && chat.IsStop(t.job.message.Text) && halt != nil &&
		halt.By == t.job.message.Author && !t.job.entry.Enqueued.After(halt.At) {
		return plan{kind: spent}
	}
	return planMessage(t.job.message, t.conversation.session.Waiting, t.bot.first)
}

// handleRepeated is for a message that comes again after it was dealt with: a dead letter that
// is replayed, or a delivery that was not known for one. Only a run that failed has more
// to do.
func (t *turn) handleRepeated(ctx, held context.Context, said chat.Turn) (runs.Result, error) {
	if said.Reply == nil || said.Reply.Outcome != chat.Failure || said.Reply.Run == "" {
		return runs.Result{}, t.delivery.announceDone(happened{Message: t.job.message.ID})
	}
	record, err := t.bot.records.Load(ctx, said.Reply.Run)
	if err != nil && !errors.Is(err, chat.ErrUnknownRun) {
		return runs.Result{}, err
	}
	if record.Status() != runs.Failed {
		return runs.Result{}, t.delivery.announceDone(happened{Message: t.job.message.ID})
	}
	return t.retryRun(ctx, held, record.ID)
}

// startRun starts a run of the flow that the message goes to.
func (t *turn) startRun(ctx, held context.Context, plan plan) (runs.Result, error) {
	if over, result, err := t.overQuota(ctx); over || err != nil {
		return result, err
	}
	choice, err := t.chooseFlow(held, plan.text)
	if err != nil {
		return runs.Result{}, err
	}
	t.conversation.supersedeQuestion()
	if err := t.run.readFiles(held, choice.Flow); err != nil {
		return runs.Result{}, err
	}
	t.job.record = t.job.newRecord(t.job.entry.Run, choice.Flow, choice.Text)
	t.job.record.Trace.Notes = []string{routed + choice.Rule + ": " + choice.Reason}
	t.conversation.session.Flow = choice.Flow
	t.conversation.recordMessage()
	if err := t.conclusion.saveRunStart(ctx, nil, "its turn came"); err != nil {
		return runs.Result{}, err
	}
	return t.runFlow(ctx, held)
}

// resumeRun goes on with the run whose question the message answers.
func (t *turn) resumeRun(ctx, held context.Context, plan plan) (runs.Result, error) {
	waiting := *t.conversation.session.Waiting
	t.job.record = t.conversation.waitingRun
	t.conversation.recordMessage()
	meant := plan.answerText(waiting.Question)
	t.conversation.closeQuestion(meant, t.job.message.Author)
	if waiting.Flow == t.bot.first {
		t.conversation.collapseQuestion(waiting.Question.ID, meant)
	}
	answer := graph.Answer{
		QuestionID: waiting.Question.ID, Choice: plan.choice, Text: plan.text,
		By: string(t.job.message.Author), At: t.job.now(),
	}
	if err := t.conclusion.saveRunStart(ctx, &answer, "its question was answered"); err != nil {
		return runs.Result{}, err
	}
	return t.runFlow(ctx, held)
}

// retryRun goes on with a run that did not come to its end.
func (t *turn) retryRun(ctx, held context.Context, run chat.RunID) (runs.Result, error) {
	var err error
	t.job.record, err = t.bot.records.Load(ctx, run)
	switch {
	case errors.Is(err, chat.ErrUnknownRun):
		return t.delivery.refuseJob(ctx, unknown)
	case err != nil:
		return runs.Result{}, err
	case t.job.record.Author != t.job.message.Author && t.job.entry.Kind == runs.Retry:
		return t.delivery.refuseJob(ctx, forbidden)
	case t.job.record.Status() == runs.Done:
		return t.delivery.refuseJob(ctx, over)
	}
	if t.conversation.session.Waiting != nil && t.conversation.session.Waiting.Run == run {
		t.conversation.closeQuestion("asked again", t.job.message.Author)
	}
	t.conversation.supersedeQuestion()
	// The reply belongs where the failure line stands: that may be below an answer.
	t.job.message.ID = t.job.record.Message
	for _, turn := range t.conversation.session.Turns {
		if t.conversation.isFailure(turn) {
			t.job.message.ID = turn.Message
		}
	}
	var answer *graph.Answer
	if work := t.conversation.session.Work; work != nil && work.Event == t.job.entry.Event { // it was put aside with its answer
		answer = work.Answer
	}
	if err := t.conclusion.saveRunStart(ctx, answer, "it is tried again"); err != nil {
		return runs.Result{}, err
	}
	return t.runFlow(ctx, held)
}
