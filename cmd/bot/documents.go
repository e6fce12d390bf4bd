package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"cairn/internal/adapters/terminal"
	"cairn/internal/bot"
	"cairn/internal/chat"
	"cairn/internal/document"
	"cairn/internal/graph/flows/routing/words"
	"cairn/internal/repository"
	"cairn/internal/runs"
	"cairn/internal/runs/embedded"
	embeddedsessions "cairn/internal/session/embedded"
)

// documentsFlags are those of the commands that read documents as a whole.
type documentsFlags struct {
	Where string `arg:"" help:"The folder or file to read, or a collection of the index: @handbook."`
	Out   string `default:"." placeholder:"DIR" help:"The folder that the result is written into."`
}

type analyzeCommand struct {
	documentsFlags
	Question []string `arg:"" optional:"" help:"What you want to know of it."`
	Yes      bool     `help:"Approve the first draft."`
}

// Run analyses documents with the person at this terminal.
func (c *analyzeCommand) Run(ctx context.Context, in *invocation) error {
	reply := ""
	if c.Yes {
		reply = "approve"
	}
	return in.readDocuments(ctx, c.documentsFlags, words.Analyze, strings.Join(c.Question, " "), reply)
}

type contextCommand struct {
	documentsFlags
	Name []string `arg:"" help:"What the overview is of: Payment service."`
}

// Run builds an overview.
func (c *contextCommand) Run(ctx context.Context, in *invocation) error {
	return in.readDocuments(ctx, c.documentsFlags, words.Context, strings.Join(c.Name, " "), "")
}

type repoCommand struct {
	Where string   `arg:"" optional:"" default:"." help:"The folder of the repository, or an address that flows.repositories allows."`
	Task  []string `arg:"" optional:"" help:"What you want to know; default: a report."`
	Out   string   `default:"." placeholder:"DIR" help:"The folder that the report is written into."`
}

// Run reports on a repository.
func (c *repoCommand) Run(ctx context.Context, in *invocation) error {
	return in.readDocuments(ctx, documentsFlags{Where: c.Where, Out: c.Out}, words.Repo, strings.Join(c.Task, " "), "")
}

// readDocuments runs a flow that reads documents, in a thread of its own. A reply, where
// there is one, is given to the first question.
func (in *invocation) readDocuments(ctx context.Context, flags documentsFlags, flow, text, reply string) (err error) {
	if info, err := os.Stat(flags.Out); err != nil || !info.IsDir() {
		return fmt.Errorf("--out %s: there is no such folder", flags.Out)
	}
	handler, a, place, err := in.documentsBot(ctx, flags.Where)
	if err != nil {
		return err
	}
	defer func() { err = closing(err, a) }()
	a.work(ctx, handler)
	message := chat.Message{
		ID: chat.MessageID(rand.Text()), Thread: terminal.NewThread(), Author: author(), At: time.Now(),
		Text: strings.TrimSpace(fmt.Sprintf("/cairn %s %s %s", flow, place, text)),
	}
	conversation := &terminal.Conversation{
		Renderer: terminal.Detect(in.std.Out, os.Getenv), Live: terminal.IsTerminal(in.std.Out), Documents: flags.Out,
	}
	if reply == "" {
		return converse(ctx, in.std, handler, message, conversation)
	}
	if err := handler.Handle(ctx, message, conversation); err != nil {
		return err
	}
	if asked := conversation.Question; asked != nil {
		message.ID, message.Text, message.At = chat.MessageID(rand.Text()), reply, time.Now()
		if err := handler.Handle(ctx, message, conversation); err != nil {
			return err
		}
	}
	return conversation.Done()
}

// documentsBot makes a bot that reads a folder alone, which needs no index and keeps
// nothing; or, for a collection, the bot over the index. place is where as a message says it.
func (in *invocation) documentsBot(ctx context.Context, where string) (handler *bot.Bot, a *app, place string, err error) {
	if strings.HasPrefix(where, "@") {
		if a, err = in.open(ctx); err != nil {
			return nil, nil, "", err
		}
		if handler, err = a.bot(ctx, nil); err != nil {
			return nil, nil, "", closing(err, a)
		}
		return handler, a, where, nil
	}
	place, path := where, ""
	if !repository.IsAddress(where) {
		if path, err = filepath.Abs(where); err != nil {
			return nil, nil, "", err
		}
		if _, err := os.Stat(path); err != nil {
			return nil, nil, "", fmt.Errorf("read %s: %w; a collection of the index is named with an @ before it", where, err)
		}
		place = strconv.Quote(path)
	}
	configured, err := in.configuration()
	if err != nil {
		return nil, nil, "", err
	}
	a = &app{config: configured, logger: newLogger(configured.Log, in.std)}
	if handler, err = a.passingBot(ctx, path); err != nil {
		return nil, nil, "", closing(err, a)
	}
	return handler, a, place, nil
}

// passingBot makes a bot that may read what is below root, "" for nothing, and whose threads
// are forgotten when the app is closed.
func (a *app) passingBot(ctx context.Context, root string) (*bot.Bot, error) {
	dir, err := os.MkdirTemp("", "cairn-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for what is worked at: %w", err)
	}
	a.closers = append(a.closers, func() error { return os.RemoveAll(dir) })
	sessions, err := embeddedsessions.Open(ctx, dir, 0)
	if err != nil {
		return nil, err
	}
	a.closers = append(a.closers, sessions.Close)
	store, err := embedded.OpenStore(ctx, dir, runs.Options{})
	if err != nil {
		return nil, err
	}
	a.closers = append(a.closers, store.Close)
	records, err := embedded.OpenRecords(ctx, dir, 0)
	if err != nil {
		return nil, err
	}
	a.closers = append(a.closers, records.Close)
	var roots []string
	if root != "" {
		roots = []string{root}
	}
	reading, err := a.readingFlows(document.Options{Roots: roots})
	if err != nil {
		return nil, err
	}
	reports, err := a.reports(roots, nil)
	if err != nil {
		return nil, err
	}
	return bot.New(bot.Options{
		Sessions: sessions, Runs: store, Records: records, Flows: append(reading, reports), Logger: a.logger,
		Adapters: map[string]chat.Poster{"terminal": nil},
	})
}
