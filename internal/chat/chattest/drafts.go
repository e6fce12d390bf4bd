package chattest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
)

var _ chat.Drafter = (*Platform)(nil)

// Drafted is a draft that people see.
type Drafted struct {
	Work  chat.Work
	Steps []chat.Progress // the last news of each step, in order
	Text  string
	Waits bool // its outcome waits for its turn

	id int
}

// Drafts returns the drafts that are seen in a thread, in order; "" gives those of all
// threads. One that is seen when nothing works any more is left over.
func (p *Platform) Drafts(thread chat.ThreadID) []Drafted {
	p.mu.Lock()
	defer p.mu.Unlock()
	var seen []Drafted
	for _, drafted := range p.drafts {
		if thread == "" || drafted.Work.Thread == thread {
			seen = append(seen, drafted)
		}
	}
	return seen
}

// Draft implements chat.Drafter. The draft is seen from the beginning.
func (p *Platform) Draft(ctx context.Context, work chat.Work) (chat.Draft, error) {
	made := &draft{platform: p, work: work}
	err := p.handleCall(ctx, Call{Operation: DraftOperation, Thread: work.Thread}, func() error {
		if work.Again {
			p.drafts = slices.DeleteFunc(p.drafts, func(left Drafted) bool { return left.Work.Thread == work.Thread })
		}
		p.drafted++
		made.id = p.drafted
		p.drafts = append(p.drafts, Drafted{Work: work, id: made.id})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return made, nil
}

// draft is a chat.Draft of a Platform. It refuses what the contract forbids: calls at the
// same time, and calls after its end.
type draft struct {
	platform *Platform
	work     chat.Work
	id       int

	calling   sync.Mutex
	ended     bool // guarded by calling
	unsettled bool // guarded by calling
}

var errMisused = errors.New("a draft is used by two at once, or after its end")

// changeDraft changes the draft as it is seen. One that was taken away is ErrGone.
func (d *draft) changeDraft(ctx context.Context, operation Operation, key chat.PostKey, do func(at int) error) error {
	if !d.calling.TryLock() {
		return errMisused
	}
	defer d.calling.Unlock()
	if d.ended {
		return errMisused
	}
	err := d.platform.handleCall(ctx, Call{Operation: operation, Thread: d.work.Thread, Key: key}, func() error {
		at := slices.IndexFunc(d.platform.drafts, func(other Drafted) bool { return other.id == d.id })
		if at < 0 && operation != CloseOperation {
			return fmt.Errorf("%s of run %s: it was taken away: %w", operation, d.work.Run, chat.ErrGone)
		}
		return do(at)
	})
	_, ok := errors.AsType[*chat.RetryAfterError](err)
	switch operation {
	case FinishOperation:
		d.ended = !ok
	case CloseOperation, WaitOperation:
		d.ended = true
	}
	switch {
	case operation == FinishOperation && errors.Is(err, chat.ErrNotPosted):
		d.platform.removeDraft(d.id)
	case err != nil && !ok:
		d.unsettled = true
	}
	return err
}

func (p *Platform) removeDraft(id int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drafts = slices.DeleteFunc(p.drafts, func(drafted Drafted) bool { return drafted.id == id })
}

func (d *draft) Progress(ctx context.Context, progress chat.Progress) error {
	return d.changeDraft(ctx, ProgressOperation, "", func(at int) error {
		drafted := &d.platform.drafts[at]
		known := slices.IndexFunc(drafted.Steps, func(step chat.Progress) bool { return step.Step == progress.Step })
		if known >= 0 {
			drafted.Steps[known] = progress
		} else {
			drafted.Steps = append(drafted.Steps, progress)
		}
		return nil
	})
}

func (d *draft) Stream(ctx context.Context, token chat.Token) error {
	return d.changeDraft(ctx, StreamOperation, "", func(at int) error {
		drafted := &d.platform.drafts[at]
		if token.Restart {
			drafted.Text = ""
		}
		drafted.Text += token.Text
		return nil
	})
}

func (d *draft) Finish(ctx context.Context, key chat.PostKey, post chat.Post) (id chat.MessageID, err error) {
	err = d.changeDraft(ctx, FinishOperation, key, func(at int) error {
		p := d.platform
		p.drafts = slices.Delete(p.drafts, at, at+1)
		p.made++
		id = chat.MessageID("p" + strconv.Itoa(p.made))
		p.posts = append(p.posts, Posted{ID: id, Thread: d.work.Thread, Key: key, Post: withAttachments(post, nil)})
		return nil
	})
	return id, err
}

// Wait has the draft show that its outcome waits. What it shows goes with the next post.
func (d *draft) Wait(ctx context.Context, _ time.Duration) error {
	return d.changeDraft(ctx, WaitOperation, "", func(at int) error {
		d.platform.drafts[at].Text, d.platform.drafts[at].Waits = "", true
		return nil
	})
}

func (d *draft) Unsettled() bool {
	d.calling.Lock()
	defer d.calling.Unlock()
	return d.unsettled
}

func (d *draft) Close(ctx context.Context) error {
	return d.changeDraft(ctx, CloseOperation, "", func(at int) error {
		if at >= 0 {
			d.platform.drafts = slices.Delete(d.platform.drafts, at, at+1)
		}
		return nil
	})
}
