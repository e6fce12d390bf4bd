package slack

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/slack-go/slack"
	"golang.org/x/time/rate"

	"cairn/internal/chat"
)

// method is a method of Slack's with a limit of its own.
type method string

const (
	postMessage   method = "chat.postMessage"
	postEphemeral method = "chat.postEphemeral"
	updateMessage method = "chat.update"
	deleteMessage method = "chat.delete"
	readReplies   method = "conversations.replies"
	uploadFile    method = "files.upload"
	startStream   method = "chat.startStream"
	appendStream  method = "chat.appendStream"
	stopStream    method = "chat.stopStream"
	setStatus     method = "assistant.threads.setStatus"
	openView      method = "views.open"
	updateView    method = "views.update"
	publishView   method = "views.publish"
	addReaction   method = "reactions.add"
	fileInfo      method = "files.info"
	setSession    method = "agents.sessions.setStatus"
)

// perMinute are Slack's limits on calls. That on posting holds for each channel.
var perMinute = map[method]int{
	postMessage: 60, postEphemeral: 100, updateMessage: 50, deleteMessage: 50, readReplies: 50, uploadFile: 20,
	startStream: 20, appendStream: 100, stopStream: 20, setStatus: 100, openView: 100, setSession: 50,
	updateView: 100, publishView: 100, addReaction: 50, fileInfo: 100,
}

// maxPatience is how long a post waits by itself for Slack to take it.
const maxPatience = 30 * time.Second

// pace keeps calls below Slack's limits, and waits where Slack says so all the same.
type pace struct {
	clock *clock

	mu    sync.Mutex
	lanes map[lane]*limit
}

// lane is what a limit counts.
type lane struct {
	team   string
	method method
	in     string // channel, of methods with a limit for each
}

type limit struct {
	limiter *rate.Limiter
	until   time.Time // Slack wants no call before
}

func newPace(clock *clock) *pace { return &pace{clock: clock, lanes: map[lane]*limit{}} }

// maxLanes bounds the limits that are remembered. One that is full again is as good as
// new.
const maxLanes = 4096

func (p *pace) of(l lane) *limit {
	p.mu.Lock()
	defer p.mu.Unlock()
	if found := p.lanes[l]; found != nil {
		return found
	}
	if len(p.lanes) >= maxLanes {
		now := p.clock.now()
		for key, old := range p.lanes {
			if now.After(old.until) && old.limiter.TokensAt(now) >= float64(old.limiter.Burst()) {
				delete(p.lanes, key)
			}
		}
	}
	// In any minute at most a fifth at once and four fifths spread over it.
	most := perMinute[l.method]
	made := &limit{limiter: rate.NewLimiter(rate.Limit(float64(most)*0.8/60), most/5)}
	if l.method == postMessage {
		made.limiter = rate.NewLimiter(rate.Limit(float64(most)/60), 1)
	}
	p.lanes[l] = made
	return made
}

// delay takes a turn in the lane and tells how long until it comes, or, where that is
// more than most, takes none.
func (p *pace) delay(l lane, most time.Duration) time.Duration {
	of := p.of(l)
	now := p.clock.now()
	turn := of.limiter.ReserveN(now, 1)
	p.mu.Lock()
	delay := max(turn.DelayFrom(now), of.until.Sub(now))
	p.mu.Unlock()
	if delay > most {
		turn.CancelAt(now)
	}
	return delay
}

func (p *pace) hold(l lane, after time.Duration) {
	of := p.of(l)
	p.mu.Lock()
	defer p.mu.Unlock()
	if until := p.clock.now().Add(after); until.After(of.until) {
		of.until = until
	}
}

// call makes a call when its turn comes, and again when Slack asks to wait a little. It
// is a *chat.RetryAfterError where that would take more than patience, and then nothing
// was done.
func (p *pace) call(ctx context.Context, l lane, patience time.Duration, do func() error) error {
	if l.method != postMessage {
		l.in = ""
	}
	for {
		delay := p.delay(l, patience)
		if delay > patience {
			return &chat.RetryAfterError{After: delay, Err: fmt.Errorf("%s is at Slack's limit", l.method)}
		}
		if delay > 0 {
			if err := p.clock.wait(ctx, delay); err != nil {
				return &chat.RetryAfterError{After: time.Second, Err: err}
			}
			patience -= delay
		}
		err := do()
		var limited *slack.RateLimitedError
		if !errors.As(err, &limited) {
			return err
		}
		p.hold(l, max(limited.RetryAfter, time.Second))
	}
}
