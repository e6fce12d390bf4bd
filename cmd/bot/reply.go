package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/terminal"
	"github.com/cairn-bot/cairn/internal/app"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph/flows/routing"
)

type replyCommand struct {
	RunID string   `arg:"" name:"RUN" help:"The run that asked, as its command printed it."`
	Reply []string `arg:"" name:"REPLY" help:"What you say to its question."`
	Out   string   `default:"." placeholder:"DIR" help:"The folder that the result is written into."`
}

// Run goes on with a run that waits for a reply.
func (c *replyCommand) Run(ctx context.Context, in *invocation) (err error) {
	if err := checkOutput(c.Out); err != nil {
		return err
	}
	setup, err := in.setup()
	if err != nil {
		return err
	}
	waiting, err := app.FindWaiting(setup, chat.RunID(c.RunID))
	if err != nil {
		return err
	}
	output := newOutput(in.std.Out)
	defer func() { err = errors.Join(err, output.Close()) }()
	conversation := newConversation(in.std.Out, output, c.Out)
	if err := in.sendReply(ctx, waiting, strings.Join(c.Reply, " "), conversation); err != nil {
		return err
	}
	// What is said beside the run, as thanks are, is no answer to it.
	if answer := conversation.Answer; conversation.Question != nil || answer == nil || answer.Outcome == chat.Social {
		return in.printWaiting(output, waiting)
	}
	return errors.Join(waiting.Remove(), refusalOf(conversation.Answer))
}

// sendReply hands a reply to a waiting run, and has closed what it opened once it returns.
func (in *invocation) sendReply(ctx context.Context, waiting app.WaitingRun, text string, conversation *terminal.Conversation) (err error) {
	opened, _, err := in.openReading(ctx, waiting.Where, waiting.Dir)
	if err != nil {
		return err
	}
	defer func() { err = closeAfter(err, opened) }()
	opened.StartWork(ctx)
	message := chat.Message{
		ID: chat.MessageID(rand.Text()), Thread: waiting.Thread, Author: author(), Asker: thisMachine(), At: time.Now(), Text: text,
	}
	if err := opened.Bot.Handle(ctx, message, conversation); err != nil {
		return err
	}
	return conversation.Done()
}

// printWaiting prints the command that goes on with a run.
func (in *invocation) printWaiting(out *output, waiting app.WaitingRun) error {
	flags := ""
	if in.global.Data != "" {
		flags += " --data " + strconv.Quote(absolutePath(in.global.Data))
	}
	if in.global.Config != "" {
		flags += " --config " + strconv.Quote(absolutePath(in.global.Config))
	}
	_, err := fmt.Fprintf(out, "\nThe %s waits for your reply. Go on with: cairn reply%s %s \"…\"\n", resultOf(waiting.Flow), flags, waiting.Run)
	return err
}

// resultOf names what a flow that reads documents is to make.
func resultOf(flow string) string {
	switch flow {
	case routing.Analyze:
		return "analysis"
	case routing.Context:
		return "overview"
	case routing.Repo:
		return "report"
	}
	return "run"
}
