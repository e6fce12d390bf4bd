package posttest

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
)

// Recorder is a Bot that records what an adapter asks of it: "message", "stop", "retry",
// "rating", "trace", "edit". It hears of edits and deletions and does nothing about them.
type Recorder struct {
	*Bot

	mu    sync.Mutex
	calls []string
}

// NewRecorder makes a recorder, which posts once Through was called.
func NewRecorder() *Recorder { return &Recorder{Bot: New()} }

// Calls returns what was asked of the bot, in order.
func (r *Recorder) Calls() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.calls)
}

func (r *Recorder) record(call string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, call)
}

// Handle records a message.
func (r *Recorder) Handle(ctx context.Context, message chat.Message, conversation chat.Conversation) error {
	r.record("message")
	return r.Bot.Handle(ctx, message, conversation)
}

// Stop records a stop.
func (r *Recorder) Stop(ctx context.Context, thread chat.ThreadID, by chat.UserID) (bool, error) {
	r.record("stop")
	return r.Bot.Stop(ctx, thread, by)
}

// Retry records a retry.
func (r *Recorder) Retry(ctx context.Context, run chat.RunID, by chat.UserID, conversation chat.Conversation) error {
	r.record("retry")
	return r.Bot.Retry(ctx, run, by, conversation)
}

// Rate records a rating.
func (r *Recorder) Rate(ctx context.Context, run chat.RunID, rating chat.Rating) error {
	r.record("rating")
	return r.Bot.Rate(ctx, run, rating)
}

// Explain records that a trace was asked for.
func (r *Recorder) Explain(ctx context.Context, run chat.RunID) (chat.Trace, error) {
	r.record("trace")
	return r.Bot.Explain(ctx, run)
}

// Edited records an edit.
func (r *Recorder) Edited(context.Context, chat.Message) error {
	r.record("edit")
	return nil
}

// Deleted implements chat.Changes.
func (*Recorder) Deleted(context.Context, chat.ThreadID, chat.MessageID) error { return nil }

// AnswerWithManySources is a reply with every button that an answer may have.
func AnswerWithManySources() chat.Reply {
	answer := chattest.Answer()
	for i := range 12 {
		answer.Sources[0].Sources = append(answer.Sources[0].Sources, chat.Source{Numbers: []int{10 + i}, Title: fmt.Sprint("Page ", i), State: "live"})
	}
	return answer
}

// FailedReply is the failure line of a run, which can be tried again.
func FailedReply() chat.Reply {
	return chat.Reply{Run: "run-failed", Outcome: chat.Failure, Text: "It failed."}
}
