package web

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"cairn/internal/chat"
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
	state   state
	steps   []chat.Progress // the latest of each step, in the order they came up
	said    []said
	failure string // why nothing was said, as people may read it

	message      chat.Message // to hand over; set from queued to done
	run          context.CancelFunc
	ended        chan struct{} // closed once done
	added        int           // the thread's version when it came
	stepsChanged int           // and at the last change of its steps and state
	saidChanged  int           // and of what was said
}

// said is a reply or a question of the bot.
type said struct {
	reply    *chat.Reply
	question *chat.Question
	answer   string // to the question, as the transcript tells; "" while it is open

	// A choice that was pressed stands for the answer until the bot has taken it.
	pressed   string
	pressedBy chat.MessageID
}

// taken is what the question was answered with, "" while it is open.
func (s said) taken() string {
	if s.answer != "" {
		return s.answer
	}
	return s.pressed
}

// thread is a conversation: exchanges by time, of which one is worked at.
type thread struct {
	id    string
	token string // tells this thread from the same one in another process

	mu        sync.Mutex
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

// change notes a change for those who watch. The caller holds mu.
func (t *thread) change() int {
	t.version++
	close(t.changed)
	t.changed = make(chan struct{})
	return t.version
}

var (
	errQueueFull = errors.New("too many messages wait in this conversation; wait for an answer first")
	errNoChoice  = errors.New("this question is not open any more, or does not offer that choice")
)

// pick is a choice that was pressed: where its question stands on the page, see
// place, and which of the choices it is, from 0. Ids of the bot need not survive a form.
type pick struct {
	question string
	choice   int
}

// place is the id of the element of what was said in an exchange.
func place(e *exchange, i int) string { return domID(e.id) + "-" + strconv.Itoa(i) }

// add queues a message, which is the picked choice unless picked is nil. start tells
// that the caller must see to a worker.
func (t *thread) add(message chat.Message, picked *pick) (added *exchange, start bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	waiting := 0
	for _, e := range t.exchanges {
		if e.state == queued {
			waiting++
		}
	}
	if waiting >= maxQueued {
		return nil, false, errQueueFull
	}
	if picked != nil {
		if err := t.press(&message, *picked); err != nil {
			return nil, false, err
		}
	}
	added = &exchange{
		id: message.ID, at: message.At, text: message.Text, state: queued,
		message: message, ended: make(chan struct{}),
	}
	t.exchanges = append(t.exchanges, added)
	t.trim()
	added.added = t.change()
	start = !t.busy
	t.busy = true
	return added, start, nil
}

// press makes the message the picked choice of an open question. The caller holds mu.
func (t *thread) press(message *chat.Message, picked pick) error {
	for _, e := range t.exchanges {
		for i := range e.said {
			what := &e.said[i]
			if what.question == nil || place(e, i) != picked.question {
				continue
			}
			if what.taken() != "" || picked.choice < 0 || picked.choice >= len(what.question.Choices) {
				return errNoChoice
			}
			choice := what.question.Choices[picked.choice]
			message.Answers = &chat.Press{Question: what.question.ID, Choice: choice.ID}
			message.Text = choice.Label
			what.pressed, what.pressedBy = choice.Label, message.ID
			e.saidChanged = t.change()
			return nil
		}
	}
	return errNoChoice
}

// trim drops the oldest exchanges that are over. The caller holds mu.
func (t *thread) trim() {
	for excess := len(t.exchanges) - maxExchanges; excess > 0; excess-- {
		oldest := slices.IndexFunc(t.exchanges, func(e *exchange) bool { return e.state == done })
		if oldest < 0 {
			return
		}
		t.exchanges = slices.Delete(t.exchanges, oldest, oldest+1)
		t.cut = true
	}
}

// next takes the message that waits longest, nil when none does: the worker then ends.
func (t *thread) next(ctx context.Context) (*exchange, context.Context) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range t.exchanges {
		if e.state == queued {
			running, cancel := context.WithCancel(ctx)
			e.run = cancel
			e.state = working
			e.stepsChanged = t.change()
			return e, running
		}
	}
	t.busy = false
	return nil, nil
}

// finish ends an exchange; a failure is what the person reads.
func (t *thread) finish(e *exchange, failure string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e.run()
	e.state, e.failure, e.message = done, failure, chat.Message{}
	if failure != "" {
		t.reopen(e.id)
	}
	e.stepsChanged = t.change()
	e.saidChanged = e.stepsChanged
	close(e.ended)
}

// reopen undoes the press that a failed message was. The caller holds mu.
func (t *thread) reopen(failed chat.MessageID) {
	for _, e := range t.exchanges {
		for i := range e.said {
			if e.said[i].pressedBy == failed {
				e.said[i].pressed, e.said[i].pressedBy = "", ""
				e.saidChanged = t.change()
			}
		}
	}
}

// stop cancels the run that works and drops nothing else.
func (t *thread) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range t.exchanges {
		if e.state == working {
			e.run()
		}
	}
}

// merge takes over what the transcript tells: exchanges that are not in memory, and
// what was said and answered in those that are over.
func (t *thread) merge(turns []chat.Turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	known := make(map[chat.MessageID]*exchange, len(t.exchanges))
	for _, e := range t.exchanges {
		known[e.id] = e
	}
	told := make(map[*exchange][]said)
	for _, turn := range turns {
		e := known[turn.Message]
		if e == nil {
			e = &exchange{id: turn.Message, at: turn.At, state: done, added: t.change()}
			known[turn.Message] = e
			t.exchanges = append(t.exchanges, e)
		}
		if turn.Role == chat.Person && e.text == "" {
			e.text = turn.Text
		}
		if turn.Reply != nil || turn.Question != nil {
			told[e] = append(told[e], said{reply: turn.Reply, question: turn.Question, answer: turn.Answer})
		}
	}
	for e, said := range told {
		if e.state != done || slices.EqualFunc(e.said, said, sameSaid) {
			continue
		}
		for i := range min(len(said), len(e.said)) {
			said[i].pressed, said[i].pressedBy = e.said[i].pressed, e.said[i].pressedBy
		}
		e.said = said
		e.saidChanged = t.change()
	}
	slices.SortStableFunc(t.exchanges, func(a, b *exchange) int { return a.at.Compare(b.at) })
	t.trim()
}

// sameSaid compares what can change of what was said: a question's answer.
func sameSaid(a, b said) bool {
	return (a.reply == nil) == (b.reply == nil) && a.answer == b.answer
}

// conversation notes what the bot says in an exchange.
type conversation struct {
	thread   *thread
	exchange *exchange
}

var errTooMuch = errors.New("web adapter: too many steps, replies or questions for one message")

func (c conversation) Progress(_ context.Context, progress chat.Progress) error {
	c.thread.mu.Lock()
	defer c.thread.mu.Unlock()
	steps := &c.exchange.steps
	i := slices.IndexFunc(*steps, func(step chat.Progress) bool { return step.Step == progress.Step })
	switch {
	case i >= 0:
		(*steps)[i] = progress
	case len(*steps) == maxSteps:
		return errTooMuch
	default:
		*steps = append(*steps, progress)
	}
	c.exchange.stepsChanged = c.thread.change()
	return nil
}

func (c conversation) Reply(_ context.Context, reply chat.Reply) error {
	return c.say(said{reply: &reply})
}

func (c conversation) Ask(_ context.Context, question chat.Question) error {
	return c.say(said{question: &question})
}

func (c conversation) say(what said) error {
	c.thread.mu.Lock()
	defer c.thread.mu.Unlock()
	if len(c.exchange.said) == maxSaid {
		return errTooMuch
	}
	c.exchange.said = append(c.exchange.said, what)
	c.exchange.saidChanged = c.thread.change()
	return nil
}
