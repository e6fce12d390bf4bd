package chaos

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/chat/chattest"
	"github.com/cairn-bot/cairn/internal/redis/conn"
	"github.com/cairn-bot/cairn/internal/servertest"
)

// town is a platform, and the processes that serve it.
type town struct {
	t        testing.TB
	platform *chattest.Platform
	url      string
	store    string
	client   *http.Client
	redis    *servertest.Server // nil for the embedded store
	line     *servertest.Proxy  // to Redis

	mu     sync.Mutex
	random *rand.Rand
	struck map[string]int // what went wrong, how often

	intakes, workers []*process
}

// process is a place for one process after another.
type process struct {
	town *town
	role string
	next bool // it runs the program after an upgrade

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
	skew := time.Duration(p.town.roll(7200)-3600) * time.Second
	command.Env = append(os.Environ(), envRole+"="+p.role, envStore+"="+p.town.store, envPlatform+"="+p.town.url, envSkew+"="+skew.String())
	if p.next {
		command.Env = append(command.Env, envNext+"=1")
	}
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

// The processes of a town.
const (
	intakes = 2
	workers = 4
)

// newTown starts one. A call of its platform that goes wrong does so by fault; nil: none does.
func newTown(t testing.TB, store string, fault func(*town) chattest.Fault) *town {
	tn := &town{
		t: t, random: rand.New(rand.NewPCG(*seed, *seed)), struck: make(map[string]int),
		store: t.TempDir(), client: &http.Client{Timeout: 3 * time.Second},
	}
	if store == "redis" {
		tn.redis = servertest.OwnRedis(t)
		address, err := url.Parse(tn.redis.URL)
		if err != nil {
			t.Fatal(err)
		}
		tn.line = servertest.NewProxy(t, address.Host)
		address.Host = tn.line.Address
		tn.store = address.String()
		tn.sync()
	}
	tn.platform = &chattest.Platform{}
	if fault != nil {
		tn.platform.Faults = func(chattest.Call) chattest.Fault { return fault(tn) }
	}
	server := httptest.NewServer(tn.platform)
	t.Cleanup(server.Close)
	tn.url = server.URL
	for i := range intakes + workers {
		p := &process{town: tn, role: "worker"}
		if i < intakes {
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

// end has all processes end as they do in an upgrade.
func (tn *town) end() {
	for _, p := range append(tn.intakes, tn.workers...) {
		if err := p.end(syscall.SIGTERM); err != nil {
			tn.t.Error(err)
		}
	}
}

// logged gives what the processes logged about a thread.
func (tn *town) logged(thread string) string {
	var about []string
	for i, p := range append(tn.intakes, tn.workers...) {
		for line := range strings.Lines(p.stderr.String()) {
			if strings.Contains(line, "thread="+thread+" ") {
				about = append(about, fmt.Sprintf("%s %d: %s", p.role, i, strings.TrimSpace(line)))
			}
		}
	}
	return strings.Join(about, "\n")
}

// sync has Redis write its append-only file as -chaos.sync says.
func (tn *town) sync() {
	client, err := conn.Open(tn.t.Context(), tn.redis.URL)
	if err != nil {
		tn.t.Error(err)
		return
	}
	if err := errors.Join(client.ConfigSet(tn.t.Context(), "appendfsync", *fsync).Err(), client.Close()); err != nil {
		tn.t.Error(err)
	}
}
