// Package bot turns a message into a run and a run's outcome into a reply or a
// question: it finds the thread's session, decides whether the message answers a
// waiting question or starts a flow, and remembers what was said and how it came about.
//
// line.go has the order of a thread's messages and what stops them, turn.go what is done
// about one message, run.go what is done with a run, controls.go what people do about
// runs beside writing.
package bot

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"time"

	"cairn/internal/chat"
	"cairn/internal/graph"
	"cairn/internal/graph/draw"
	"cairn/internal/graph/flows"
	"cairn/internal/runs"
	"cairn/internal/session"
)

// Bot is the chat.Handler behind every adapter.
type Bot struct {
	sessions    session.Store
	checkpoints graph.Store
	records     runs.Records
	flows       map[string]flows.Flow
	first       string // the flow that a plain message goes to
	logger      *slog.Logger
	lines       lines
	now         func() time.Time
}

// Options is what a bot is made of. All fields are required but Now.
type Options struct {
	Sessions    session.Store
	Checkpoints graph.Store
	Records     runs.Records
	Flows       []flows.Flow // the first is the one a plain message goes to
	Logger      *slog.Logger
	Now         func() time.Time // nil: time.Now
}

var (
	_ chat.Handler     = (*Bot)(nil)
	_ chat.Transcripts = (*Bot)(nil)
	_ chat.Controls    = (*Bot)(nil)
	_ chat.Threads     = (*Bot)(nil)
	_ chat.Graphs      = (*Bot)(nil)
)

// New makes a bot.
func New(options Options) *Bot {
	b := &Bot{
		sessions: options.Sessions, checkpoints: options.Checkpoints, records: options.Records,
		flows: make(map[string]flows.Flow), logger: options.Logger, now: options.Now,
	}
	if b.now == nil {
		b.now = time.Now
	}
	for i, flow := range options.Flows {
		if i == 0 {
			b.first = flow.Name()
		}
		b.flows[flow.Name()] = flow
	}
	return b
}

// Handle implements chat.Handler.
func (b *Bot) Handle(ctx context.Context, message chat.Message, conversation chat.Conversation) error {
	came := b.now()
	if message.Answers == nil && chat.IsStop(message.Text) {
		if done, err := b.stopAtWord(ctx, message, conversation); done || err != nil {
			return err
		}
	}
	work, err := b.lines.enter(ctx, message.Thread, message.Author)
	if err != nil {
		return fmt.Errorf("wait for the turn of message %s: %w", message.ID, err)
	}
	defer b.lines.leave(message.Thread, work)
	t, err := b.turn(ctx, message, conversation, work)
	if err != nil {
		return err
	}
	t.came = came
	return t.take(ctx)
}

// turn makes the turn of a message, or of a run's message that is tried again, whose
// work is first in its thread's line.
func (b *Bot) turn(ctx context.Context, message chat.Message, conversation chat.Conversation, work *work) (*turn, error) {
	remembered, err := b.sessions.Load(ctx, message.Thread)
	if err != nil {
		return nil, err
	}
	t := &turn{bot: b, work: work, message: message, conversation: conversation, session: remembered}
	return t, t.recall(ctx)
}

// Transcript implements chat.Transcripts.
func (b *Bot) Transcript(ctx context.Context, thread chat.ThreadID) ([]chat.Turn, error) {
	remembered, err := b.sessions.Load(ctx, thread)
	return remembered.Turns, err
}

// Threads implements chat.Threads.
func (b *Bot) Threads(ctx context.Context, adapter string, by chat.UserID, limit int) ([]chat.ThreadSummary, error) {
	if limit <= 0 {
		return nil, fmt.Errorf("list the threads of %s: the limit is %d, it must be positive", adapter, limit)
	}
	return b.sessions.Threads(ctx, adapter, by, limit)
}

// Graph implements chat.Graphs.
func (b *Bot) Graph(flow string) (svg string, known bool) {
	registered, known := b.flows[flow]
	if !known {
		return "", false
	}
	return draw.SVG(registered.Shape()), true
}

// NewRunID makes an id that no other run has.
func NewRunID() string { return "run-" + rand.Text()[:16] }
