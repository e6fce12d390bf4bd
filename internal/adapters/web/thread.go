package web

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
)

// Bounds on what one conversation may hold in memory. What the transcript keeps
// beyond them is still with the bot.
const (
	maxExchanges = 100
	maxQueued    = 8
	maxSteps     = 64
	maxSaid      = 16
	maxWatchers  = 16
)

// state is how far an exchange is.
type state string

const (
	queued  state = "queued"
	working state = "working"
	done    state = "done"
)

// exchange is a person's message and all that the bot says to it.
type exchange struct {
	id      chat.MessageID
	at      time.Time
	text    string
	files   []chat.File // that came with the message
	state   state
	live    chat.RunID      // the run that was told of last
	steps   []chat.Progress // the latest of each step, in the order they came up
	draft   []byte          // an answer that is being made, Markdown
	said    []said
	failure string // why nothing was said, as people may read it

	message chat.Message // to hand over; set from queued to done
	retry   chat.RunID   // to go on with instead, "" for none
	rewrite bool         // message is answered anew, in the place of what was said to it
	run     context.CancelFunc
	ended   chan struct{} // closed once done
	added   int           // the thread's version when it came
	changes changes
}

// copyExchange gives the exchange as it is now, to be shown without the thread's lock. The
// caller holds the thread's mu.
func (e *exchange) copyExchange() *exchange {
	now := *e
	now.steps, now.draft, now.said = slices.Clone(e.steps), slices.Clone(e.draft), slices.Clone(e.said)
	return &now
}

// changes are the thread's versions at the last change of an exchange's parts: its
// steps and state, the draft, what was said.
type changes struct{ steps, draft, said int }

// said is a reply or a question of the bot.
type said struct {
	reply    *chat.Reply // its documents are without content
	kept     []bool      // of each document: the transcript has its content
	question *chat.Question
	answer   string       // to the question, as the transcript tells; "" while it is open
	verdict  chat.Verdict // the owner's on the reply
	reasoned bool         // the owner said why

	// A choice that was pressed stands for the answer until the bot has taken it.
	pressed   string
	pressedBy chat.MessageID
}

// takenChoice is what the question was answered with, "" while it is open.
func (s said) takenChoice() string {
	if s.answer != "" {
		return s.answer
	}
	return s.pressed
}

func (s said) runID() chat.RunID {
	if s.reply != nil {
		return s.reply.Run
	}
	return s.question.Run
}

func (s said) hasFailed() bool { return s.reply != nil && s.reply.Outcome == chat.Failure }

// thread is a conversation: exchanges by time, of which one is worked at.
type thread struct {
	id    string
	token string // tells this thread from the same one in another process

	mu        sync.Mutex
	owner     chat.UserID // who wrote first, "" before that
	exchanges []*exchange
	cut       bool // older exchanges were dropped
	version   int
	changed   chan struct{} // closed at the next change
	watchers  int
	busy      bool // a worker goes through the queued ones

	holders int       // guarded by threads.mu: requests that use it
	used    time.Time // guarded by threads.mu
}

func newThread(id string) *thread {
	return &thread{id: id, token: rand.Text(), changed: make(chan struct{})}
}

// recordChange notes a change for those who watch. The caller holds mu.
func (t *thread) recordChange() int {
	t.version++
	close(t.changed)
	t.changed = make(chan struct{})
	return t.version
}

var (
	errQueueFull = errors.New("too many messages wait in this conversation; wait for an answer first")
	errNoChoice  = errors.New("this question is not open any more, or does not offer that choice")
	errNoRun     = errors.New("there is no such answer in this conversation, or it is being made")
	errNotLast   = errors.New("only the last message of a conversation is answered anew, once it was answered")
	errNotYours  = errors.New("this conversation is another person's; you can read it, and start one of your own")
)

// claimOwner tells whether a person may write, and makes the first who does the owner. The
// caller holds mu.
func (t *thread) claimOwner(by chat.UserID) error {
	if t.owner == "" {
		t.owner = by
	}
	if t.owner != by {
		return errNotYours
	}
	return nil
}

// pick is a choice that was pressed: where its question stands on the page, see
// place, and which of the choices it is, from 0. Ids of the bot need not survive a form.
type pick struct {
	question string
	choice   int
}

// elementID is the id of the element of what was said in an exchange.
func elementID(e *exchange, i int) string { return domID(e.id) + "-" + strconv.Itoa(i) }

// findSaid gives what was said at a place, nil where nothing was. The caller holds mu.
func (t *thread) findSaid(at string) (*exchange, *said) {
	for _, e := range t.exchanges {
		for i := range e.said {
			if elementID(e, i) == at {
				return e, &e.said[i]
			}
		}
	}
	return nil, nil
}

// addMessage queues a message, which is the picked choice unless picked is nil. start tells
// that the caller must see to a worker.
func (t *thread) addMessage(message chat.Message, picked *pick) (added *exchange, start bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.claimOwner(message.Author); err != nil {
		return nil, false, err
	}
	if err := t.checkRoom(); err != nil {
		return nil, false, err
	}
	if picked != nil {
		if err := t.applyPick(&message, *picked); err != nil {
			return nil, false, err
		}
	}
	added = &exchange{
		id: message.ID, at: message.At, text: message.Text, files: message.Files, state: queued,
		message: message, ended: make(chan struct{}),
	}
	t.exchanges = append(t.exchanges, added)
	t.dropOldest()
	added.added = t.recordChange()
	start = !t.busy
	t.busy = true
	return added, start, nil
}

func (t *thread) checkRoom() error {
	waiting := 0
	for _, e := range t.exchanges {
		if e.state == queued {
			waiting++
		}
	}
	if waiting >= maxQueued {
		return errQueueFull
	}
	return nil
}

// requeueFailed queues a failed run to be gone on with; start is as in add.
func (t *thread) requeueFailed(by chat.UserID, at string) (e *exchange, start bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.claimOwner(by); err != nil {
		return nil, false, err
	}
	if err := t.checkRoom(); err != nil {
		return nil, false, err
	}
	e, what := t.findSaid(at)
	if e == nil || e.state != done || !what.hasFailed() || what.runID() == "" {
		return nil, false, errNoRun
	}
	e.retry, e.live, e.failure = what.runID(), what.runID(), ""
	e.message = chat.Message{ID: e.id, Author: by}
	e.said = slices.DeleteFunc(e.said, said.hasFailed)
	e.state, e.ended = queued, make(chan struct{})
	e.changes.steps = t.recordChange()
	e.changes.said = e.changes.steps
	start = !t.busy
	t.busy = true
	return e, start, nil
}

// applyPick makes the message the picked choice of an open question. The caller holds mu.
func (t *thread) applyPick(message *chat.Message, picked pick) error {
	e, what := t.findSaid(picked.question)
	if e == nil || what.question == nil || what.takenChoice() != "" || picked.choice < 0 || picked.choice >= len(what.question.Choices) {
		return errNoChoice
	}
	choice := what.question.Choices[picked.choice]
	message.Answers = &chat.Press{Question: what.question.ID, Choice: choice.ID}
	message.Text = choice.Label
	what.pressed, what.pressedBy = choice.Label, message.ID
	e.changes.said = t.recordChange()
	return nil
}

// dropOldest drops the oldest exchanges that are over. The caller holds mu.
func (t *thread) dropOldest() {
	for excess := len(t.exchanges) - maxExchanges; excess > 0; excess-- {
		oldest := slices.IndexFunc(t.exchanges, func(e *exchange) bool { return e.state == done })
		if oldest < 0 {
			return
		}
		t.exchanges = slices.Delete(t.exchanges, oldest, oldest+1)
		t.cut = true
	}
}

// takeNext takes what waits longest, nil when nothing does: the worker then ends.
func (t *thread) takeNext(ctx context.Context) (*exchange, context.Context) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range t.exchanges {
		if e.state == queued {
			return e, t.beginExchange(ctx, e)
		}
	}
	t.busy = false
	return nil, nil
}

// takeAhead takes a message that is to stop the one that works, and need not wait for it.
func (t *thread) takeAhead(ctx context.Context, e *exchange) context.Context {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e.state != queued {
		return nil // the worker was quicker
	}
	return t.beginExchange(ctx, e)
}

func (t *thread) beginExchange(ctx context.Context, e *exchange) context.Context {
	running, cancel := context.WithCancel(ctx)
	e.run = cancel
	e.state = working
	e.changes.steps = t.recordChange()
	return running
}

// finishExchange ends an exchange; a failure is what the person reads.
func (t *thread) finishExchange(e *exchange, failure string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e.run()
	e.state, e.failure, e.message, e.retry, e.rewrite, e.draft = done, failure, chat.Message{}, "", false, nil
	if failure != "" {
		t.reopenQuestion(e.id)
	}
	version := t.recordChange()
	e.changes = changes{steps: version, draft: version, said: version}
	close(e.ended)
}

// reopenQuestion undoes the press that a failed message was. The caller holds mu.
func (t *thread) reopenQuestion(failed chat.MessageID) {
	for _, e := range t.exchanges {
		for i := range e.said {
			if e.said[i].pressedBy == failed {
				e.said[i].pressed, e.said[i].pressedBy = "", ""
				e.changes.said = t.recordChange()
			}
		}
	}
}

// stopWork cancels what is worked at, as a run that the bot does not know of yet.
func (t *thread) stopWork() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range t.exchanges {
		if e.state == working {
			e.run()
		}
	}
}

// findRated gives the reply at a place that a person may rate.
func (t *thread) findRated(by chat.UserID, at string) (chat.RunID, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.owner != by {
		return "", errNotYours
	}
	_, what := t.findSaid(at)
	if what == nil || what.reply == nil || what.reply.Run == "" || what.hasFailed() {
		return "", errNoRun
	}
	return what.reply.Run, nil
}

// showRating shows the owner's verdict on the reply at a place.
func (t *thread) showRating(at string, rating chat.Rating) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e, what := t.findSaid(at); e != nil {
		what.verdict, what.reasoned = rating.Verdict, rating.Reason != ""
		e.changes.said = t.recordChange()
	}
}

// mergeTranscript takes over what the transcript tells: exchanges that are not in memory, and
// what was said and answered in those that are over.
func (t *thread) mergeTranscript(turns []chat.Turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	known := make(map[chat.MessageID]*exchange, len(t.exchanges))
	for _, e := range t.exchanges {
		known[e.id] = e
	}
	told := make(map[*exchange][]said)
	for _, turn := range turns {
		if t.owner == "" && turn.Role == chat.Person {
			t.owner = turn.Author
		}
		e := known[turn.Message]
		if e == nil {
			e = &exchange{id: turn.Message, at: turn.At, state: done, added: t.recordChange()}
			known[turn.Message] = e
			t.exchanges = append(t.exchanges, e)
		}
		if turn.Role == chat.Person && e.text == "" {
			e.text = turn.Text
		}
		if turn.Role == chat.Person && len(e.files) == 0 {
			e.files = turn.Files
		}
		switch {
		case turn.Reply != nil:
			told[e] = append(told[e], newReplySaid(*turn.Reply))
		case turn.Question != nil:
			told[e] = append(told[e], said{question: turn.Question, answer: turn.Answer})
		}
	}
	for _, e := range slices.SortedFunc(maps.Keys(told), byTime) {
		t.mergeSaid(e, told[e])
	}
	slices.SortStableFunc(t.exchanges, byTime)
	t.dropOldest()
}

func byTime(a, b *exchange) int { return a.at.Compare(b.at) }

// mergeSaid takes over what the transcript tells was said in an exchange that is over.
func (t *thread) mergeSaid(e *exchange, told []said) {
	if e.state != done || slices.EqualFunc(e.said, told, sameSaid) {
		return
	}
	for i := range min(len(told), len(e.said)) {
		told[i].pressed, told[i].pressedBy, told[i].verdict, told[i].reasoned = e.said[i].pressed, e.said[i].pressedBy, e.said[i].verdict, e.said[i].reasoned
		if sameSaid(told[i], e.said[i]) {
			told[i] = e.said[i]
		}
	}
	e.said = told
	e.changes.said = t.recordChange()
}

// sameSaid compares what can change of what was said: a question's answer, a failure line
// that a retry replaced, and documents that are not kept any more.
func sameSaid(a, b said) bool {
	return (a.reply == nil) == (b.reply == nil) && a.runID() == b.runID() && a.answer == b.answer && a.hasFailed() == b.hasFailed() && slices.Equal(a.kept, b.kept)
}
