package slack

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/slack-go/slack"

	"github.com/cairn-bot/cairn/internal/adapters/slack/pace"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/outage"
)

// method is a method of Slack's with a limit of its own.
type method string

const (
	postMessage    method = "chat.postMessage"
	postEphemeral  method = "chat.postEphemeral"
	updateMessage  method = "chat.update"
	deleteMessage  method = "chat.delete"
	readReplies    method = "conversations.replies"
	readHistory    method = "conversations.history"
	uploadFile     method = "files.upload"
	startStream    method = "chat.startStream"
	appendStream   method = "chat.appendStream"
	stopStream     method = "chat.stopStream"
	setStatus      method = "assistant.threads.setStatus"
	openView       method = "views.open"
	updateView     method = "views.update"
	publishView    method = "views.publish"
	addReaction    method = "reactions.add"
	removeReaction method = "reactions.remove"
	fileInfo       method = "files.info"
	setSession     method = "agents.sessions.setStatus"
	renameSession  method = "agents.sessions.rename"
	userInfo       method = "users.info"
	listGroups     method = "usergroups.list"
	listMembers    method = "conversations.members"
	listJoined     method = "users.conversations"
	channelInfo    method = "conversations.info"
)

// perMinute are Slack's limits on calls. That on posting holds for each channel.
var perMinute = map[method]int{
	postMessage: 60, postEphemeral: 100, updateMessage: 50, deleteMessage: 50, readReplies: 50, readHistory: 50, uploadFile: 20,
	startStream: 20, appendStream: 100, stopStream: 20, setStatus: 600, openView: 100, setSession: 50, renameSession: 50,
	updateView: 100, publishView: 100, addReaction: 50, removeReaction: 20, fileInfo: 100,
	userInfo: 100, listGroups: 20, listMembers: 100, listJoined: 50, channelInfo: 50,
}

const (
	// turnPatience is how long a call waits by itself for its turn. What waits longer gives
	// the worker back and comes again.
	turnPatience = 2 * time.Second
	// lookPatience is that of a look for a post: after an outage many look, and workers are
	// better used for those whose turn has come.
	lookPatience = 200 * time.Millisecond
	// comeEarly is how much before its turn a caller is to come back.
	comeEarly = time.Second
	// stoodStill is how much longer than planned a wait may take: after more, whoever waited
	// may have lost what it was about to do to another process.
	stoodStill = 2 * time.Second
	// away is after how long a Slack that can't be reached is tried again.
	away = 15 * time.Second
	// leaveTime is how long it may take to give up a place in the line.
	leaveTime = 2 * time.Second
	// postSpacing is between two posts in a channel: Slack takes about one in a second.
	postSpacing = 1050 * time.Millisecond
)

// limitOf is the pace at which a method is called. In any minute at most a fifth of what
// Slack takes comes at once, and four fifths spread over it.
func limitOf(m method) pace.Limit {
	if m == postMessage {
		return pace.Limit{Every: postSpacing, Burst: 1}
	}
	most := perMinute[m]
	return pace.Limit{Every: time.Minute * 10 / time.Duration(8*most), Burst: most / 5}
}

// pacer has calls wait for their turns.
type pacer struct {
	clock  *clock
	turns  pace.Turns
	outage outage.Gate
}

// turn is what a call waits for.
type turn struct {
	team     string
	method   method
	channel  string        // of methods with a limit for each
	patience time.Duration // how long the call waits by itself
	// caller keeps a place in the line while it is away, at the time of what it is about: the
	// earlier goes first. "" keeps none.
	caller string
	order  time.Time
	// modest leaves half of the turns that are free to others.
	modest bool
}

func (t turn) asPaceRequest(now time.Time) pace.Ask {
	ask := pace.Ask{Lane: pace.Lane{Team: t.team, Method: string(t.method)}, Limit: limitOf(t.method), Caller: t.caller, Order: t.order}
	if t.method == postMessage {
		ask.Lane.Channel = t.channel
	}
	if ask.Order.IsZero() {
		ask.Order = now
	}
	if t.modest {
		ask.Spare = ask.Limit.Burst / 2
	}
	return ask
}

var errSlackFails = errors.New("slack fails at the moment")

// callPaced makes a call when its turn comes, and again when Slack asks to wait a little. It is a
// *chat.RetryAfterError where that would take more than its patience or the time that ctx
// has, and then nothing was done.
func (p *pacer) callPaced(ctx context.Context, t turn, do func() error) error {
	ask := t.asPaceRequest(p.clock.now())
	posts := t.method == postMessage || t.method == startStream
	for {
		// A post that is held back takes no turn; of those that come here at once, one is let through below.
		if wait := p.outage.Hold(p.clock.now()); posts && wait > 0 {
			return &chat.RetryAfterError{After: wait, Err: errSlackFails}
		}
		left, err := p.awaitTurn(ctx, ask, t.patience)
		if err != nil {
			return err
		}
		t.patience = left
		if posts {
			if wait := p.outage.Admit(p.clock.now()); wait > 0 {
				return &chat.RetryAfterError{After: wait, Err: errSlackFails}
			}
		}
		err = do()
		p.noteResult(err)
		var limited *slack.RateLimitedError
		var dialing *net.OpError
		switch {
		case errors.As(err, &dialing) && dialing.Op == "dial":
			return &chat.RetryAfterError{After: away, Err: err}
		case !errors.As(err, &limited):
			return err
		}
		if err := p.turns.Hold(ctx, ask, max(limited.RetryAfter, time.Second)); err != nil {
			return &chat.RetryAfterError{After: max(limited.RetryAfter, time.Second), Err: err}
		}
	}
}

// noteResult tells the gate how a call ended. An error that is not Slack's answer, as of a call that
// was given up, says nothing.
func (p *pacer) noteResult(err error) {
	status, failed := errors.AsType[slack.StatusCodeError](err)
	switch {
	case failed && status.Code >= http.StatusInternalServerError:
		p.outage.NoteFailure(p.clock.now())
	case err == nil || refusalName(err) != "":
		p.outage.NoteAnswer()
	}
}

// awaitTurn waits until a turn is taken, and gives what is left of the patience. What ends it
// early gives up the place in the line, but for who comes back in time.
func (p *pacer) awaitTurn(ctx context.Context, ask pace.Ask, patience time.Duration) (left time.Duration, err error) {
	if deadline, ok := ctx.Deadline(); ok {
		patience = min(patience, time.Until(deadline)-time.Second)
	}
	for {
		wait, err := p.turns.Take(ctx, ask)
		if err != nil {
			return 0, &chat.RetryAfterError{After: time.Second, Err: err}
		}
		if wait == 0 {
			return patience, nil
		}
		if wait > patience {
			return 0, &chat.RetryAfterError{After: max(wait-comeEarly, comeEarly/2), Err: fmt.Errorf("%s is at Slack's limit", ask.Lane.Method)}
		}
		patience -= wait
		begun := time.Now()
		if err := p.clock.wait(ctx, wait); err != nil {
			return 0, errors.Join(&chat.RetryAfterError{After: time.Second, Err: err}, p.leaveLine(ctx, ask))
		}
		if took := time.Since(begun); took > wait+stoodStill {
			return 0, &chat.RetryAfterError{After: time.Second, Err: fmt.Errorf("a wait of %s took %s", wait, took)}
		}
	}
}

// leaveLine gives up a place in the line.
func (p *pacer) leaveLine(ctx context.Context, ask pace.Ask) error {
	if ask.Caller == "" {
		return nil
	}
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), leaveTime)
	defer done()
	return p.turns.Leave(ctx, ask)
}
