package terminal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/markup"
)

// Conversation prints what the bot says in answer to one message. It is a
// chat.Conversation and used as one: its calls come one at a time.
type Conversation struct {
	Renderer Renderer
	// Live shows the end of the answer while it is made, and the running step below it,
	// in a few rows that are overwritten; for terminals only.
	Live bool
	// Documents is the folder that the documents of replies are written to; "" is the
	// current one. A file that is there is left as it is: the new one gets a number.
	Documents string
	// IsShown tells of a document that the reply shows whole, which is not written; nil: all are written.
	IsShown func(chat.Document) bool
	// Answer is the last reply, Question the last question, nil before there is one.
	Answer   *chat.Reply
	Question *chat.Question

	draft string // the answer so far, as it came; its beginning may be cut
	step  string // what runs
	rows  int    // of draft and step that stand on the screen
}

var _ chat.Streamer = (*Conversation)(nil)

// draftRows is how many rows of a draft are shown: its end, so that what is overwritten
// fits on any screen and has not been scrolled away.
const draftRows = 10

// longestDraft returns how much of a draft is kept, in bytes: at least twice what its last
// rows hold.
func (c *Conversation) longestDraft() int { return 2 * utf8.UTFMax * draftRows * c.Renderer.width() }

// Progress shows the step that runs, until the next one or until Done.
func (c *Conversation) Progress(_ context.Context, progress chat.Progress) error {
	if !c.Live || progress.Status != chat.Running {
		return nil
	}
	c.step = markup.CleanLine(progress.Description)
	return c.redraw()
}

// Stream shows the answer so far, until Done.
func (c *Conversation) Stream(_ context.Context, token chat.Token) error {
	if !c.Live {
		return nil
	}
	if token.Restart {
		c.draft = ""
	}
	c.draft += token.Text
	if excess := len(c.draft) - c.longestDraft(); excess > 0 {
		// Cut more than there is too much: what is shown is wrapped anew at each cut.
		at := excess + c.longestDraft()/2
		for at < len(c.draft) && !utf8.RuneStart(c.draft[at]) {
			at++
		}
		c.draft = c.draft[at:]
	}
	return c.redraw()
}

// Reply writes the documents of a reply, and prints it in place of the draft and the step. The
// files are there first: who reads what is printed may stop reading at any line.
func (c *Conversation) Reply(_ context.Context, reply chat.Reply) error {
	c.Answer = &reply
	notices, err := c.saveDocuments(reply.Documents)
	if err := errors.Join(c.Done(), c.Renderer.Reply(reply), err); err != nil {
		return err
	}
	for _, one := range notices {
		if err := c.Renderer.writeNotice(one.sign, one.text); err != nil {
			return err
		}
	}
	return nil
}

// Ask prints the question in place of the draft and the step.
func (c *Conversation) Ask(_ context.Context, question chat.Question) error {
	if err := c.Done(); err != nil {
		return err
	}
	c.Question = &question
	return c.Renderer.Question(question)
}

// Done takes the draft and the step off the screen.
func (c *Conversation) Done() error {
	c.draft, c.step = "", ""
	if c.rows == 0 {
		return nil
	}
	return c.redraw()
}

// redraw overwrites the rows that stand on the screen. The cursor stays at the end of the
// last one.
func (c *Conversation) redraw() error {
	width := c.Renderer.width() - 1 // a full row would wrap
	var shown []line
	if draft := strings.TrimSpace(markup.Clean(c.draft)); draft != "" {
		shown = wrapSpans(plainLine(draft), width)
		shown = shown[max(len(shown)-draftRows, 0):]
	}
	if c.step != "" {
		shown = append(shown, faintLine(displaywidth.TruncateString("… "+c.step, width, "…")))
	}
	out := bufio.NewWriter(c.Renderer.Out)
	out.WriteString(eraseRows(c.rows))
	for i, l := range shown {
		if i > 0 {
			out.WriteString("\n")
		}
		c.Renderer.writeSpans(out, l)
	}
	c.rows = len(shown)
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write to the terminal: %w", err)
	}
	return nil
}

// eraseRows goes from the end of the last of some rows to the beginning of the first, and
// clears the screen from there on.
func eraseRows(rows int) string {
	switch rows {
	case 0:
		return ""
	case 1:
		return "\r\x1b[J"
	}
	return fmt.Sprintf("\r\x1b[%dA\x1b[J", rows-1)
}
