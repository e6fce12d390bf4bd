package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"cairn/internal/chat"
	"cairn/internal/graph"
	"cairn/internal/graph/flows"
	"cairn/internal/runs"
	"cairn/internal/session"
)

// turn is one message being handled, or one run being tried again.
type turn struct {
	bot          *Bot
	work         *work
	message      chat.Message
	conversation chat.Conversation
	came         time.Time // when the bot was given the message
	session      session.Session
	open         runs.Record // of the run that waits in the thread, if one does
	record       runs.Record // of the run that the turn starts or goes on with
	note         string      // about how the message was taken, for the reply
}

// recall finds the run that waits in the thread. One that is not remembered any more
// waits no longer.
func (t *turn) recall(ctx context.Context) error {
	if t.session.Waiting == nil {
		return nil
	}
	var err error
	t.open, err = t.bot.records.Load(ctx, t.session.Waiting.Run)
	if errors.Is(err, chat.ErrUnknownRun) {
		t.settle("forgotten", "")
		return nil
	}
	return err
}

// take decides what the message is and does it.
func (t *turn) take(ctx context.Context) error {
	plan := route(t.message, t.session.Waiting)
	if plan.kind.forAsker() && !t.mayAnswer() {
		return chat.ErrForbidden
	}
	switch plan.kind {
	case cancels:
		t.heard()
		if err := t.abandon(ctx, cancelled, "its question was dropped"); err != nil {
			return err
		}
		return t.say(ctx, chat.Reply{Run: plan.run, Outcome: chat.Answered, Text: "All right, I leave it there."})
	case idle:
		t.heard()
		return t.say(ctx, chat.Reply{Outcome: chat.Answered, Text: "There is nothing to stop."})
	case stale:
		t.heard()
		return t.say(ctx, chat.Reply{Outcome: chat.Abstained, Text: "That question is no longer open. Ask again, and I start anew."})
	case unoffered:
		t.heard()
		return t.say(ctx, chat.Reply{Outcome: chat.Abstained, Text: "That is none of the choices. Take one of them, or say `never mind`."})
	case empty:
		t.heard()
		return t.say(ctx, chat.Reply{Outcome: chat.Answered, Text: help})
	case answers:
		return t.resume(ctx, plan)
	case asks:
		return t.start(ctx, plan)
	}
	return fmt.Errorf("message %s: no plan %d", t.message.ID, plan.kind)
}

const help = "Ask me about the documents I know, in your own words. " +
	"I quote what answers, and each quote links to where it stands. " +
	"Follow up in the same thread; say `stop` while I work, or `never mind` to drop a question."

// mayAnswer says whether the message's author may answer the question that waits, or
// drop it.
func (t *turn) mayAnswer() bool { return mayAnswer(t.session.Waiting.Question, t.message.Author) }

func mayAnswer(question chat.Question, by chat.UserID) bool {
	return question.Asker == "" || question.Asker == by
}

// settle closes the waiting question with what became of it.
func (t *turn) settle(answer string, by chat.UserID) {
	waiting := t.session.Waiting
	t.session.Waiting = nil
	for i := range t.session.Turns {
		asked := &t.session.Turns[i]
		if asked.Question != nil && asked.Question.ID == waiting.Question.ID && asked.Answer == "" {
			asked.Answer, asked.AnsweredBy = answer, by
		}
	}
}

// abandon closes the waiting question and its run unanswered.
func (t *turn) abandon(ctx context.Context, answer, reason string) error {
	t.settle(answer, t.message.Author)
	t.open.Move(runs.Cancelled, t.bot.now(), reason)
	return t.bot.records.Save(ctx, t.open)
}

// supersede closes a question that waits when its asker wants something else. Somebody
// else's stays open.
func (t *turn) supersede(ctx context.Context) error {
	if t.session.Waiting == nil || !t.mayAnswer() {
		return nil
	}
	t.note = "The earlier question is closed."
	return t.abandon(ctx, leftOpen, "something else was asked")
}

// What becomes of a question that is not answered, as the thread shows it.
const (
	cancelled = "cancelled"
	leftOpen  = "left open"
)

func (t *turn) start(ctx context.Context, plan plan) error {
	if plan.flow == "" {
		plan.flow = t.bot.first
	}
	flow, known := t.bot.flows[plan.flow]
	if !known {
		return fmt.Errorf("message %s: no flow %q is registered", t.message.ID, plan.flow)
	}
	if err := t.supersede(ctx); err != nil {
		return err
	}
	t.record = runs.Record{
		ID: chat.RunID(NewRunID()), Thread: t.message.Thread, Flow: flow.Name(), Author: t.message.Author,
		Message: t.message.ID, Request: plan.text, Depth: t.message.Depth,
	}
	t.record.Move(runs.Queued, t.came, "its message came")
	t.record.Move(runs.Running, t.bot.now(), "its turn came")
	t.session.Flow = flow.Name()
	request := t.request()
	t.heard()
	return t.run(ctx, func(ctx context.Context, runtime flows.Runtime) (flows.Outcome, error) {
		return flow.Start(ctx, request, runtime)
	})
}

// request is what the record's flow is asked, with what was said before.
func (t *turn) request() flows.Request {
	before := t.session.Turns
	for i, turn := range before {
		if turn.Role == chat.Person && turn.Message == t.record.Message {
			before = before[:i]
			break
		}
	}
	return flows.Request{
		Run: string(t.record.ID), Text: t.record.Request, Depth: flows.Depth(t.record.Depth), History: history(before),
	}
}

func (t *turn) resume(ctx context.Context, plan plan) error {
	waiting := *t.session.Waiting
	flow, known := t.bot.flows[waiting.Flow]
	if !known {
		return fmt.Errorf("resume run %s: no flow %q", waiting.Run, waiting.Flow)
	}
	answer := graph.Answer{
		QuestionID: waiting.Question.ID, Choice: plan.choice, Text: plan.text,
		By: string(t.message.Author), At: t.bot.now(),
	}
	t.record = t.open
	t.record.Move(runs.Running, t.bot.now(), "its question was answered")
	t.heard()
	t.settle(plan.said(waiting.Question), t.message.Author)
	return t.run(ctx, func(ctx context.Context, runtime flows.Runtime) (flows.Outcome, error) {
		return flow.Resume(ctx, string(waiting.Run), []graph.Answer{answer}, runtime)
	})
}

// retry goes on with a run that did not come to its end.
func (t *turn) retry(ctx context.Context) error {
	flow, known := t.bot.flows[t.record.Flow]
	if !known {
		return fmt.Errorf("retry run %s: no flow %q", t.record.ID, t.record.Flow)
	}
	if t.session.Waiting != nil && t.session.Waiting.Run == t.record.ID {
		t.settle("asked again", t.message.Author)
	}
	if err := t.supersede(ctx); err != nil {
		return err
	}
	// The reply belongs where the failure line stands: that may be below an answer.
	for _, turn := range t.session.Turns {
		if t.isFailure(turn) {
			t.message.ID = turn.Message
		}
	}
	t.record.Move(runs.Running, t.bot.now(), "a person tried it again")
	request := t.request()
	return t.run(ctx, func(ctx context.Context, runtime flows.Runtime) (flows.Outcome, error) {
		outcome, err := flow.Resume(ctx, request.Run, nil, runtime)
		if errors.Is(err, graph.ErrNoCheckpoint) {
			return flow.Start(ctx, request, runtime)
		}
		return outcome, err
	})
}

// heard remembers the person's message.
func (t *turn) heard() { t.hear(t.message) }

func (t *turn) hear(message chat.Message) {
	t.session.Add(chat.Turn{
		Role: chat.Person, Author: message.Author, Message: message.ID, At: t.bot.now(), Text: message.Text,
	})
}

// remember adds what the bot says to a message.
func (t *turn) remember(message chat.MessageID, reply chat.Reply) {
	reply.Trace = chat.Trace{} // the run's record has it
	t.session.Add(chat.Turn{Role: chat.Bot, Message: message, At: t.bot.now(), Reply: &reply})
}

// retract forgets the failure line of a run that was tried again.
func (t *turn) retract() { t.session.Turns = slices.DeleteFunc(t.session.Turns, t.isFailure) }

// isFailure tells the failure lines of the record's run.
func (t *turn) isFailure(turn chat.Turn) bool {
	return turn.Reply != nil && turn.Reply.Run == t.record.ID && turn.Reply.Outcome == chat.Failure
}

// say replies about no run.
func (t *turn) say(ctx context.Context, reply chat.Reply) error {
	t.remember(t.message.ID, reply)
	if err := t.bot.sessions.Save(ctx, t.session); err != nil {
		return err
	}
	return t.conversation.Reply(ctx, reply)
}
