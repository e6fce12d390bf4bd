package bot

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/language"
	"github.com/cairn-bot/cairn/internal/phrases"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/session"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// conversation is what a job's thread remembers: its session, and what the job changes of that.
type conversation struct {
	job      *job
	sessions session.Store
	records  runs.Records
	first    string // the flow that a plain message goes to

	session    session.Session
	waitingRun runs.Record   // of the run that waits in the thread, if one does
	note       string        // about how the message was taken, for the reply
	closed     []string      // ids of questions that the job closes
	published  bool          // those are shown as closed
	changed    []runs.Record // to be committed with the session next
}

// What becomes of a question that is not answered, as the thread shows it.
const (
	cancelled = "cancelled"
	leftOpen  = "left open"
	expired   = "expired"
)

// maxMeant is how many letters of an answer a collapsed question shows.
const maxMeant = 200

// loadSession finds the thread's session, and whether the job was taken up before.
func (c *conversation) loadSession(ctx context.Context) error {
	var err error
	if c.session, err = c.leasedSession(ctx); err != nil {
		return err
	}
	work := c.session.Work
	c.job.again = work != nil && work.Event == c.job.entry.Event && work.Came.Equal(c.job.entry.Enqueued)
	return nil
}

// leasedSession returns the session that came with the lease, or loads it. Only what is done in
// the lane of messages knows and changes it.
func (c *conversation) leasedSession(ctx context.Context) (session.Session, error) {
	thread := c.job.entry.Thread()
	switch {
	case c.job.lease.Lane != runs.LaneMessages:
		return session.Session{Thread: thread}, nil
	case c.job.lease.SessionUnread:
		return c.sessions.Load(ctx, thread)
	case c.job.lease.Session == nil:
		return session.Session{Thread: thread}, nil
	}
	return session.Decode(thread, c.job.lease.Session)
}

// savedSession is the session as it is to be committed; nil: it is not.
func (c *conversation) savedSession() *session.Session {
	if c.job.lease.Lane != runs.LaneMessages {
		return nil
	}
	return &c.session
}

// loadWaitingRun finds the run that waits in the thread. One that is not remembered any more
// waits no longer.
func (c *conversation) loadWaitingRun(ctx context.Context) error {
	if c.session.Waiting == nil {
		return nil
	}
	var err error
	c.waitingRun, err = c.records.Load(ctx, c.session.Waiting.Run)
	if errors.Is(err, chat.ErrUnknownRun) {
		c.closeQuestion("forgotten", "")
		return nil
	}
	return err
}

// staleText is the answer to a press on a question that no longer waits.
func (c *conversation) staleText() string {
	for _, turn := range c.session.Turns {
		if turn.Question != nil && turn.Question.ID == c.job.message.Answers.Question && turn.Answer == expired {
			return c.choosePhrases().Text(phrases.QuestionExpired)
		}
	}
	return c.choosePhrases().Text(phrases.QuestionClosed)
}

// heardBefore tells whether the message is part of the transcript, and what was said to
// it last; nil: nothing.
func (c *conversation) heardBefore() (heard bool, said *chat.Turn) {
	for i, turn := range c.session.Turns {
		switch {
		case turn.Message != c.job.message.ID:
		case turn.Role == chat.Person:
			heard = true
		default:
			said = &c.session.Turns[i]
		}
	}
	return heard, said
}

// mayAnswer says whether the message's author may answer the question that waits, or
// drop it.
func (c *conversation) mayAnswer() bool {
	return mayAnswer(c.session.Waiting.Question, c.job.message.Author)
}

// closeQuestion closes the waiting question with what became of it.
func (c *conversation) closeQuestion(answer string, by chat.UserID) {
	waiting := c.session.Waiting
	c.session.Waiting = nil
	for i := range c.session.Turns {
		asked := &c.session.Turns[i]
		if asked.Question != nil && asked.Question.ID == waiting.Question.ID && asked.Answer == "" {
			asked.Answer, asked.AnsweredBy = answer, by
			c.closed = append(c.closed, asked.Question.ID)
		}
	}
}

// collapseQuestion has a question that was answered show only what was meant.
func (c *conversation) collapseQuestion(id, meant string) {
	for i, turn := range c.session.Turns {
		if turn.Question != nil && turn.Question.ID == id {
			asked := *turn.Question
			asked.Meant = c.choosePhrases().Text(phrases.YouMeant, shorten.Head(meant, maxMeant))
			c.session.Turns[i].Question = &asked
		}
	}
}

// abandonWaiting closes the waiting question and its run unanswered.
func (c *conversation) abandonWaiting(answer, reason string) {
	c.closeQuestion(answer, c.job.message.Author)
	c.closeWaitingRun(runs.Cancelled, reason)
}

// closeWaitingRun ends the run that waited.
func (c *conversation) closeWaitingRun(status runs.Status, reason string) {
	if c.waitingRun.Status() == status { // another worker came this far
		return
	}
	c.waitingRun.Move(status, c.job.now(), reason)
	c.changed = append(c.changed, c.waitingRun)
}

// supersedeQuestion closes a question that waits when its asker wants something else. Somebody
// else's stays open.
func (c *conversation) supersedeQuestion() {
	if c.session.Waiting == nil || !c.mayAnswer() {
		return
	}
	c.note = joinNotes(c.note, c.choosePhrases().Text(phrases.EarlierQuestionClosed))
	c.abandonWaiting(leftOpen, "something else was asked")
}

// setWork puts the job into the session, to be saved.
func (c *conversation) setWork(work session.Work) {
	work.Event, work.Came, work.Key = c.job.entry.Event, c.job.entry.Enqueued, keyOf(c.job.entry)
	work.Message, work.Note, work.Closed = c.job.message.ID, c.note, c.closed
	c.session.Work = &work
}

// recordMessage remembers the person's message.
func (c *conversation) recordMessage() {
	if heard, _ := c.heardBefore(); heard {
		return
	}
	c.session.Add(chat.Turn{
		Role: chat.Person, Author: c.job.message.Author, Message: c.job.message.ID, At: c.job.now(), Text: c.job.message.Text,
		Files: c.job.message.Files[:min(len(c.job.message.Files), chat.MaxFiles)],
	})
}

// recordReply adds what the bot says to a message.
func (c *conversation) recordReply(message chat.MessageID, reply chat.Reply) {
	reply.Trace = chat.Trace{} // the run's record has it
	c.appendReply(chat.Turn{Role: chat.Bot, Message: message, At: c.job.now(), Reply: &reply})
}

// appendReply puts what the bot says among the turns.
func (c *conversation) appendReply(said chat.Turn) {
	if at := c.findReplaced(); at >= 0 {
		said.Posted = c.session.Turns[at].Posted
		c.session.Turns[at] = said
		return
	}
	c.session.Add(said)
}

// replacesAnswer tells the jobs whose outcome takes the place of an answer.
func replacesAnswer(kind runs.Kind) bool { return kind == editedJob || kind == rewriteJob }

// findReplaced finds the reply that the outcome of an edited message takes the place of; -1
// where there is none.
func (c *conversation) findReplaced() int {
	if !replacesAnswer(c.job.entry.Kind) {
		return -1
	}
	for i, turn := range slices.Backward(c.session.Turns) {
		if turn.Message == c.job.message.ID && turn.Reply != nil && turn.Reply.Outcome != chat.Noticed {
			return i
		}
	}
	return -1
}

// isFailure tells the failure lines of the record's run.
func (c *conversation) isFailure(turn chat.Turn) bool {
	return turn.Reply != nil && turn.Reply.Run == c.job.record.ID && turn.Reply.Outcome == chat.Failure
}

// rewriteTurn puts the new text of a message among the turns, where it has one.
func (c *conversation) rewriteTurn(message chat.Message) {
	at := personTurn(c.session.Turns, message.ID)
	if at < 0 {
		return
	}
	turn := &c.session.Turns[at]
	turn.Text = shorten.Head(message.Text, maxText)
	if addsFiles(turn.Files, message.Files) {
		turn.Files = message.Files
	}
	c.updateTitle()
}

// updateTitle names the thread anew after its first message.
func (c *conversation) updateTitle() {
	if c.session.Named {
		return
	}
	var named session.Session
	for _, turn := range c.session.Turns {
		if turn.Role == chat.Person && named.Title == "" {
			named.Add(turn)
		}
	}
	c.session.Title = named.Title
}

// cancelRun ends the record's run, if there is one.
func (c *conversation) cancelRun(reason string) {
	if c.job.record.ID == "" || c.job.record.Status() == runs.Cancelled {
		return
	}
	c.job.record.Move(runs.Cancelled, c.job.now(), reason)
	c.changed = append(c.changed, c.job.record)
}

// askedAt is the message that the waiting question is about.
func (c *conversation) askedAt() chat.MessageID {
	for _, turn := range c.session.Turns {
		if turn.Question != nil && turn.Question.ID == c.session.Waiting.Question.ID && turn.Answer == "" {
			return turn.Message
		}
	}
	return c.waitingRun.Message
}

// choosePhrases speaks the language of the message, or else that of what its author wrote last.
func (c *conversation) choosePhrases() phrases.Speaker {
	if tag := language.Detect(c.job.message.Text); tag != language.Unknown {
		return phrases.In(tag)
	}
	for _, turn := range slices.Backward(c.session.Turns) {
		if turn.Role != chat.Person {
			continue
		}
		if tag := language.Detect(turn.Text); tag != language.Unknown {
			return phrases.In(tag)
		}
	}
	return phrases.In(language.English)
}

// isAboutFiles tells whether a thread was about files or about what a flow made of them:
// its questions are answered from those first.
func (c *conversation) isAboutFiles() bool {
	return slices.ContainsFunc(c.session.Turns, func(turn chat.Turn) bool {
		return len(turn.Files) > 0 || turn.Reply != nil && len(turn.Reply.Documents) > 0
	})
}

// knownMessages are those of the thread that its session tells of.
func (c *conversation) knownMessages() []chat.MessageID {
	var known []chat.MessageID
	for _, turn := range c.session.Turns {
		if turn.Role == chat.Person && turn.Message != "" {
			known = append(known, turn.Message)
		}
		if turn.Posted != "" {
			known = append(known, turn.Posted)
		}
	}
	return known
}

func (c *conversation) labelOf(question, choice string) string {
	for _, turn := range c.session.Turns {
		if turn.Question != nil && turn.Question.ID == question {
			for _, offered := range turn.Question.Choices {
				if offered.ID == choice {
					return offered.Label
				}
			}
		}
	}
	return ""
}

// workedAt is the run that the job was about, "" for none.
func (c *conversation) workedAt() chat.RunID {
	if c.session.Work == nil {
		return ""
	}
	return c.session.Work.Run
}

func joinNotes(notes ...string) string { return strings.TrimSpace(strings.Join(notes, " ")) }

func mayAnswer(question chat.Question, by chat.UserID) bool {
	return question.Asker == "" || question.Asker == by
}

// firstInDoubt is the message that the tidying begins at: the oldest that the session tells of,
// for the job stands for all of the thread, or its own where the session does not tell of it.
func (c *conversation) firstInDoubt() chat.MessageID {
	if lastSaid(c.session.Turns, c.job.message.ID) < 0 {
		return c.job.message.ID
	}
	for _, turn := range c.session.Turns {
		if turn.Role == chat.Person && turn.Message != "" {
			return turn.Message
		}
	}
	return c.job.message.ID
}
