package bot_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/runs"
)

// crowd is people who write, stop and retry in one thread all at once.
type crowd struct {
	*office
	mu   sync.Mutex
	runs []chat.RunID // that were told of
}

func (c *crowd) told(reply chat.Reply) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if reply.Run != "" {
		c.runs = append(c.runs, reply.Run)
	}
}

func (c *crowd) any(random *rand.Rand) (chat.RunID, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.runs) == 0 {
		return "", false
	}
	return c.runs[random.IntN(len(c.runs))], true
}

func (c *crowd) write(id chat.MessageID, text string) {
	said := &heard{}
	err := c.bot.Handle(c.t.Context(), chat.Message{ID: id, Thread: "test:1", Author: "ann", Text: text}, said)
	if err == nil && chat.IsStop(text) && len(said.replies)+len(said.questions) == 0 {
		return // it stopped a run, whose own reply says so
	}
	if err != nil || len(said.replies) != 1 || len(said.questions) != 0 {
		c.t.Errorf("%q got %v, %+v, %+v; want one reply", text, err, said.replies, said.questions)
		return
	}
	c.told(said.replies[0])
}

func (c *crowd) tryAgain(run chat.RunID) {
	said := &heard{}
	err := c.bot.Retry(c.t.Context(), run, "ann", said)
	if !errors.Is(err, chat.ErrRunOver) && (err != nil || len(said.replies) != 1) || errors.Is(err, chat.ErrRunOver) && len(said.replies) > 0 {
		c.t.Errorf("the retry of %s got %v, %+v", run, err, said.replies)
	}
}

// TestEveryMessageIsAnsweredOnce holds whatever is stopped and retried meanwhile, and no
// run is left in between.
func TestEveryMessageIsAnsweredOnce(t *testing.T) {
	o, j := works(t)
	j.work = func(ctx context.Context, _ graph.Step[state]) error {
		for range rand.IntN(100) {
			runtime.Gosched()
		}
		return []error{nil, errBusy, errBroken, ctx.Err()}[rand.IntN(4)]
	}
	c := &crowd{office: o}
	var people sync.WaitGroup
	for person := range 4 {
		people.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(person)))
			for i := range 15 {
				id := chat.MessageID(rune('A'+person)) + chat.MessageID(rune('a'+i))
				c.write(id, []string{"dig", "dig", "stop", "echo x"}[random.IntN(4)])
				if run, ok := c.any(random); ok && random.IntN(3) == 0 {
					c.tryAgain(run)
				}
				if random.IntN(2) == 0 {
					if _, err := c.bot.Stop(t.Context(), "test:1", "ann"); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	people.Wait()
	for _, run := range c.runs {
		record, statuses := c.record(run)
		if last := record.Status(); last != runs.Done && last != runs.Failed && last != runs.Cancelled {
			t.Errorf("run %s was %s", run, statuses)
		}
	}
}
