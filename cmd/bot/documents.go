package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"cairn/internal/adapters/terminal"
	"cairn/internal/app"
	"cairn/internal/chat"
	"cairn/internal/graph/flows/routing/words"
	"cairn/internal/repository"
)

// documentsFlags are those of the commands that read documents as a whole.
type documentsFlags struct {
	Where string `arg:"" name:"FOLDER|@COLLECTION" help:"The folder or file to read, or a collection of the index: @handbook."`
	Out   string `default:"." placeholder:"DIR" help:"The folder that the result is written into."`
}

func (f *documentsFlags) asking(flow string, text []string) reading {
	return reading{where: f.Where, out: f.Out, flow: flow, text: strings.Join(text, " ")}
}

type analyzeCommand struct {
	documentsFlags
	Question []string `arg:"" name:"QUESTION" optional:"" help:"What you want to know of it."`
	Yes      bool     `help:"Approve the first draft."`
}

// Run analyses documents with the person at this terminal.
func (c *analyzeCommand) Run(ctx context.Context, in *invocation) error {
	asked := c.asking(words.Analyze, c.Question)
	if c.Yes {
		asked.reply = "approve"
	}
	return in.readDocuments(ctx, asked)
}

type contextCommand struct {
	documentsFlags
	Name []string `arg:"" name:"NAME" help:"What the overview is of: Payment service."`
}

// Run builds an overview.
func (c *contextCommand) Run(ctx context.Context, in *invocation) error {
	return in.readDocuments(ctx, c.asking(words.Context, c.Name))
}

type repoCommand struct {
	Where string   `arg:"" name:"FOLDER|ADDRESS" optional:"" help:"The folder of the repository, or an address that flows.repositories allows; default: the current folder."`
	Task  []string `arg:"" name:"TASK" optional:"" help:"What you want to know; default: a report."`
	Out   string   `default:"." placeholder:"DIR" help:"The folder that the report is written into."`
}

// Run reports on a repository.
func (c *repoCommand) Run(ctx context.Context, in *invocation) error {
	return in.readDocuments(ctx, reading{where: cmp.Or(c.Where, "."), out: c.Out, flow: words.Repo, text: strings.Join(c.Task, " ")})
}

// reading is what is asked of documents as a whole.
type reading struct {
	where string // a folder, a file, an address, or a collection with an @ before it
	out   string // the folder that the result is written into
	flow  string
	text  string // what a person would say to the flow
	reply string // to the first question; "" where the person at this terminal is asked
}

// readDocuments runs a flow that reads documents, in a thread of its own.
func (in *invocation) readDocuments(ctx context.Context, asked reading) (err error) {
	if info, err := os.Stat(asked.out); err != nil || !info.IsDir() {
		return fmt.Errorf("--out %s: there is no such folder", asked.out)
	}
	a, place, err := in.openReading(ctx, asked.where)
	if err != nil {
		return err
	}
	defer func() { err = closeAfter(err, a) }()
	a.StartWork(ctx)
	handler := a.Bot
	message := chat.Message{
		ID: chat.MessageID(rand.Text()), Thread: terminal.NewThread(), Author: author(), Asker: thisMachine(), At: time.Now(),
		Text: strings.TrimSpace(fmt.Sprintf("/cairn %s %s %s", asked.flow, place, asked.text)),
	}
	conversation := &terminal.Conversation{
		Renderer: terminal.Detect(in.std.Out, os.Getenv), Live: terminal.IsTerminal(in.std.Out), Documents: asked.out,
	}
	if asked.reply == "" {
		if err := converse(ctx, in.std, handler, message, conversation); err != nil {
			return err
		}
		return refusalOf(conversation.Answer)
	}
	if err := handler.Handle(ctx, message, conversation); err != nil {
		return err
	}
	if conversation.Question != nil {
		message.ID, message.Text, message.At = chat.MessageID(rand.Text()), asked.reply, time.Now()
		if err := handler.Handle(ctx, message, conversation); err != nil {
			return err
		}
	}
	return errors.Join(conversation.Done(), refusalOf(conversation.Answer))
}

// refusalOf gives an error for a reply that says why nothing was read or written; nil for any
// other.
func refusalOf(reply *chat.Reply) error {
	if reply != nil && (reply.Outcome == chat.Abstained || reply.Outcome == chat.Failure) {
		return errors.New("nothing was written, for the reason above")
	}
	return nil
}

// openReading opens a bot that reads a folder alone, which needs no index and keeps
// nothing; or, for a collection, the bot over the index. place is where as a message says it.
func (in *invocation) openReading(ctx context.Context, where string) (opened *app.App, place string, err error) {
	if strings.HasPrefix(where, "@") {
		whole, err := in.open(ctx)
		if err != nil {
			return nil, "", err
		}
		return &whole.App, where, nil
	}
	place, path := where, ""
	if !repository.IsAddress(where) {
		if path, err = filepath.Abs(where); err != nil {
			return nil, "", err
		}
		if _, err := os.Stat(path); err != nil {
			return nil, "", fmt.Errorf("read %s: %w; a collection of the index is named with an @ before it", where, err)
		}
		place = strconv.Quote(path)
	}
	setup, err := in.setup()
	if err != nil {
		return nil, "", err
	}
	opened, err = app.OpenReading(ctx, setup, path)
	return opened, place, err
}
