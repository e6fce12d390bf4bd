package main

import (
	"bufio"
	"bytes"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/discord/discordtest"
	"github.com/cairn-bot/cairn/internal/adapters/slack/slacktest"
)

// fortress is the real program with all of its listeners open, in front of a fake Slack and
// a fake Discord.
type fortress struct {
	program
	slack   *slacktest.Server
	general string
	ann     *slacktest.Person
	key     ed25519.PrivateKey // that Discord's requests are signed with
	process *process
	data    string // the data directory
	web     string // addresses, without a slash at the end
	hooks   string // of Slack
	calls   string // of Discord
	metrics string
}

var listening = regexp.MustCompile(`(?m)^(Ask|Listening to Slack|Listening to Discord|Telemetry) at (http://[^/\s]+)`)

// stranger is who comes over HTTP.
var stranger = &http.Client{Timeout: time.Minute}

const (
	fortressToken  = "operations-token-very-secret"
	fortressTraces = "Bearer%20traces-very-secret"
)

func newFortress(t *testing.T) *fortress {
	t.Helper()
	t.Parallel() // it waits more than it works
	f := &fortress{program: program{t: t}, data: filepath.Join(t.TempDir(), "data"), slack: slacktest.New(slacktest.Options{Unlimited: true})}
	t.Cleanup(f.slack.Close)
	f.ann, f.general = f.slack.Person("U0ANN", "Ann"), f.slack.Channel("C0GENERAL", "general")
	guild := discordtest.New(t, discordtest.Options{MessageContent: true, Limits: discordtest.NoLimits()})
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	f.key = private
	f.env = append(os.Environ(), "HOME="+t.TempDir(), "CAIRN_DATA_DIR="+f.data, "CAIRN_LOG_LEVEL=debug",
		"CAIRN_SLACK_MODE=http", "CAIRN_SLACK_LISTEN=127.0.0.1:0", "CAIRN_SLACK_API_URL="+f.slack.APIURL(),
		"CAIRN_SLACK_BOT_TOKEN="+slacktest.BotToken, "CAIRN_SLACK_SIGNING_SECRET="+slacktest.SigningSecret,
		"CAIRN_DISCORD_MODE=http", "CAIRN_DISCORD_LISTEN=127.0.0.1:0", "CAIRN_DISCORD_API_URL="+guild.URL(),
		"CAIRN_DISCORD_TOKEN="+discordtest.Token, "CAIRN_DISCORD_PUBLIC_KEY="+hex.EncodeToString(public),
		"CAIRN_TELEMETRY_LISTEN=127.0.0.1:0", "CAIRN_OPERATIONS_TOKEN="+fortressToken)
	f.readHandbook()
	f.serve()
	return f
}

// serve starts the program, and finds out where it listens.
func (f *fortress) serve() {
	f.t.Helper()
	f.process = f.start(regexp.MustCompile(`^Working at`))
	if !f.wait(func() bool { return len(listening.FindAllString(f.process.String(), -1)) == 4 }) {
		f.t.Fatalf("it does not listen everywhere:\n%s", f.process)
	}
	for _, found := range listening.FindAllStringSubmatch(f.process.String(), -1) {
		*map[string]*string{"Ask": &f.web, "Listening to Slack": &f.hooks, "Listening to Discord": &f.calls, "Telemetry": &f.metrics}[found[1]] = found[2]
	}
	f.slack.Subscribe(f.hooks+"/slack/events", f.hooks+"/slack/interactive", f.hooks+"/slack/commands")
}

// post gives the status that a body is answered with.
func (f *fortress) post(address string, body []byte, header http.Header) int {
	f.t.Helper()
	request, err := http.NewRequestWithContext(f.t.Context(), http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	request.Header = header.Clone()
	request.Header.Set("Content-Type", "application/json")
	response, err := stranger.Do(request)
	if err != nil {
		f.t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		f.t.Error(err)
	}
	return response.StatusCode
}

// asSlack signs a body as Slack does, at a time and with a secret.
func asSlack(body []byte, at time.Time, secret string) http.Header {
	stamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "v0:%s:%s", stamp, body)
	return http.Header{"X-Slack-Request-Timestamp": {stamp}, "X-Slack-Signature": {"v0=" + hex.EncodeToString(mac.Sum(nil))}}
}

// asDiscord signs a body as Discord does.
func asDiscord(body []byte, at time.Time, key ed25519.PrivateKey) http.Header {
	stamp := strconv.FormatInt(at.Unix(), 10)
	signature := ed25519.Sign(key, append([]byte(stamp), body...))
	return http.Header{"X-Signature-Timestamp": {stamp}, "X-Signature-Ed25519": {hex.EncodeToString(signature)}}
}

// TestForgedRequestsAreRefused has strangers write to the real program as Slack and Discord.
func TestForgedRequestsAreRefused(t *testing.T) {
	f := newFortress(t)
	now := time.Now()
	_, strangers, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	challenge, other := []byte(`{"type":"url_verification","challenge":"x"}`), []byte(`{"type":"url_verification","challenge":"y"}`)
	ping, ping2 := []byte(`{"type":1}`), []byte(`{"type":1,"x":1}`)
	for name, test := range map[string]struct {
		address string
		body    []byte
		header  http.Header
		want    int
	}{
		"Slack":                         {f.hooks + "/slack/events", challenge, asSlack(challenge, now, slacktest.SigningSecret), 200},
		"Slack, unsigned":               {f.hooks + "/slack/events", challenge, http.Header{}, 401},
		"Slack, another secret":         {f.hooks + "/slack/events", challenge, asSlack(challenge, now, "guessed"), 401},
		"Slack, no secret":              {f.hooks + "/slack/events", challenge, asSlack(challenge, now, ""), 401},
		"Slack, six minutes ago":        {f.hooks + "/slack/events", challenge, asSlack(challenge, now.Add(-6*time.Minute), slacktest.SigningSecret), 401},
		"Slack, in six minutes":         {f.hooks + "/slack/events", challenge, asSlack(challenge, now.Add(6*time.Minute), slacktest.SigningSecret), 401},
		"Slack, another body":           {f.hooks + "/slack/events", other, asSlack(challenge, now, slacktest.SigningSecret), 401},
		"Slack, a forged command":       {f.hooks + "/slack/commands", []byte("command=/cairn"), http.Header{}, 401},
		"Slack, a forged press":         {f.hooks + "/slack/interactive", []byte("payload={}"), http.Header{}, 401},
		"Discord":                       {f.calls + "/discord/interactions", ping, asDiscord(ping, now, f.key), 200},
		"Discord, unsigned":             {f.calls + "/discord/interactions", ping, http.Header{}, 401},
		"Discord, another key":          {f.calls + "/discord/interactions", ping, asDiscord(ping, now, strangers), 401},
		"Discord, six minutes ago":      {f.calls + "/discord/interactions", ping, asDiscord(ping, now.Add(-6*time.Minute), f.key), 401},
		"Discord, another body":         {f.calls + "/discord/interactions", ping2, asDiscord(ping, now, f.key), 401},
		"the page knows nothing of it":  {f.web + "/slack/events", challenge, asSlack(challenge, now, slacktest.SigningSecret), 404},
		"metrics know nothing of it":    {f.metrics + "/slack/events", challenge, asSlack(challenge, now, slacktest.SigningSecret), 404},
		"profiles are not with metrics": {f.metrics + "/debug/pprof/heap", nil, http.Header{}, 404},
	} {
		if got := f.post(test.address, test.body, test.header); got != test.want {
			t.Errorf("%s: status %d, want %d", name, got, test.want)
		}
	}
}

// refusedLine is a line of the log about refused deliveries.
var refusedLine = regexp.MustCompile(`msg="(slack delivery|discord interaction) refused".* reason="a wrong signature" count=(\d+)`)

// TestForgeriesAreLoggedTogether has strangers write to the real program many times: the log has
// a line for each platform at first, one for each minute after, and how many there were.
func TestForgeriesAreLoggedTogether(t *testing.T) {
	f := newFortress(t)
	const forgeries = 40
	challenge, ping := []byte(`{"type":"url_verification","challenge":"x"}`), []byte(`{"type":1}`)
	_, strangers, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	for range forgeries {
		f.post(f.hooks+"/slack/events", challenge, asSlack(challenge, time.Now(), "guessed"))
		f.post(f.calls+"/discord/interactions", ping, asDiscord(ping, time.Now(), strangers))
	}
	f.process.end(syscall.SIGTERM)
	lines, counts := map[string]int{}, map[string]int{}
	for _, found := range refusedLine.FindAllStringSubmatch(f.process.String(), -1) {
		count, err := strconv.Atoi(found[2])
		if err != nil {
			t.Fatal(err)
		}
		lines[found[1]]++
		counts[found[1]] += count
	}
	for _, platform := range []string{"slack delivery", "discord interaction"} {
		if lines[platform] > forgeries/4 || counts[platform] != forgeries {
			t.Errorf("%s: %d forgeries in %d lines", platform, counts[platform], lines[platform])
		}
	}
}

// TestReplayedRequestsAreAnsweredOnce sends what Slack has delivered again and again, with
// its own signature and freshly signed.
func TestReplayedRequestsAreAnsweredOnce(t *testing.T) {
	f := newFortress(t)
	root := f.ann.Says(f.general, "", mention+"where do I get a laptop?")
	answers := func() int {
		said := 0
		for _, message := range f.slack.Messages(f.general) {
			if isSaid(message) && message.ThreadTS == root {
				said++
			}
		}
		return said
	}
	if !f.wait(func() bool { return answers() == 1 }) {
		t.Fatalf("no answer:\n%s", f.slack.Show(f.general))
	}
	sent := 0
	for _, delivery := range f.slack.Deliveries() {
		if delivery.Kind != "events_api" || !bytes.Contains(delivery.Body, []byte("laptop")) {
			continue
		}
		signed := asSlack(delivery.Body, time.Now(), slacktest.SigningSecret)
		for range 3 {
			sent++
			if got := f.post(f.hooks+"/slack/events", delivery.Body, signed); got != 200 {
				t.Errorf("a replay got %d", got)
			}
		}
	}
	if sent == 0 {
		t.Fatal("nothing was replayed")
	}
	// Another question is answered after all that came before it.
	f.ann.Says(f.general, root, mention+"how many days of leave do I have?")
	if !f.wait(func() bool { return answers() == 2 }) {
		t.Fatalf("no second answer:\n%s", f.slack.Show(f.general))
	}
	f.process.end(syscall.SIGTERM)
	if got := answers(); got != 2 {
		t.Errorf("%d answers to two questions:\n%s", got, f.slack.Show(f.general))
	}
}

// dialed is a plain connection to an address of the program.
func dialed(t *testing.T, address string) net.Conn {
	t.Helper()
	connection, err := net.Dial("tcp", strings.TrimPrefix(address, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := connection.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	})
	// A server that waits for ever fails the test; one that has a limit ends long before.
	if err := connection.SetDeadline(time.Now().Add(90 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return connection
}

// trickle writes a letter every now and then until the server has had enough, and tells
// whether it has: the time for it is up where it has not.
func trickle(connection net.Conn) (ended bool) {
	gone := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, connection)
		gone <- err
	}()
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-gone:
			return !errors.Is(err, os.ErrDeadlineExceeded)
		case <-tick.C:
			if _, err := connection.Write([]byte("x")); err != nil {
				return !errors.Is(<-gone, os.ErrDeadlineExceeded)
			}
		}
	}
}

// TestSlowRequestsAreCut holds connections open by saying next to nothing, to every listener
// of the real program: it hangs up, and answers others meanwhile and afterwards.
func TestSlowRequestsAreCut(t *testing.T) {
	f := newFortress(t)
	var slow sync.WaitGroup
	for name, address := range map[string]string{"page": f.web, "Slack": f.hooks, "Discord": f.calls, "metrics": f.metrics} {
		path := map[string]string{"page": "/", "Slack": "/slack/events", "Discord": "/discord/interactions", "metrics": "/metrics"}[name]
		for kind, begin := range map[string]string{
			"nothing":     "",
			"half a line": "PO",
			"headers":     "POST " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ",
			"a body":      "POST " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100000\r\n\r\n",
		} {
			connection := dialed(t, address)
			if _, err := io.WriteString(connection, begin); err != nil {
				t.Fatal(err)
			}
			slow.Go(func() {
				if !trickle(connection) {
					t.Errorf("%s waits for %s for ever", name, kind)
				}
			})
		}
	}
	if got := f.post(f.hooks+"/slack/events", nil, http.Header{}); got != 401 {
		t.Errorf("meanwhile others get %d", got)
	}
	slow.Wait()
	if got := f.post(f.hooks+"/slack/events", nil, http.Header{}); got != 401 {
		t.Errorf("afterwards others get %d", got)
	}
}

// status reads what a server answers: 0 where it hangs up instead. hung tells that it does
// neither.
func status(t *testing.T, connection net.Conn) (code int, hung bool) {
	t.Helper()
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		return 0, errors.Is(err, os.ErrDeadlineExceeded)
	}
	if err := response.Body.Close(); err != nil && errors.Is(err, os.ErrDeadlineExceeded) {
		return 0, true
	}
	return response.StatusCode, false
}

// TestHugeRequestsAreCut writes a gigabyte, in chunks that no length announces, and headers
// of a megabyte to every listener of the real program: it stops reading early.
func TestHugeRequestsAreCut(t *testing.T) {
	f := newFortress(t)
	const (
		chunk = 64 << 10
		all   = 1 << 30
		// most is what may be taken: 2 MiB are read at most, and as much again is on the way
		// in the buffers of the machine.
		most = 32 << 20
	)
	piece := fmt.Appendf(nil, "%x\r\n%s\r\n", chunk, strings.Repeat("x", chunk))
	for name, address := range map[string]string{
		"the page's form": f.web + " /t/AAAAAAAAAAAAAAAAAAAAAAAAAA/messages", "events": f.hooks + " /slack/events", "presses": f.hooks + " /slack/interactive",
		"interactions": f.calls + " /discord/interactions", "metrics": f.metrics + " /metrics", "operations": f.web + " /operations/",
	} {
		host, path, _ := strings.Cut(address, " ")
		connection := dialed(t, host)
		if _, err := fmt.Fprintf(connection, "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\nCookie: cairn_person=AAAAAAAAAAAAAAAAAAAAAAAAAA\r\nTransfer-Encoding: chunked\r\n\r\n", path); err != nil {
			t.Fatal(err)
		}
		written := 0
		for written < all {
			n, err := connection.Write(piece)
			written += n
			if err != nil {
				break
			}
		}
		if written > most {
			t.Errorf("%s took %d bytes", name, written)
		}
		if _, hung := status(t, connection); hung {
			t.Errorf("%s says nothing to a gigabyte", name)
		}
		connection = dialed(t, host)
		if _, err := fmt.Fprintf(connection, "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Large: %s", path, strings.Repeat("x", 1<<20)); err != nil {
			continue // it has hung up
		}
		if got, hung := status(t, connection); hung || got != 0 && got != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("%s answers %d to a megabyte of headers", name, got)
		}
	}
	if got := f.post(f.hooks+"/slack/events", nil, http.Header{}); got != 401 {
		t.Errorf("afterwards others get %d", got)
	}
}

// TestSecretsAreNowhere has the real program work with every kind of secret that it has, and
// looks for them in all that it says of itself.
func TestSecretsAreNowhere(t *testing.T) {
	f := newFortress(t)
	f.ann.Says(f.general, "", mention+"where do I get a laptop?")
	if !f.wait(func() bool { return strings.Contains(f.slack.Show(f.general), room12) }) {
		t.Fatalf("no answer:\n%s", f.slack.Show(f.general))
	}
	f.post(f.hooks+"/slack/events", []byte(`{"token":"`+slacktest.SigningSecret+`"}`), http.Header{})
	said := map[string]string{"the channel": f.slack.Show(f.general)}
	for name, address := range map[string]string{
		"metrics": f.metrics + "/metrics", "readiness": f.metrics + "/readyz", "the page": f.web + "/", "the sign-in": f.web + "/operations/",
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := stranger.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		if err := errors.Join(err, response.Body.Close()); err != nil {
			t.Fatal(err)
		}
		said[name] = fmt.Sprint(response.Header) + string(body)
	}
	f.process.end(syscall.SIGTERM)
	said["the log"] = f.process.String()
	f.env = append(f.env, "CAIRN_LLM_URL=http://127.0.0.1:1/v1", "CAIRN_LLM_MODEL=m", "CAIRN_LLM_KEY=sk-very-secret",
		"CAIRN_REDIS_URL=redis://cairn:redis-very-secret@127.0.0.1:1/0", "CAIRN_POSTGRES_URL=postgres://cairn:postgres-very-secret@127.0.0.1:1/c",
		"CAIRN_TELEMETRY_TRACES=http://127.0.0.1:1", "CAIRN_TELEMETRY_TRACES_HEADERS=Authorization="+fortressTraces)
	var asked sync.WaitGroup // each waits for servers that are not there
	var mu sync.Mutex        // guards said
	for _, args := range [][]string{{"config", "check"}, {"config", "check", "--models", "--postgres"}, {"doctor"}, {"doctor", "--json"}, {"status"}, {"runs"}, {"ask", "x"}} {
		asked.Go(func() {
			out, err := f.command(args...).CombinedOutput()
			if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed || len(out) == 0 {
				t.Errorf("%v says %q: %v", args, out, err)
			}
			mu.Lock()
			defer mu.Unlock()
			said[strings.Join(args, " ")] = string(out)
		})
	}
	asked.Wait()
	for where, text := range said {
		for _, secret := range []string{"very-secret", slacktest.BotToken, slacktest.SigningSecret, discordtest.Token} {
			if strings.Contains(text, secret) {
				t.Errorf("%q is in what is said by %s:\n%s", secret, where, text)
			}
		}
	}
}

// TestAStrangersPressIsRefused has somebody press the buttons under another person's
// question, in the real program: nothing comes of it but a hint that they alone see.
func TestAStrangersPressIsRefused(t *testing.T) {
	f := newFortress(t)
	ben := f.slack.Person("U0BEN", "Ben")
	seen := func(text string) bool { return strings.Contains(f.slack.Show(f.general), text) }
	f.ann.Shares(f.general, "", mention+"analyze: what are the risks?", slacktest.File{
		Name: "ledger.md", Content: []byte("# Ledger\n\nWarning: the ledger has no fallback.\n\n## Open questions\n\nWho owns the keys?\n"),
	})
	if !f.wait(func() bool { return seen("[Approve]") }) {
		t.Fatalf("no question:\n%s", f.slack.Show(f.general))
	}
	hints := func() int {
		private := 0
		for _, message := range f.slack.Messages(f.general) {
			if message.Only == "U0BEN" {
				private++
			}
		}
		return private
	}
	ben.Presses(f.general, "Approve")
	if !f.wait(func() bool { return hints() == 1 }) {
		t.Fatalf("no hint:\n%s", f.slack.Show(f.general))
	}
	if !seen("[Approve]") {
		t.Errorf("the question is not open any more:\n%s", f.slack.Show(f.general))
	}
	f.ann.Presses(f.general, "Approve")
	if !f.wait(func() bool { return seen("risks_analysis.md") }) {
		t.Fatalf("the press of who was asked does nothing:\n%s", f.slack.Show(f.general))
	}
}
