package main

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/slack/slacktest"
	"github.com/cairn-bot/cairn/internal/servertest"
)

var (
	loadRate = flag.Int("slack.rate", 20, "mentions a second in TestSlackLoad")
	loadFor  = flag.Duration("slack.for", 2*time.Second, "how long mentions come at that rate")
	loadLoop = flag.Duration("slack.loop", 2*time.Second, "how long mentions are answered in a closed loop")
	inFlight = flag.Int("slack.flight", 32, "mentions in flight in the closed loop")
)

// sink is a Slack that takes all and remembers what was posted where; it has no limits. It
// and those who mention Cairn share the machine with it, so they do without what net/http
// does for servers and clients that last.
type sink struct {
	listener net.Listener
	serving  sync.WaitGroup
	mu       sync.Mutex
	posts    map[string][]string // by channel and thread: the texts
	seen     map[string]chan struct{}
	serial   int
}

func newSink(t *testing.T) *sink {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // cleaned up below
	if err != nil {
		t.Fatal(err)
	}
	s := &sink{listener: listener, posts: map[string][]string{}, seen: map[string]chan struct{}{}}
	s.serving.Go(func() {
		for {
			line, err := listener.Accept()
			if err != nil {
				return
			}
			s.serving.Go(func() { s.serve(line) })
		}
	})
	t.Cleanup(func() { // the program has ended, and its lines with it
		listener.Close()
		s.serving.Wait()
	})
	return s
}

// serve answers the requests of one connection until it ends.
func (s *sink) serve(line net.Conn) {
	defer line.Close()
	for in := bufio.NewReader(line); ; {
		request, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		answer := s.answer(request)
		if _, err := io.Copy(io.Discard, request.Body); err != nil { // what the answer did not read
			return
		}
		if _, err := fmt.Fprintf(line, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(answer), answer); err != nil {
			return
		}
	}
}

func (s *sink) answer(request *http.Request) string {
	if err := request.ParseForm(); err != nil {
		return `{"ok":false,"error":"invalid_form_data"}`
	}
	switch strings.TrimPrefix(request.URL.Path, "/api/") {
	case "auth.test":
		return `{"ok":true,"team_id":"T0CAIRN","user_id":"` + slacktest.Bot + `","url":"https://x.slack.com/"}`
	case "chat.postMessage":
		thread := request.Form.Get("channel") + " " + request.Form.Get("thread_ts")
		s.mu.Lock()
		defer s.mu.Unlock()
		s.serial++
		s.posts[thread] = append(s.posts[thread], request.Form.Get("text"))
		if first := s.seen[thread]; first != nil && len(s.posts[thread]) == 1 {
			close(first)
		}
		return fmt.Sprintf(`{"ok":true,"channel":%q,"ts":"1900000000.%06d"}`, request.Form.Get("channel"), s.serial)
	case "conversations.replies":
		return `{"ok":true,"messages":[],"has_more":false}`
	}
	return `{"ok":true}`
}

// expect gives what is closed when something is posted in a thread.
func (s *sink) expect(thread string) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[thread] = make(chan struct{})
	return s.seen[thread]
}

// line is a connection to a program, for one request at a time.
type line struct {
	net.Conn
	in *bufio.Reader
}

// crowd sends mentions to a program.
type crowd struct {
	t       *testing.T
	sink    *sink
	address string // http://host:port
	serial  atomic.Int64

	mu      sync.Mutex
	idle    []line
	acks    []time.Duration
	refused int
	threads map[string]string // what each asked to have echoed
}

// line takes an idle connection, or makes one.
func (c *crowd) line() (line, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if last := len(c.idle) - 1; last >= 0 {
		taken := c.idle[last]
		c.idle = c.idle[:last]
		return taken, nil
	}
	made, err := net.Dial("tcp", strings.TrimPrefix(c.address, "http://")) //nolint:noctx // deliver sets a deadline
	if err != nil {
		return line{}, err
	}
	return line{made, bufio.NewReader(made)}, nil
}

// deliver sends an event as Slack does, and gives the status it was answered with.
func (c *crowd) deliver(body []byte) (status int, err error) {
	l, err := c.line()
	if err != nil {
		return 0, err
	}
	stamp := strconv.FormatInt(time.Now().Unix(), 10)
	mac := hmac.New(sha256.New, []byte(slacktest.SigningSecret))
	fmt.Fprintf(mac, "v0:%s:%s", stamp, body)
	request := fmt.Appendf(nil, "POST /slack/events HTTP/1.1\r\nHost: cairn.test\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"+
		"X-Slack-Request-Timestamp: %s\r\nX-Slack-Signature: v0=%x\r\n\r\n%s", len(body), stamp, mac.Sum(nil), body)
	if err := l.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return 0, errors.Join(err, l.Close())
	}
	if _, err := l.Write(request); err != nil {
		return 0, errors.Join(err, l.Close())
	}
	response, err := http.ReadResponse(l.in, nil)
	if err == nil {
		_, err = io.Copy(io.Discard, response.Body)
	}
	if err != nil {
		return 0, errors.Join(err, l.Close())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.idle = append(c.idle, l)
	return response.StatusCode, response.Body.Close()
}

// hangUp closes the connections, of which none is in use.
func (c *crowd) hangUp() {
	for _, l := range c.idle {
		l.Close()
	}
	c.idle = nil
}

// mention sends one mention in a thread of its own, and gives what is closed once it is
// answered; nil where it was refused.
func (c *crowd) mention() <-chan struct{} {
	n := c.serial.Add(1)
	channel, ts, word := fmt.Sprintf("C%07d", n), fmt.Sprintf("%d.%06d", time.Now().Unix(), n%1e6), fmt.Sprintf("word%d", n)
	answered := c.sink.expect(channel + " " + ts)
	body := fmt.Appendf(nil, `{"token":"x","team_id":"T0CAIRN","api_app_id":"A0","type":"event_callback","event_id":"Ev%d","event_time":%d,`+
		`"authorizations":[{"team_id":"T0CAIRN","user_id":%q,"is_bot":true}],"event":{"type":"app_mention","user":"U0ANN","text":"<@%s> echo %s","ts":%q,"channel":%q}}`,
		n, time.Now().Unix(), slacktest.Bot, slacktest.Bot, word, ts, channel)
	begun := time.Now()
	status, err := c.deliver(body)
	took := time.Since(begun)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil || status != http.StatusOK {
		c.refused++
		return nil
	}
	c.acks = append(c.acks, took)
	c.threads[channel+" "+ts] = word
	return answered
}

// steady sends mentions at a rate.
func (c *crowd) steady(rate int, long time.Duration) {
	var sent sync.WaitGroup
	tick := time.NewTicker(time.Second / time.Duration(rate))
	defer tick.Stop()
	for range int(long.Seconds() * float64(rate)) {
		<-tick.C
		sent.Go(func() { c.mention() })
	}
	sent.Wait()
}

// loop keeps so many mentions in flight: each waits for its answer before the next.
func (c *crowd) loop(most int, long time.Duration) (answered int64) {
	var all sync.WaitGroup
	var count atomic.Int64
	end := time.Now().Add(long)
	for range most {
		all.Go(func() {
			for time.Now().Before(end) {
				seen := c.mention()
				if seen == nil {
					return
				}
				select {
				case <-seen:
					count.Add(1)
				case <-time.After(30 * time.Second):
					return
				}
			}
		})
	}
	all.Wait()
	return count.Load()
}

// check waits until all is answered, and tells what was lost or said twice.
func (c *crowd) check(o *office) {
	c.t.Helper()
	o.until("every mention answered", func() bool {
		c.sink.mu.Lock()
		defer c.sink.mu.Unlock()
		return len(c.sink.posts) >= len(c.threads)
	})
	c.sink.mu.Lock()
	defer c.sink.mu.Unlock()
	lost, doubled, strange := 0, 0, 0
	for thread, word := range c.threads {
		switch posts := c.sink.posts[thread]; {
		case len(posts) == 0:
			lost++
		case len(posts) > 1:
			doubled++
		case !strings.Contains(posts[0], word):
			strange++
		}
	}
	if outside := len(c.sink.posts) - len(c.threads); lost+doubled+strange+outside+c.refused > 0 {
		c.t.Errorf("of %d: %d lost, %d doubled, %d wrong, %d outside their thread, %d refused", len(c.threads), lost, doubled, strange, outside, c.refused)
	}
}

func (c *crowd) percentile(of float64) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	slices.Sort(c.acks)
	return c.acks[min(int(float64(len(c.acks))*of), len(c.acks)-1)].Round(10 * time.Microsecond)
}

// worked is the processor time that a process has used.
func worked(t *testing.T, pid int) time.Duration {
	t.Helper()
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := bytes.Cut(stat, []byte(") "))
	var ticks int
	for _, field := range bytes.Fields(rest)[11:13] { // in user mode, and in the system
		n, err := strconv.Atoi(string(field))
		if err != nil {
			t.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

var memoryLine = regexp.MustCompile(`(?m)^(VmRSS|VmHWM):\s+(\d+) kB`)

// memory tells what a process uses, and used at most.
func memory(t *testing.T, pid int) string {
	t.Helper()
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return "memory not told: " + err.Error()
	}
	var told []string
	for _, found := range memoryLine.FindAllSubmatch(status, -1) {
		kilobytes, err := strconv.Atoi(string(found[2]))
		if err != nil {
			t.Fatal(err)
		}
		told = append(told, fmt.Sprintf("%s %d MB", found[1], kilobytes/1024))
	}
	return strings.Join(told, ", ")
}

// TestSlackLoad has mentions come at a rate, and then in a closed loop, over HTTP, with all
// that is accepted durable in Redis. make bench-slack runs it at its full length.
func TestSlackLoad(t *testing.T) {
	sink := newSink(t)
	o := &office{Server: slacktest.New(slacktest.Options{}), program: program{t: t, file: *underLoad}}
	t.Cleanup(o.Close)
	o.general = o.Channel("C0GENERAL", "general")
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "leave.md"), []byte(handbook["leave.md"]), 0o600); err != nil {
		t.Fatal(err)
	}
	redis := servertest.OwnRedis(t)
	o.env = append(os.Environ(), "HOME="+t.TempDir(), "CAIRN_DATA_DIR="+t.TempDir(), "CAIRN_REDIS_URL="+redis.URL,
		"CAIRN_SLACK_MODE=http", "CAIRN_SLACK_LISTEN=127.0.0.1:0", "CAIRN_SLACK_API_URL=http://"+sink.listener.Addr().String()+"/api/",
		"CAIRN_SLACK_BOT_TOKEN="+slacktest.BotToken, "CAIRN_SLACK_SIGNING_SECRET="+slacktest.SigningSecret)
	if out, err := o.command("ingest", "-q", folder).CombinedOutput(); err != nil {
		t.Fatalf("ingest: %v\n%s", err, out)
	}
	p := o.serve()
	c := &crowd{t: t, sink: sink, address: p.address, threads: map[string]string{}}
	c.steady(*loadRate, *loadFor)
	c.check(o)
	steady := fmt.Sprintf("%d mentions at %d a second: acknowledged p50 %s, p99 %s; %s",
		len(c.threads), *loadRate, c.percentile(.5), c.percentile(.99), memory(t, p.command.Process.Pid))
	c.acks = nil
	processors := func() [3]time.Duration {
		return [3]time.Duration{worked(t, p.command.Process.Pid), redis.Worked(), worked(t, os.Getpid())}
	}
	before := processors()
	answered := c.loop(*inFlight, *loadLoop)
	c.check(o)
	each := processors()
	for i := range each {
		each[i] = ((each[i] - before[i]) / time.Duration(max(answered, 1))).Round(10 * time.Microsecond)
	}
	t.Logf("%s\nclosed loop, %d in flight: %.0f answered a second; of a processor each %s the program, %s Redis, %s this test; acknowledged p50 %s, p99 %s; %s",
		steady, *inFlight, float64(answered)/loadLoop.Seconds(), each[0], each[1], each[2], c.percentile(.5), c.percentile(.99), memory(t, p.command.Process.Pid))
	c.hangUp()
	p.end(syscall.SIGTERM)
}
