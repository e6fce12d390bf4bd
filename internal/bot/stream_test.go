package bot_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph"
)

// streamed is a chat.Conversation that takes an answer piece by piece.
type streamed struct {
	heard
	all []string // in order
	err error    // of Stream
	// first is called when it is told that a step has ended, failed when err was given; nil: nothing is.
	first, failed func()
}

func (s *streamed) Progress(_ context.Context, p chat.Progress) error {
	s.all = append(s.all, p.Step+" "+string(p.Status))
	if s.first != nil && p.Status == chat.Completed {
		s.first()
		s.first = nil
	}
	return nil
}

func (s *streamed) Stream(_ context.Context, token chat.Token) error {
	shown := token.Text
	if token.Restart {
		shown = "restart " + shown
	}
	s.all = append(s.all, shown)
	if s.failed != nil {
		s.failed()
		s.failed = nil
	}
	return s.err
}

func (s *streamed) Reply(_ context.Context, r chat.Reply) error {
	s.all = append(s.all, "reply "+r.Text)
	return nil
}

func TestAnAnswerIsStreamedInOrder(t *testing.T) {
	o, j := works(t)
	tries, listening := 0, make(chan struct{})
	j.work = func(_ context.Context, step graph.Step[state]) error {
		<-listening // to the end of the step before, which is kept: who comes late misses pieces
		step.Emit("one ")
		if tries++; tries == 1 {
			return errBusy
		}
		step.Emit("two")
		return nil
	}
	said := &streamed{first: func() { close(listening) }}
	if err := o.bot.Handle(t.Context(), o.next("dig"), said); err != nil {
		t.Fatal(err)
	}
	shown := ""
	for _, what := range said.all {
		switch taken, restarts := strings.CutPrefix(what, "restart "); {
		case restarts:
			shown = taken
		case !strings.HasSuffix(what, "running") && !strings.HasSuffix(what, "completed"):
			shown += what
		}
	}
	if shown != "one tworeply did dig" {
		t.Errorf("said %q", said.all)
	}
	const want = "prepare completed, work completed, finish completed, reply did dig"
	if got := strings.Join(slices.DeleteFunc(said.all, func(what string) bool {
		return !strings.HasSuffix(what, "completed") && !strings.HasPrefix(what, "reply")
	}), ", "); got != want {
		t.Errorf("said %s", got)
	}
}

func TestAStreamThatFailsIsLeftAlone(t *testing.T) {
	o, j := works(t)
	listening, broken := make(chan struct{}), make(chan struct{})
	j.work = func(_ context.Context, step graph.Step[state]) error {
		<-listening
		step.Emit("one")
		<-broken
		step.Emit("two")
		return nil
	}
	said := &streamed{err: errBroken, first: func() { close(listening) }, failed: func() { close(broken) }}
	if err := o.bot.Handle(t.Context(), o.next("dig"), said); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(said.all, ", "); strings.Contains(got, "two") || !strings.Contains(got, "reply did dig") {
		t.Errorf("said %s", got)
	}
	if strings.Count(o.log.String(), "progress not told") != 1 {
		t.Errorf("logged %s", o.log)
	}
}
