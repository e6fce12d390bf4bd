package bot_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-bot/cairn/internal/bot"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/store"
)

// laggard is a store whose Stop comes late.
type laggard struct {
	store.Store
	meanwhile func()
}

func (l laggard) Stop(ctx context.Context, thread chat.ThreadID, event runs.EventID, by chat.UserID) (bool, error) {
	l.meanwhile()
	return l.Store.Stop(ctx, thread, event, by)
}

// TestAStopThatComesLateStopsNothingElse has the head of a thread change between the look
// at who may stop it and the stop: another's run goes on.
func TestAStopThatComesLateStopsNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJob(t)
		first, second := make(chan struct{}), make(chan struct{})
		j.work = func(ctx context.Context, step graph.Step[state]) error {
			gate := second
			if step.State.Text == "dig one" {
				gate = first
			}
			select {
			case <-gate:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		s := newStreet(t, j)
		f := s.front("platform", "1")
		defer s.works(newFate(0, false))()
		for i, by := range []chat.UserID{"ann", "bob"} {
			text := []string{"dig one", "dig two"}[i]
			message := chat.Message{ID: chat.MessageID(text), Thread: f.thread, Author: by, Text: text, At: time.Now()}
			if err := f.bot.Handle(t.Context(), message, nil); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		late, err := bot.New(bot.Options{
			Flows: s.flows, Logger: quietLogger,
			Store: laggard{s.queue, func() {
				close(first) // ann's run ends by itself, and bob's begins
				pass(time.Second)
			}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := late.Stop(t.Context(), f.thread, "ann"); err != nil {
			t.Error(err)
		}
		pass(time.Second)
		close(second)
		f.quiet()
		if got := f.posted(); got != "did dig one, did dig two" {
			t.Errorf("posted is %s", got)
		}
	})
}
