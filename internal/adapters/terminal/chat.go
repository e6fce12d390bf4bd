package terminal

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/markup"
)

// Options are what Chat needs.
type Options struct {
	// In is where messages come from: a terminal, a pipe or a file, one a line.
	In *os.File
	// Renderer shows what the bot says, see Detect.
	Renderer Renderer
	// Controls does what commands ask for beside messages; required.
	Controls chat.Controls
	// Sources shows what marks cite; nil: nothing does.
	Sources chat.SourceReader
	// Live shows the answer while it is made, and the running step; for terminals only.
	Live bool
	// Documents is the folder that the documents of replies are written to, as in
	// Conversation.
	Documents string
	// Author is the person, such as their login name.
	Author chat.UserID
	// Interrupts are the person's Ctrl-C, as os/signal delivers them. One that comes
	// while the bot works cancels that run, any other ends the chat. nil: there are none.
	Interrupts <-chan os.Signal
	// Welcome is printed first; may be empty.
	Welcome string
}

// Chat is the adapter for one person at a terminal. It knows one thread at a time.
type Chat struct {
	options Options

	thread   chat.ThreadID
	depth    chat.Depth
	answer   *chat.Reply    // the last one, for /why
	question *chat.Question // the one that waits, for numbers

	mu  sync.Mutex
	run context.CancelFunc // of the message that is handled, nil at the prompt
}

var _ chat.Adapter = (*Chat)(nil)

// NewChat makes the adapter.
func NewChat(options Options) *Chat {
	return &Chat{options: options, thread: NewThread()}
}

// Name is the adapter's, in thread ids and logs.
const Name = "terminal"

// NewThread makes the id of a conversation in a terminal.
func NewThread() chat.ThreadID { return chat.NewThreadID(Name, rand.Text()) }

// Name is "terminal".
func (c *Chat) Name() string { return Name }

// Run reads messages and hands them over until the person leaves, the input ends, or
// ctx does.
func (c *Chat) Run(ctx context.Context, handler chat.Handler) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer cancel()

	input, err := openLines(c.options.In, c.options.Renderer.Out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, input.close()) }()
	watching.Go(func() { c.watchInterrupts(ctx, cancel, input) })

	if c.options.Welcome != "" {
		if err := c.printText(c.options.Welcome); err != nil {
			return err
		}
	}
	for {
		err := c.handleLine(ctx, input, handler)
		if errors.Is(err, io.EOF) || ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// watchInterrupts cancels the run that works, or ends the chat, at each interrupt, and wakes
// the reader when ctx ends.
func (c *Chat) watchInterrupts(ctx context.Context, end context.CancelFunc, input lines) {
	defer input.cancel()
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.options.Interrupts:
			c.mu.Lock()
			run := c.run
			c.mu.Unlock()
			if run == nil {
				end()
				return
			}
			run()
		}
	}
}

// handleLine reads one line and acts on it; io.EOF ends the chat.
func (c *Chat) handleLine(ctx context.Context, input lines, handler chat.Handler) error {
	line, err := input.readMessage()
	if errors.Is(err, errLineTooLong) {
		return c.printText(err.Error())
	}
	if err != nil {
		return err
	}
	line = strings.TrimSpace(strings.ToValidUTF8(line, "\uFFFD"))
	switch {
	case line == "":
		return nil
	case strings.HasPrefix(line, "/"):
		return c.runCommand(ctx, line)
	}
	message := c.newMessage(line)
	return c.runConversation(ctx, func(ctx context.Context, conversation *Conversation) error {
		return handler.Handle(ctx, message, conversation)
	})
}

// newMessage makes a message of a line; a number takes a choice of the open question.
func (c *Chat) newMessage(line string) chat.Message {
	message := chat.Message{
		ID: chat.MessageID(rand.Text()), Thread: c.thread, Author: c.options.Author, Asker: &chat.Identity{Local: true},
		Text: line, Depth: c.depth, At: time.Now(),
	}
	if c.question != nil {
		if number, err := strconv.Atoi(line); err == nil && number >= 1 && number <= len(c.question.Choices) {
			choice := c.question.Choices[number-1]
			message.Answers = &chat.Press{Question: c.question.ID, Choice: choice.ID}
			message.Text = choice.Label
		}
	}
	return message
}

// runConversation has the bot say something, which an interrupt stops.
func (c *Chat) runConversation(ctx context.Context, with func(context.Context, *Conversation) error) error {
	runCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	c.setRun(cancel)
	conversation := &Conversation{Renderer: c.options.Renderer, Live: c.options.Live, Documents: c.options.Documents}
	err := with(runCtx, conversation)
	c.setRun(nil)

	if doneErr := conversation.Done(); doneErr != nil {
		return doneErr
	}
	if conversation.Answer != nil {
		c.answer = conversation.Answer
	}
	if err == nil {
		c.question = conversation.Question
	}
	switch {
	case ctx.Err() != nil:
		return io.EOF
	case err != nil && runCtx.Err() != nil:
		return c.printText("Stopped.")
	case err != nil:
		return c.printError(err)
	}
	return c.printText("")
}

func (c *Chat) setRun(cancel context.CancelFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.run = cancel
}

const helpText = `Write a question, or:
  /why            how the last answer came about
  /open N         the passage behind the mark [N] of the last answer
  /up, /down      say that the last answer was good, or was not
  /retry          go on with an answer that failed or was stopped
  /stop           drop the question that I asked
  /depth [DEPTH]  say how much to answer: brief, detailed or comprehensive
  /new            start a new conversation
  /quit           leave (so does Ctrl-D; Ctrl-C stops an answer)
A \ at the end of a line goes on in the next one; ↑ and ↓ bring back what you wrote.`

func (c *Chat) runCommand(ctx context.Context, line string) error {
	name, argument, _ := strings.Cut(line, " ")
	argument = strings.TrimSpace(argument)
	switch name {
	case "/help":
		return c.printText(helpText)
	case "/why":
		if c.answer == nil {
			return c.printText("There is no answer yet to explain.")
		}
		return c.options.Renderer.Trace(c.answer.Trace)
	case "/open":
		return c.openCited(ctx, argument)
	case "/up":
		return c.rateAnswer(ctx, chat.Up)
	case "/down":
		return c.rateAnswer(ctx, chat.Down)
	case "/retry":
		return c.retryAnswer(ctx)
	case "/stop":
		return c.stopQuestion(ctx)
	case "/depth":
		return c.setDepth(argument)
	case "/new":
		c.thread, c.answer, c.question = NewThread(), nil, nil
		return c.printText("This is a new conversation.")
	case "/quit", "/exit":
		return io.EOF
	}
	return c.printText(fmt.Sprintf("There is no command %s. /help lists them.", name))
}

// openCited shows the passage that a mark of the last answer cites.
func (c *Chat) openCited(ctx context.Context, argument string) error {
	number, err := strconv.Atoi(strings.Trim(argument, "[]"))
	switch {
	case c.answer == nil || c.options.Sources == nil:
		return c.printText("There is no answer yet whose sources could be opened.")
	case err != nil:
		return c.printText("Say which mark: /open 2.")
	}
	ref, ok := FindCited(*c.answer, number)
	if !ok {
		return c.printError(CitationError(number))
	}
	text, err := c.options.Sources.ReadSource(ctx, ref, chat.Reader{Adapter: Name, User: c.options.Author, Identity: &chat.Identity{Local: true}})
	if err != nil {
		return c.printError(err)
	}
	return c.options.Renderer.Source(text)
}

func (c *Chat) rateAnswer(ctx context.Context, verdict chat.Verdict) error {
	if c.answer == nil || c.answer.Run == "" {
		return c.printText("There is no answer yet to rate.")
	}
	rating := chat.Rating{By: c.options.Author, Verdict: verdict, At: time.Now()}
	if err := c.options.Controls.Rate(ctx, c.answer.Run, rating); err != nil {
		return c.printError(err)
	}
	return c.printText("Noted, thank you.")
}

func (c *Chat) retryAnswer(ctx context.Context) error {
	if c.answer == nil || c.answer.Outcome != chat.Failure {
		return c.printText("The last answer did not fail: there is nothing to retry.")
	}
	failed := c.answer.Run
	return c.runConversation(ctx, func(ctx context.Context, conversation *Conversation) error {
		return c.options.Controls.Retry(ctx, failed, c.options.Author, conversation)
	})
}

// stopQuestion drops the open question; what works is stopped by an interrupt.
func (c *Chat) stopQuestion(ctx context.Context) error {
	stopped, err := c.options.Controls.Stop(ctx, c.thread, c.options.Author)
	switch {
	case err != nil:
		return c.printError(err)
	case !stopped:
		return c.printText("There is nothing to stop.")
	}
	c.question = nil
	return c.printText("All right, I leave it there.")
}

func (c *Chat) printError(err error) error { return c.printText("✗ " + err.Error()) }

func (c *Chat) setDepth(argument string) error {
	switch depth := chat.Depth(strings.ToLower(argument)); depth {
	case "":
		if c.depth == "" {
			return c.printText("Answers are as deep as configured. Change it with /depth brief, detailed or comprehensive.")
		}
		return c.printText(fmt.Sprintf("Answers are %s.", c.depth))
	case chat.Brief, chat.Detailed, chat.Comprehensive:
		c.depth = depth
		return c.printText(fmt.Sprintf("Answers will be %s.", depth))
	}
	return c.printText(fmt.Sprintf("%q is no depth. There are brief, detailed and comprehensive.", argument))
}

// printText prints text of the adapter's own, cleaned, one paragraph a line.
func (c *Chat) printText(text string) error {
	var out []line
	for _, paragraph := range strings.Split(markup.Clean(text), "\n") {
		out = append(out, wrapSpans(plainLine(paragraph), c.options.Renderer.width())...)
	}
	return c.options.Renderer.writeLines(out)
}
