package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/terminal"
	"github.com/cairn-bot/cairn/internal/app"
	"github.com/cairn-bot/cairn/internal/audit"
	"github.com/cairn-bot/cairn/internal/bot"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/markup"
	"github.com/cairn-bot/cairn/internal/curated"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/shorten"
)

type answersListCommand struct{}

// Run lists the pinned answers.
func (c *answersListCommand) Run(ctx context.Context, in *invocation) (err error) {
	_, storage, err := openStorage(ctx, in)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, storage.Close()) }()
	all, err := storage.Pinned.List(ctx)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		_, err = fmt.Fprintln(in.std.Out, "No answer is pinned.")
		return err
	}
	now := time.Now()
	table := tabwriter.NewWriter(in.std.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "PIN\tQUESTION\tBY\tPINNED\tEXPIRES")
	for _, answer := range all {
		expires := answer.Expires.Format(time.DateOnly)
		if answer.IsExpired(now) {
			expires = "expired " + expires
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", answer.ID, oneLine(answer.Question), oneLine(answer.Name), markup.Age(now, answer.Pinned), expires)
	}
	return table.Flush()
}

type answersPinCommand struct {
	Question string `arg:"" optional:"" help:"Question that is answered; with --run that of the run."`
	RunID    string `name:"run" placeholder:"ID" help:"Pin the answer of this run, with its sources."`
	Last     bool   `help:"Pin the last answer of this terminal, with its sources."`
	Text     string `placeholder:"TEXT" help:"The answer, in Markdown; default: the standard input."`
	File     string `placeholder:"FILE" help:"File with the answer, in Markdown."`
	Audience string `placeholder:"WHO" help:"Who is answered by it, such as group:legal; default: everybody."`
	Days     int    `placeholder:"COUNT" help:"For how long; default: answer.pin_days."`
}

// maxAnswer is how many bytes of an answer are read: letters have four at most.
const maxAnswer = 4 * curated.MaxText

// Run pins an answer to a question.
func (c *answersPinCommand) Run(ctx context.Context, in *invocation) error {
	switch isOfRun := c.RunID != "" || c.Last; {
	case isOfRun && (c.RunID != "" && c.Last || c.Question != "" || c.Text != "" || c.File != "" || c.Audience != "" || c.Days != 0):
		return errors.New("--run and --last pin an answer as it is: leave the question, --text, --file, --audience, --days and the other of the two out")
	case isOfRun:
		return c.pinRun(ctx, in)
	case c.Question == "":
		return errors.New("name the question, or with --run or --last an answer: cairn answers pin \"How do I rotate the signing key?\" --text \"Run keyctl rotate twice.\"")
	case c.Text != "" && c.File != "":
		return errors.New("--text and --file exclude one another")
	case c.Days < 0:
		return fmt.Errorf("--days is %d: give a positive number", c.Days)
	}
	return c.pinText(ctx, in)
}

// pinRun pins the answer of a run.
func (c *answersPinCommand) pinRun(ctx context.Context, in *invocation) error {
	return in.withBot(ctx, func(a *app.Cairn) error {
		if c.Last {
			reply, err := lastReply(ctx, a)
			if err != nil {
				return err
			}
			c.RunID = string(reply.Run)
		}
		return recordAction(ctx, a.Config, audit.Entry{Action: audit.PinAnswer, Target: c.RunID}, func() error {
			user := machineUser()
			by := chat.Reader{Adapter: terminal.Name, User: chat.UserID(user), Identity: &chat.Identity{Name: user, Local: true}}
			pinned, err := bot.NewCurator(a.Bot).PinAnswer(ctx, chat.RunID(c.RunID), by, chat.PinDraft{})
			if err != nil {
				return fmt.Errorf("pin the answer of run %s: %w", c.RunID, err)
			}
			_, err = fmt.Fprintf(in.std.Out, "Pinned to %q until %s.\n", pinned.Question, pinned.Expires.Format(time.DateOnly))
			return err
		})
	})
}

// pinText pins what an expert wrote.
func (c *answersPinCommand) pinText(ctx context.Context, in *invocation) (err error) {
	audience, err := readAudience(c.Audience)
	if err != nil {
		return err
	}
	text, err := c.readText(in.std.In)
	if err != nil {
		return err
	}
	configured, storage, err := openStorage(ctx, in)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, storage.Close()) }()
	now, keep := time.Now(), app.KeepPinned(configured)
	if c.Days > 0 {
		keep = time.Duration(c.Days) * 24 * time.Hour
	}
	user := machineUser()
	answer := curated.Answer{
		ID: curated.NewID(), Question: strings.TrimSpace(c.Question), Text: strings.TrimSpace(text), Audience: audience,
		Author: chat.UserID(user), Name: shorten.Line(user, curated.MaxName), Pinned: now, Expires: now.Add(keep),
	}
	return recordAction(ctx, configured, audit.Entry{Action: audit.PinAnswer, Target: string(answer.ID)}, func() error {
		pinned, err := curated.Pin(ctx, storage.Pinned, answer, now)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(in.std.Out, "Pinned to %q as %s until %s.\n", pinned.Question, pinned.ID, pinned.Expires.Format(time.DateOnly))
		return err
	})
}

// readText reads the answer from where it stands.
func (c *answersPinCommand) readText(in io.Reader) (string, error) {
	if c.Text != "" {
		return c.Text, nil
	}
	if c.File != "" {
		file, err := os.Open(c.File)
		if err != nil {
			return "", fmt.Errorf("read the answer: %w", err)
		}
		defer file.Close() //nolint:errcheck // it was only read
		in = file
	}
	text, err := io.ReadAll(io.LimitReader(in, maxAnswer+1))
	if err == nil && len(text) > maxAnswer {
		err = fmt.Errorf("it is longer than %d letters", curated.MaxText)
	}
	if err != nil {
		return "", fmt.Errorf("read the answer: %w", err)
	}
	return string(text), nil
}

// readAudience reads who an answer is for: principals with commas between them.
func readAudience(text string) (knowledge.Audience, error) {
	if text == "" {
		return "", nil
	}
	var principals []knowledge.Principal
	for part := range strings.SplitSeq(text, ",") {
		principal, err := knowledge.ParsePrincipal(strings.TrimSpace(part))
		if err != nil {
			return "", fmt.Errorf("--audience: %w", err)
		}
		principals = append(principals, principal)
	}
	return knowledge.NewAudience(principals...)
}

type answersUnpinCommand struct {
	Pin string `arg:"" help:"The pinned answer as \"cairn answers list\" names it, or its question."`
}

// Run removes a pinned answer.
func (c *answersUnpinCommand) Run(ctx context.Context, in *invocation) (err error) {
	configured, storage, err := openStorage(ctx, in)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, storage.Close()) }()
	all, err := storage.Pinned.List(ctx)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(all, func(a curated.Answer) bool { return string(a.ID) == c.Pin || strings.EqualFold(a.Question, c.Pin) })
	if at < 0 {
		return fmt.Errorf("no answer is pinned as %q: see cairn answers list", c.Pin)
	}
	id := all[at].ID
	err = recordAction(ctx, configured, audit.Entry{Action: audit.UnpinAnswer, Target: string(id)}, func() error { return storage.Pinned.Delete(ctx, id) })
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(in.std.Out, "Unpinned %s: %q is answered from the documents again.\n", id, all[at].Question)
	return err
}
