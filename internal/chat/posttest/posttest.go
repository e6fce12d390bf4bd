// Package posttest is a bot for the tests of adapters whose messages are posted.
package posttest

import (
	"context"
	"fmt"
	"sync"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
)

// Bot is a scripted bot whose conversations are an adapter's Post and Edit. It answers
// before Handle returns, so that tests know what comes when. Make one with New.
type Bot struct {
	chattest.Bot
	poster chat.Poster // nil until Through

	mu     sync.Mutex
	seen   map[string]bool
	posted int
	open   map[chat.ThreadID]question
	fail   error
	last   chat.Message
}

// question is one that waits.
type question struct {
	at    chat.MessageID
	asked chat.Question
}

// New makes a bot, which posts once Through was called.
func New() *Bot {
	return &Bot{seen: map[string]bool{}, open: map[chat.ThreadID]question{}}
}

// Through tells what the bot posts through, before it hears of anything.
func (b *Bot) Through(poster chat.Poster) { b.poster = poster }

// FailNext has the next Handle fail before anything is done.
func (b *Bot) FailNext(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fail = err
}

// Handle deals with a message once, as an answer where a question waits in its thread.
func (b *Bot) Handle(ctx context.Context, message chat.Message, _ chat.Conversation) error {
	b.mu.Lock()
	key := string(message.Thread) + " " + string(message.ID)
	again, err := b.seen[key], b.fail
	b.fail = nil
	if err == nil {
		b.seen[key] = true
	}
	was, waits := b.open[message.Thread]
	b.last = message
	b.mu.Unlock()
	if again || err != nil {
		return err
	}
	if waits && was.asked.Asker != "" && was.asked.Asker != message.Author {
		return chat.ErrForbidden
	}
	if waits {
		answer := message.Text
		if message.Answers != nil {
			answer = message.Answers.Choice
		}
		b.mu.Lock()
		delete(b.open, message.Thread)
		b.mu.Unlock()
		if err := b.poster.Edit(ctx, message.Thread, was.at, chat.Post{Question: &was.asked, Answer: answer, AnsweredBy: message.Author}); err != nil {
			return err
		}
	}
	return b.Bot.Handle(ctx, message, &voice{b, message})
}

// Retry answers in the thread of the last message where it is given no conversation.
func (b *Bot) Retry(ctx context.Context, run chat.RunID, by chat.UserID, conversation chat.Conversation) error {
	if conversation == nil {
		b.mu.Lock()
		conversation = &voice{b, b.last}
		b.mu.Unlock()
	}
	return b.Bot.Retry(ctx, run, by, conversation)
}

// voice is a conversation about a message.
type voice struct {
	*Bot
	message chat.Message
}

func (v *voice) key() chat.PostKey {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.posted++
	return chat.PostKey(fmt.Sprintf("key%021d", v.posted))
}

func (v *voice) Progress(context.Context, chat.Progress) error { return nil }

func (v *voice) Reply(ctx context.Context, reply chat.Reply) error {
	_, err := v.poster.Post(ctx, v.message.Thread, v.key(), chat.Post{To: v.message.ID, Reply: &reply})
	return err
}

func (v *voice) Ask(ctx context.Context, asked chat.Question) error {
	asked.Asker = v.message.Author
	id, err := v.poster.Post(ctx, v.message.Thread, v.key(), chat.Post{To: v.message.ID, Question: &asked})
	v.mu.Lock()
	defer v.mu.Unlock()
	v.open[v.message.Thread] = question{id, asked}
	return err
}
