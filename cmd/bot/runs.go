package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/terminal"
	"github.com/cairn-bot/cairn/internal/app"
	"github.com/cairn-bot/cairn/internal/audit"
	"github.com/cairn-bot/cairn/internal/bot"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/runs"
)

type runsListCommand struct {
	Status runs.Status `enum:"queued,running,waiting,done,failed,cancelled,expired," default:"" placeholder:"STATUS" help:"Only runs that stand so: queued, running, waiting, done, failed, cancelled or expired."`
	Thread string      `placeholder:"ID" help:"Only runs of this thread."`
	Limit  int         `default:"20" placeholder:"COUNT" help:"How many at most."`
}

// Run lists runs, threads with work, and dead letters.
func (c *runsListCommand) Run(ctx context.Context, in *invocation) error {
	if c.Limit < 1 {
		return fmt.Errorf("--limit is %d: give a positive number", c.Limit)
	}
	return in.withStores(ctx, func(opened app.Threads) error {
		filter := runs.Filter{Status: c.Status, Thread: chat.ThreadID(c.Thread)}
		listed, err := opened.Records.List(ctx, filter, c.Limit)
		if err != nil {
			return err
		}
		if err := c.printRecords(in.std.Out, listed); err != nil {
			return err
		}
		states, err := opened.Runs.Threads(ctx, c.Limit)
		if err != nil {
			return err
		}
		if err := c.printThreads(in.std.Out, states); err != nil {
			return err
		}
		letters, err := opened.Runs.DeadLetters(ctx, c.Limit)
		if err != nil {
			return err
		}
		return c.printLetters(in.std.Out, letters)
	})
}

func (c *runsListCommand) printRecords(out io.Writer, listed []runs.Record) error {
	if len(listed) == 0 {
		_, err := fmt.Fprintln(out, "No runs.")
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "RUN\tSTATUS\tSINCE\tFLOW\tTHREAD\tREASON")
	for _, record := range listed {
		last := record.Transitions[len(record.Transitions)-1]
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", record.ID, last.To, moment(last.At), record.Flow, record.Thread, oneLine(last.Reason))
	}
	return table.Flush()
}

func (c *runsListCommand) printThreads(out io.Writer, states []runs.ThreadState) error {
	if len(states) == 0 {
		return nil
	}
	fmt.Fprintln(out, "\nThreads with work:")
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "THREAD\tQUEUED\tLATER\tATTEMPT\tWORKER\tREASON")
	for _, state := range states {
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%s\t%s\n", state.Queue(), state.Queued, state.Delayed, state.Head.Attempt, state.Worker, oneLine(state.Reason))
	}
	return table.Flush()
}

func (c *runsListCommand) printLetters(out io.Writer, letters []runs.DeadLetter) error {
	if len(letters) == 0 {
		return nil
	}
	fmt.Fprintln(out, "\nPut aside (cairn runs replay RUN goes on with one, discard RUN forgets it; one without a run goes by its event):")
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "RUN\tSINCE\tTHREAD\tEVENT\tREASON")
	for _, letter := range letters {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", letter.Job.Run, moment(letter.At), letter.Job.Thread(), letter.Job.Event, oneLine(letter.Reason))
	}
	return table.Flush()
}

func moment(at time.Time) string { return at.Local().Format(time.DateTime) }

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

type runsShowCommand struct {
	ID string `arg:"" name:"RUN" help:"The run's id, as it stands on a failure line or in the list."`
}

// Run prints a run's statuses and how it came about.
func (c *runsShowCommand) Run(ctx context.Context, in *invocation) error {
	return in.withStores(ctx, func(opened app.Threads) error {
		record, err := opened.Records.Load(ctx, chat.RunID(c.ID))
		if err != nil {
			return fmt.Errorf("run %s: %w", c.ID, err)
		}
		out := in.std.Out
		fmt.Fprintf(out, "Run %s of flow %s in thread %s\n", record.ID, record.Flow, record.Thread)
		for _, transition := range record.Transitions {
			fmt.Fprintf(out, "%s  %-9s  %s\n", moment(transition.At), transition.To, oneLine(transition.Reason))
		}
		return terminal.Detect(out, os.Getenv).Trace(record.Trace)
	})
}

type runsCancelCommand struct {
	ID string `arg:"" name:"RUN" help:"The run's id."`
}

// Run has a run ended.
func (c *runsCancelCommand) Run(ctx context.Context, in *invocation) error {
	return in.changeRun(ctx, audit.CancelRun, (*bot.Bot).Cancel, c.ID, "is being cancelled.")
}

type runsReplayCommand struct {
	ID string `arg:"" name:"RUN" help:"The run's id; the event's where a job put aside has no run."`
}

// Run has a run gone on with.
func (c *runsReplayCommand) Run(ctx context.Context, in *invocation) error {
	return in.changeRun(ctx, audit.ReplayRun, (*bot.Bot).Replay, c.ID, "is queued again; a worker goes on with it.")
}

type runsDiscardCommand struct {
	ID string `arg:"" name:"RUN" help:"The run's id; the event's where a job put aside has no run."`
}

// Run forgets what was put aside.
func (c *runsDiscardCommand) Run(ctx context.Context, in *invocation) error {
	return in.changeRun(ctx, audit.DiscardRun, (*bot.Bot).Discard, c.ID, "is not put aside any more; nobody will go on with it.")
}

// changeRun does something to a run, writes that into the audit log, and says what the run
// is then.
func (in *invocation) changeRun(
	ctx context.Context, kind audit.Action, change func(*bot.Bot, context.Context, chat.RunID) error, run, then string,
) error {
	return in.withBot(ctx, func(a *app.Cairn) error {
		err := recordAction(ctx, a.Config, audit.Entry{Action: kind, Target: run}, func() error { return change(a.Bot, ctx, chat.RunID(run)) })
		if errors.Is(err, bot.ErrNotAside) {
			err = fmt.Errorf("%w: `cairn runs` lists that", err)
		}
		if err != nil {
			return fmt.Errorf("run %s: %w", run, err)
		}
		_, err = fmt.Fprintf(in.std.Out, "Run %s %s\n", run, then)
		return err
	})
}

// withStores opens the stores of threads and runs for a command that looks at them.
func (in *invocation) withStores(ctx context.Context, look func(app.Threads) error) (err error) {
	setup, err := in.setup()
	if err != nil {
		return err
	}
	if !app.HasStorage(setup) {
		return fmt.Errorf("there are no runs yet: there is no data directory %s", setup.Config.DataDir)
	}
	storage, err := app.OpenStorage(ctx, setup)
	if err != nil {
		return err
	}
	defer func() { err = closeAfter(err, storage) }()
	return look(storage.Threads)
}

// withBot opens a bot that works at nothing, for a command that leaves that to others.
func (in *invocation) withBot(ctx context.Context, act func(*app.Cairn) error) (err error) {
	a, err := in.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = closeAfter(err, a) }()
	return act(a)
}
