package main

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/terminal"
	"github.com/cairn-bot/cairn/internal/app"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph/flows/routing"
	"github.com/cairn-bot/cairn/internal/repository"
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
	asked := c.asking(routing.Analyze, c.Question)
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
	return in.readDocuments(ctx, c.asking(routing.Context, c.Name))
}

type repoCommand struct {
	Where string   `arg:"" name:"FOLDER|ADDRESS" optional:"" help:"The folder of the repository, or an address that flows.repositories allows; default: the current folder."`
	Task  []string `arg:"" name:"TASK" optional:"" help:"What you want to know; default: a report."`
	Out   string   `default:"." placeholder:"DIR" help:"The folder that the report is written into."`
}

// Run reports on a repository.
func (c *repoCommand) Run(ctx context.Context, in *invocation) error {
	return in.readDocuments(ctx, reading{where: cmp.Or(c.Where, "."), out: c.Out, flow: routing.Repo, text: strings.Join(c.Task, " ")})
}

// reading is what is asked of documents as a whole.
type reading struct {
	where string // a folder, a file, an address, or a collection with an @ before it; "" for nothing
	out   string // the folder that the result is written into
	flow  string
	text  string // what a person would say to the flow
	reply string // to the first question; "" where the person at this terminal is asked
	// spoken is a reading whose outcome is an answer: nothing is written.
	spoken bool
}

// readDocuments runs a flow that reads documents, in a thread of its own. A run that asks where
// nobody is there to reply is kept.
func (in *invocation) readDocuments(ctx context.Context, asked reading) (err error) {
	if err := checkOutput(asked.out); err != nil {
		return err
	}
	storage, err := os.MkdirTemp("", "cairn-")
	if err != nil {
		return fmt.Errorf("make a folder for the run: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(storage)) }()
	output := newOutput(in.std.Out)
	defer func() { err = errors.Join(err, output.Close()) }()
	conversation := newConversation(in.std.Out, output, asked.out)
	thread := terminal.NewThread()
	if err := in.converseAbout(ctx, asked, thread, storage, conversation); err != nil {
		return err
	}
	if conversation.Question == nil && asked.spoken {
		return failureOf(conversation.Answer)
	}
	if conversation.Question == nil {
		return refusalOf(conversation.Answer)
	}
	setup, err := in.setup()
	if err != nil {
		return err
	}
	waiting := app.WaitingRun{Run: conversation.Question.Run, Thread: thread, Author: author(), Flow: asked.flow, Where: absolutePath(asked.where)}
	if strings.HasPrefix(asked.where, "@") {
		storage = "" // it is in the data directory's own
	}
	if err := app.KeepWaiting(setup, waiting, storage); err != nil {
		return err
	}
	return in.printWaiting(output, waiting)
}

// converseAbout has the conversation of a reading in a thread, and has closed what it opened once
// it returns. A question that nobody replied to stays in the conversation.
func (in *invocation) converseAbout(ctx context.Context, asked reading, thread chat.ThreadID, storage string, conversation *terminal.Conversation) (err error) {
	opened, place, err := in.openReading(ctx, asked.where, storage)
	if err != nil {
		return err
	}
	defer func() { err = closeAfter(err, opened) }()
	opened.StartWork(ctx)
	message := chat.Message{
		ID: chat.MessageID(rand.Text()), Thread: thread, Author: author(), Asker: thisMachine(), At: time.Now(),
		Text: strings.TrimSpace(fmt.Sprintf("/cairn %s %s %s", asked.flow, place, asked.text)),
	}
	switch {
	case asked.reply != "":
		return converseByLines(ctx, strings.NewReader(asked.reply), opened.Bot, message, conversation)
	case terminal.IsTerminal(in.std.In):
		return converse(ctx, in.std, opened.Bot, message, conversation)
	}
	return converseByLines(ctx, in.std.In, opened.Bot, message, conversation)
}

// converseByLines hands the message over, and each line of a text as a reply to what is asked
// back. A question for which there is no line stays in the conversation.
func converseByLines(ctx context.Context, replies io.Reader, handler chat.Handler, message chat.Message, conversation *terminal.Conversation) error {
	lines := bufio.NewScanner(replies)
	for {
		if err := handler.Handle(ctx, message, conversation); err != nil {
			return err
		}
		if err := conversation.Done(); err != nil {
			return err
		}
		asked := conversation.Question
		if asked == nil {
			return failureOf(conversation.Answer)
		}
		reply := ""
		for reply == "" && lines.Scan() {
			reply = strings.TrimSpace(lines.Text())
		}
		if reply == "" {
			return errors.Join(ctx.Err(), lines.Err())
		}
		conversation.Question = nil
		message.ID, message.Text, message.At = chat.MessageID(rand.Text()), reply, time.Now()
		message.Answers = pressed(*asked, reply)
	}
}

// newConversation prints what the bot says, and writes its documents into a folder.
func newConversation(stdout *os.File, out io.Writer, documents string) *terminal.Conversation {
	renderer := terminal.Detect(stdout, os.Getenv)
	renderer.Out = out
	return &terminal.Conversation{Renderer: renderer, Live: terminal.IsTerminal(stdout), Documents: documents}
}

// checkOutput fails where the folder for the result is none.
func checkOutput(dir string) error {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("--out %s: there is no such folder", dir)
	}
	return nil
}

// refusalOf gives an error where nothing was written; nil for a reply with documents.
func refusalOf(reply *chat.Reply) error {
	if reply == nil || len(reply.Documents) == 0 {
		return errors.New("nothing was written, for the reason above")
	}
	return nil
}

// absolutePath names what is read so that it is found from any folder.
func absolutePath(where string) string {
	if where == "" || strings.HasPrefix(where, "@") || repository.IsAddress(where) {
		return where
	}
	if path, err := filepath.Abs(where); err == nil {
		return path
	}
	return where
}

// openReading opens a bot that reads a folder alone, which needs no index and has its storage in
// a folder of its own; or, for a collection, the bot over the index. place is where as a message
// says it.
func (in *invocation) openReading(ctx context.Context, where, storage string) (opened *app.App, place string, err error) {
	if strings.HasPrefix(where, "@") {
		whole, err := in.open(ctx)
		if err != nil {
			return nil, "", err
		}
		return &whole.App, where, nil
	}
	place, path := where, ""
	if where != "" && !repository.IsAddress(where) {
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
	if in.session != "" {
		setup.Config.Inspect.Session = in.session
	}
	opened, err = app.OpenReading(ctx, setup, path, storage)
	return opened, place, err
}
