package web

import (
	"context"
	"errors"
	"slices"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/markup"
)

// conversation notes what the bot says in an exchange.
type conversation struct {
	thread   *thread
	exchange *exchange
}

var (
	_ chat.Conversation = conversation{}
	_ chat.Streamer     = conversation{}
)

var errTooMuch = errors.New("web adapter: too many steps, replies or questions for one message")

func (c conversation) Progress(_ context.Context, progress chat.Progress) error {
	c.thread.mu.Lock()
	defer c.thread.mu.Unlock()
	c.exchange.live = progress.Run
	steps := &c.exchange.steps
	i := slices.IndexFunc(*steps, func(step chat.Progress) bool { return step.Step == progress.Step })
	switch {
	case i >= 0:
		(*steps)[i] = progress
	case len(*steps) == maxSteps:
		return errTooMuch
	default:
		*steps = append(*steps, progress)
	}
	c.exchange.changes.steps = c.thread.recordChange()
	return nil
}

// Stream keeps as much of a draft as a reply shows.
func (c conversation) Stream(_ context.Context, token chat.Token) error {
	c.thread.mu.Lock()
	defer c.thread.mu.Unlock()
	e := c.exchange
	e.live = token.Run
	if token.Restart {
		e.draft = nil
	}
	e.draft = append(e.draft, token.Text[:min(len(token.Text), max(0, markup.MaxText-len(e.draft)))]...)
	e.changes.draft = c.thread.recordChange()
	return nil
}

func (c conversation) Reply(_ context.Context, reply chat.Reply) error {
	return c.addSaid(newReplySaid(reply))
}

func (c conversation) Ask(_ context.Context, question chat.Question) error {
	return c.addSaid(said{question: &question})
}

func (c conversation) addSaid(what said) error {
	c.thread.mu.Lock()
	defer c.thread.mu.Unlock()
	e := c.exchange
	if len(e.said) == maxSaid {
		return errTooMuch
	}
	e.said, e.draft = append(e.said, what), nil
	e.live = what.runID()
	e.changes.said = c.thread.recordChange()
	e.changes.draft = e.changes.said
	return nil
}
