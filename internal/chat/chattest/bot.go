// Package chattest proves adapters: a scripted bot to put behind them, replies and
// questions as real ones look (and hostile ones), and the suite every adapter passes.
package chattest

import (
	"context"
	"fmt"
	"sync"
	"time"

	"cairn/internal/chat"
)

// Bot is a chat.Handler that follows scripts and keeps the threads' transcripts. The
// zero value answers every message with "You said: " and its text, a pressed choice
// with "You chose " and its id, and takes plain text as the answer to the thread's
// open question.
type Bot struct {
	mu       sync.Mutex
	scripts  map[string]Script
	messages []chat.Message
	threads  map[chat.ThreadID][]chat.Turn
	working  map[chat.ThreadID]int
	overlaps int
}

// Script is what the bot does about one message.
type Script func(ctx context.Context, message chat.Message, conversation chat.Conversation) error

// On makes the bot follow a script whenever a message's text is exactly text.
func (b *Bot) On(text string, script Script) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.scripts == nil {
		b.scripts = make(map[string]Script)
	}
	b.scripts[text] = script
}

// Messages gives the messages that were handed over so far, in order.
func (b *Bot) Messages() []chat.Message {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]chat.Message(nil), b.messages...)
}

// Overlaps counts the messages that came while another of their thread was handled.
func (b *Bot) Overlaps() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.overlaps
}

// Handle follows the script for the message.
func (b *Bot) Handle(ctx context.Context, message chat.Message, conversation chat.Conversation) error {
	script := b.begin(message)
	defer b.end(message.Thread)
	return script(ctx, message, recorder{b, message, conversation})
}

func (b *Bot) begin(message chat.Message) Script {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.threads == nil {
		b.threads = make(map[chat.ThreadID][]chat.Turn)
		b.working = make(map[chat.ThreadID]int)
	}
	if b.working[message.Thread] > 0 {
		b.overlaps++
	}
	b.working[message.Thread]++
	b.messages = append(b.messages, message)
	b.answer(message)
	b.threads[message.Thread] = append(b.threads[message.Thread],
		chat.Turn{Role: chat.Person, At: message.At, Message: message.ID, Text: message.Text})
	if script := b.scripts[message.Text]; script != nil && message.Answers == nil {
		return script
	}
	text := "You said: " + message.Text
	if message.Answers != nil {
		text = "You chose " + message.Answers.Choice
	}
	return Says(chat.Reply{Outcome: chat.Answered, Text: text})
}

// answer notes the message as the answer to the question it presses, or to the last
// open one that takes free text.
func (b *Bot) answer(message chat.Message) {
	turns := b.threads[message.Thread]
	for i := len(turns) - 1; i >= 0; i-- {
		question := turns[i].Question
		if question == nil || turns[i].Answer != "" {
			continue
		}
		if message.Answers == nil && question.FreeText || message.Answers != nil && message.Answers.Question == question.ID {
			turns[i].Answer = message.Text
			return
		}
	}
}

func (b *Bot) end(thread chat.ThreadID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.working[thread]--
}

// Transcript gives the turns of a thread.
func (b *Bot) Transcript(_ context.Context, thread chat.ThreadID) ([]chat.Turn, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]chat.Turn(nil), b.threads[thread]...), nil
}

// recorder keeps what the bot says as turns.
type recorder struct {
	bot     *Bot
	message chat.Message
	to      chat.Conversation
}

func (r recorder) Progress(ctx context.Context, progress chat.Progress) error {
	return r.to.Progress(ctx, progress)
}

func (r recorder) Reply(ctx context.Context, reply chat.Reply) error {
	r.record(chat.Turn{Reply: &reply})
	return r.to.Reply(ctx, reply)
}

func (r recorder) Ask(ctx context.Context, question chat.Question) error {
	r.record(chat.Turn{Question: &question})
	return r.to.Ask(ctx, question)
}

func (r recorder) record(turn chat.Turn) {
	turn.Role, turn.Message, turn.At = chat.Bot, r.message.ID, time.Now()
	r.bot.mu.Lock()
	defer r.bot.mu.Unlock()
	r.bot.threads[r.message.Thread] = append(r.bot.threads[r.message.Thread], turn)
}

// Says replies.
func Says(reply chat.Reply) Script {
	return func(ctx context.Context, _ chat.Message, conversation chat.Conversation) error {
		return conversation.Reply(ctx, reply)
	}
}

// Asks asks a question.
func Asks(question chat.Question) Script {
	return func(ctx context.Context, _ chat.Message, conversation chat.Conversation) error {
		return conversation.Ask(ctx, question)
	}
}

// Reports tells the steps of a run, in order.
func Reports(steps ...chat.Progress) Script {
	return func(ctx context.Context, _ chat.Message, conversation chat.Conversation) error {
		for _, step := range steps {
			if err := conversation.Progress(ctx, step); err != nil {
				return fmt.Errorf("report step %s: %w", step.Step, err)
			}
		}
		return nil
	}
}

// Fails says nothing and returns err.
func Fails(err error) Script {
	return func(context.Context, chat.Message, chat.Conversation) error { return err }
}

// Until waits for the channel to be closed, or for the run to be cancelled, which it
// returns as an error.
func Until(gate <-chan struct{}) Script {
	return func(ctx context.Context, _ chat.Message, _ chat.Conversation) error {
		select {
		case <-gate:
			return nil
		case <-ctx.Done():
			return fmt.Errorf("wait for the gate: %w", ctx.Err())
		}
	}
}

// InTurn follows scripts one after another, up to the first error.
func InTurn(scripts ...Script) Script {
	return func(ctx context.Context, message chat.Message, conversation chat.Conversation) error {
		for _, script := range scripts {
			if err := script(ctx, message, conversation); err != nil {
				return err
			}
		}
		return nil
	}
}
