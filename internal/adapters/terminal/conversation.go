package terminal

import (
	"bufio"
	"context"
	"fmt"

	"github.com/clipperhouse/displaywidth"

	"cairn/internal/chat"
	"cairn/internal/chat/markup"
)

// Conversation prints what the bot says in answer to one message. It is a
// chat.Conversation and used as one: its calls come one at a time.
type Conversation struct {
	Renderer Renderer
	// Live shows the running step on one line that is overwritten; for terminals only.
	Live bool
	// Answer is the last reply, Question the last question, nil before there is one.
	Answer   *chat.Reply
	Question *chat.Question

	step bool // a step stands on the current line
}

// Progress shows the step that runs, until the next one or until Done.
func (c *Conversation) Progress(_ context.Context, progress chat.Progress) error {
	if !c.Live || progress.Status != chat.Running {
		return nil
	}
	const before = "… "
	room := c.Renderer.width() - displaywidth.String(before) - 1 // a full line would wrap
	step := before + displaywidth.TruncateString(markup.CleanLine(progress.Description), room, "…")
	c.step = true
	return c.print(clearLine, line{{step, style{faint: true}}})
}

// Reply prints the reply in place of the step.
func (c *Conversation) Reply(_ context.Context, reply chat.Reply) error {
	if err := c.Done(); err != nil {
		return err
	}
	c.Answer = &reply
	return c.Renderer.Reply(reply)
}

// Ask prints the question in place of the step.
func (c *Conversation) Ask(_ context.Context, question chat.Question) error {
	if err := c.Done(); err != nil {
		return err
	}
	c.Question = &question
	return c.Renderer.Question(question)
}

// Done takes the step off the screen.
func (c *Conversation) Done() error {
	if !c.step {
		return nil
	}
	c.step = false
	return c.print(clearLine, nil)
}

// clearLine goes to the start of the line and erases it.
const clearLine = "\r\x1b[K"

func (c *Conversation) print(control string, shown line) error {
	out := bufio.NewWriter(c.Renderer.Out)
	out.WriteString(control)
	c.Renderer.writeSpans(out, shown)
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write to the terminal: %w", err)
	}
	return nil
}
