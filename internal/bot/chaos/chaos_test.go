package chaos

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"cairn/internal/chat"
	"cairn/internal/chat/chattest"
	"cairn/internal/redis/conn"
	"cairn/internal/servertest"
)

var (
	seed     = flag.Uint64("chaos.seed", 0, "what goes wrong, and when; 0: another each time")
	threads  = flag.Int("chaos.threads", 10, "how many threads talk at the same time")
	messages = flag.Int("chaos.messages", 3, "how many messages each thread has, beside answers")
	backend  = flag.String("chaos.store", "", "redis or embedded; empty: one after the other")
	limit    = flag.Duration("chaos.limit", 90*time.Second, "how long all may take with one store")
)

// town is a platform, and the processes that serve it.
type town struct {
	t        *testing.T
	platform *chattest.Platform
	url      string
	store    string
	client   *http.Client
	redis    *servertest.Server // nil for the embedded store

	mu     sync.Mutex
	random *rand.Rand
	struck map[string]int // what went wrong, how often

	intakes, workers []*process
}

// process is a place for one process after another.
type process struct {
	town *town
	role string

	mu      sync.Mutex
	command *exec.Cmd
	address string // of an intake
	stderr  lines  // of all its lives
}

// lines is what processes say, which one may still do while the next begins.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (tn *town) roll(n int) int {
	tn.mu.Lock()
	defer tn.mu.Unlock()
	return tn.random.IntN(n)
}

func (tn *town) count(what string) {
	tn.mu.Lock()
	defer tn.mu.Unlock()
	tn.struck[what]++
}

// start starts the process, and waits until it serves.
func (p *process) start() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	command := exec.Command(self) //nolint:noctx // the town ends it
	command.Env = append(os.Environ(), envRole+"="+p.role, envStore+"="+p.town.store, envPlatform+"="+p.town.url)
	command.Stderr = &p.stderr
	out, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return fmt.Errorf("%s did not start: %w\n%s", p.role, err, p.stderr.String())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.command, p.address = command, strings.TrimSpace(line)
	return nil
}

func (p *process) signal(s syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.command.Process.Signal(s)
}

// end kills the process, or asks it to end, and waits until it is gone.
func (p *process) end(s syscall.Signal) error {
	if err := p.signal(s); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	state, err := p.command.Process.Wait()
	if err == nil && s == syscall.SIGTERM && !state.Success() {
		err = fmt.Errorf("%s ended with %s after a SIGTERM\n%s", p.role, state, p.stderr.String())
	}
	return err
}

// TestChaos is checked from outside: from what was posted.
func TestChaos(t *testing.T) {
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	t.Logf("seed %d: repeat with -chaos.seed=%[1]d", *seed)
	for _, store := range []string{"embedded", "redis"} {
		if *backend == "" || *backend == store {
			t.Run(store, func(t *testing.T) { chaos(t, store) })
		}
	}
}

func chaos(t *testing.T, store string) {
	ctx, cancel := context.WithTimeout(t.Context(), *limit)
	defer cancel()
	tn := newTown(t, store)
	quiet, stop := context.WithCancel(ctx)
	var striking sync.WaitGroup
	striking.Go(func() { tn.strike(quiet) })
	begun := time.Now()
	var talking sync.WaitGroup
	for i := range *threads {
		talking.Go(func() { tn.talk(ctx, chat.ThreadID(fmt.Sprintf("platform:%d", i))) })
	}
	talking.Wait()
	stop()
	striking.Wait()
	for _, p := range append(tn.intakes, tn.workers...) {
		if err := p.end(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d threads of %d messages in %s; struck: %v", *threads, *messages, time.Since(begun).Round(time.Second), tn.struck)
}

func newTown(t *testing.T, store string) *town {
	tn := &town{t: t, random: rand.New(rand.NewPCG(*seed, *seed)), struck: make(map[string]int), store: t.TempDir(), client: &http.Client{Timeout: 3 * time.Second}}
	if store == "redis" {
		tn.redis = servertest.OwnRedis(t)
		tn.store = tn.redis.URL
		tn.writeThrough()
	}
	tn.platform = &chattest.Platform{Faults: tn.fault}
	server := httptest.NewServer(tn.platform)
	t.Cleanup(server.Close)
	tn.url = server.URL
	for i := range 6 {
		p := &process{town: tn, role: "worker"}
		if i < 2 {
			p.role = "intake"
			tn.intakes = append(tn.intakes, p)
		} else {
			tn.workers = append(tn.workers, p)
		}
		if err := p.start(); err != nil {
			t.Fatal(err)
		}
	}
	return tn
}

// fault has one call of the platform in ten go wrong.
func (tn *town) fault(chattest.Call) chattest.Fault {
	faults := []chattest.Fault{chattest.RateLimited, chattest.Broken, chattest.BrokenAfter, chattest.SilentAfter}
	roll := tn.roll(10 * len(faults))
	if roll >= len(faults) {
		return chattest.NoFault
	}
	tn.count(string(faults[roll]))
	return faults[roll]
}

// strike makes things go wrong until ctx ends.
func (tn *town) strike(ctx context.Context) {
	for ctx.Err() == nil {
		wait(ctx, time.Duration(100+tn.roll(400))*time.Millisecond)
		worker, intake := tn.workers[tn.roll(len(tn.workers))], tn.intakes[tn.roll(len(tn.intakes))]
		var err error
		switch tn.roll(8) {
		case 0, 1, 2:
			tn.count("worker killed")
			err = again(worker, syscall.SIGKILL)
		case 3:
			tn.count("worker drained")
			err = again(worker, syscall.SIGTERM)
		case 4, 5:
			tn.count("intake killed")
			err = again(intake, syscall.SIGKILL)
		case 6:
			tn.count("worker stopped for longer than its lease")
			err = freeze(ctx, worker)
		case 7:
			tn.strikeStore() //nolint:contextcheck // the server has the test's
		}
		if err != nil {
			tn.t.Error(err)
			return
		}
	}
}

// strikeStore kills Redis and starts it again with what its append-only file holds.
func (tn *town) strikeStore() {
	if tn.redis == nil {
		return
	}
	tn.count("redis killed")
	tn.redis.Kill()
	tn.redis.Start()
	tn.writeThrough()
}

// writeThrough has Redis answer only for what it has written. As it is set up usually, it
// may lose the last second when it is killed, and no program on it can know.
func (tn *town) writeThrough() {
	client, err := conn.Open(tn.t.Context(), tn.store)
	if err != nil {
		tn.t.Error(err)
		return
	}
	if err := errors.Join(client.ConfigSet(tn.t.Context(), "appendfsync", "always").Err(), client.Close()); err != nil {
		tn.t.Error(err)
	}
}

func again(p *process, s syscall.Signal) error {
	if err := p.end(s); err != nil {
		return err
	}
	return p.start()
}

func freeze(ctx context.Context, p *process) error {
	if err := p.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	wait(ctx, leaseTTL+claimInterval+time.Second)
	return p.signal(syscall.SIGCONT)
}

func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// talk is a person in one thread, and the check of what is posted there.
func (tn *town) talk(ctx context.Context, thread chat.ThreadID) {
	var want []string
	sent := 0
	say := func(text string) {
		sent++
		tn.send(ctx, chat.Message{ID: chat.MessageID(fmt.Sprint("m", sent)), Thread: thread, Author: "ann", Text: text, At: time.Now()})
	}
	for i := range *messages {
		text := fmt.Sprintf("%s %d", []string{"dig", asks}[tn.roll(2)], i)
		say(text)
		if !strings.HasPrefix(text, asks) {
			want = append(want, text+" by splitabc")
			continue
		}
		want = append(want, "Which color for "+text+"?")
		if !tn.posted(ctx, thread, len(want)) {
			break
		}
		say("red")
		want = append(want, text+" red by splitabc")
	}
	tn.posted(ctx, thread, len(want))
	if got := tn.seen(thread); strings.Join(got, "\n") != strings.Join(want, "\n") {
		tn.t.Errorf("in thread %s people see:\n%s\nwant:\n%s", thread, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// posted waits until so many messages were posted in a thread; false: they never were.
func (tn *town) posted(ctx context.Context, thread chat.ThreadID, n int) bool {
	for len(tn.platform.Posted(thread)) < n {
		if ctx.Err() != nil {
			tn.t.Errorf("thread %s: %d of %d messages were posted in time", thread, len(tn.platform.Posted(thread)), n)
			return false
		}
		wait(ctx, 20*time.Millisecond)
	}
	return true
}

func (tn *town) seen(thread chat.ThreadID) []string {
	var seen []string
	for _, posted := range tn.platform.Posted(thread) {
		if posted.Post.Question != nil {
			seen = append(seen, posted.Post.Question.Text)
		} else {
			seen = append(seen, posted.Post.Reply.Text)
		}
	}
	return seen
}

// send delivers a message as platforms do: again until it is taken, and sometimes twice.
func (tn *town) send(ctx context.Context, message chat.Message) {
	times := 1 + tn.roll(4)/3
	for taken := 0; taken < times && ctx.Err() == nil; {
		if tn.deliver(ctx, message) {
			taken++
			continue
		}
		wait(ctx, 50*time.Millisecond)
	}
}

func (tn *town) deliver(ctx context.Context, message chat.Message) bool {
	intake := tn.intakes[tn.roll(len(tn.intakes))]
	intake.mu.Lock()
	address := intake.address
	intake.mu.Unlock()
	body, err := json.Marshal(message)
	if err != nil {
		tn.t.Error(err)
		return true
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		tn.t.Error(err)
		return true
	}
	response, err := tn.client.Do(request)
	if err != nil {
		return false
	}
	if err := response.Body.Close(); err != nil {
		tn.t.Error(err)
	}
	return response.StatusCode == http.StatusOK
}
