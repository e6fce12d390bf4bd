package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/terminal"
	"github.com/cairn-bot/cairn/internal/bot"
	"github.com/cairn-bot/cairn/internal/chat"
)

type askCommand struct {
	Question []string   `arg:"" name:"QUESTION" help:"What you want to know, in your own words."`
	Depth    chat.Depth `enum:"brief,detailed,comprehensive," default:"" placeholder:"DEPTH" help:"How much the answer says: brief, detailed or comprehensive; default: the configuration's."`
	As       string     `placeholder:"USER" help:"Answer from what somebody else may read: an e-mail address, or principals such as user:slack:U0123ABCD,group:legal."`
	Why      bool       `help:"Also print how the answer came about."`
	JSON     bool       `help:"Print data instead of text."`
}

// Run answers the question in a thread of its own. Asked back in a terminal, the
// person can answer at once.
func (c *askCommand) Run(ctx context.Context, in *invocation) (err error) {
	a, err := in.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = closeAfter(err, a) }()
	a.StartWork(ctx)
	handler := a.Bot
	asker, err := askAs(c.As)
	if err != nil {
		return err
	}
	message := chat.Message{
		ID: chat.MessageID(rand.Text()), Thread: terminal.NewThread(), Author: author(), Asker: asker,
		Text: strings.Join(c.Question, " "), Depth: depthOr(c.Depth, a.Config.Answer.Depth), At: time.Now(),
	}
	if c.JSON {
		question, err := c.printJSON(ctx, in.std.Out, handler, message)
		return errors.Join(err, dropQuestion(ctx, handler, message, question))
	}
	renderer := terminal.Detect(in.std.Out, os.Getenv)
	conversation := &terminal.Conversation{Renderer: renderer, Live: terminal.IsTerminal(in.std.Out)}
	if err := converse(ctx, in.std, handler, message, conversation); err != nil {
		return err
	}
	trace, err := c.explain(ctx, handler, conversation.Answer, conversation.Question)
	if trace != nil && err == nil {
		err = renderer.Trace(*trace)
	}
	if err != nil || terminal.IsTerminal(in.std.In) {
		return err
	}
	return dropQuestion(ctx, handler, message, conversation.Question)
}

// errAskedBack tells that there is no answer: the question means several things, and
// nobody is there to say which.
var errAskedBack = errors.New("asked back, and nobody is there to answer: ask for one of the readings")

// dropQuestion ends a run that asked back where nobody can answer it, so that none waits.
func dropQuestion(ctx context.Context, controls chat.Controls, message chat.Message, asked *chat.Question) error {
	if asked == nil {
		return nil
	}
	if _, err := controls.Stop(ctx, message.Thread, message.Author); err != nil {
		return err
	}
	return errAskedBack
}

// explain gives how what was said came about, a question too; nil where nobody wants to
// know, or no run had to do with it.
func (c *askCommand) explain(ctx context.Context, controls chat.Controls, reply *chat.Reply, asked *chat.Question) (*chat.Trace, error) {
	var run chat.RunID
	switch {
	case asked != nil:
		run = asked.Run
	case reply != nil:
		run = reply.Run
	}
	if !c.Why || run == "" {
		return nil, nil
	}
	trace, err := controls.Explain(ctx, run)
	return &trace, err
}

// converse hands the message over, and where a person is there to answer, what they
// reply when they are asked back.
func converse(ctx context.Context, std stdio, handler chat.Handler, message chat.Message, conversation *terminal.Conversation) (err error) {
	isThere := terminal.IsTerminal(std.In)
	lines := bufio.NewScanner(std.In)
	if isThere {
		reader, err := terminal.OpenReader(std.In)
		if err != nil {
			return fmt.Errorf("read from the terminal: %w", err)
		}
		defer func() { err = errors.Join(err, reader.Close()) }()
		stop := context.AfterFunc(ctx, func() { reader.Cancel() }) // Ctrl-C while a reply is waited for
		defer stop()
		lines = bufio.NewScanner(reader)
	}
	for {
		if err := handler.Handle(ctx, message, conversation); err != nil {
			return err
		}
		if err := conversation.Done(); err != nil {
			return err
		}
		asked := conversation.Question
		if asked == nil || !isThere {
			return failureOf(conversation.Answer)
		}
		if !lines.Scan() {
			return errors.Join(ctx.Err(), lines.Err())
		}
		conversation.Question = nil
		message.ID, message.Text, message.At = chat.MessageID(rand.Text()), lines.Text(), time.Now()
		message.Answers = pressed(*asked, lines.Text())
	}
}

// failureOf gives an error for a reply that says that the work failed; nil for any other.
func failureOf(reply *chat.Reply) error {
	if reply != nil && reply.Outcome == chat.Failure {
		return errors.New("the question was not answered")
	}
	return nil
}

// pressed takes the number of a choice as that choice; nil for any other reply.
func pressed(asked chat.Question, reply string) *chat.Press {
	number, err := strconv.Atoi(strings.TrimSpace(reply))
	if err != nil || number < 1 || number > len(asked.Choices) {
		return nil
	}
	return &chat.Press{Question: asked.ID, Choice: asked.Choices[number-1].ID}
}

func depthOr(asked, configured chat.Depth) chat.Depth {
	if asked != "" {
		return asked
	}
	return configured
}

// author is the person at this terminal.
func author() chat.UserID {
	if current, err := user.Current(); err == nil {
		return chat.UserID(current.Username)
	}
	return chat.UserID(os.Getenv("USER"))
}

// collected is a chat.Conversation that keeps what was said.
type collected struct {
	reply    *chat.Reply
	question *chat.Question
}

func (c *collected) Progress(context.Context, chat.Progress) error { return nil }

func (c *collected) Reply(_ context.Context, reply chat.Reply) error {
	c.reply = &reply
	return nil
}

func (c *collected) Ask(_ context.Context, question chat.Question) error {
	c.question = &question
	return nil
}

// askOutput is what --json prints.
type askOutput struct {
	Run      chat.RunID    `json:"run"`
	Outcome  string        `json:"outcome"` // answered, abstained, failed or asked
	Answer   string        `json:"answer"`  // Markdown; the question's text where it was asked back
	Note     string        `json:"note,omitempty"`
	Sources  []sourceGroup `json:"sources"`
	Question *question     `json:"question,omitempty"`
	// Documents are the files that the run made.
	Documents []made      `json:"documents,omitempty"`
	Trace     *chat.Trace `json:"trace,omitempty"`
}

type made struct {
	Name string `json:"name"`
	Type string `json:"type"` // "text/markdown; charset=utf-8"
	Text string `json:"text"`
}

type sourceGroup struct {
	Category string   `json:"category"`
	Sources  []source `json:"sources"`
}

type source struct {
	Title    string    `json:"title"`
	Path     string    `json:"path"`
	Owner    string    `json:"owner,omitempty"`
	Modified time.Time `json:"modified"`
	State    string    `json:"state"`
	Sections []section `json:"sections"`
}

type section struct {
	Number  int    `json:"number,omitempty"` // its [n] in the answer
	Heading string `json:"heading"`
	Anchor  string `json:"anchor"`
	URL     string `json:"url"`
	View    string `json:"view,omitempty"` // where people read it as Cairn has it
}

type question struct {
	Text     string   `json:"text"`
	Choices  []choice `json:"choices"`
	FreeText bool     `json:"free_text"`
}

type choice struct {
	ID     string `json:"id"`
	Label  string `json:"label"`
	Detail string `json:"detail,omitempty"`
}

// printJSON prints what was said, and gives the question that was asked back, nil for none.
func (c *askCommand) printJSON(ctx context.Context, out io.Writer, handler *bot.Bot, message chat.Message) (*chat.Question, error) {
	var said collected
	if err := handler.Handle(ctx, message, &said); err != nil {
		return nil, err
	}
	printed := said.output()
	var err error
	if printed.Trace, err = c.explain(ctx, handler, said.reply, said.question); err != nil {
		return said.question, err
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return said.question, errors.Join(encoder.Encode(printed), failureOf(said.reply))
}

func (c *collected) output() askOutput {
	if c.question != nil {
		asked := &question{Text: c.question.Text, FreeText: c.question.FreeText}
		for _, offered := range c.question.Choices {
			asked.Choices = append(asked.Choices, choice(offered))
		}
		return askOutput{Run: c.question.Run, Outcome: "asked", Answer: c.question.Text, Sources: []sourceGroup{}, Question: asked}
	}
	var documents []made
	for _, document := range c.reply.Documents {
		documents = append(documents, made{document.Name, document.MediaType, string(document.Content)})
	}
	return askOutput{
		Documents: documents,
		Run:       c.reply.Run, Outcome: string(c.reply.Outcome), Answer: c.reply.Text, Note: c.reply.Note,
		Sources: sourceGroups(c.reply.Sources),
	}
}

func sourceGroups(groups []chat.SourceGroup) []sourceGroup {
	converted := make([]sourceGroup, 0, len(groups))
	for _, group := range groups {
		made := sourceGroup{Category: group.Category}
		for _, s := range group.Sources {
			row := source{Title: s.Title, Path: s.Path, Owner: s.Owner, Modified: s.Modified, State: s.State}
			for _, place := range s.Sections {
				row.Sections = append(row.Sections, section{place.Number, place.Heading, place.Anchor, place.URL, place.View})
			}
			made.Sources = append(made.Sources, row)
		}
		converted = append(converted, made)
	}
	return converted
}
