package agent_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-bot/cairn/internal/agent"
)

// seed is a new one for each run, or the one in AGENT_SEED to see a failure again. What
// runs at the same time still runs in an order of its own.
func seed(t *testing.T) uint64 {
	t.Helper()
	n := rand.Uint64()
	if given := os.Getenv("AGENT_SEED"); given != "" {
		var err error
		if n, err = strconv.ParseUint(given, 10, 64); err != nil {
			t.Fatalf("AGENT_SEED: %v", err)
		}
	}
	t.Logf("AGENT_SEED=%d", n)
	return n
}

// upTo is a random time below limit.
func upTo(random *rand.Rand, limit time.Duration) time.Duration {
	return time.Duration(random.Int64N(int64(limit)))
}

// mischief is a handler that does whatever a handler may do, as a number says that the
// request carries. A result names the request and its attempt.
func mischief(ctx context.Context, task *agent.Task, q question) (found, error) {
	behaviour, err := strconv.ParseUint(q.Words[task.Message.RetryCount%len(q.Words)], 10, 64)
	if err != nil {
		return found{}, err
	}
	random := rand.New(rand.NewPCG(behaviour, 0))
	for i := range random.IntN(100) {
		task.Progress(word(fmt.Sprintf("%s/%d/%d", q.Text, task.Message.RetryCount, i)))
	}
	work := upTo(random, 3*time.Second)
	switch random.IntN(10) {
	case 0:
		return found{}, errors.New("no")
	case 1:
		panic("no")
	case 2:
		pass(work * 10) // whatever its context says
	case 3: // at once
	default:
		select {
		case <-time.After(work):
		case <-ctx.Done():
			return found{}, ctx.Err()
		}
	}
	return found{fmt.Sprintf("%s/%d", q.Text, task.Message.RetryCount)}, nil
}

// outcomes is what came of many calls.
type outcomes struct {
	sync.Mutex
	replies int
	kinds   map[agent.Kind]int
}

// trouble makes one random call and checks what comes of it.
func (o *outcomes) trouble(t *testing.T, bus *agent.Bus, r agent.Request, random *rand.Rand) {
	text := strconv.FormatUint(random.Uint64(), 36)
	r.Timeout, r.Retries = time.Second+upTo(random, 3*time.Second), random.IntN(4)
	r.Priority = agent.Priority(1 + random.IntN(5))
	q := question{Text: text}
	for range r.Retries + 1 {
		q.Words = append(q.Words, strconv.FormatUint(random.Uint64(), 10))
	}
	r.Payload = q
	attempt, updates, returned := 0, 0, false
	r.OnRetry = func(*agent.Error) { attempt, updates = attempt+1, 0 }
	r.OnProgress = func(p agent.Payload) {
		if want := word(fmt.Sprintf("%s/%d/%d", text, attempt, updates)); p != want || returned {
			t.Errorf("update is %v, want %v; Call had returned: %v", p, want, returned)
		}
		updates++
	}
	ctx := t.Context()
	if random.IntN(10) == 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, upTo(random, 5*time.Second))
		defer cancel()
	}
	begun := time.Now()
	got, err := agent.Call[found](ctx, bus, r)
	returned = true
	if limit := time.Duration(r.Retries+1) * (r.Timeout + time.Second/2); time.Since(begun) > limit {
		t.Errorf("Call took %s, longer than its limit of %s", time.Since(begun), limit)
	}
	o.Lock()
	defer o.Unlock()
	if err == nil {
		o.replies++
		if want := fmt.Sprintf("%s/%d", text, attempt); got.Text != want {
			t.Errorf("reply is %s, want %s", got.Text, want)
		}
		return
	}
	failure, ok := errors.AsType[*agent.Error](err)
	if !ok || failure.Agent != r.To {
		t.Errorf("error is %v, want one of %s", err, r.To)
		return
	}
	o.kinds[failure.Kind]++
}

// balance checks that every request that an agent took ended once, and nothing is left.
func balance(t *testing.T, bus *agent.Bus) (completed int) {
	t.Helper()
	for _, s := range bus.States() {
		c := s.Counts
		if ends := c.Completed + c.Failed + c.Panicked + c.TimedOut + c.Displaced + c.Unserved + c.Cancelled; ends != c.Accepted {
			t.Errorf("%s: %d requests accepted, %d ended: %+v", s.Name, c.Accepted, ends, c)
		}
		if s.State != agent.StateIdle || s.Waiting != 0 || s.Running != 0 || s.Lost != 0 {
			t.Errorf("%s is left as %+v", s.Name, s)
		}
		completed += c.Completed
	}
	return completed
}

func TestStress(t *testing.T) {
	random := rand.New(rand.NewPCG(seed(t), 1))
	synctest.Test(t, func(t *testing.T) {
		bus := agent.New(agent.Options{})
		defer shut(t, bus)
		names := []agent.Name{"one", "two", "three"}
		for i, name := range names { // each weaker than the last
			if err := bus.Register(agent.Agent{
				Name: name, Handlers: []agent.Handler{agent.On(mischief)},
				Concurrency: 12 / (i + 1), Mailbox: 30 / (i + 1), Timeout: 2 * time.Second,
			}); err != nil {
				t.Fatal(err)
			}
		}
		o := outcomes{kinds: map[agent.Kind]int{}}
		var calls sync.WaitGroup
		const n = 2000
		for range n {
			own := rand.New(rand.NewPCG(random.Uint64(), 2))
			r := agent.Request{From: "test", To: names[random.IntN(len(names))]}
			calls.Go(func() { o.trouble(t, bus, r, own) })
			pass(upTo(random, 200*time.Millisecond))
		}
		calls.Wait()
		pass(time.Hour) // for the handlers that ignored their context
		synctest.Wait()
		completed := balance(t, bus)
		failed := 0
		for _, count := range o.kinds {
			failed += count
		}
		if o.replies+failed != n || completed < o.replies || uint64(completed) > uint64(o.replies)+bus.Late() {
			t.Errorf("%d replies and %v of %d calls, for %d results, %d late", o.replies, o.kinds, n, completed, bus.Late())
		}
		if o.replies < n/20 || o.kinds[agent.Full] == 0 || o.kinds[agent.Timeout] == 0 || o.kinds[agent.Panicked] == 0 {
			t.Errorf("%d replies and only %v: too tame", o.replies, o.kinds)
		}
	})
}

// wire carries messages to another bus as a bad network would: late, in any order,
// doubled, lost, or reported as lost though they arrived.
type wire struct {
	from, to *agent.Bus
	inAir    sync.WaitGroup

	mu     sync.Mutex
	random *rand.Rand
	lost   atomic.Int64
}

func (w *wire) Deliver(ctx context.Context, m agent.Message) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	copies := 1
	switch w.random.IntN(8) {
	case 0:
		copies = 0
		w.lost.Add(1)
	case 1:
		copies = 2
	}
	for range copies {
		delay := upTo(w.random, 200*time.Millisecond)
		w.inAir.Go(func() {
			pass(delay)
			w.arrive(context.WithoutCancel(ctx), m)
		})
	}
	if w.random.IntN(20) == 0 {
		return errors.New("connection reset")
	}
	return nil
}

// arrive hands a message over; a refusal goes back as the message that it is.
func (w *wire) arrive(ctx context.Context, m agent.Message) {
	refusal, ok := errors.AsType[*agent.Error](w.to.Deliver(ctx, m))
	if !ok || m.Type != agent.SearchRequest {
		return
	}
	m.ID, m.Sender, m.Recipient, m.Type, m.Payload = m.ID+"-no", m.Recipient, m.Sender, agent.Failure, refusal
	if err := w.from.Deliver(ctx, m); err != nil {
		panic(err)
	}
}

func TestStressOverABadNetwork(t *testing.T) {
	random := rand.New(rand.NewPCG(seed(t), 3))
	synctest.Test(t, func(t *testing.T) {
		there, back := &wire{random: rand.New(rand.NewPCG(random.Uint64(), 4))}, &wire{random: rand.New(rand.NewPCG(random.Uint64(), 5))}
		here := agent.New(agent.Options{Remotes: map[agent.Name]agent.Transport{"search": there}})
		defer shut(t, here)
		away := agent.New(agent.Options{Remotes: map[agent.Name]agent.Transport{"test": back}})
		defer shut(t, away)
		there.from, there.to, back.from, back.to = here, away, away, here
		runs := map[string]int{}
		var mu sync.Mutex
		if err := away.Register(agent.Agent{Name: "search", Mailbox: 20, Handlers: []agent.Handler{agent.On(
			func(_ context.Context, task *agent.Task, q question) (found, error) {
				pass(time.Second / 10)
				mu.Lock()
				defer mu.Unlock()
				runs[q.Text]++
				return found{fmt.Sprintf("%s/%d", q.Text, task.Message.RetryCount)}, nil
			})}}); err != nil {
			t.Fatal(err)
		}
		o := outcomes{kinds: map[agent.Kind]int{}}
		var calls sync.WaitGroup
		const n = 1000
		for range n {
			own := rand.New(rand.NewPCG(random.Uint64(), 6))
			calls.Go(func() { o.trouble(t, here, agent.Request{From: "test", To: "search"}, own) })
			pass(upTo(random, 50*time.Millisecond))
		}
		calls.Wait()
		pass(time.Hour)
		there.inAir.Wait()
		back.inAir.Wait()
		synctest.Wait()
		completed := balance(t, away)
		if there.lost.Load() == 0 || back.lost.Load() == 0 || here.Late() == 0 || o.replies < n/2 || completed < o.replies || len(runs) < o.replies {
			t.Errorf("%d replies, %v, %d results, %d late, lost %d and %d",
				o.replies, o.kinds, completed, here.Late(), there.lost.Load(), back.lost.Load())
		}
	})
}

// orderly carries messages to another bus in order, without waiting for what comes of
// them: the least that a transport has to do.
type orderly struct {
	to    *agent.Bus
	queue chan agent.Message
}

func (o *orderly) Deliver(ctx context.Context, m agent.Message) error {
	select {
	case o.queue <- m:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (o *orderly) run(ctx context.Context) {
	for m := range o.queue {
		pass(time.Millisecond)
		if err := o.to.Deliver(ctx, m); err != nil {
			panic(err)
		}
	}
}

func TestProgressAndCancellationOverATransport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		there, back := &orderly{queue: make(chan agent.Message, 10)}, &orderly{queue: make(chan agent.Message, 10)}
		back.to = agent.New(agent.Options{Remotes: map[agent.Name]agent.Transport{"search": there}})
		there.to = agent.New(agent.Options{Remotes: map[agent.Name]agent.Transport{"test": back}})
		var wires sync.WaitGroup
		for _, o := range []*orderly{there, back} {
			wires.Go(func() { o.run(t.Context()) })
		}
		defer func() {
			shut(t, back.to)
			shut(t, there.to)
			close(there.queue)
			close(back.queue)
			wires.Wait()
		}()
		if err := there.to.Register(agent.Agent{Name: "search", Handlers: []agent.Handler{agent.On(
			func(ctx context.Context, task *agent.Task, q question) (found, error) {
				for _, text := range q.Words {
					task.Progress(word(text))
				}
				if q.Text == "wait" {
					<-ctx.Done()
				}
				return found{q.Text}, ctx.Err()
			})}}); err != nil {
			t.Fatal(err)
		}
		r := ask("done")
		q := question{Text: "done"}
		for i := range 500 {
			q.Words = append(q.Words, strconv.Itoa(i))
		}
		r.Payload = q
		next := 0
		r.OnProgress = func(p agent.Payload) {
			if p != word(strconv.Itoa(next)) {
				t.Errorf("update %d is %v", next, p)
			}
			next++
		}
		if got, err := call(t, back.to, r); err != nil || got != "done" || next != 500 {
			t.Errorf("got %q, %v after %d updates", got, err, next)
		}

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := agent.Call[found](ctx, back.to, ask("wait"))
		wantKind(t, err, agent.Timeout)
		pass(time.Second)
		synctest.Wait()
		if s := wantState(t, there.to, agent.StateIdle); s.Counts != (agent.Counts{Accepted: 2, Completed: 1, Cancelled: 1}) {
			t.Errorf("counts are %+v", s.Counts)
		}
	})
}
