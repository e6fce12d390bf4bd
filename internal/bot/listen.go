package bot

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/runs"
)

// endTime is how long the end of a job may take to be remembered and said once nobody
// waits for it any more.
const endTime = 10 * time.Second

var (
	errNothing = errors.New("there was nothing to do")
	// errWithdrawn is for those who wait for an answer to a message that is gone.
	errWithdrawn  = errors.New("the message was deleted, and nothing is said to it")
	errEditedLate = errors.New("your edit came too late to change my answer; please ask in a new message")
	errClosed     = errors.New("that question is no longer open")
	errPutAside   = errors.New("the message could not be worked at; an operator finds it among the dead letters")
)

// listener passes on what happens to one job.
type listener struct {
	bot          *Bot
	job          runs.Job
	conversation chat.Conversation // nil where only the end counts
	streams      bool
	ended        map[string]int64 // by step: the number of the event that told of its end
}

// followJob has a job accepted, and tells the conversation what happens to it until it is
// dealt with.
func (b *Bot) followJob(ctx context.Context, job runs.Job, conversation chat.Conversation, accept func(context.Context) (bool, error)) error {
	l := &listener{bot: b, job: job, conversation: conversation, ended: make(map[string]int64)}
	_, l.streams = conversation.(chat.Streamer)
	// Events of a job that is new come behind all that were seen before.
	events, stop := l.followEvents(ctx, b.seen.lastPosition(job.Thread()))
	defer func() { stop() }()
	accepted, err := accept(ctx)
	if err != nil {
		return err
	}
	if !accepted {
		if told, err := l.forwardEarlierReply(ctx); told || err != nil {
			return err
		}
		stop()
		events, stop = l.followEvents(ctx, runs.Beginning)
	}
	return l.forwardEvents(ctx, events)
}

// followed is an event of the job, or the error that ended the following.
type followed struct {
	at   runs.Position
	kind runs.EventKind
	what happened
	err  error
}

// followEvents gives the job's events behind a position, until stop is called, whatever becomes
// of ctx; stop waits until nothing follows any more.
func (l *listener) followEvents(ctx context.Context, after runs.Position) (events <-chan followed, stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	passed := make(chan followed)
	go func() {
		defer close(passed)
		for event, err := range l.bot.store.Follow(ctx, l.job.Thread(), after) {
			next := followed{at: event.Position, kind: event.Kind, err: err}
			if err == nil {
				next.what, next.err = readEvent(event)
			}
			if next.err == nil && next.what.Job != l.job.Event {
				continue
			}
			select {
			case passed <- next:
			case <-ctx.Done():
				return
			}
		}
	}()
	return passed, func() {
		cancel()
		for range passed { // until it is closed
		}
	}
}

// forwardEvents tells the conversation of events until the job is dealt with.
func (l *listener) forwardEvents(ctx context.Context, events <-chan followed) error {
	gone := ctx.Done()
	var giveUp <-chan time.Time
	for {
		select {
		case event, ok := <-events:
			switch {
			case !ok:
				return fmt.Errorf("follow event %s of thread %s: the events have ended", l.job.Event, l.job.Thread())
			case event.err != nil:
				return event.err
			case event.kind == dealtEvent:
				l.bot.seen.recordPosition(l.job.Thread(), event.at)
				return l.forwardResult(context.WithoutCancel(ctx), event.what)
			}
			l.forwardEvent(ctx, event.what)
		case <-gone:
			stopping, err := l.stopAbandoned(ctx)
			if !stopping || err != nil {
				return errors.Join(ctx.Err(), err)
			}
			gone = nil
			timer := time.NewTimer(endTime)
			defer timer.Stop()
			giveUp = timer.C
		case <-giveUp:
			return ctx.Err()
		}
	}
}

// stopAbandoned stops the job when its author does not wait for it any more. stopping is false
// where it is not at work, or goes on all the same since only this process ends.
func (l *listener) stopAbandoned(ctx context.Context) (stopping bool, err error) {
	select {
	case <-l.bot.options.Ending:
		return false, nil
	default:
	}
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer done()
	if l.job.Lane != runs.LaneMessages { // it ends at once, and is no run
		return false, nil
	}
	state, err := l.bot.store.State(ctx, l.job.Thread())
	if err != nil || state.Head.Event != l.job.Event {
		return false, err
	}
	return l.bot.store.Stop(ctx, l.job.Thread(), l.job.Event, l.job.Message.Author)
}

// forwardEvent passes on a step or a piece of an answer.
func (l *listener) forwardEvent(ctx context.Context, what happened) {
	var err error
	switch {
	case l.conversation == nil:
	case what.Progress != nil && l.isLate(what):
	case what.Progress != nil:
		err = l.conversation.Progress(ctx, *what.Progress)
	case what.Token != nil && l.streams:
		streamer, _ := l.conversation.(chat.Streamer)
		err = streamer.Stream(ctx, *what.Token)
		l.streams = err == nil
	}
	if err != nil {
		l.bot.logger.WarnContext(ctx, "progress not told", "thread", string(l.job.Thread()), "error", err)
	}
}

// isLate tells of a step that its beginning comes after its end: what is only shown and
// what is kept may overtake each other.
func (l *listener) isLate(what happened) bool {
	if what.Progress.Status == chat.Running || what.Progress.Status == chat.Pending {
		return what.Seq < l.ended[what.Progress.Step]
	}
	l.ended[what.Progress.Step] = what.Seq
	return false
}

// forwardResult tells what came of the job.
func (l *listener) forwardResult(ctx context.Context, what happened) error {
	if what.Refusal != "" {
		if err, known := refusals[what.Refusal]; known {
			return err
		}
		return fmt.Errorf("event %s of thread %s was refused: %s", l.job.Event, l.job.Thread(), what.Refusal)
	}
	if l.conversation == nil || what.Message == "" {
		return nil
	}
	if what.Reply != nil {
		return l.conversation.Reply(ctx, *what.Reply)
	}
	_, err := l.forwardReply(ctx, what.Message)
	return err
}

// forwardEarlierReply tells what was said to a message that came again, if the session has it.
func (l *listener) forwardEarlierReply(ctx context.Context) (bool, error) {
	return l.forwardReply(ctx, l.job.Message.ID)
}

// forwardReply passes on what the bot said last to a message.
func (l *listener) forwardReply(ctx context.Context, message chat.MessageID) (bool, error) {
	remembered, err := l.bot.sessions.Load(ctx, l.job.Thread())
	if err != nil {
		return false, err
	}
	at := lastSaid(remembered.Turns, message)
	if at < 0 {
		return false, nil
	}
	if question := remembered.Turns[at].Question; question != nil {
		return true, l.conversation.Ask(ctx, *question)
	}
	reply := *remembered.Turns[at].Reply
	if reply.Run != "" {
		record, err := l.bot.records.Load(ctx, reply.Run)
		if err != nil && !errors.Is(err, chat.ErrUnknownRun) {
			return false, err
		}
		reply.Trace = record.Trace
	}
	return true, l.conversation.Reply(ctx, reply)
}

// lastSaid finds the last turn of the bot about a message, -1 where there is none.
func lastSaid(turns []chat.Turn, message chat.MessageID) int {
	for i := len(turns) - 1; i >= 0; i-- {
		if turns[i].Message == message && turns[i].Role == chat.Bot {
			return i
		}
	}
	return -1
}

// maxSeen is how many threads' positions are remembered.
const maxSeen = 1000

// seen is how far the events of threads were read: what comes behind is less to read. The
// zero value is ready.
type seen struct {
	mu        sync.Mutex
	positions map[chat.ThreadID]runs.Position
}

// lastPosition gives a position behind which the next job's events are.
func (s *seen) lastPosition(thread chat.ThreadID) runs.Position {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.positions[thread]
}

func (s *seen) recordPosition(thread chat.ThreadID, at runs.Position) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.positions == nil || len(s.positions) >= maxSeen {
		s.positions = make(map[chat.ThreadID]runs.Position)
	}
	s.positions[thread] = at
}
