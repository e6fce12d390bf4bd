// Package bot turns a message into a run and a run's outcome into a reply or a
// question: it finds the thread's session, decides whether the message answers a
// waiting question or starts a flow, and remembers what was said.
package bot

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"cairn/internal/chat"
	"cairn/internal/graph"
	"cairn/internal/graph/flows"
	"cairn/internal/session"
)

// Bot is the chat.Handler behind every adapter.
type Bot struct {
	sessions    session.Store
	checkpoints graph.Store
	flows       map[string]flows.Flow
	logger      *slog.Logger
	threads     threads
	now         func() time.Time
}

// Options is what a bot is made of. All fields are required but Now.
type Options struct {
	Sessions    session.Store
	Checkpoints graph.Store
	Flows       []flows.Flow // the first is the one a plain message goes to
	Logger      *slog.Logger
	Now         func() time.Time // nil: time.Now
}

var (
	_ chat.Handler     = (*Bot)(nil)
	_ chat.Transcripts = (*Bot)(nil)
)

// New makes a bot.
func New(options Options) *Bot {
	b := &Bot{
		sessions: options.Sessions, checkpoints: options.Checkpoints,
		flows: make(map[string]flows.Flow), logger: options.Logger, now: options.Now,
	}
	if b.now == nil {
		b.now = time.Now
	}
	for i, flow := range options.Flows {
		if i == 0 {
			b.flows[""] = flow
		}
		b.flows[flow.Name()] = flow
	}
	return b
}

// Handle implements chat.Handler: one message of a thread at a time, in the order in
// which they come.
func (b *Bot) Handle(ctx context.Context, message chat.Message, conversation chat.Conversation) error {
	release, err := b.threads.hold(ctx, message.Thread)
	if err != nil {
		return err
	}
	defer release()
	remembered, err := b.sessions.Load(ctx, message.Thread)
	if err != nil {
		return err
	}
	t := &turn{bot: b, message: message, conversation: conversation, session: remembered}
	return t.take(ctx)
}

// Transcript implements chat.Transcripts.
func (b *Bot) Transcript(ctx context.Context, thread chat.ThreadID) ([]chat.Turn, error) {
	remembered, err := b.sessions.Load(ctx, thread)
	return remembered.Turns, err
}

// turn is one message being handled.
type turn struct {
	bot          *Bot
	message      chat.Message
	conversation chat.Conversation
	session      session.Session
	note         string // about how the message was taken, for the reply
}

// take decides what the message is and does it.
func (t *turn) take(ctx context.Context) error {
	plan := route(t.message, t.session.Waiting)
	switch plan.kind {
	case cancels:
		t.heard()
		t.settle("cancelled")
		return t.say(ctx, chat.Reply{Run: plan.run, Outcome: chat.Answered, Text: "All right, I leave it there."})
	case stale:
		t.heard()
		return t.say(ctx, chat.Reply{Outcome: chat.Abstained, Text: "That question is no longer open. Ask again, and I start anew."})
	case empty:
		t.heard()
		return t.say(ctx, chat.Reply{Outcome: chat.Answered, Text: help})
	case answers:
		return t.resume(ctx, plan)
	case asks:
		if t.session.Waiting != nil {
			t.settle("left open")
			t.note = "The earlier question is closed."
		}
		return t.start(ctx, plan)
	}
	return fmt.Errorf("message %s: no plan %d", t.message.ID, plan.kind)
}

const help = "Ask me about the documents I know, in your own words. " +
	"I quote what answers, and each quote links to where it stands. " +
	"Follow up in the same thread; say `never mind` to drop a question."

// settle closes the waiting question with what became of it.
func (t *turn) settle(answer string) {
	waiting := t.session.Waiting
	t.session.Waiting = nil
	if waiting == nil {
		return
	}
	for i := range t.session.Turns {
		question := t.session.Turns[i].Question
		if question != nil && question.ID == waiting.Question.ID {
			t.session.Turns[i].Answer = answer
		}
	}
}

func (t *turn) start(ctx context.Context, plan plan) error {
	flow := t.bot.flows[plan.flow]
	request := flows.Request{
		Run: NewRunID(), Text: plan.text, Depth: flows.Depth(t.message.Depth),
		History: history(t.session.Turns),
	}
	t.session.Flow = flow.Name()
	t.heard()
	outcome, err := flow.Start(ctx, request, t.runtime(ctx))
	return t.end(ctx, flow, chat.RunID(request.Run), outcome, err)
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
	t.heard()
	t.settle(plan.said(waiting.Question))
	outcome, err := flow.Resume(ctx, string(waiting.Run), []graph.Answer{answer}, t.runtime(ctx))
	return t.end(ctx, flow, waiting.Run, outcome, err)
}

// heard remembers the person's message.
func (t *turn) heard() {
	t.session.Add(chat.Turn{Role: chat.Person, Message: t.message.ID, At: t.bot.now(), Text: t.message.Text})
}

// end says what came of a run. A failure is said too, with the run's id; its cause
// goes to the log alone.
func (t *turn) end(ctx context.Context, flow flows.Flow, run chat.RunID, outcome flows.Outcome, err error) error {
	if err != nil {
		// A person who stopped the run still gets a word, and the thread remembers it.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		return t.say(ctx, t.failure(ctx, run, err))
	}
	if outcome.Kind == flows.Asked {
		return t.ask(ctx, flow, run, *outcome.Question)
	}
	reply := replyOf(run, outcome)
	if t.note != "" {
		reply.Note = joinNotes(t.note, reply.Note)
	}
	return t.say(ctx, reply)
}

func (t *turn) failure(ctx context.Context, run chat.RunID, err error) chat.Reply {
	if errors.Is(err, context.Canceled) {
		return chat.Reply{Run: run, Outcome: chat.Failure, Text: "Stopped."}
	}
	t.bot.logger.ErrorContext(ctx, "run failed", "run", string(run), "thread", string(t.message.Thread), "error", err)
	return chat.Reply{
		Run: run, Outcome: chat.Failure,
		Text: fmt.Sprintf("Something went wrong on my side, and there is no answer. The log has the cause under run `%s`; asking again starts anew.", run),
	}
}

func (t *turn) ask(ctx context.Context, flow flows.Flow, run chat.RunID, asked graph.Question) error {
	question := questionOf(run, t.message.Author, asked)
	t.session.Waiting = &session.Waiting{Run: run, Flow: flow.Name(), Question: question, Request: t.message.Text}
	t.session.Add(chat.Turn{Role: chat.Bot, Message: t.message.ID, At: t.bot.now(), Question: &question})
	if err := t.bot.sessions.Save(ctx, t.session); err != nil {
		return err
	}
	return t.conversation.Ask(ctx, question)
}

func (t *turn) say(ctx context.Context, reply chat.Reply) error {
	kept := reply
	kept.Trace = chat.Trace{} // a session remembers what was said, not how it came about
	t.session.Add(chat.Turn{Role: chat.Bot, Message: t.message.ID, At: t.bot.now(), Reply: &kept})
	if err := t.bot.sessions.Save(ctx, t.session); err != nil {
		return err
	}
	return t.conversation.Reply(ctx, reply)
}

// NewRunID makes an id that no other run has.
func NewRunID() string { return "run-" + rand.Text()[:16] }
