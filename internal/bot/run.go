package bot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"cairn/internal/chat"
	"cairn/internal/graph"
	"cairn/internal/graph/flows"
	"cairn/internal/runs"
	"cairn/internal/session"
)

// endTime is how long the end of a run may take to be remembered and said once its own
// context is gone.
const endTime = 10 * time.Second

// run has the record's flow do its part, from where drive begins to an outcome, and
// says what came of it.
func (t *turn) run(ctx context.Context, drive func(context.Context, flows.Runtime) (flows.Outcome, error)) error {
	t.record.Trace.Flow = t.record.Flow // for those who look on
	if err := t.bot.records.Save(ctx, t.record); err != nil {
		return err
	}
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	t.work.begin(t.record.Author, cancel)
	var steps []chat.TraceStep
	begun := t.bot.now()
	outcome, err := drive(running, t.runtime(ctx, &steps))
	stopped, words := t.work.finish()

	trace := &t.record.Trace
	worked := trace.Took + t.bot.now().Sub(begun)
	if err == nil {
		converted := traceOf(outcome.Trace)
		converted.Steps = trace.Steps
		*trace = converted
	}
	trace.Flow, trace.Took = t.record.Flow, worked
	t.record.Pass(steps)

	gaveUp := err != nil && ctx.Err() != nil
	// What came of the run is kept and said even if nobody waits for it any more.
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer done()
	t.retract()
	switch {
	case stopped:
		return t.stopped(ctx, "a person stopped it", words)
	case gaveUp:
		return t.stopped(ctx, "its message was given up", nil)
	case err != nil:
		return t.failed(ctx, err)
	case outcome.Kind == flows.Asked:
		return t.ask(ctx, *outcome.Question)
	}
	return t.answered(ctx, outcome)
}

func (t *turn) answered(ctx context.Context, outcome flows.Outcome) error {
	t.record.Move(runs.Done, t.bot.now(), string(outcome.Kind))
	reply := replyOf(outcome)
	if t.note != "" {
		reply.Note = joinNotes(t.note, reply.Note)
	}
	return t.conclude(ctx, reply)
}

// stopped tells the one who asked, and remembers the words that did it.
func (t *turn) stopped(ctx context.Context, reason string, words []chat.Message) error {
	t.record.Move(runs.Cancelled, t.bot.now(), reason)
	reply := chat.Reply{Outcome: chat.Failure, Text: "Stopped."}
	return t.conclude(ctx, reply, words...)
}

// stopReply is what the words that stop a run are answered with.
var stopReply = chat.Reply{Outcome: chat.Answered, Text: "All right, I stopped."}

// failed says that the run failed, with its id. The cause goes to the log alone.
func (t *turn) failed(ctx context.Context, err error) error {
	t.bot.logger.ErrorContext(ctx, "run failed", "run", string(t.record.ID), "thread", string(t.message.Thread), "error", err)
	reason := "it failed outside of its nodes"
	if node, ok := errors.AsType[*graph.NodeError](err); ok {
		reason = fmt.Sprintf("node %q failed", node.Node)
	}
	t.record.Move(runs.Failed, t.bot.now(), reason)
	return t.conclude(ctx, chat.Reply{
		Outcome: chat.Failure,
		Text: fmt.Sprintf("Something went wrong on my side, and there is no answer. "+
			"The log has the cause under run `%s`; a retry goes on where it broke off.", t.record.ID),
	})
}

// conclude says what came of the run, and remembers it together with the words that
// stopped it. The session is saved before the record: after a crash in between, the
// thread knows what was said and the run can still be retried.
func (t *turn) conclude(ctx context.Context, reply chat.Reply, words ...chat.Message) error {
	reply.Run, reply.Trace = t.record.ID, t.record.Trace
	t.remember(t.message.ID, reply)
	for _, word := range words {
		t.hear(word)
		t.remember(word.ID, stopReply)
	}
	if err := t.keep(ctx); err != nil {
		return err
	}
	if len(words) > 0 {
		t.work.tell()
	}
	return t.conversation.Reply(ctx, reply)
}

// keep saves the session, then the record.
func (t *turn) keep(ctx context.Context) error {
	if err := t.bot.sessions.Save(ctx, t.session); err != nil {
		return err
	}
	return t.bot.records.Save(ctx, t.record)
}

// ask posts a run's question. It takes the place of any other that waits in the thread.
func (t *turn) ask(ctx context.Context, asked graph.Question) error {
	if t.session.Waiting != nil {
		if err := t.abandon(ctx, leftOpen, "another question took its place"); err != nil {
			return err
		}
	}
	question := questionOf(t.record.ID, t.record.Author, asked)
	t.session.Waiting = &session.Waiting{Run: t.record.ID, Flow: t.record.Flow, Question: question, Request: t.record.Request}
	t.session.Add(chat.Turn{Role: chat.Bot, Message: t.message.ID, At: t.bot.now(), Question: &question})
	t.record.Move(runs.Waiting, t.bot.now(), "it asked a question")
	if err := t.keep(ctx); err != nil {
		return err
	}
	return t.conversation.Ask(ctx, question)
}

// runtime gives a run the checkpoint store, passes its steps and its tokens on to the
// thread, and notes the steps that ended.
func (t *turn) runtime(ctx context.Context, steps *[]chat.TraceStep) flows.Runtime {
	var draft draft
	streamer, streams := t.conversation.(chat.Streamer)
	return flows.Runtime{Store: t.bot.checkpoints, Observe: func(event graph.Event) {
		if step, ended := stepOf(event); ended {
			*steps = append(*steps, step)
		}
		if progress, shown := progressOf(event); shown {
			if err := t.conversation.Progress(ctx, progress); err != nil {
				t.bot.logger.WarnContext(ctx, "progress not shown", "run", event.Run, "error", err)
			}
		}
		if token, shown := draft.token(event); shown && streams {
			if err := streamer.Stream(ctx, token); err != nil {
				streams = false
				t.bot.logger.WarnContext(ctx, "answer not streamed", "run", event.Run, "error", err)
			}
		}
	}}
}

// draft is the part of an answer that was streamed: which attempt of which node it
// came from.
type draft struct {
	begun bool
	from  attempt
}

type attempt struct {
	node          string
	visit, number int
}

// token gives an event as what is streamed; shown is false for most. What comes from
// another attempt than before begins anew, and a step that is to be retried takes back
// what it said at once.
func (d *draft) token(event graph.Event) (token chat.Token, shown bool) {
	from := attempt{event.Node, event.Visit, event.Attempt}
	token = chat.Token{Run: chat.RunID(event.Run)}
	switch {
	case event.Kind == graph.Token && event.Text != "":
		token.Text, token.Restart = event.Text, d.begun && d.from != from
		d.begun, d.from = true, from
		return token, true
	case event.Kind == graph.StepRetried && d.begun && d.from == from:
		token.Restart = true
		d.begun = false
		return token, true
	}
	return chat.Token{}, false
}
