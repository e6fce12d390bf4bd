// Package chattest proves adapters: a scripted bot to put behind them, replies and
// questions as real ones look (and hostile ones), and the suite every adapter passes.
package chattest

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
)

// Bot is a chat.Handler that follows scripts, one message of a thread at a time, and
// keeps the threads' transcripts; it also is all else that the bot is to an adapter.
// The zero value answers every message with "You said: " and its text, a pressed choice
// with "You chose " and its id, takes plain text as the answer to the thread's open
// question, and stops at a word as the real bot does.
type Bot struct {
	mu       sync.Mutex
	scripts  map[string]Script
	messages []chat.Message
	threads  map[chat.ThreadID]*thread
	runs     map[chat.RunID]*run
}

var (
	_ chat.Handler     = (*Bot)(nil)
	_ chat.Transcripts = (*Bot)(nil)
)

// thread is a conversation, guarded by Bot.mu.
type thread struct {
	turns   []chat.Turn
	updated time.Time
	last    chan struct{} // closed when the last message in line is done
	work    *work         // nil while nothing works
	state   chat.ThreadState
}

// work is a message being handled, guarded by Bot.mu.
type work struct {
	author  chat.UserID
	run     chat.RunID // as the script named it last
	cancel  context.CancelFunc
	stopped bool
}

// Script is what the bot does about one message. A script that gives an error after
// its run was stopped is answered with "Stopped.", as the real bot does.
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

// Messages returns the messages that were handed over so far, in order.
func (b *Bot) Messages() []chat.Message {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]chat.Message(nil), b.messages...)
}

// Handle follows the script for the message once those before it in its thread are
// done, or stops the one that works.
func (b *Bot) Handle(ctx context.Context, message chat.Message, conversation chat.Conversation) error {
	b.mu.Lock()
	b.messages = append(b.messages, message)
	b.mu.Unlock()
	if message.Answers == nil && chat.IsStop(message.Text) {
		stopped, err := b.Stop(ctx, message.Thread, message.Author)
		if err != nil {
			return err
		}
		if stopped {
			b.recordMessage(message)
			return Says(chat.Reply{Outcome: chat.Answered, Text: "All right, I stopped."})(ctx, message, recorder{b, message, conversation})
		}
	}
	return b.inTurn(ctx, message, conversation, func() (Script, error) {
		if err := b.recordAnswer(message); err != nil {
			return nil, err
		}
		b.recordMessage(message)
		return b.scriptFor(message), nil
	})
}

// inTurn follows the script that prepare gives once all before it in the message's
// thread are done.
func (b *Bot) inTurn(ctx context.Context, message chat.Message, conversation chat.Conversation, prepare func() (Script, error)) error {
	b.mu.Lock()
	in := b.findThread(message.Thread)
	before, done := in.last, make(chan struct{})
	in.last = done
	b.mu.Unlock()
	defer close(done)
	if before != nil {
		<-before
	}
	script, err := prepare()
	if err != nil {
		return err
	}
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	current := &work{author: message.Author, run: chat.RunID("run-" + string(message.ID)), cancel: cancel}
	b.setWork(in, current)
	to := recorder{b, message, conversation}
	err = script(running, message, to.wrapStreaming())
	b.setWork(in, nil)
	if err != nil && current.stopped {
		return to.Reply(ctx, chat.Reply{Run: current.run, Outcome: chat.Failure, Stopped: true, Text: "Stopped."})
	}
	return err
}

func (b *Bot) setWork(in *thread, current *work) {
	b.mu.Lock()
	defer b.mu.Unlock()
	in.work = current
}

// findThread returns a thread, made where it is new. The caller holds mu.
func (b *Bot) findThread(id chat.ThreadID) *thread {
	if b.threads == nil {
		b.threads = make(map[chat.ThreadID]*thread)
	}
	if b.threads[id] == nil {
		b.threads[id] = &thread{}
	}
	return b.threads[id]
}

func (b *Bot) recordMessage(message chat.Message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	in := b.findThread(message.Thread)
	in.updated = time.Now()
	in.turns = append(in.turns, chat.Turn{
		Role: chat.Person, At: message.At, Author: message.Author, Message: message.ID, Text: message.Text, Files: message.Files,
	})
}

func (b *Bot) scriptFor(message chat.Message) Script {
	b.mu.Lock()
	defer b.mu.Unlock()
	if script := b.scripts[message.Text]; script != nil && message.Answers == nil {
		return script
	}
	text := "You said: " + message.Text
	if message.Answers != nil {
		text = "You chose " + message.Answers.Choice
	}
	return Says(chat.Reply{Outcome: chat.Answered, Text: text})
}

// recordAnswer notes the message as the answer to the question it presses, or to the last
// open one that takes free text, where its author may give it.
func (b *Bot) recordAnswer(message chat.Message) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	turns := b.findThread(message.Thread).turns
	for i := len(turns) - 1; i >= 0; i-- {
		question := turns[i].Question
		if question == nil || turns[i].Answer != "" {
			continue
		}
		if message.Answers == nil && question.FreeText || message.Answers != nil && message.Answers.Question == question.ID {
			if question.Asker != "" && question.Asker != message.Author {
				return chat.ErrForbidden
			}
			turns[i].Answer, turns[i].AnsweredBy = message.Text, message.Author
			return nil
		}
	}
	return nil
}

// Transcript returns the turns of a thread.
func (b *Bot) Transcript(_ context.Context, thread chat.ThreadID) ([]chat.Turn, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]chat.Turn(nil), b.findThread(thread).turns...), nil
}

// recorder keeps what the bot says as turns.
type recorder struct {
	bot     *Bot
	message chat.Message
	to      chat.Conversation
}

// streamer is a recorder of a conversation that takes an answer piece by piece.
type streamer struct {
	recorder
	stream chat.Streamer
}

// wrapStreaming returns the recorder as what the conversation behind it is.
func (r recorder) wrapStreaming() chat.Conversation {
	if stream, ok := r.to.(chat.Streamer); ok {
		return streamer{r, stream}
	}
	return r
}

func (s streamer) Stream(ctx context.Context, token chat.Token) error {
	s.recordRun(token.Run)
	return s.stream.Stream(ctx, token)
}

func (r recorder) Progress(ctx context.Context, progress chat.Progress) error {
	r.recordRun(progress.Run)
	return r.to.Progress(ctx, progress)
}

func (r recorder) Reply(ctx context.Context, reply chat.Reply) error {
	kept := reply
	kept.Trace = chat.Trace{}
	r.bot.rememberReply(r.message, reply)
	r.recordTurn(chat.Turn{Reply: &kept})
	return r.to.Reply(ctx, reply)
}

func (r recorder) Ask(ctx context.Context, question chat.Question) error {
	r.recordTurn(chat.Turn{Question: &question})
	return r.to.Ask(ctx, question)
}

// recordRun notes the id of the run that works.
func (r recorder) recordRun(id chat.RunID) {
	r.bot.mu.Lock()
	defer r.bot.mu.Unlock()
	if current := r.bot.findThread(r.message.Thread).work; current != nil {
		current.run = id
	}
}

func (r recorder) recordTurn(turn chat.Turn) {
	turn.Role, turn.Message, turn.At = chat.Bot, r.message.ID, time.Now()
	r.bot.mu.Lock()
	defer r.bot.mu.Unlock()
	in := r.bot.findThread(r.message.Thread)
	in.updated = turn.At
	in.turns = append(in.turns, turn)
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

// Streams sends the pieces of an answer, where the conversation takes them.
func Streams(tokens ...chat.Token) Script {
	return func(ctx context.Context, _ chat.Message, conversation chat.Conversation) error {
		stream, ok := conversation.(chat.Streamer)
		if !ok {
			return nil
		}
		for _, token := range tokens {
			if err := stream.Stream(ctx, token); err != nil {
				return fmt.Errorf("stream %q: %w", token.Text, err)
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
