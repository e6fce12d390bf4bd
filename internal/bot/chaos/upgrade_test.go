package chaos

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
)

// TestRollingUpgrade replaces one worker after another by one of the next program, which
// keeps runs in another form: what was asked under either is answered, by whatever worker
// can.
func TestRollingUpgrade(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), *limit)
	defer cancel()
	tn := newTown(t, "redis", fault)
	old := tn.asked(ctx, "old")
	tn.upgrade(tn.workers[:2]...)
	mixed := tn.asked(ctx, "mixed")
	for i, said := range tn.answered(ctx, mixed) {
		if want := mixed[i].answer(); !strings.EqualFold(said, want) {
			t.Errorf("while old and new workers work %q is said, want %q", said, want)
		}
	}
	tn.upgrade(tn.workers[2:]...)
	for i, said := range tn.answered(ctx, old) {
		if want := old[i].answer(); said != want {
			t.Errorf("what was asked before the upgrade is answered by %q, want %q", said, want)
		}
	}
	tn.end()
}

// asked has several people ask something, and waits until they are all asked back.
func (tn *town) asked(ctx context.Context, kind string) []*person {
	var people []*person
	for i := range 6 {
		p := &person{town: tn, thread: chat.ThreadID(fmt.Sprintf("platform:%s%d", kind, i))}
		p.send(ctx, p.message(fmt.Sprint(asks, " ", i)))
		p.expect(fmt.Sprintf("Which color for %s %d?", asks, i))
		people = append(people, p)
	}
	for _, p := range people {
		if !p.posted(ctx) {
			tn.t.Fatalf("thread %s was not asked back", p.thread)
		}
	}
	return people
}

// answer is what the next program says to the person in the end.
func (p *person) answer() string { return p.sent[0].Text + " red by SPLITABC" }

// answered has people answer, and gives what is said then.
func (tn *town) answered(ctx context.Context, people []*person) []string {
	said := make([]string, len(people))
	var answering sync.WaitGroup
	for i, p := range people {
		answering.Go(func() {
			p.send(ctx, p.message("red"))
			for len(p.seen()) < 2 && ctx.Err() == nil {
				wait(ctx, 20*time.Millisecond)
			}
			said[i] = strings.Join(p.seen()[1:], ", ")
		})
	}
	answering.Wait()
	return said
}

// upgrade replaces workers by those of the next program, one after another.
func (tn *town) upgrade(workers ...*process) {
	for _, worker := range workers {
		worker.next = true
		if err := again(worker, syscall.SIGTERM); err != nil {
			tn.t.Error(err)
		}
	}
}
